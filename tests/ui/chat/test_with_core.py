"""The view model over the real core: the Guide, real tools, a real journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.models.scripted import SCRIPTED, Ends, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.transcript.rows import MarkdownRow, NoticeRow, Row, ToolRow
from tests.helpers.sessions import Bench

NAMES = {"guide": "Guide", "Guide": "Guide"}


class House:
    """A service with one workspace."""

    def __init__(self, run: Any, qtbot: QtBot, home: Path) -> None:
        self.run, self.qtbot, self.home = run, qtbot, home
        self.folder = home / "work"
        self.folder.mkdir(parents=True)
        (self.folder / "notes.md").write_text("# Notes\n\nBuy milk.\nCall Ada.\n")
        (self.folder / "sales.csv").write_text("region,sum\nnorth,1\nsouth,2\n")
        self.service: Slipway = run(Slipway.open(paths(home)))
        info = run(self.service.add_folder(str(self.folder), trusted=True))
        self.key: SessionKey = run(self.service.new_session(info.id))
        self.made: list[ChatViewModel] = []

    def show(self) -> ChatViewModel:
        conversation = self.run(self.service.conversation(self.key))
        vm = ChatViewModel(TranscriptModel(), Voice(model_name=lambda m: NAMES[m]))
        self.made.append(vm)
        vm.open(conversation)
        self.qtbot.waitUntil(lambda: vm.breakdown is not None)
        return vm

    def say(self, vm: ChatViewModel, text: str) -> None:
        vm.send(text)
        self.qtbot.waitUntil(lambda: vm.activity != "running", timeout=20_000)

    def restart(self) -> None:
        self.close_models()
        self.run(self.service.close())
        self.service = self.run(Slipway.open(paths(self.home)))

    def close_models(self) -> None:
        for vm in self.made:
            self.run(vm.close())
            vm.deleteLater()
        self.made.clear()


@pytest.fixture
def house(run: Any, qtbot: QtBot, tmp_path: Path) -> Iterator[House]:
    made = House(run, qtbot, tmp_path)
    yield made
    made.close_models()
    run(made.service.close())


def shown(vm: ChatViewModel) -> list[Row]:
    assert isinstance(vm.rows, TranscriptModel)
    return [vm.rows.row(i) for i in range(vm.rows.rowCount())]


def test_live_rows_are_the_rows_after_a_restart(house: House) -> None:
    vm = house.show()
    house.say(vm, "What is in this folder?")
    house.say(vm, "Summarise notes.md")
    live = shown(vm)
    tools = [row for row in live if isinstance(row, ToolRow)]
    assert tools
    assert all(row.status == "success" for row in tools)
    house.restart()
    assert shown(house.show()) == live


def test_an_approval_survives_a_restart_and_is_carried_out(house: House) -> None:
    vm = house.show()
    house.say(vm, "Write a file hello.txt with the text: good day")
    assert vm.activity == "parked"
    assert [a.name for a in vm.approvals] == ["Write"]
    house.restart()
    vm = house.show()
    assert [a.name for a in vm.approvals] == ["Write"]
    waiting = [row for row in shown(vm) if isinstance(row, ToolRow) and row.status == "waiting"]
    assert len(waiting) == 1
    vm.decide(vm.approvals[0].op_id, allowed=True)
    house.qtbot.waitUntil(lambda: vm.activity == "idle", timeout=20_000)
    assert (house.folder / "hello.txt").read_text() == "good day\n"
    assert vm.touched == {"hello.txt": "Write"}
    assert not any(isinstance(row, NoticeRow) for row in shown(vm))


def test_a_denied_call_changes_nothing_and_is_marked(house: House) -> None:
    vm = house.show()
    house.say(vm, "Write a file hello.txt with the text: good day")
    vm.decide(vm.approvals[0].op_id, allowed=False)
    house.qtbot.waitUntil(lambda: vm.activity == "idle", timeout=20_000)
    assert not (house.folder / "hello.txt").exists()
    last = [row for row in shown(vm) if isinstance(row, ToolRow)][-1]
    assert last.status == "denied"
    live = shown(vm)
    house.restart()
    assert shown(house.show()) == live


def test_giving_up_an_approval(house: House) -> None:
    vm = house.show()
    house.say(vm, "Write a file hello.txt with the text: good day")
    vm.stop()
    house.qtbot.waitUntil(lambda: vm.activity == "idle", timeout=20_000)
    assert vm.approvals == []
    assert not (house.folder / "hello.txt").exists()
    live = shown(vm)
    assert isinstance(live[-1], NoticeRow)
    house.restart()
    assert shown(house.show()) == live


def test_the_biggest_items_can_be_shown_in_the_chat(house: House) -> None:
    vm = house.show()
    house.say(vm, "Summarise notes.md")
    assert vm.breakdown is not None
    own = ("user", "assistant", "result")
    refs = [item.ref for item in vm.breakdown.items if item.category in own]
    assert refs
    assert [ref for ref in refs if vm.row_of(ref) is None] == []
    assert any(isinstance(row, MarkdownRow) for row in shown(vm))


def test_an_answer_cut_short_by_its_length_says_so_and_goes_on(
    run: Any, qtbot: QtBot, tmp_path: Path
) -> None:
    model = ScriptedModel(
        [[Say("Half of it"), Ends("length")], [Say("and the rest.")]], titles=[[Say("T")]]
    )
    bench = Bench(tmp_path, model)
    vm = ChatViewModel(TranscriptModel(), Voice(model_name=lambda m: m))
    vm.open(run(bench.open()))
    qtbot.waitUntil(lambda: vm.breakdown is not None)
    vm.send("Tell me all of it.")
    qtbot.waitUntil(lambda: isinstance(shown(vm)[-1], NoticeRow) and not vm.busy, timeout=20_000)
    card = shown(vm)[-1]
    assert isinstance(card, NoticeRow)
    assert (card.tone, card.title) == ("warning", "The answer reached its longest length")
    assert [a.label for a in card.actions] == ["Continue"]
    assert any(isinstance(r, MarkdownRow) and r.text == "Half of it" for r in shown(vm))
    vm.retry()
    qtbot.waitUntil(
        lambda: (
            any(isinstance(r, MarkdownRow) and "the rest" in r.text for r in shown(vm))
            and not vm.busy
        ),
        timeout=20_000,
    )
    assert not any(isinstance(row, NoticeRow) for row in shown(vm))
    run(vm.close())
    vm.deleteLater()
    run(bench.close())


def test_a_window_full_of_what_is_fixed_says_what_fills_it_and_offers_another_model(
    run: Any, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "AGENTS.md").write_text("A rule of the house. " * 1_400)
    model = ScriptedModel(
        [[Say("Never.")]],
        titles=[[Say("T")]],
        info=replace(SCRIPTED, window=8_192, max_output=1_024),
    )
    bench = Bench(tmp_path, model)
    vm = ChatViewModel(TranscriptModel(), Voice(model_name=lambda m: m))
    vm.open(run(bench.open()))
    qtbot.waitUntil(lambda: vm.breakdown is not None)
    vm.send("hi")
    qtbot.waitUntil(lambda: isinstance(shown(vm)[-1], NoticeRow) and not vm.busy, timeout=20_000)
    card = shown(vm)[-1]
    assert isinstance(card, NoticeRow)
    assert card.title == "What is always sent fills the window"
    assert "the workspace's instructions with" in card.detail
    assert "A compaction cannot help." in card.detail
    assert [a.id for a in card.actions] == ["choose_model", "retry"]
    run(vm.close())
    vm.deleteLater()
    run(bench.close())
