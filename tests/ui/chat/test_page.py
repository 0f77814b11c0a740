"""The chat page with a scripted conversation: what a person sees and can do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from desktop_app.core import events as ev
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.ui import i18n
from desktop_app.ui.chat import page_work
from desktop_app.ui.chat.compaction.detail import DetailDialog
from desktop_app.ui.chat.export import code, export_text, fence, file_name
from desktop_app.ui.chat.inspector import Inspector
from desktop_app.ui.chat.items import TextItem, UserItem
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.sources import ChatSources, example_prompts
from desktop_app.ui.chat.status import ChatStatus
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.theme import Theme
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.widgets import Label
from tests.helpers.conversation import (
    FakeConversation,
    Gate,
    Park,
    Step,
    answer,
    approval,
    breakdown,
    call,
    compaction,
    item,
    model_call,
    result,
    text,
)

MODEL = ModelInfo("glm-4.6", "GLM 4.6", 200_000, 16_000)
Open = Callable[..., ChatViewModel]


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

    def open_one(conversation: FakeConversation, **fields: Any) -> ChatViewModel:
        vm = ChatViewModel(TranscriptModel(), Voice(agent="Analyst"))
        made.append(vm)
        with qtbot.waitSignal(vm.compactionsChanged):
            vm.open(conversation)
        defaults: dict[str, Any] = {
            "workspace_name": "field-sales",
            "models": lambda: [MODEL],
            "current_model": lambda: MODEL,
        }
        page.bind(vm, ChatSources(**{**defaults, **fields}))
        return vm

    yield open_one
    for vm in made:
        page.drop(vm)
        run(vm.close())
        vm.deleteLater()


def send(qtbot: QtBot, page: ChatPage, words: str) -> None:
    page.composer.edit.setFocus()
    qtbot.keyClicks(page.composer.edit, words)
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_Return)


def approving(*ops: str) -> FakeConversation:
    args = {"command": "make all"}
    steps: list[Step] = [
        *model_call("r1", *[call("r1", op, "Bash", args) for op in ops]),
        *[ev.ApprovalRequested("r1", approval(op, "Bash", args)) for op in ops],
        Park(),
        *[step for op in ops for step in result("r1", op, "Bash", "ok", exit=0)],
        ev.RunFinished("r1", "completed"),
    ]
    return FakeConversation([steps])


def test_a_new_session_offers_examples_of_its_own_folder(
    qtbot: QtBot, page: ChatPage, show: Open, run: Any, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_text("a,b\n")
    (tmp_path / "notes.md").write_text("x")
    backend = LocalBackend(str(tmp_path))
    run(backend.start())
    show(FakeConversation(), backend=backend)
    assert page.empty.isVisible()
    qtbot.waitUntil(lambda: "sales.csv" in page.empty.buttons[0].text())
    assert len(page.empty.buttons) == 3
    page.empty.buttons[0].click()
    assert page.composer.text() == page.empty.buttons[0].text()
    run(backend.close())


def test_a_message_and_its_answer(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    conversation = FakeConversation([answer("r1", "Hello there.")])
    vm = show(conversation)
    send(qtbot, page, "hi")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.rows.rowCount() == 3)
    assert page.view is not None
    assert page.view.isVisible()
    assert not page.empty.isVisible()
    assert conversation.sent[0][0] == "hi"
    assert page.composer.text() == ""


def test_approval_keys_work_in_the_transcript_and_not_while_typing(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    conversation = approving("a", "b")
    vm = show(conversation)
    page.approval._grace = 0
    send(qtbot, page, "build")
    qtbot.waitUntil(lambda: page.approval.isVisible() and vm.activity == "parked")
    qtbot.keyClicks(page.composer.edit, "y")
    assert conversation.decided == []
    assert page.composer.text() == "y"
    assert page.view is not None
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_Y)
    qtbot.waitUntil(lambda: len(conversation.decided) == 1)
    qtbot.waitUntil(lambda: page.approval.hasFocus())
    qtbot.waitUntil(lambda: vm.activity == "parked")
    qtbot.keyClick(page.approval, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert [d.allowed for d in conversation.decided] == [True, False]
    assert page.approval.isHidden()


def test_an_approval_takes_the_focus_from_an_empty_field_only(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    page.activateWindow()
    vm = show(approving("o1"))
    send(qtbot, page, "go")
    qtbot.waitUntil(lambda: vm.activity == "parked")
    qtbot.waitUntil(page.approval.hasFocus)
    assert page.approval._keys.isHidden()
    page.composer.setFocus()
    assert not page.approval._keys.isHidden(), "the way to the keys is shown"

    other = show(approving("o2"))
    page.composer.setFocus()
    page.composer.edit.setPlainText("yes, and then")
    other.send("go")
    qtbot.waitUntil(lambda: other.activity == "parked")
    assert page.composer.edit.hasFocus()
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_F6)
    assert page.approval.hasFocus()


def test_a_question_is_answered_by_keys_alone(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    options = [{"label": "North"}, {"label": "South"}]
    questions = [{"question": "Which?", "header": "Which", "options": options}]
    asking = FakeConversation(
        [[*model_call("r1", call("r1", "q", "AskUser", {"questions": questions})),
          ev.QuestionAsked("r1", "q", questions), Park(),
          *result("r1", "q", "AskUser", "South"), ev.RunFinished("r1", "completed")]]
    )  # fmt: skip
    page.activateWindow()
    vm = show(asking)
    send(qtbot, page, "go")
    qtbot.waitUntil(page.question.hasFocus)
    qtbot.keyClick(page.question, Qt.Key.Key_2)
    qtbot.keyClick(page.question, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert asking.answered == [{"answers": [{"question": "Which?", "selected": ["South"]}]}]


def test_writing_goes_into_the_composer_wherever_the_focus_was(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    vm = show(FakeConversation([answer("r1", "Done.")]))
    page.activateWindow()
    send(qtbot, page, "go")
    qtbot.waitUntil(lambda: not vm.busy and page.view is not None)
    assert page.view is not None
    page.view.setFocus()
    qtbot.keyClicks(page.view, "Next")
    assert page.composer.edit.hasFocus()
    assert page.composer.text() == "Next"


def test_esc_stops_and_the_message_queue_is_edited_by_up(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    gate = Gate()
    vm = show(FakeConversation([[gate]]))
    send(qtbot, page, "long work")
    qtbot.waitUntil(gate.reached.is_set)
    send(qtbot, page, "and then")
    assert not page.composer.queue.isHidden()
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_Up)
    assert page.composer.text() == "and then"
    assert page.composer.queue.isHidden()
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert page.composer.stop.isHidden()


def test_switching_sessions_keeps_drafts_and_runs(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    gate = Gate()
    first = show(FakeConversation([[gate, *answer("r1", "done")]], title="one"))
    send(qtbot, page, "work")
    qtbot.waitUntil(gate.reached.is_set)
    qtbot.keyClicks(page.composer.edit, "draft of one")
    second = show(FakeConversation(title="two"))
    assert page.composer.text() == ""
    assert page.header.title.text() == "two"
    qtbot.keyClicks(page.composer.edit, "draft of two")
    gate.open()
    qtbot.waitUntil(lambda: first.activity == "idle")
    page.bind(first, page.sources)
    assert page.composer.text() == "draft of one"
    assert page.header.title.text() == "one"
    page.bind(second, page.sources)
    assert page.composer.text() == "draft of two"


def test_a_message_that_failed_comes_back_into_the_field(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    from desktop_app.core.errors import SessionError

    conversation = FakeConversation()
    vm = show(conversation)
    conversation.fail_next = SessionError("disk.full", path="/data")
    send(qtbot, page, "precious")
    qtbot.waitUntil(lambda: page.composer.text() == "precious")
    assert vm.rows.rowCount() == 1


def test_a_read_only_session_says_why(page: ChatPage, show: Open) -> None:
    conversation = FakeConversation()
    conversation.writable = False
    conversation.why_readonly = ("journal.in_use", {})
    show(conversation)
    assert not page.composer.edit.isEnabled()
    assert "another window" in page.composer.why.text().lower()


def test_a_missing_workspace_says_so(page: ChatPage, show: Open) -> None:
    show(FakeConversation(), missing=("workspace.missing", {"path": "/gone"}))
    assert not page.composer.edit.isEnabled()
    assert page.composer.why.text()


def test_rename_in_place(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    conversation = FakeConversation(title="Old")
    show(conversation)
    page.header.begin_rename()
    qtbot.keyClicks(page.header.editor, "  A   new name ")
    qtbot.keyClick(page.header.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.header.title.text() == "A new name")
    assert conversation.title == "A new name"
    page.header.begin_rename()
    qtbot.keyClicks(page.header.editor, "never mind")
    qtbot.keyClick(page.header.editor, Qt.Key.Key_Escape)
    assert conversation.title == "A new name"


def test_find_steps_through_hits(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    vm = show(FakeConversation([answer("r1", "apple pear apple")]))
    send(qtbot, page, "apple?")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.rows.rowCount() == 3)
    page.open_find()
    qtbot.keyClicks(page.find_bar.field, "apple")
    qtbot.waitUntil(lambda: page.find_bar._next.isEnabled())
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Return)
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Escape)  # empties the field
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Escape)
    assert page.find_bar.isHidden()


def test_the_offer_compacts_or_goes(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    conversation = FakeConversation(
        [[ev.CompactionOffered(breakdown(140_000)), ev.RunFinished("r1", "completed")]]
    )
    vm = show(conversation)
    send(qtbot, page, "much")
    qtbot.waitUntil(lambda: page.offer.isVisible() and vm.activity == "idle")
    assert page.offer.words.text().startswith("The context is 70% full")
    page.offer.go.click()
    qtbot.waitUntil(lambda: [c.gen for c in vm.compactions] == [1])
    assert page.offer.isHidden()
    page.row_action("c:1", "view_summary")
    qtbot.waitUntil(lambda: isinstance(page.compaction.dialog, DetailDialog))
    dialog = page.compaction.dialog
    assert isinstance(dialog, DetailDialog)
    assert dialog.title.text() == "162k to 39.0k tokens"
    assert "Find the regions." in dialog.after.toPlainText()
    dialog.undo.click()
    qtbot.waitUntil(lambda: vm.compactions == [] and page.compaction.dialog is None)


def test_no_offer_stands_where_the_count_is_below_the_mark(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    script = [ev.CompactionOffered(breakdown(140_000)), ev.ContextChanged(breakdown(90_000))]
    conversation = FakeConversation([[*script, ev.RunFinished("r1", "completed")]])
    vm = show(conversation)
    send(qtbot, page, "an estimate that was too high")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.offered)
    assert page.offer.isHidden()
    conversation.tell(ev.ContextChanged(breakdown(140_000)))
    qtbot.waitUntil(page.offer.isVisible)


def test_an_earlier_place_goes_on_in_a_new_session(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    new = FakeConversation(title="new").key
    conversation = FakeConversation([answer("r1", "one"), answer("r2", "two")])
    conversation.fork = new
    vm = show(conversation)
    for words, rows in (("first", 3), ("second", 6)):
        send(qtbot, page, words)
        qtbot.waitUntil(lambda n=rows: vm.activity == "idle" and vm.rows.rowCount() == n)
    asked = [i.id for i in vm.items() if isinstance(i, UserItem)]
    texts = [i.id for i in vm.items() if isinstance(i, TextItem)]
    wanted: list[SessionKey] = []
    page.sessionRequested.connect(wanted.append)
    for row, action in ((asked[1], "edit_again"), (texts[1], "answer_again"), (texts[0], "branch")):
        page.row_action(row, action)
        qtbot.waitUntil(lambda: bool(wanted))
        assert wanted == [new]
        wanted.clear()
    second, first = (i.removeprefix("u:") for i in reversed(asked))
    made = [c for c in conversation.calls if c.startswith("branch")]
    assert made == [f"branch before {second}", f"branch before {second}", f"branch after {first}"]
    assert page.drafts.get(new).text == "said before", "what is edited waits in the composer there"


def test_an_answer_again_says_the_same_in_its_branch(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    other = FakeConversation([answer("r2", "another one")], title="new")
    conversation = FakeConversation([answer("r1", "one")])
    conversation.fork = other.key
    vm = show(conversation)
    send(qtbot, page, "first")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.rows.rowCount() == 3)
    with qtbot.waitSignal(page.sessionRequested):
        page.row_action(next(i.id for i in vm.items() if isinstance(i, TextItem)), "answer_again")
    branch = ChatViewModel(TranscriptModel(), Voice(agent="Analyst"))
    page.bind(branch, page.sources)
    branch.open(other)
    qtbot.waitUntil(lambda: "another one" in [getattr(i, "text", "") for i in branch.items()])
    said = [i.text for i in branch.items() if isinstance(i, UserItem)]
    assert said == ["said before"]
    page.bind(vm, page.sources)
    page.drop(branch)


def test_retry_from_the_card(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    conversation = FakeConversation([[ev.RunFinished("r1", "error", "model.unreachable", {})]])
    vm = show(conversation)
    send(qtbot, page, "go")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    page.row_action("e:r1", "retry")
    qtbot.waitUntil(lambda: conversation.calls == ["go_on"] and vm.activity == "idle")


def test_waiting_for_the_model_is_told_after_a_moment(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    gate = Gate()
    vm = show(FakeConversation([[ev.ModelCallStarted("r1", "glm-4.6", 1, 1), gate]]))
    send(qtbot, page, "go")
    qtbot.waitUntil(lambda: page.activity.isVisible())
    assert page.activity.words.text().startswith("Waiting for GLM 4.6")
    vm.stop()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert page.activity.isHidden()


def test_what_comes_before_the_model_is_told_too(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    gate, asked = Gate(), Gate()
    vm = show(FakeConversation([[gate, ev.ModelCallStarted("r1", "glm-4.6", 1, 1), asked]]))
    send(qtbot, page, "go")
    qtbot.waitUntil(lambda: page.activity.isVisible())  # a server that comes up, a machine
    assert page.activity.words.text().startswith("Getting ready…")
    gate.open()
    qtbot.waitUntil(lambda: page.activity.words.text().startswith("Waiting for GLM 4.6"))
    vm.stop()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert page.activity.isHidden()


def test_an_answer_that_pauses_says_for_how_long(
    qtbot: QtBot, page: ChatPage, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest, end = Gate(), Gate()
    script = [
        ev.ModelCallStarted("r1", "glm-4.6", 1, 1),
        ev.TextDelta("r1", "b1", "I begin"),
        rest,
        ev.TextDelta("r1", "b1", " and go on"),
        end,
    ]
    vm = show(FakeConversation([script]))
    vm.waiting._quiet.setInterval(1)
    send(qtbot, page, "go")
    qtbot.waitUntil(lambda: page.activity.isVisible())
    monkeypatch.setattr(type(vm.waiting), "seconds", 9.0)
    vm.activityChanged.emit()
    page.activity.set_activity("")
    vm.activityChanged.emit()
    assert page.activity.words.text() == "Waiting for GLM 4.6 · 9 s"
    vm.waiting._quiet.setInterval(60_000)
    rest.open()
    qtbot.waitUntil(lambda: page.activity.isHidden() and end.reached.is_set())
    vm.stop()
    qtbot.waitUntil(lambda: vm.activity == "idle")


def test_who_sends_sees_the_answer_wherever_they_had_read(
    qtbot: QtBot, page: ChatPage, show: Open
) -> None:
    long = "\n\n".join(["a paragraph"] * 60)
    vm = show(FakeConversation([answer("r1", long), answer("r2", "the newest")]))
    send(qtbot, page, "first")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.rows.rowCount() == 3)
    view = page.view
    assert view is not None
    view.verticalScrollBar().setValue(0)
    assert not view.stick
    send(qtbot, page, "second")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.rows.rowCount() == 6)
    assert view.stick
    assert view.jump.isHidden()


def test_files_dropped_on_the_chat_are_attached_and_folders_are_not(
    qtbot: QtBot, page: ChatPage, show: Open, tmp_path: Path
) -> None:
    show(FakeConversation([answer("r1", "one")]))
    (tmp_path / "a.csv").write_text("1,2\n")
    data = QMimeData()
    for path, taken in ((tmp_path, False), (tmp_path / "a.csv", True)):
        data.setUrls([QUrl.fromLocalFile(str(path))])
        copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        keys = Qt.KeyboardModifier.NoModifier
        over = QDragEnterEvent(QPoint(400, 200), copy, data, left, keys)
        page.dragEnterEvent(over)
        assert over.isAccepted() is taken
    page.dropEvent(QDropEvent(QPointF(400, 200), copy, data, left, keys))
    qtbot.waitUntil(lambda: [a.name for a in page.composer.attachments()] == ["a.csv"])


def test_links_are_opened_only_after_asking(
    qtbot: QtBot, page: ChatPage, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(FakeConversation())
    opened: list[str] = []
    monkeypatch.setattr(
        page_work.QDesktopServices, "openUrl", lambda url: opened.append(url.toString())
    )
    page.work.open_link("file:///etc/passwd")
    page.work.open_link("https://example.com/\u202egnp")
    qtbot.waitUntil(lambda: dialog_of(page) is not None)
    dialog = dialog_of(page)
    assert dialog is not None
    assert "⟨U+202E⟩" in dialog.text.text()  # type: ignore[attr-defined]
    assert opened == []
    dialog.accept()
    qtbot.waitUntil(lambda: len(opened) == 1)
    assert opened[0].startswith("https://example.com/")


def dialog_of(page: ChatPage) -> QDialog | None:
    found = [d for d in page.findChildren(QDialog) if d.isVisible()]
    return found[0] if found else None


def test_an_offloaded_result_is_shown_page_by_page(
    qtbot: QtBot, page: ChatPage, show: Open, run: Any, tmp_path: Path
) -> None:
    from desktop_app.ui.chat.offload_dialog import PAGE_BYTES, OffloadDialog

    (tmp_path / "out.txt").write_text("a" * PAGE_BYTES + "the end")
    backend = LocalBackend(str(tmp_path))
    run(backend.start())
    show(FakeConversation(), backend=backend)
    page.work.offloads.look("out.txt")
    qtbot.waitUntil(lambda: isinstance(dialog_of(page), OffloadDialog))
    dialog = dialog_of(page)
    assert isinstance(dialog, OffloadDialog)
    qtbot.waitUntil(dialog.more.isEnabled)
    dialog.more.click()
    qtbot.waitUntil(lambda: dialog.text.toPlainText() == "the end")
    assert dialog.back.isEnabled()
    dialog.accept()
    qtbot.waitUntil(lambda: dialog_of(page) is None)
    run(backend.close())


# -- export ---------------------------------------------------------------------------------


def test_the_export_holds_everything(
    qtbot: QtBot, page: ChatPage, show: Open, run: Any, tmp_path: Path
) -> None:
    conversation = FakeConversation(
        [[*model_call("r1", text("r1", "t", "Answer with ``` inside"),
                      call("r1", "o", "Bash", {"command": "ls"})),
          *result("r1", "o", "Bash", "a\n```\nb", exit=0),
          ev.CompactionFinished(compaction(1)), ev.RunFinished("r1", "completed")]],
        title="My: session",
    )  # fmt: skip
    vm = show(conversation)
    send(qtbot, page, "please list")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    written = run(export_text(conversation, vm.voice))
    for part in ("# My: session", "please list", "Answer with", "````\na\n```\nb\n````", "162k"):
        assert part in written
    told: list[tuple[str, str, str]] = []
    page.notified.connect(lambda *args: told.append(args))
    run(page.work.export_to(str(tmp_path / "x.md")))
    assert (tmp_path / "x.md").read_text("utf-8") == written
    run(page.work.export_to(str(tmp_path / "no" / "x.md")))
    assert [t[0] for t in told] == ["success", "danger"]


def test_export_asks_first_and_warns_of_secrets(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    show(FakeConversation())
    page.header.export.click()
    qtbot.waitUntil(lambda: dialog_of(page) is not None)
    dialog = dialog_of(page)
    assert dialog is not None
    assert "passwords or keys" in dialog.text.text()  # type: ignore[attr-defined]
    dialog.reject()
    qtbot.waitUntil(lambda: dialog_of(page) is None)


def test_fences_and_names() -> None:
    assert fence("a ```` b") == "`````\na ```` b\n`````"
    assert code("a`b") == "`` a`b ``"
    assert file_name('a/b: "c"?') == "a b c.md"
    assert file_name("...") == "session.md"


@pytest.mark.parametrize("percent", [100, 200])
def test_what_waits_for_approval_is_shown_whole_at_any_size_of_words(
    qtbot: QtBot,
    page: ChatPage,
    show: Open,
    theme: Theme,
    run: Any,
    tmp_path: Path,
    percent: int,
) -> None:
    """At 200 % the card was pressed flat: the page for an empty session, which nobody saw, kept
    its room."""
    for name in ("sales.csv", "notes.md", "more.md", "most.md"):
        (tmp_path / name).write_text("a,b\n")
    backend = LocalBackend(str(tmp_path))
    run(backend.start())
    theme.set_scale(percent)
    page.setFixedSize(830, 743)
    lines = "\n".join(f"echo {n}" for n in range(40))
    steps: list[Step] = [
        *model_call("r1", call("r1", "o", "Bash", {"command": lines})),
        ev.ApprovalRequested("r1", approval("o", "Bash", {"command": lines})),
        Park(),
        ev.RunFinished("r1", "completed"),
    ]
    show(FakeConversation([steps]), backend=backend)
    qtbot.waitUntil(lambda: len(page.empty.buttons) == 3)
    send(qtbot, page, "go")
    card = page.approval
    qtbot.waitUntil(card.isVisible)
    for begin in (lambda: None, card.edit.click):
        begin()
        qtbot.waitUntil(lambda: card.height() >= card.heightForWidth(card.width()))
        qtbot.waitUntil(lambda: card.deny.height() >= card.deny.sizeHint().height())
        shown = [w for w in card.findChildren(Label) if w.isVisible() and w.text()]
        assert len(shown) >= 5
        for label in shown:
            wanted = label.heightForWidth(label.width()) if label.wordWrap() else 0
            assert label.height() >= max(wanted, label.minimumSizeHint().height()), label.text()
        assert page.rect().contains(card.mapTo(page, card.rect().bottomRight()))
        assert page.composer.height() >= page.composer.minimumSizeHint().height()
    run(backend.close())


# -- beside the page ------------------------------------------------------------------------


def test_status_line_and_gauges(qtbot: QtBot, page: ChatPage, show: Open) -> None:
    vm = show(FakeConversation())
    status = ChatStatus()
    qtbot.addWidget(status)
    status.bind(vm, page.sources)
    assert status.workspace.text() == "Local · field-sales"
    assert status.model.text() == "GLM 4.6 · 200k"
    assert status.figures.text() == "86.1k / 200k · 43%"
    assert status.offer.text() == "Offers to compact at 58%"
    assert page.composer.share.text() == "43%"
    i18n.set_language("zh_CN")
    assert status.workspace.text() == "本地 · field-sales"
    status.bind(None, ChatSources())
    assert not status.gauge.isVisible()


def test_show_in_chat(qtbot: QtBot, page: ChatPage, show: Open, run: Any) -> None:
    steps = [*model_call("r1", call("r1", "op1", "Read", {"file_path": "a"})),
             *result("r1", "op1", "Read", "x"),
             ev.ContextChanged(breakdown(items=[item("result", "Read a", 12_300, "op1"),
                                                item("tools", "Bash", 900, "Bash")])),
             ev.RunFinished("r1", "completed")]  # fmt: skip
    vm = show(FakeConversation([steps]))
    inspector = Inspector()
    qtbot.addWidget(inspector)
    inspector.bind(vm, page.sources)
    inspector.show()
    shown: list[str] = []
    inspector.showRequested.connect(shown.append)
    inspector.showRequested.connect(page.show_row)
    send(qtbot, page, "read")
    panel = inspector.context
    qtbot.waitUntil(lambda: panel.xray.map.choose("result", "op1"))
    assert panel.xray.name.text() == "Read a"
    show_it = next(b for b in panel.xray.buttons if b.text() == "Show in chat")
    show_it.click()
    assert shown == ["o:op1"]
    assert panel.xray.map.choose("tools", "Bash")
    assert [b.text() for b in panel.xray.buttons] == ["Disable tool", "Show tools and skills"]
    run(inspector.close_tasks())


def test_examples_fit_the_folder() -> None:
    kinds = [kind for kind, _ in example_prompts(["sales.csv", "notes.md", "src/", ".git/"])]
    assert kinds == ["summarise_table", "summarise_text", "explore_folder"]
    assert len(example_prompts([])) == 3


def test_everything_is_said_in_chinese(
    qtbot: QtBot, page: ChatPage, show: Open, theme: Theme
) -> None:
    """No word of the chat stays English when the language changes while it is open."""
    conversation = approving("a")
    vm = show(conversation)
    send(qtbot, page, "1")
    qtbot.waitUntil(lambda: page.approval.isVisible())
    vm.queue("2")
    i18n.set_language("zh_CN")
    from PySide6.QtWidgets import QAbstractButton, QLabel

    known = {"field-sales", "GLM 4.6", "make all", "Returns", "make:*", "Esc"}
    chinese = re.compile("[\u4e00-\u9fff]")
    said = [w.text() for w in page.findChildren(QLabel) if not w.isHidden()]
    said += [w.text() for w in page.findChildren(QAbstractButton) if not w.isHidden()]
    english = [w for w in said if re.search(r"[A-Za-z]{3}", w) and not chinese.search(w)]
    english = [w for w in english if w not in known]
    assert english == []


def test_a_draft_is_there_again_after_a_restart(
    qtbot: QtBot, page: ChatPage, show: Open, run: Any, home: Path
) -> None:
    show(FakeConversation(title="one"))
    page.composer.edit.setFocus()
    qtbot.keyClicks(page.composer.edit, "unsent words")
    run(page.close_tasks())
    assert (home / "state" / "drafts.json").stat().st_mode & 0o077 == 0
    again = ChatPage()
    qtbot.addWidget(again)
    vm = ChatViewModel(TranscriptModel())
    again.bind(vm, ChatSources())
    with qtbot.waitSignal(vm.opened):
        vm.open(FakeConversation(title="one"))
    assert again.composer.text() == "unsent words"
    again.composer.set_content("", [])
    run(again.close_tasks())
    assert (home / "state" / "drafts.json").read_text() == "{}"
    again.drop(vm)
    run(vm.close())
    vm.deleteLater()


def test_damaged_drafts_are_left_alone(qtbot: QtBot, home: Path, run: Any, log_guard: Any) -> None:
    (home / "state").mkdir(parents=True)
    (home / "state" / "drafts.json").write_text("{broken")
    log_guard.expect("drafts cannot be read")
    page = ChatPage()
    qtbot.addWidget(page)
    key = FakeConversation().key
    from desktop_app.ui.chat.view_model import Draft

    page.drafts.put(key, Draft("kept in memory"))
    page.drafts.save()
    assert page.drafts.get(key).text == "kept in memory"
    assert (home / "state" / "drafts.json").read_text() == "{broken"
    run(page.close_tasks())
