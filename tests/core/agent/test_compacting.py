"""Compactions in a person's hands: proposed, looked at, accepted, taken back, branched from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.fold import Folder
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.marks import CompactionSettings
from desktop_app.core.errors import ContextError, SessionError
from desktop_app.core.messages import Msg
from tests.helpers.filling import fill, long_session
from tests.helpers.sessions import KEY, Bench, collect, of


def prompt(c) -> list[str]:  # type: ignore[no-untyped-def]
    """What a model reads; metadata is not sent."""
    return [_sent(m) for m in c.engine.prompt().messages]


def _sent(msg: Msg) -> str:
    blocks = [b.model_dump(exclude={"metadata"}) for b in msg.content]
    return json.dumps([msg.role, blocks])


async def replayed(c) -> bool:  # type: ignore[no-untyped-def]
    folder = Folder(KEY.session_id)
    folder.replay(await c.log.journal.read())
    same = folder.now.state.model_dump() == c.state.model_dump()
    return same and folder.now.log == c.log.now.log


@pytest.fixture
async def bench(tmp_path: Path):  # type: ignore[no-untyped-def]
    b = long_session(tmp_path, 20, window=131_072)  # no turn compacts by itself
    b.policy = Policy("remind")
    yield b
    await b.close()


async def test_a_proposal_changes_nothing_and_is_done_when_accepted(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 4)
    before, head = prompt(c), c.log.now.head
    proposal = await c.propose_compaction()
    assert prompt(c) == before
    assert c.log.now.head == head
    assert {r.fate for r in proposal.rows} >= {"kept", "summarised"}
    assert any(i.kind == "constraint" for i in proposal.items)
    assert proposal.after.total < proposal.before.total
    heard: list[ev.Event] = []
    c.listen(heard.append)
    record = await c.accept_compaction(proposal)
    assert of(heard, ev.CompactionFinished)[0].record is record
    assert of(heard, ev.ContextChanged)[-1].breakdown.total == record.after
    assert [r.id for r in await c.compactions()] == [record.id]
    assert await replayed(c)
    await c.close()


async def test_what_came_after_the_proposal_stays_behind_it(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 3)
    proposal = await c.propose_compaction()
    await collect(c.send("And one thing more, never forget it."))
    record = await c.accept_compaction(proposal)
    text = "".join(prompt(c))
    assert "And one thing more, never forget it." in text
    assert "# Latest request" not in c.state.summary
    assert (await c.breakdown()).total == record.after, "measured again where the state grew"
    await c.undo_compaction()
    assert await replayed(c)
    await c.close()


async def test_a_stale_proposal_is_refused(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 4)
    one, two = await c.propose_compaction(), await c.propose_compaction()
    await c.accept_compaction(one)
    with pytest.raises(ContextError, match=r"compaction\.stale"):
        await c.accept_compaction(two)
    await c.undo_compaction()
    third = await c.propose_compaction()
    await c.pin(c.state.context[0].id)
    with pytest.raises(ContextError, match=r"compaction\.stale"):
        await c.accept_compaction(third)
    await c.close()


async def test_accepting_while_a_turn_runs_waits_for_the_next_call(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 4)
    proposal = await c.propose_compaction()
    events: list[ev.Event] = []
    accepted = None
    async for event in c.send("Once more, slowly."):
        events.append(event)
        if accepted is None and isinstance(event, ev.ModelCallStarted):
            accepted = asyncio.ensure_future(c.accept_compaction(proposal))
    assert accepted is not None
    record = await accepted
    order = [type(e) for e in events if isinstance(e, ev.ModelCallStarted | ev.CompactionFinished)]
    assert order == [ev.ModelCallStarted, ev.CompactionFinished, ev.ModelCallStarted]
    assert [r.id for r in await c.compactions()] == [record.id]
    assert await replayed(c)
    await c.close()


async def test_undo_is_exact_and_what_came_since_follows(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 3)
    before = prompt(c)
    await c.accept_compaction(await c.propose_compaction())
    after = prompt(c)
    await collect(c.send("Since then."))
    since = prompt(c)[len(after) :]
    [undone, changed] = await c.undo_compaction()
    assert isinstance(undone, ev.CompactionUndone)
    assert isinstance(changed, ev.ContextChanged)
    assert prompt(c) == [*before, *since]
    assert await replayed(c)
    [entry] = await c.compaction_log()
    assert entry.status == "undone"
    await c.close()


async def test_compacting_again_with_a_focus(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 3)
    first = await c.accept_compaction(await c.propose_compaction())
    events = await collect(c.compact_again("the numbers"))
    [second] = await c.compactions()
    assert second.id != first.id
    assert second.choices == {"focus": "the numbers"}
    assert second.covered_ids == first.covered_ids
    assert of(events, ev.CompactionUndone)[0].id == first.id
    assert [r.status for r in await c.compaction_log()] == ["undone", "committed"]
    assert await replayed(c)
    await c.undo_compaction()
    assert await c.compactions() == []
    await c.close()


async def test_the_log_tells_everything_about_one(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 4)
    left_before = [m.id for m in c.state.context]
    proposal = await c.propose_compaction()
    record = await c.accept_compaction(proposal)
    await c.close()
    c = await bench.open()
    detail = await c.compaction_detail(record.id)
    assert [m.id for m in detail.left] == [*record.covered_ids, *record.covered_blocks]
    assert {m.id for m in detail.left} <= set(left_before)
    assert detail.rows == proposal.rows
    assert detail.items == proposal.items
    assert detail.summary_before == ""
    assert detail.summary_after == c.state.summary
    assert detail.record.trigger == "manual"
    assert detail.record.before > detail.record.after
    assert detail.record.seconds > 0
    with pytest.raises(SessionError, match=r"compaction\.unknown"):
        await c.compaction_detail("no such")
    await collect(c.send("Go on."))
    [entry] = await c.compactions()
    assert (await c.compaction_detail(record.id)).record.measured == entry.measured
    await c.close()


async def test_a_pinned_result_comes_through_whole(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 4)
    [result, *_] = [b for m in c.state.context for b in m.content if b.type == "tool_result"]
    shown = prompt(c)
    heard: list[ev.Event] = []
    c.listen(heard.append)
    await c.pin(result.id)
    assert of(heard, ev.PinChanged) == [ev.PinChanged(result.id, True)]
    assert prompt(c) == shown, "a pin alone changes no byte of the prompt"
    await c.accept_compaction(await c.propose_compaction())
    assert result.text() in c.state.summary
    assert await replayed(c)
    with pytest.raises(ContextError, match=r"context\.not_live"):
        await c.pin("nothing")
    await c.close()


async def test_one_result_is_offloaded_now_and_taken_back(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 2)
    before = prompt(c)
    [result, *_] = [b for m in c.state.context for b in m.content if b.type == "tool_result"]
    record = await c.offload_now(result.id)
    assert record.trigger == "item"
    assert record.after < record.before
    changed = [(a, b) for a, b in zip(before, prompt(c), strict=True) if a != b]
    assert len(changed) == 1, "all else is as it was"
    assert "the whole result is in .slipway/sessions/s1/tool_result-call-1.txt" in changed[0][1]
    await c.outbox.deliver()
    file = bench.folder / ".slipway/sessions/s1/tool_result-call-1.txt"
    assert file.read_text() == (await c.whole_result(result.id))
    assert file.read_text().count("\n") >= 899, "all of it, not what the model saw"
    with pytest.raises(ContextError, match=r"context\.nothing_to_offload"):
        await c.offload_now(result.id)
    await c.undo_compaction()
    assert prompt(c) == before
    assert await replayed(c)
    await c.close()


async def test_a_branch_from_before_a_compaction_is_the_former_conversation(
    bench: Bench,
) -> None:
    c = await bench.open()
    record = None
    with pytest.raises(SessionError, match=r"compaction\.unknown"):
        await c.fork_before_compaction("none")
    await fill(c, 3)
    record = await c.accept_compaction(await c.propose_compaction())
    with pytest.raises(SessionError, match=r"session\.no_fork"):
        await c.fork_before_compaction(record.id)
    await c.close()


async def test_what_left_is_pinned_again_and_unpinned(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 4)
    first = c.state.context[0].id
    words = c.state.context[0].text()
    await c.accept_compaction(await c.propose_compaction())
    before = prompt(c)
    await c.pin(first)
    assert prompt(c)[: len(before)] == before, "what was sent stays as it is"
    assert words in prompt(c)[-1]
    await collect(c.send("Go on."))
    await c.accept_compaction(await c.propose_compaction())
    assert f"# Pinned by the person, written by: user\n{words}" in c.state.summary
    assert await replayed(c)
    await c.unpin(first)
    await collect(c.send("And on."))
    await c.accept_compaction(await c.propose_compaction())
    assert "# Pinned by the person" not in c.state.summary
    assert await replayed(c)
    await c.close()


async def test_changed_marks_reach_an_open_session(bench: Bench) -> None:
    c = await bench.open()
    await fill(c, 2)
    before = (await c.breakdown()).limits
    assert (before.window, before.alert) == (131_072, 0.65)
    marks = CompactionSettings(alert=0.5, window=65_536, reserve=1_000)
    bench.policy = Policy("remind", marks=marks)
    after = (await c.breakdown()).limits
    assert (after.window, after.reserve, after.alert) == (65_536, 1_000, 0.5)
    await c.close()
