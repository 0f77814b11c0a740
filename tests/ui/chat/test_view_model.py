"""What a person can do in a conversation, without any widget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core import events as ev
from desktop_app.core.errors import ModelError, SessionError
from desktop_app.core.ids import new_id
from desktop_app.ui import i18n
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.rows import MarkdownRow, NoticeRow, ToolRow, UserRow
from desktop_app.ui.transcript.toolcard import status_word
from tests.helpers.conversation import (
    FakeConversation,
    Gate,
    Park,
    approval,
    breakdown,
    call,
    compaction,
    model_call,
    result,
    text,
)
from tests.helpers.rows import RowList

Make = Callable[[FakeConversation], ChatViewModel]


@pytest.fixture
def opened(qtbot: QtBot, run: Any) -> Iterator[Make]:
    made: list[ChatViewModel] = []

    def make(conversation: FakeConversation) -> ChatViewModel:
        vm = ChatViewModel(RowList(), Voice(agent="Analyst"))
        made.append(vm)
        with qtbot.waitSignal(vm.opened):
            vm.open(conversation)
        return vm

    yield make
    for vm in made:
        run(vm.close())
        vm.deleteLater()


def rows(vm: ChatViewModel) -> RowList:
    assert isinstance(vm.rows, RowList)
    return vm.rows


def kinds(vm: ChatViewModel) -> list[str]:
    return [type(row).__name__ for row in rows(vm).list()]


def test_a_message_appears_at_once_and_its_answer_streams(qtbot: QtBot, opened: Make) -> None:
    gate = Gate()
    vm = opened(
        FakeConversation([[gate, *model_call("r1", text("r1", "t", "Hel", "lo")),
                           ev.RunFinished("r1", "completed")]])
    )  # fmt: skip
    vm.send("Say hello")
    assert [r.text for r in rows(vm).list() if isinstance(r, UserRow)] == ["Say hello"]
    assert vm.activity == "running"
    gate.open()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert kinds(vm) == ["UserRow", "HeaderRow", "MarkdownRow"]
    answer = rows(vm).by_id["t:t"]
    assert isinstance(answer, MarkdownRow)
    assert (answer.text, answer.growing) == ("Hello", False)


def test_a_flood_of_deltas_is_a_few_batches(qtbot: QtBot, opened: Make) -> None:
    steps = [*model_call("r1", text("r1", "t", *(["word "] * 2000))),
             ev.RunFinished("r1", "completed")]  # fmt: skip
    vm = opened(FakeConversation([steps]))
    vm.send("write")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert rows(vm).changes < 200
    row = rows(vm).by_id["t:t"]
    assert isinstance(row, MarkdownRow)
    assert row.text == "word " * 2000


def test_stop_keeps_what_was_written(qtbot: QtBot, opened: Make) -> None:
    gate = Gate()
    conversation = FakeConversation([[ev.TextDelta("r1", "t", "Half an ans"), gate]])
    vm = opened(conversation)
    vm.send("write")
    qtbot.waitUntil(lambda: gate.reached.is_set() and "t:t" in rows(vm).by_id)
    vm.stop()
    assert vm.stopping
    qtbot.waitUntil(lambda: vm.activity == "idle")
    row = rows(vm).by_id["t:t"]
    assert isinstance(row, MarkdownRow)
    assert (row.text, row.stopped) == ("Half an ans", True)
    notice = rows(vm).list()[-1]
    assert isinstance(notice, NoticeRow)
    assert [a.label for a in notice.actions] == ["Continue"]
    assert conversation.closed_runs == 1


def test_a_message_during_a_run_is_queued_edited_and_sent_when_it_ends(
    qtbot: QtBot, opened: Make
) -> None:
    gate = Gate()
    conversation = FakeConversation([[gate, ev.RunFinished("r1", "completed")]])
    vm = opened(conversation)
    vm.send("first")
    vm.send("second")
    vm.send("and third")
    assert vm.queued is not None
    assert vm.queued.text == "second\n\nand third"
    taken = vm.take_queued()
    assert taken is not None
    assert vm.queued is None
    vm.queue("second, better")
    gate.open()
    qtbot.waitUntil(lambda: len(conversation.sent) == 2 and vm.activity == "idle")
    assert conversation.sent[1][0] == "second, better"


@pytest.mark.parametrize("reason", ["interrupted", "error"])
def test_a_queued_message_waits_when_the_run_did_not_end_well(
    qtbot: QtBot, opened: Make, reason: Any
) -> None:
    gate = Gate()
    code = "model.unreachable" if reason == "error" else None
    conversation = FakeConversation([[gate, ev.RunFinished("r1", reason, code)]])
    vm = opened(conversation)
    vm.send("first")
    vm.queue("second")
    gate.open()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert len(conversation.sent) == 1
    assert vm.queued is not None
    vm.send_queued()
    qtbot.waitUntil(lambda: len(conversation.sent) == 2 and vm.activity == "idle")


def parked(*ops: str) -> FakeConversation:
    """A run that asks for each of ``ops`` and parks."""
    args = {"command": "rm old.txt"}
    calls = [call("r1", op, "Bash", args) for op in ops]
    asked = [ev.ApprovalRequested("r1", approval(op, "Bash", args)) for op in ops]
    done = [step for op in ops for step in result("r1", op, "Bash", "done", exit=0)]
    return FakeConversation(
        [[*model_call("r1", *calls), *asked, Park(), *done, ev.RunFinished("r1", "completed")]]
    )


def test_approvals_are_answered_one_by_one(qtbot: QtBot, opened: Make) -> None:
    conversation = parked("a", "b")
    vm = opened(conversation)
    vm.send("clean up")
    qtbot.waitUntil(lambda: vm.activity == "parked")
    assert [a.op_id for a in vm.approvals] == ["a", "b"]
    row = rows(vm).by_id["o:a"]
    assert isinstance(row, ToolRow)
    assert row.status == "waiting"
    vm.decide("a", allowed=True, arguments={"command": "rm -i old.txt"})
    assert [a.op_id for a in vm.approvals] == ["b"]
    vm.decide("b", allowed=True, always=True)
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert [(d.op_id, d.allowed, d.always) for d in conversation.decided] == [
        ("a", True, False),
        ("b", True, True),
    ]
    row = rows(vm).by_id["o:a"]
    assert isinstance(row, ToolRow)
    assert (row.status, row.summary) == ("success", "rm -i old.txt")


def test_stop_gives_up_what_waits(qtbot: QtBot, opened: Make) -> None:
    conversation = parked("a")
    vm = opened(conversation)
    vm.send("clean up")
    qtbot.waitUntil(lambda: vm.activity == "parked")
    vm.stop()
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert conversation.calls == ["interrupt"]
    assert vm.approvals == []


def test_a_question_is_answered(qtbot: QtBot, opened: Make) -> None:
    questions = [{"question": "Which?", "header": "Which", "options": [{"label": "A"}]}]
    conversation = FakeConversation(
        [[*model_call("r1", call("r1", "q", "AskUser", {"questions": questions})),
          ev.QuestionAsked("r1", "q", questions), Park(),
          *result("r1", "q", "AskUser", "A"), ev.RunFinished("r1", "completed")]]
    )  # fmt: skip
    vm = opened(conversation)
    vm.send("choose")
    qtbot.waitUntil(lambda: vm.activity == "parked")
    assert [q.op_id for q in vm.questions] == ["q"]
    vm.answer("q", {"answers": [{"question": "Which?", "selected": ["A"]}]})
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert conversation.answered == [{"answers": [{"question": "Which?", "selected": ["A"]}]}]
    assert vm.questions == []


def test_reopening_a_parked_session_asks_again(qtbot: QtBot, opened: Make) -> None:
    conversation = parked("a")
    vm = opened(conversation)
    vm.send("clean up")
    qtbot.waitUntil(lambda: vm.activity == "parked")
    again = opened(conversation)
    assert [a.op_id for a in again.approvals] == ["a"]
    row = rows(again).by_id["o:a"]
    assert isinstance(row, ToolRow)
    assert row.status == "waiting"


def test_an_error_of_the_run_is_a_card_with_a_way_on(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation(
        [[ev.RunFinished("r1", "error", "model.unreachable", {"model": "glm-4.6"})]]
    )
    vm = opened(conversation)
    vm.send("hello")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    card = rows(vm).list()[-1]
    assert isinstance(card, NoticeRow)
    assert card.tone == "danger"
    assert [a.id for a in card.actions] == ["retry"]
    vm.retry()
    qtbot.waitUntil(lambda: vm.activity == "idle" and "t:again" in rows(vm).by_id)
    assert not any(isinstance(r, NoticeRow) for r in rows(vm).list())


def test_a_newer_message_takes_the_buttons_of_an_older_card(qtbot: QtBot, opened: Make) -> None:
    failed = [ev.RunFinished("r1", "error", "model.no_credit", {"model": "glm-4.6"})]
    vm = opened(FakeConversation([failed, [ev.RunFinished("r2", "completed")]]))
    vm.send("hello")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    vm.send("something else")
    qtbot.waitUntil(lambda: vm.activity == "idle" and len(rows(vm).list()) == 3)
    card = rows(vm).list()[1]
    assert isinstance(card, NoticeRow)
    assert card.actions == (), "it would go on with the newer message"


def test_a_call_that_was_cut_while_it_was_written_did_nothing(qtbot: QtBot, opened: Make) -> None:
    script = [
        ev.ModelCallStarted("r1", "glm-4.6", 1, 1),
        ev.ToolCallStarted("r1", "half", "c1", "Write"),
        ev.ToolCallDelta("r1", "half", '{"file_path": "a'),
        ev.RunFinished("r1", "error", "model.cut", {"model": "glm-4.6"}),
    ]
    vm = opened(FakeConversation([script]))
    vm.send("write it")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    row = rows(vm).by_id["o:half"]
    assert isinstance(row, ToolRow)
    assert row.status == "cut"
    assert status_word(row.status) == "Not run"


def test_a_message_that_could_not_be_sent_comes_back(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation()
    conversation.fail_next = SessionError("disk.full", path="/data")
    vm = opened(conversation)
    with qtbot.waitSignal(vm.sendFailed) as failed:
        vm.send("precious words")
    assert failed.args == ["precious words", ()]
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert kinds(vm) == ["NoticeRow"]


def test_an_error_in_the_middle_keeps_what_came(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation(
        [[ev.TextDelta("r1", "t", "So far"), ModelError("model.failed", model="x")]]
    )
    vm = opened(conversation)
    vm.send("go")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert kinds(vm) == ["UserRow", "HeaderRow", "MarkdownRow", "NoticeRow"]


def test_a_defect_is_told_and_the_conversation_lives_on(
    qtbot: QtBot, opened: Make, log_guard: Any
) -> None:
    log_guard.expect("chat task run failed")
    conversation = FakeConversation([[ValueError("a defect")]])
    vm = opened(conversation)
    vm.send("go")
    qtbot.waitUntil(lambda: vm.activity == "idle" and "x:error" in rows(vm).by_id)
    vm.send("again")
    qtbot.waitUntil(lambda: vm.activity == "idle" and len(conversation.sent) == 2)
    assert "x:error" not in rows(vm).by_id


def test_compaction_is_offered_done_and_undone(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation(
        [[ev.CompactionOffered(breakdown(140_000)), ev.RunFinished("r1", "completed")]]
    )
    vm = opened(conversation)
    vm.send("much")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert vm.offered
    assert vm.breakdown is not None
    assert vm.breakdown.total == 140_000
    vm.compact()
    qtbot.waitUntil(lambda: vm.activity == "idle" and "c:1" in rows(vm).by_id)
    assert not vm.offered
    assert [c.gen for c in vm.compactions] == [1]
    vm.undo_compaction()
    qtbot.waitUntil(lambda: vm.compactions == [])
    assert vm.points[-2:] == [39_000, 140_000]


def test_a_failed_compaction_says_so_and_nothing_else_changes(qtbot: QtBot, opened: Make) -> None:
    steps = [ev.CompactionStarted("alert", 140_000),
             ev.CompactionFailed("alert", "context.summary_empty"),
             ev.RunFinished("r1", "completed")]  # fmt: skip
    vm = opened(FakeConversation([steps]))
    vm.send("go")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    assert kinds(vm) == ["UserRow", "NoticeRow"]
    assert not vm.compacting
    assert vm.compactions == []


def test_older_history_comes_in_front(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation()
    for i in range(400):
        msg = {"id": f"m{i}", "content": f"message {i}"}
        conversation.record("user.message", {"msg": msg, "reply_id": f"r{i}"})
    vm = opened(conversation)
    assert not vm.at_start
    while not vm.at_start:
        before = len(rows(vm).by_id)
        vm.load_older()
        vm.load_older()  # a second request while one runs is no second page
        qtbot.waitUntil(lambda before=before: len(rows(vm).by_id) > before)
    assert [r.id for r in rows(vm).list()] == [f"u:m{i}" for i in range(400)]


def test_what_was_streaming_when_the_program_died_is_shown(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation()
    msg = {"id": "m", "content": "write"}
    conversation.record("user.message", {"msg": msg, "reply_id": "r"})
    conversation.draft_text = "Half of"
    vm = opened(conversation)
    assert kinds(vm) == ["UserRow", "MarkdownRow", "NoticeRow"]
    vm.retry()
    qtbot.waitUntil(lambda: vm.activity == "idle" and len(conversation.calls) == 1)
    assert "x:draft" not in rows(vm).by_id


def test_a_change_of_language_changes_every_row(qtbot: QtBot, opened: Make) -> None:
    conversation = FakeConversation(
        [[*model_call("r1", call("r1", "o", "Bash", {"command": "ls"})),
          *result("r1", "o", "Bash", "x", exit=0, seconds=3.8),
          ev.CompactionFinished(compaction(1)), ev.RunFinished("r1", "completed")]]
    )  # fmt: skip
    vm = opened(conversation)
    vm.send("go")
    qtbot.waitUntil(lambda: vm.activity == "idle")
    row = rows(vm).by_id["o:o"]
    assert isinstance(row, ToolRow)
    assert (row.name, row.note) == ("Shell", "exit 0 · 3.8 s")
    i18n.set_language("zh_CN")
    row = rows(vm).by_id["o:o"]
    assert isinstance(row, ToolRow)
    assert (row.name, row.note) == ("命令行", "退出码 0 · 3.8 秒")


def test_closing_while_a_run_is_under_way_stops_it(qtbot: QtBot, run: Any) -> None:
    gate = Gate()
    conversation = FakeConversation([[gate]])
    vm = ChatViewModel(RowList())
    with qtbot.waitSignal(vm.opened):
        vm.open(conversation)
    vm.send(new_id())
    qtbot.waitUntil(gate.reached.is_set)
    run(vm.close())
    assert conversation.calls == ["stop"]
    assert conversation.closed_runs == 1
    vm.deleteLater()
