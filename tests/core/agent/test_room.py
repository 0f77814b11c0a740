"""The window fills: results are bounded, the history is compacted, and it can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.fold import Folder
from desktop_app.core.errors import ContextError
from tests.helpers.filling import fill, long_session
from tests.helpers.sessions import KEY, collect, of


async def test_a_full_window_offers_then_compacts_and_goes_on(tmp_path: Path) -> None:
    b = long_session(tmp_path, 30)
    c = await b.open()
    events = await fill(c, 30)
    done = of(events, ev.CompactionFinished)
    assert done, "the danger mark was never reached"
    assert of(events, ev.CompactionOffered), "the alert mark is passed first"
    record = done[0].record
    assert record.after < record.before
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    breakdown = await c.breakdown()
    assert sum(breakdown.parts.values()) == breakdown.total
    assert breakdown.upper <= breakdown.limits.usable
    text = "".join(m.to_json() for m in b.model.requests[-1].messages)
    assert "Never delete page.txt." in text, "the person's rule survives word for word"
    await c.outbox.deliver()
    offload = b.folder / record.offload_path
    assert offload.read_text().count("\n") >= 1
    await c.close()

    again = await b.open()
    assert again.state.model_dump() == c.state.model_dump()
    assert [r.gen for r in await again.compactions()] == [record.gen]
    await again.close()
    await b.close()


async def test_undo_restores_the_exact_prompt_and_replays(tmp_path: Path) -> None:
    b = long_session(tmp_path, 10)
    c = await b.open()
    await fill(c, 4)
    before = [m.to_json() for m in c.engine.prompt().messages]
    events = await collect(c.compact())
    assert of(events, ev.CompactionFinished), [
        e for e in events if isinstance(e, ev.CompactionFailed)
    ]
    assert [m.to_json() for m in c.engine.prompt().messages] != before
    undone = await c.undo_compaction()
    assert isinstance(undone[0], ev.CompactionUndone)
    assert [m.to_json() for m in c.engine.prompt().messages] == before
    folder = Folder(KEY.session_id)
    folder.replay(await c.log.journal.read())
    assert folder.now.state.model_dump() == c.state.model_dump()
    while await c.compactions():
        await c.undo_compaction()
    with pytest.raises(ContextError, match=r"compaction\.none"):
        await c.undo_compaction()
    await c.close()
    await b.close()


async def test_a_failed_summary_by_hand_changes_nothing(tmp_path: Path) -> None:
    b = long_session(tmp_path, 6, fail_summary=True)
    c = await b.open()
    await fill(c, 3)
    before = c.state.model_dump()
    events = await collect(c.compact())
    assert of(events, ev.CompactionFailed)
    assert c.state.model_dump() == before
    assert await c.compactions() == []
    [entry] = await c.compaction_log()
    assert (entry.status, entry.trigger, entry.code) == ("failed", "manual", "compaction.failed")
    assert entry.params["reason"] == "model.unreachable"
    await c.close()
    await b.close()


async def test_what_failed_by_the_model_can_be_done_without_it(tmp_path: Path) -> None:
    b = long_session(tmp_path, 6, fail_summary=True)
    c = await b.open()
    await fill(c, 3)
    assert of(await collect(c.compact()), ev.CompactionFailed)
    finished = of(await collect(c.compact(notes=False)), ev.CompactionFinished)
    record = finished[0].record
    assert record.summariser is None
    assert record.after < record.before
    assert [r.status for r in await c.compaction_log()] == ["failed", "committed"]
    await c.close()
    await b.close()


async def test_at_the_danger_mark_the_ledger_alone_serves_when_the_model_fails(
    tmp_path: Path,
) -> None:
    b = long_session(tmp_path, 40, fail_summary=True)
    c = await b.open()
    events: list[ev.Event] = []
    for n in range(40):
        events += await collect(c.send(f"Read the page, time {n}."))
    assert of(events, ev.CompactionFinished)
    assert all(e.reason == "completed" for e in of(events, ev.RunFinished))
    for request in b.model.requests:
        assert request.purpose != "reply" or request.messages
    await c.close()
    await b.close()
