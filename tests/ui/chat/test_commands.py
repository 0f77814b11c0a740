"""Commands in the background, as a person sees them above the composer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core import events as ev
from desktop_app.core.ids import now_us
from desktop_app.core.tools.background import Command, Ending
from desktop_app.ui.chat.commands_bar import state_words
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.model import TranscriptModel
from tests.helpers.conversation import FakeConversation, Gate, answer

Open = Callable[[FakeConversation], ChatViewModel]


@pytest.fixture
def page(qtbot: QtBot, run: Any) -> Iterator[ChatPage]:
    made = ChatPage()
    made.resize(900, 700)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.bind(None, ChatSources())
    run(made.close_tasks())


@pytest.fixture
def show(qtbot: QtBot, run: Any, page: ChatPage) -> Iterator[Open]:
    made: list[ChatViewModel] = []

    def open_one(conversation: FakeConversation) -> ChatViewModel:
        vm = ChatViewModel(TranscriptModel(), Voice(agent="Analyst"))
        made.append(vm)
        with qtbot.waitSignal(vm.compactionsChanged):
            vm.open(conversation)
        page.bind(vm, ChatSources(workspace_name="field-sales"))
        return vm

    yield open_one
    for vm in made:
        page.drop(vm)
        run(vm.close())
        vm.deleteLater()


def command(n: int = 1, line: str = "npm run dev", **fields: Any) -> Command:
    path = f".slipway/sessions/s1/command-bg{n}.txt"
    return Command(f"bg{n}", f"o{n}", line, now_us() - 75_000_000, path=path, **fields)


def test_one_that_runs_is_shown_with_its_time_and_can_be_stopped(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    conversation = FakeConversation()
    vm = show(conversation)
    bar = page.commands.bar
    assert bar.isHidden()
    conversation.begin(command(line="npm run dev\nrm -rf \u202e/"))
    qtbot.waitUntil(bar.isVisible)
    assert bar.words.text() == "1 command in the background"
    row = bar.rows[0]
    assert row.line.text() == "npm run dev ⏎ rm -rf ⟨U+202E⟩/", "what hides is seen"
    assert row.state.text() == "1 min"
    assert vm.commands_running == 1
    row.stop.click()
    qtbot.waitUntil(lambda: row.state.text() == "stopped · 3 s")
    assert conversation.calls == ["stop bg1"]
    assert row.stop.isHidden()
    assert vm.commands_running == 0
    bar.dismiss.click()
    assert bar.isHidden()
    page.commands.recall()
    assert bar.isVisible()


def test_its_output_is_shown_live(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    conversation = FakeConversation()
    conversation.outputs["bg1"] = "ready on port 3000\n"
    conversation.commands["bg1"] = command()
    show(conversation)
    page.commands.bar.rows[0].output.click()
    qtbot.waitUntil(lambda: page.commands.dialog is not None)
    dialog = page.commands.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.text.toPlainText() == "ready on port 3000\n"
    conversation.tell(ev.CommandOutput("bg1", "GET / 200\n"))
    conversation.tell(ev.CommandOutput("bg2", "of another\n"))
    qtbot.waitUntil(lambda: "GET" in dialog.text.toPlainText())
    assert "another" not in dialog.text.toPlainText()
    dialog.stop.click()
    qtbot.waitUntil(dialog.stop.isHidden)
    assert dialog.state.text() == "stopped · 3 s"
    dialog.accept()
    qtbot.waitUntil(lambda: page.commands.dialog is None)


def test_one_that_ends_as_a_run_does_is_not_shown_as_running(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    gate = Gate()
    conversation = FakeConversation([[gate, *answer("r1", "Done.")]])
    conversation.commands["bg1"] = command()
    vm = show(conversation)
    vm.send("go")
    qtbot.waitUntil(gate.reached.is_set)
    # Its end is told in a moment in which nobody hears it.
    conversation.commands["bg1"] = command(ended=Ending("exit", 0, 2.0))
    gate.open()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    qtbot.waitUntil(lambda: page.commands.bar.rows[0].state.text() == "exit 0 · 2 s")


def test_what_the_model_knows_already_is_no_news(page: ChatPage, show: Open) -> None:
    conversation = FakeConversation()
    conversation.commands["bg1"] = command(1, ended=Ending("exit", 1, 2.0), told=True)
    conversation.commands["bg2"] = command(2, ended=Ending("lost", bytes=3))
    show(conversation)
    bar = page.commands.bar
    assert [row.state.text() for row in bar.rows] == ["ended with the program, outcome unknown"]
    assert bar.words.text() == "Ended in the background"


def test_many_scroll(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    conversation = FakeConversation()
    for n in range(9):
        conversation.commands[f"bg{n}"] = command(n)
    show(conversation)
    bar = page.commands.bar
    qtbot.waitUntil(bar.isVisible)
    assert len(bar.rows) == 9
    assert bar.height() < 160


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Ending("exit", -9, 2.0), "signal 9 · 2 s"),
        (Ending("timeout", None, 90.0), "timed out · 2 min"),
        (Ending("agent", None, 2.0), "stopped · 2 s"),
        (Ending("closed", None, 2.0), "ended with the session · 2 s"),
        (Ending("flood", None, 2.0), "stopped: too much output · 2 s"),
        (Ending("failed", None, 0.5, error="exec.missing"), "failed · 0.5 s"),
    ],
)
def test_every_end_has_words(ending: Ending, words: str) -> None:
    assert state_words(command(ended=ending)) == words
