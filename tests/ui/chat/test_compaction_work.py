"""Compaction from the chat page: preview and accept, undo with a way out, pins, sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core import events as ev
from desktop_app.core.context.types import Choices, Evidence, LedgerItem
from desktop_app.core.errors import ContextError
from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui.chat.compaction.detail import DetailDialog
from desktop_app.ui.chat.compaction.preview import PreviewDialog
from desktop_app.ui.chat.compaction_work import denied
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.tools.entries import ToolEntry
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.transcript.rows import CompactionRow, ToolRow, UserRow
from desktop_app.ui.widgets.dialogs import ConfirmDialog, TextPrompt
from tests.helpers.conversation import (
    FakeConversation,
    breakdown,
    call,
    compaction,
    model_call,
    result,
)
from tests.helpers.proposals import long_state, proposer


class Stage:
    def __init__(self, page: ChatPage, conversation: FakeConversation, vm: ChatViewModel) -> None:
        self.page, self.conversation, self.vm = page, conversation, vm

    def row(self, row_id: str) -> Any:
        rows = self.vm.rows
        assert isinstance(rows, TranscriptModel)
        return rows.get(row_id)

    def done(self) -> CompactionRow:
        """The row of a compaction that was done."""
        self.conversation.tell(ev.CompactionFinished(compaction(1)))
        self.conversation.made.append(compaction(1))
        return self.row("c:1")


@pytest.fixture
def stage(qtbot: QtBot, run: Any) -> Iterator[Stage]:
    steps = [
        *model_call("r1", call("r1", "op1", "Read", {"file_path": "a"})),
        *result("r1", "op1", "Read", "x" * 400),
        ev.CompactionOffered(breakdown(140_000)),
        ev.RunFinished("r1", "completed"),
    ]
    conversation = FakeConversation([steps])
    conversation.proposer = proposer(long_state())
    page = ChatPage()
    qtbot.addWidget(page)
    vm = ChatViewModel(TranscriptModel())
    vm.open(conversation)  # type: ignore[arg-type]
    page.bind(vm, ChatSources())
    page.show()
    qtbot.waitUntil(lambda: vm.ready)
    vm.send("read it")
    qtbot.waitUntil(lambda: vm.activity == "idle" and vm.offered)
    yield Stage(page, conversation, vm)
    run(page.compaction.close())
    page.bind(None, ChatSources())
    run(vm.close())


def test_the_offer_leads_to_a_preview_and_accepting_does_it(stage: Stage, qtbot: QtBot) -> None:
    page = stage.page
    assert not page.offer.isHidden()
    page.offer.preview.click()
    qtbot.waitUntil(lambda: isinstance(page.compaction.dialog, PreviewDialog))
    dialog = page.compaction.dialog
    assert isinstance(dialog, PreviewDialog)
    qtbot.waitUntil(dialog.go.isEnabled, timeout=8000)
    dialog.go.click()
    qtbot.waitUntil(lambda: [c.gen for c in stage.vm.compactions] == [1])
    assert stage.conversation.calls[-1] == "accept"
    assert page.offer.isHidden()
    row = stage.row("c:1")
    assert isinstance(row, CompactionRow)
    assert [a.id for a in row.actions] == ["view_summary", "undo_compaction"]


def test_not_now_changes_nothing(stage: Stage, qtbot: QtBot) -> None:
    stage.page.compaction.preview()
    qtbot.waitUntil(lambda: stage.page.compaction.dialog is not None)
    dialog = stage.page.compaction.dialog
    assert dialog is not None
    dialog.reject()
    qtbot.waitUntil(lambda: stage.page.compaction.dialog is None)
    assert "accept" not in stage.conversation.calls
    assert stage.vm.compactions == []


def test_the_bar_tells_of_the_draft(stage: Stage, qtbot: QtBot, run: Any) -> None:
    bar, conversation = stage.page.offer, stage.conversation
    assert bar.words.text().endswith("Task, constraints and pending items stay.")
    conversation.tell(ev.DraftStarted())
    qtbot.waitUntil(lambda: "is being prepared" in bar.words.text())
    assert conversation.proposer is not None
    conversation.drafted = run(conversation.proposer(Choices()))
    conversation.tell(ev.DraftReady(conversation.drafted))
    qtbot.waitUntil(lambda: "A proposal is ready: 45." in bar.words.text())
    conversation.tell(ev.DraftDropped("compaction.stale"))
    qtbot.waitUntil(lambda: "pending items stay" in bar.words.text())
    conversation.tell(ev.DraftDropped("compaction.failed", {"reason": "timeout"}))
    qtbot.waitUntil(lambda: "No proposal came about: The compaction failed" in bar.words.text())
    assert "cancel draft" not in conversation.calls
    conversation.tell(ev.DraftStarted())
    qtbot.waitUntil(lambda: stage.vm.drafting == "working")
    bar.later.click()
    assert bar.isHidden()
    assert conversation.calls[-1] == "cancel draft"


def test_an_undo_that_would_not_fit_offers_a_branch(stage: Stage, qtbot: QtBot) -> None:
    stage.done()
    qtbot.waitUntil(lambda: [c.gen for c in stage.vm.compactions] == [1])
    stage.conversation.undo_error = ContextError(
        "compaction.would_not_fit", tokens=190_000, usable=180_000
    )
    stage.conversation.fork = SessionKey("me", "analyst", "branch")
    opened: list[Any] = []
    stage.page.sessionRequested.connect(opened.append)
    stage.page.row_action("c:1", "undo_compaction")
    qtbot.waitUntil(lambda: stage.page.findChild(ConfirmDialog) is not None)
    dialog = stage.page.findChild(ConfirmDialog)
    assert dialog is not None
    assert "190k" in dialog.text.text()
    dialog.go.click()
    qtbot.waitUntil(lambda: opened == [SessionKey("me", "analyst", "branch")])
    assert stage.conversation.calls[-1] == "fork c-1"
    assert [c.gen for c in stage.vm.compactions] == [1]  # it still holds


def test_compact_again_asks_for_a_focus(stage: Stage, qtbot: QtBot) -> None:
    stage.done()
    qtbot.waitUntil(lambda: [c.gen for c in stage.vm.compactions] == [1])
    stage.page.row_action("c:1", "compact_again")
    qtbot.waitUntil(lambda: stage.page.findChild(TextPrompt) is not None)
    prompt = stage.page.findChild(TextPrompt)
    assert prompt is not None
    assert not prompt.go.isEnabled()
    prompt.field.edit.setText("the figures")
    prompt.go.click()
    qtbot.waitUntil(lambda: [c.gen for c in stage.vm.compactions] == [2])
    assert "again the figures" in stage.conversation.calls


def test_the_first_count_of_the_provider_corrects_the_row(stage: Stage, qtbot: QtBot) -> None:
    stage.done()
    qtbot.waitUntil(lambda: stage.row("c:1") is not None)
    stage.conversation.tell(ev.CompactionMeasured("c-1", 1, 41_200))
    qtbot.waitUntil(lambda: stage.row("c:1").title == "Compacted 162k to 41k tokens, measured")


def test_a_message_and_a_result_are_pinned_from_their_menu(stage: Stage, qtbot: QtBot) -> None:
    message = next(i for i in stage.vm.items() if i.id.startswith("u:"))
    row = stage.row(message.id)
    assert isinstance(row, UserRow)
    assert [a.id for a in row.more] == ["edit_again", "pin"]
    stage.page.row_action(message.id, "pin")
    qtbot.waitUntil(lambda: stage.row(message.id).badge == "Pinned")
    assert [a.id for a in stage.row(message.id).more] == ["edit_again", "unpin"]
    tool = stage.row("o:op1")
    assert isinstance(tool, ToolRow)
    assert [a.id for a in tool.more] == ["pin", "offload_now"]
    stage.page.row_action("o:op1", "offload_now")
    qtbot.waitUntil(lambda: stage.conversation.calls[-1] == "offload op1")
    stage.page.row_action(message.id, "unpin")
    qtbot.waitUntil(lambda: stage.row(message.id).badge == "")


def test_a_source_is_found_by_call_block_or_message(stage: Stage, qtbot: QtBot) -> None:
    found: list[tuple[str, str]] = []
    stage.vm.refFound.connect(lambda ref, row: found.append((ref, row)))
    for ref in ("op1", "call-op1", "nowhere"):
        stage.vm.find_ref(ref)
        qtbot.waitUntil(lambda ref=ref: bool(found) and found[-1][0] == ref)
    assert [row for _, row in found] == ["o:op1", "o:op1", ""]


def test_the_log_is_looked_at_from_the_inspector(stage: Stage, qtbot: QtBot) -> None:
    stage.done()
    qtbot.waitUntil(lambda: [c.gen for c in stage.vm.compactions] == [1])
    stage.page.compaction.view("c-1")
    qtbot.waitUntil(lambda: isinstance(stage.page.compaction.dialog, DetailDialog))
    dialog = stage.page.compaction.dialog
    assert isinstance(dialog, DetailDialog)
    for tab in ("rows", "before", "after", "difference", "ledger", "rejected"):
        dialog.show_tab(tab)
    dialog.show_tab("difference")
    qtbot.waitUntil(lambda: "old" in dialog.difference.toPlainText())
    dialog.reject()
    qtbot.waitUntil(lambda: stage.page.compaction.dialog is None)


def test_a_row_leads_to_what_the_ledger_took_from_it(stage: Stage, qtbot: QtBot) -> None:
    message = next(i for i in stage.vm.items() if i.id.startswith("u:"))
    assert "in_ledger" not in [a.id for a in stage.row(message.id).more]
    stage.done()
    qtbot.waitUntil(lambda: "in_ledger" in [a.id for a in stage.row(message.id).more])
    ref = message.id.removeprefix("u:")
    told: list[tuple[str, str, str]] = []
    stage.page.notified.connect(lambda *words: told.append(words))
    stage.page.row_action(message.id, "in_ledger")
    qtbot.waitUntil(lambda: [t[1] for t in told] == ["The ledger has nothing of it"])
    many = [LedgerItem(id=f"f{n}", kind="fact", text=f"Fact {n}.") for n in range(80)]
    mine = LedgerItem(
        id="c1", kind="user_msg", text="read it", evidence=[Evidence(ref=ref, quote="read it")]
    )
    stage.conversation.ledger = (*many, mine)
    stage.page.row_action(message.id, "in_ledger")
    qtbot.waitUntil(lambda: isinstance(stage.page.compaction.dialog, DetailDialog))
    dialog = stage.page.compaction.dialog
    assert isinstance(dialog, DetailDialog)
    assert dialog.tabs.value() == "ledger"
    assert dialog._marked == {"c1"}
    qtbot.waitUntil(lambda: "read it" in dialog.ledger.toPlainText())
    dialog.reject()
    stage.conversation.made.clear()
    stage.conversation.tell(ev.CompactionUndone(1))
    qtbot.waitUntil(lambda: "in_ledger" not in [a.id for a in stage.row(message.id).more])


def test_a_must_not_of_the_ledger_is_offered_as_a_rule(stage: Stage, qtbot: QtBot) -> None:
    async def tools() -> list[ToolEntry]:
        return [ToolEntry(name, "", 1) for name in ("Write", "Edit", "Bash")]

    stage.page.sources.tools = tools
    stage.page.compaction.preview()
    qtbot.waitUntil(
        lambda: (
            isinstance(d := stage.page.compaction.dialog, PreviewDialog) and d.proposal is not None
        )
    )
    dialog = stage.page.compaction.dialog
    assert isinstance(dialog, PreviewDialog)
    assert dialog.proposal is not None
    page = dialog.ledger.toHtml()
    assert page.count("rule:") == 1  # "keep names out of it" names nothing
    item = next(i for i in dialog.proposal.items if f"rule:{i.id}" in page)
    assert item.text == "Do not change the files in data/sales."
    dialog.ledger.followed.emit("rule", item.id)
    qtbot.waitUntil(lambda: dialog.findChild(ConfirmDialog) is not None)
    asked = dialog.findChild(ConfirmDialog)
    assert asked is not None
    asked.go.click()
    qtbot.waitUntil(lambda: {r.tool_name for r in denied(stage.vm)} == {"Write", "Edit"})
    qtbot.waitUntil(lambda: "rule:" not in dialog.ledger.toHtml())
    dialog.reject()


def test_a_pinned_must_not_is_offered_as_a_rule(stage: Stage, qtbot: QtBot) -> None:
    async def tools() -> list[ToolEntry]:
        return [ToolEntry(name, "", 1) for name in ("Write", "Edit", "Bash")]

    stage.page.sources.tools = tools
    stage.vm.send("Never change the files in data/sales/.")
    qtbot.waitUntil(lambda: stage.vm.activity == "idle")
    message = [i for i in stage.vm.items() if i.id.startswith("u:")][-1]
    stage.page.row_action(message.id, "pin")
    qtbot.waitUntil(lambda: stage.page.findChild(ConfirmDialog) is not None)
    dialog = stage.page.findChild(ConfirmDialog)
    assert dialog is not None
    assert "data/sales" in dialog.accessibleDescription()
    dialog.go.click()
    qtbot.waitUntil(lambda: bool(denied(stage.vm)))
    assert {r.tool_name for r in denied(stage.vm)} == {"Write", "Edit"}
    stage.page.row_action(message.id, "pin")  # nothing more to offer
    qtbot.waitUntil(lambda: len(stage.page.compaction._tasks) == 0)
    assert len(denied(stage.vm)) == 2


def test_missing_notes_are_asked_for_again_without_a_focus(stage: Stage, qtbot: QtBot) -> None:
    failed = compaction(1, rejected=[("summary", "compaction.failed")])
    stage.conversation.tell(ev.CompactionFinished(failed))
    stage.conversation.made.append(failed)
    qtbot.waitUntil(lambda: [c.gen for c in stage.vm.compactions] == [1])
    stage.page.row_action("c:1", "compact_again")
    qtbot.waitUntil(lambda: bool(stage.page.findChildren(TextPrompt)))
    [prompt] = stage.page.findChildren(TextPrompt)
    assert prompt.go.isEnabled()
    prompt.go.click()
    qtbot.waitUntil(lambda: "again " in stage.conversation.calls)
