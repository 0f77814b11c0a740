"""A replay of the journal shows the same rows as the live run did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Decision, HistoryEntry
from desktop_app.core.ids import set_factories
from desktop_app.core.messages import Msg
from desktop_app.ui.chat.fold import Fold
from desktop_app.ui.chat.items import LIVE_CHARS, NoticeItem, TextItem, ToolItem, UserItem
from desktop_app.ui.chat.rows_from import Voice, row_from
from desktop_app.ui.transcript.rows import CompactionRow, HeaderRow, MarkdownRow, Row, ToolRow
from tests.helpers.conversation import (
    FakeConversation,
    Park,
    Step,
    approval,
    call,
    compaction,
    model_call,
    result,
    text,
    thinking,
)
from tests.helpers.rows import RowList

VOICE = Voice(agent="Analyst")


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    set_factories(clock=lambda: 1_800_000_000.0)
    yield
    set_factories()


def live_rows(conversation: FakeConversation, turns: int, batch: int = 1) -> list[Row]:
    """Play ``turns`` turns, applying changes every ``batch`` events as a view model would."""
    fold, rows = Fold(), RowList()

    def apply() -> None:
        for change in fold.take():
            if change.kind == "remove":
                rows.remove(change.id)
            elif change.kind == "extend":
                rows.extend_text(change.id, change.text)
            elif change.kind == "append":
                rows.append(row_from(fold.items[change.id], VOICE))
            else:
                rows.update(row_from(fold.items[change.id], VOICE))

    async def play() -> None:
        n = 0
        for i in range(turns):
            async for event in conversation.send(f"message {i}"):
                fold.event(event)
                n += 1
                if n % batch == 0:
                    apply()
            while conversation.pending is not None:
                reply = conversation.pending.reply_id
                decisions = [Decision(a.op_id, True) for a in conversation.pending.approvals]
                async for event in conversation.decide(reply, decisions):
                    fold.event(event)
                    apply()
        apply()

    with pytest.raises(StopIteration):  # nothing here waits: no loop is needed
        play().send(None)
    return [row for row in rows.list() if not row.id.startswith("x:")]


def replayed(conversation: FakeConversation) -> list[Row]:
    fold = Fold()
    for entry in conversation.records:
        fold.entry(entry)
    fold.settle((), running=False)
    return [row_from(item, VOICE) for item in fold.items.values()]


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12)
pieces = st.lists(words, min_size=1, max_size=4)
RESULTS: list[dict[str, Any]] = [
    {"output": "ok", "exit": 0},
    {"output": "boom", "state": "error", "exit": 2, "seconds": 3.8},
    {"output": "", "state": "denied"},
    {"output": "cut", "state": "interrupted"},
    {"output": "x" * 50, "offloaded": "sessions/s1/tool_result-1.txt", "whole_bytes": 1_900_000},
    {"output": "1\ta\n", "live": ("1", "\ta\n"), "first_line": 1, "last_line": 400,
     "total_lines": 48_212},
]  # fmt: skip


@st.composite
def turn(draw: st.DrawFn, n: int) -> list[Step]:
    reply = f"r{n}"
    steps: list[Step] = [ev.RunStarted(reply)]
    for k in range(draw(st.integers(1, 3))):
        blocks: list[list[Step]] = []
        results: list[list[Step]] = []
        if draw(st.booleans()):
            blocks.append(thinking(reply, f"{reply}-{k}-th", *draw(pieces)))
        if draw(st.booleans()):
            blocks.append(text(reply, f"{reply}-{k}-t", *draw(pieces)))
        for c in range(draw(st.integers(0, 2))):
            op = f"{reply}:{k}:{c}"
            name = draw(st.sampled_from(["Bash", "Read", "Write", "mcp__x"]))
            args = draw(
                st.sampled_from([{"command": "ls -la"}, {"file_path": "a/b.txt"}, '{"cut": "sh'])
            )
            blocks.append(call(reply, op, name, args))
            if isinstance(args, dict) and draw(st.booleans()):
                asked = ev.ApprovalRequested(reply, approval(op, name, args))
                results.append([asked, Park()])
            results.append(result(reply, op, name, **draw(st.sampled_from(RESULTS))))
        steps += model_call(reply, *blocks, n=k + 1)
        steps += [step for part in results for step in part]
        if draw(st.integers(0, 9)) == 0:
            steps.append(ev.CompactionStarted("alert", 162_000))
            steps.append(ev.CompactionFinished(compaction(n * 10 + k)))
    reason = draw(st.sampled_from(["completed", "interrupted", "error", "exceed_max_iters"]))
    params = {"model": "glm-4.6"} if reason == "error" else {}
    code = "model.unreachable" if reason == "error" else None
    steps.append(ev.RunFinished(reply, reason, code, params))
    return steps


@st.composite
def session(draw: st.DrawFn) -> list[list[Step]]:
    return [draw(turn(n)) for n in range(draw(st.integers(1, 3)))]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(session(), st.integers(1, 9))
def test_replay_gives_the_rows_of_the_live_run(turns: list[list[Step]], batch: int) -> None:
    conversation = FakeConversation(turns)
    shown = live_rows(conversation, len(turns), batch)
    assert shown == replayed(conversation)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(session(), st.integers(1, 30))
def test_a_history_loaded_in_pieces_is_the_same_history(turns: list[list[Step]], size: int) -> None:
    conversation = FakeConversation(turns)
    live_rows(conversation, len(turns))
    whole = replayed(conversation)
    records = conversation.records
    fold, rows = Fold(), RowList()
    for entry in records[-size:]:
        fold.entry(entry)
    fold.settle((), running=False)
    for item in fold.items.values():
        rows.append(row_from(item, VOICE))
    fold.take()
    end = len(records) - size
    while end > 0:
        older = Fold()
        for entry in [*records[max(0, end - size) : end], *fold.orphans]:
            older.entry(entry)
        older.settle((), running=False)
        items = fold.prepend(older)
        for change in fold.take():
            assert change.kind == "remove"
            rows.remove(change.id)
        rows.prepend([row_from(item, VOICE) for item in items])
        end -= size
    assert {r.id for r in rows.list()} == {r.id for r in whole}
    assert [r.id for r in rows.list()] == [r.id for r in whole]
    tools = [r for r in whole if isinstance(r, ToolRow | MarkdownRow | HeaderRow)]
    assert [r for r in rows.list() if isinstance(r, ToolRow | MarkdownRow | HeaderRow)] == tools


def test_many_deltas_of_a_batch_are_one_change() -> None:
    fold = Fold()
    fold.event(ev.TextDelta("r", "b", "Hello"))
    assert [c.kind for c in fold.take()] == ["append", "append"]  # head and text
    for _ in range(200):
        fold.event(ev.TextDelta("r", "b", " world"))
    changes = fold.take()
    assert [(c.kind, c.text) for c in changes] == [("extend", " world" * 200)]
    fold.event(ev.TextDelta("r", "b", "!"))
    fold.event(ev.BlockFinished("r", "b"))
    assert [c.kind for c in fold.take()] == ["update"]


def test_live_output_is_bounded() -> None:
    fold = Fold()
    fold.event(ev.ToolCallStarted("r", "o", "c", "Bash"))
    for i in range(3000):
        fold.event(ev.ToolOutput("r", "o", "stdout", f"line {i:06}\n"))
    item = fold.items["o:o"]
    assert isinstance(item, ToolItem)
    assert len(item.output) == LIVE_CHARS
    assert item.output.endswith("line 002999\n")
    assert item.dropped == 3000 * 12 - LIVE_CHARS


def test_a_stopped_answer_is_marked_where_it_stopped() -> None:
    fold = Fold()
    fold.event(ev.TextDelta("r", "a", "First"))
    fold.event(ev.BlockFinished("r", "a"))
    fold.event(ev.TextDelta("r", "b", "Second, cut he"))
    fold.event(ev.RunFinished("r", "interrupted"))
    first, second = fold.items["t:a"], fold.items["t:b"]
    assert isinstance(first, TextItem)
    assert isinstance(second, TextItem)
    assert (first.stopped, second.stopped, second.growing) == (False, True, False)


def test_a_card_of_an_error_goes_when_the_turn_goes_on_and_is_disarmed_by_a_new_message() -> None:
    fold = Fold()
    fold.event(ev.RunFinished("r", "error", "model.unreachable", {}))
    assert isinstance(fold.items["e:r"], NoticeItem)
    fold.event(ev.RunStarted("r", resumed=True))
    assert "e:r" not in fold.items
    fold.event(ev.RunFinished("r", "error", "model.unreachable", {}))
    fold.event(ev.UserMessage(Msg.user("another")))
    card = fold.items["e:r"]
    assert isinstance(card, NoticeItem)
    assert card.actions == ()


def test_a_damaged_record_is_a_card_and_the_rest_is_shown() -> None:
    fold = Fold()
    fold.entry(HistoryEntry(1, "user.message", 1, b'{"msg": {"id": "m", "content": "hi"}}'))
    fold.entry(HistoryEntry(2, "assistant.message", 1, b'{"blocks": [{"ty'))
    fold.entry(HistoryEntry(3, "user.message", 1, b'{"msg": {"id": "n", "content": "ho"}}'))
    assert list(fold.items) == ["u:m", "b:2", "u:n"]


def test_undo_moves_to_the_compaction_before() -> None:
    fold = Fold()
    fold.event(ev.CompactionFinished(compaction(1)))
    fold.event(ev.CompactionFinished(compaction(2)))
    fold.event(ev.CompactionUndone(2))
    rows = [row_from(item, VOICE) for item in fold.items.values()]
    assert all(isinstance(row, CompactionRow) for row in rows)
    assert [[a.id for a in row.actions] for row in rows if isinstance(row, CompactionRow)] == [
        ["view_summary", "undo_compaction"],
        [],
    ]


def test_a_row_that_goes_and_comes_again_in_one_batch() -> None:
    fold = Fold()
    fold.event(ev.CompactionStarted("alert", 1000))
    assert [c.kind for c in fold.take()] == ["append"]
    fold.event(ev.CompactionFailed("alert", "context.summary_empty"))
    fold.event(ev.CompactionStarted("danger", 1000))
    changes = [(c.kind, c.id) for c in fold.take()]
    assert changes == [("remove", "x:compaction"), ("append", "x:compaction")]


def test_a_call_whose_outcome_a_kill_took_says_so() -> None:
    """As recovery writes it: an error for the model, for the person an outcome that is unknown."""
    block = {"type": "tool_call", "id": "c1", "name": "Bash", "input": "{}", "op_id": "o1"}
    lost = {
        "id": "c1",
        "name": "Bash",
        "state": "error",
        "output": "<system-reminder>Look.</system-reminder>",
        "metadata": {"slipway": {"op_id": "o1", "code": "tool.outcome_unknown"}},
    }
    records: list[tuple[str, dict[str, Any]]] = [
        ("assistant.message", {"reply_id": "r1", "blocks": [block], "ops": ["o1"]}),
        ("tool.result", {"reply_id": "r1", "op_id": "o1", "block": lost, "seconds": 0}),
        ("recovered", {"ops": [{"op_id": "o1", "tool": "Bash", "outcome": "unknown"}]}),
    ]
    fold = Fold()
    for seq, (kind, body) in enumerate(records, 1):
        fold.entry(HistoryEntry(seq, kind, 0, json.dumps(body).encode()))
    row = row_from(fold.items["o:o1"], VOICE)
    assert isinstance(row, ToolRow)
    assert row.status == "unknown"
    notice = fold.items["r:3"]
    assert isinstance(notice, NoticeItem)
    assert notice.params == {"n": 1, "unknown": 1}


def test_a_call_in_a_session_that_another_window_writes_runs_there() -> None:
    block = {"type": "tool_call", "id": "c1", "name": "Bash", "input": '{"command": "make"}'}
    made = [
        ("user.message", {"msg": {"id": "u", "content": "hi"}}),
        ("assistant.message", {"reply_id": "r", "blocks": [block], "ops": ["o1"]}),
    ]
    entries = [
        HistoryEntry(seq, kind, 0, json.dumps(body).encode())
        for seq, (kind, body) in enumerate(made, 1)
    ]
    opened = Fold()
    for entry in entries:
        opened.entry(entry)
    opened.settle((), running=False, elsewhere=True)
    followed = Fold()
    followed.event(ev.Notice("followed", {"entries": entries, "asked": frozenset()}))
    for fold in (opened, followed):
        item = fold.items["o:o1"]
        assert isinstance(item, ToolItem)
        assert item.status == "running"
        fold.event(ev.Notice("followed", {"entries": [], "asked": frozenset({"o1"})}))
        assert item.status == "waiting", "for an answer in the other window"
        fold.event(ev.Notice("followed", {"entries": [], "asked": frozenset()}))
        assert item.status == "running"


def test_a_file_that_came_with_a_message_has_its_own_name() -> None:
    kept = f".slipway/data/{'ab' * 32}.csv"
    notes = [
        "<attachment name='notes.md' path='docs/notes.md'/>",
        f"<attachment name=\"it's.csv\" path='{kept}'/>",
    ]
    blocks = [{"type": "text", "text": "Look"}]
    blocks += [{"type": "text", "text": note, "slipway": "attachment"} for note in notes]
    body = {"msg": {"id": "u", "content": blocks}}
    fold = Fold()
    fold.entry(HistoryEntry(1, "user.message", 1, json.dumps(body).encode()))
    item = fold.items["u:u"]
    assert isinstance(item, UserItem)
    assert item.attachments == ("docs/notes.md", "it's.csv")


def test_what_a_branch_carried_keeps_its_time() -> None:
    then, now = "2026-03-01T09:30:00.000000", 1_800_000_000_000_000
    block = {"type": "text", "id": "t", "text": "Yes.", "created_at": then}
    made = [
        ("user.message", {"msg": {"id": "u", "content": "Hi", "created_at": then}}),
        ("assistant.message", {"reply_id": "r", "blocks": [block], "ops": []}),
        ("user.message", {"msg": {"id": "v", "content": "New"}}),
    ]
    fold = Fold()
    for seq, (kind, body) in enumerate(made, 1):
        fold.entry(HistoryEntry(seq, kind, now, json.dumps(body).encode()))
    times = [getattr(fold.items[i], "ts_us", 0) for i in ("u:u", "h:r", "u:v")]
    said = round(datetime.fromisoformat(then).timestamp() * 1_000_000)
    assert times == [said, said, now]
