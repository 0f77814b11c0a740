"""What servers ask, in the window: over a scripted conversation, and over a real server."""

from __future__ import annotations

import dataclasses
import json
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop_app.core import events as ev
from desktop_app.core.agent.request_shapes import Answered, Request
from desktop_app.core.mcp.asks import Form, Sampling, Visit
from desktop_app.core.mcp.forms import fields_of
from desktop_app.core.mcp.oauth import SignIn
from desktop_app.core.messages import Msg
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.models.scripted import SCRIPTED, Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.ui import i18n
from desktop_app.ui.chat.items import ToolItem
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.requests.card import RequestCard
from desktop_app.ui.chat.requests.form import FormPart
from desktop_app.ui.chat.requests.sampling import SamplingPart
from desktop_app.ui.chat.requests.words import answered
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.transcript.rows import NoticeRow
from tests.helpers.conversation import FakeConversation, Gate, call, model_call, result, text
from tests.helpers.mcp import SERVERS, command, declare, entry, free_port

MODEL = ModelInfo("glm-4.6", "GLM 4.6", 200_000, 16_000)
SAMPLING = Sampling((Msg.user("Name a fruit.\u202e"),), "One word.", 200)
URL = "https://pаypal.com/start?token=1"  # the second letter is Cyrillic


def request(what: Any, number: int = 1, **more: Any) -> Request:
    return Request(f"q{number}", "r", "op1", "travel", "book", what, **more)


def form_schema() -> dict[str, Any]:
    return json.loads((SERVERS / "form.json").read_text())


SAMPLED = request(SAMPLING, model="GLM 4.6", tokens=1200, cost=0.0125)


@pytest.fixture
def card(qtbot: QtBot) -> RequestCard:
    made = RequestCard(grace_ms=0)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    return made


def answers(card: RequestCard) -> list[tuple[str, Answered]]:
    got: list[tuple[str, Answered]] = []
    card.answered.connect(lambda request_id, answer: got.append((request_id, answer)))
    return got


def words(card: RequestCard) -> str:
    return " ".join(label.text() for label in card.findChildren(QLabel) if label.isVisible())


def test_sampling_says_what_goes_where_and_is_answered_by_keys(
    card: RequestCard, qtbot: QtBot
) -> None:
    got = answers(card)
    card.show_requests([SAMPLED])
    assert "GLM 4.6 is sent ≈ 1.2k tokens (estimated) and answers with at most 200." in words(card)
    assert "At most $0.01 (estimated)" in words(card)
    assert card.title.text() == "“travel” asks your model"
    part = card.part
    assert isinstance(part, SamplingPart)
    assert part.messages[0].shown.toPlainText() == "Name a fruit.⟨U+202E⟩"
    assert part.marked
    assert part.system.shown.toPlainText() == "One word."
    for key in "yan":
        qtbot.keyClick(card, key)
    assert [(a.action, a.always) for _, a in got] == [
        ("accept", False), ("accept", True), ("decline", False),
    ]  # fmt: skip


def test_what_is_sent_can_be_changed_but_not_to_nothing(card: RequestCard, qtbot: QtBot) -> None:
    got = answers(card)
    card.show_requests([SAMPLED])
    qtbot.keyClick(card, "e")
    part = card.part
    assert isinstance(part, SamplingPart)
    editor = part.messages[0].editor
    assert editor.hasFocus()
    qtbot.keyClick(editor, "y")  # a letter, not an answer
    assert got == []
    editor.setPlainText("  ")
    card.run.click()
    assert got == []
    assert card.error.text() == "There is nothing to send"
    editor.setPlainText("Name a berry.")
    part.most.edit.setText("20")
    card.run.click()
    edited = got[0][1].edited
    assert edited is not None
    assert (edited.messages[0].text(), edited.system, edited.max_tokens) == (
        "Name a berry.", "One word.", 20,
    )  # fmt: skip
    part.most.edit.setText("900")
    assert part.edited().max_tokens == 200  # never more than was asked for


def test_a_form_is_checked_as_it_is_filled_in(card: RequestCard, qtbot: QtBot) -> None:
    got = answers(card)
    form = Form("Where to?", fields_of(form_schema()))
    card.show_requests([request(form)])
    assert "Where to?" in words(card)
    assert "Do not enter passwords" in words(card)
    part = card.part
    assert isinstance(part, FormPart)
    fields = {f.field.name: f for f in part.fields}
    assert list(fields) == ["city", "mail", "days", "price", "breakfast", "room", "extras"]
    card.send.click()
    assert got == []
    city, days = fields["city"].edit, fields["days"].edit
    assert city is not None
    assert days is not None
    assert city._reason.text() == "This is needed"
    assert city.edit.hasFocus()
    qtbot.keyClicks(city.edit, "Oslo")
    qtbot.keyClicks(days.edit, "99")
    assert days._reason.text() == "At most 14"
    assert days.edit.placeholderText() == "1 to 14"
    days.edit.setText("three")
    assert days._reason.text() == "This is not a number"
    days.edit.setText("3")
    assert days._reason.text() == ""
    room = fields["room"].choice
    assert room is not None
    assert [room.itemText(i) for i in range(room.count())] == ["Choose…", "Single", "Double"]
    room.setCurrentIndex(2)
    room.activated.emit(2)
    fields["extras"].checks[0][1].click()
    fields["extras"].checks[1][1].click()
    qtbot.keyClick(city.edit, Qt.Key.Key_Return)
    assert got == []
    assert fields["extras"]._error.text() == "Choose at most 1"
    fields["extras"].checks[1][1].click()
    card.send.click()
    assert got[0][1] == Answered(
        "accept",
        {"city": "Oslo", "days": 3, "breakfast": True, "room": "d", "extras": ["sea"]},
    )


def test_a_form_is_declined_or_put_aside(card: RequestCard, qtbot: QtBot) -> None:
    got = answers(card)
    card.show_requests([request(Form("Sure?", ()), 1), request(Form("Sure?", ()), 2)])
    assert card._count.text() == "1 of 2"
    card.decline.click()
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert [a.action for _, a in got] == ["decline", "cancel"]
    card.show_requests([request(Form("Sure?", ()), 2)])
    assert card._count.text() == "2 of 2"
    card.show_requests([])
    assert card.isHidden()


def test_what_is_typed_stays_when_another_request_comes(card: RequestCard) -> None:
    form = request(Form("Where to?", fields_of(form_schema())))
    card.show_requests([form])
    part = card.part
    assert isinstance(part, FormPart)
    assert part.fields[0].edit is not None
    part.fields[0].edit.edit.setText("Bergen")
    card.show_requests([form, request(Form("And?", ()), 2)])
    assert card.part is part
    assert part.fields[0].edit.edit.text() == "Bergen"
    i18n.set_language("zh_CN")
    assert card.title.text() == "“travel”请你填写"
    i18n.set_language("en")
    assert part.fields[0].edit.edit.text() == "Bergen"


def test_an_address_is_shown_whole_and_opened_by_the_person_alone(
    card: RequestCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    visits: list[str] = []
    card.visit.connect(visits.append)
    got = answers(card)
    card.show_requests([request(Visit("Sign in first.", URL))])
    assert "xn--pypal-4ve.com" in words(card)
    assert visits == opened == []
    card.open.click()
    assert visits == [URL]
    assert [a.action for _, a in got] == ["accept"]


def test_more_rights_are_named_with_what_they_are_for(card: RequestCard) -> None:
    visits: list[str] = []
    card.visit.connect(visits.append)
    got = answers(card)
    scopes = ("files:write", "mail\u202e")
    asked = request(Visit("", "https://login.example/authorize?scope=x", scopes))
    card.show_requests([asked])
    shown = words(card)
    assert card.accessibleName() == "“travel” asks for more rights"
    assert "“book” needs what you have not allowed yet: files:write, mail" in shown
    assert "\u202e" not in shown, "nothing in it is hidden"
    assert "login.example" in shown
    card.open.click()
    assert (visits, [a.action for _, a in got]) == ([asked.what.url], ["accept"])
    body = {"kind": "visit", "server": "travel", "scopes": ["files:write"]}
    for answer, heading in (
        ("accept", "You went to give “travel” more rights"),
        ("decline", "“travel” asked for more rights"),
    ):
        title, detail = answered({**body, "answer": answer})
        assert title == heading
        assert "Rights: files:write" in detail


Show = Callable[[FakeConversation], tuple[ChatPage, ChatViewModel]]


@pytest.fixture
def show(qtbot: QtBot, run: Any) -> Iterator[Show]:
    made: list[tuple[ChatPage, ChatViewModel]] = []

    def open_one(conversation: FakeConversation) -> tuple[ChatPage, ChatViewModel]:
        page = ChatPage()
        page.resize(900, 800)
        qtbot.addWidget(page)
        page.show()
        vm = ChatViewModel(TranscriptModel(), Voice(agent="Analyst"))
        made.append((page, vm))
        with qtbot.waitSignal(vm.compactionsChanged):
            vm.open(conversation)
        page.bind(vm, ChatSources(models=lambda: [MODEL], current_model=lambda: MODEL))
        return page, vm

    yield open_one
    for page, vm in made:
        page.bind(None, ChatSources())
        run(page.close_tasks())
        run(vm.close())


def notices(vm: ChatViewModel) -> list[NoticeRow]:
    assert isinstance(vm.rows, TranscriptModel)
    rows = [vm.rows.row(i) for i in range(vm.rows.rowCount())]
    return [row for row in rows if isinstance(row, NoticeRow)]


def test_a_request_stands_in_the_chat_while_its_call_runs(qtbot: QtBot, show: Show) -> None:
    gate, more = Gate(), Gate()
    body = {
        "id": "q1", "server": "travel", "kind": "sampling", "answer": "accept", "by": "person",
        "model": "GLM 4.6", "text": "Plum", "cost": 0.01,
        "usage": {"input_tokens": 900, "output_tokens": 100},
    }  # fmt: skip
    turn = [
        *model_call("r", call("r", "op1", "mcp__travel__book", {})),
        ev.RequestAsked("r", "op1", SAMPLED), gate, ev.RequestAnswered("r", "op1", body), more,
        *result("r", "op1", "mcp__travel__book", "booked"),
        *model_call("r", text("r", "t", "Booked.")), ev.RunFinished("r", "completed"),
    ]  # fmt: skip
    conversation = FakeConversation([turn])
    page, vm = show(conversation)
    page.activateWindow()
    page.composer.edit.setFocus()
    qtbot.waitUntil(page.composer.edit.hasFocus)
    vm.send("Book it")
    qtbot.waitUntil(lambda: page.request.isVisible())
    assert page.focusWidget() is page.request
    qtbot.waitUntil(lambda: page.activity.words.text().startswith("Waiting for you"))
    page.request._grace = 0
    assert page.view is not None
    qtbot.keyClick(page.view, "y")  # in the transcript the card's keys work too
    assert conversation.request_answers == [("q1", Answered("accept"))]
    assert page.request.isHidden()
    gate.open()
    qtbot.waitUntil(lambda: len(notices(vm)) == 1)
    (row,) = notices(vm)
    assert row.title == "GLM 4.6 answered “travel”"
    assert row.detail == "1.0k tokens (measured), $0.01\nPlum"
    more.open()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    live = notices(vm)
    _, again = show(conversation)
    assert notices(again) == live  # the same after a restart


def test_a_request_takes_the_focus_of_who_allowed_its_call_by_a_key(
    qtbot: QtBot, show: Show
) -> None:
    before, gate = Gate(), Gate()
    asked = ev.RequestAsked("r", "op1", SAMPLED)
    made = model_call("r", call("r", "op1", "mcp__travel__book", {}))
    page, vm = show(FakeConversation([[*made, before, asked, gate]]))
    page.activateWindow()
    vm.send("Book it")
    qtbot.waitUntil(before.reached.is_set)
    page.after_answer()
    assert page.view is not None
    qtbot.waitUntil(page.view.hasFocus)
    before.open()
    qtbot.waitUntil(page.request.isVisible)
    assert page.focusWidget() is page.request
    vm.stop()
    qtbot.waitUntil(lambda: vm.activity == "idle")


@pytest.fixture
def service(run: Any, tmp_path: Path) -> Iterator[Slipway]:
    made: Slipway = run(Slipway.open(paths(tmp_path / "home")))
    yield made
    run(made.close(), 20_000)


def test_a_real_server_asks_in_the_real_chat(
    qtbot: QtBot, run: Any, service: Slipway, tmp_path: Path, show: Show
) -> None:
    folder = tmp_path / "folder"
    declare(folder / ".slipway", entry("it", "asks.py"))
    info = dataclasses.replace(SCRIPTED, is_ai=True)
    turns = [[Call("mcp__it__both", {})], [Say("Plum")], [Say("done")]]
    model = ScriptedModel(turns, titles=[[Say("t")]], info=info)
    service.models.add(info, lambda: model)
    service.default_model = info.id
    placed = run(service.add_folder(str(folder), trusted=True))
    key = run(service.new_session(placed.id))
    conversation = run(service.conversation(key))
    run(conversation.set_mode("bypass"))
    page, vm = show(conversation)
    vm.send("go")
    qtbot.waitUntil(lambda: len(vm.requests) == 2, timeout=30_000)

    def state() -> str:
        return run(service.list_workspaces())[0].sessions[0].state

    assert state() == "parked"  # the list says that somebody waits
    part = page.request.part
    assert isinstance(part, FormPart)
    fields = {f.field.name: f for f in part.fields}
    for name, value in (("city", "Oslo"), ("days", "3")):
        edit = fields[name].edit
        assert edit is not None
        edit.edit.setText(value)
    room = fields["room"].choice
    assert room is not None
    room.set_value("s")
    page.request.send.click()
    qtbot.waitUntil(lambda: page.request.allow.isVisible())
    page.request.allow.click()
    qtbot.waitUntil(lambda: vm.activity == "idle", timeout=20_000)
    assert [row.title for row in notices(vm)] == [
        "You filled in a form of “it”", "Scripted answered “it”",
    ]  # fmt: skip


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """A server over HTTP that wants to be signed in to: its port, and what it was asked."""
    port, notes = free_port(), tmp_path / "notes"
    line = command("guarded.py", str(port), str(notes))
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield port, notes
    process.kill()
    process.wait(20)


def test_more_rights_are_given_in_the_real_chat(
    qtbot: QtBot,
    run: Any,
    service: Slipway,
    tmp_path: Path,
    show: Show,
    guarded: tuple[int, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port, notes = guarded
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    folder = tmp_path / "folder"
    config = {"type": "http_mcp", "url": f"http://127.0.0.1:{port}/mcp"}
    declare(folder / ".slipway", {"name": "it", "is_stateful": True, "mcp_config": config})
    turns = [[Call("mcp__it__deep_number", {})], [Say("done")]]
    model = ScriptedModel(turns, titles=[[Say("t")]])
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    placed = run(service.add_folder(str(folder), trusted=True))
    key = run(service.new_session(placed.id))
    conversation = run(service.conversation(key))
    run(conversation.set_mode("bypass"))
    assert conversation.mcp is not None
    run(conversation.mcp.start())

    def server() -> Any:
        return conversation.mcp._connections["it"].status

    browsers: list[threading.Thread] = []

    def browse(url: str) -> None:
        visit = threading.Thread(target=lambda: urllib.request.urlopen(url, timeout=30).read())
        browsers.append(visit)
        visit.start()

    async def sent(url: str) -> None:
        browse(url)

    qtbot.waitUntil(lambda: server().code == "mcp.sign_in", timeout=60_000)
    conversation.mcp.sign_in("it", SignIn(sent, "ok"))
    qtbot.waitUntil(lambda: server().state == "ok", timeout=60_000)

    page, vm = show(conversation)
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: browse(url.toString()))
    vm.send("go")
    qtbot.waitUntil(lambda: page.request.open.isVisible(), timeout=60_000)
    assert "deep" in page.request.message.text()
    page.request.open.click()
    qtbot.waitUntil(lambda: vm.activity == "idle", timeout=60_000)
    assert [row.title for row in notices(vm)] == ["You went to give “it” more rights"]
    (done,) = [i for i in vm.items() if isinstance(i, ToolItem)]
    assert (done.status, "43" in done.output) == ("success", True)
    assert notes.read_text().splitlines()[-2:] == [
        f"authorize resource=http://127.0.0.1:{port}/mcp scope=plain deep",
        "token",
    ]
    for visit in browsers:
        visit.join(30)
