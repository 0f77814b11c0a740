"""A compaction drafted ahead: made while the person reads, used only while it still fits."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.policy import Policy
from desktop_app.core.errors import ContextError
from tests.helpers.filling import long_session
from tests.helpers.sessions import Bench, collect, of


async def to_the_alert_mark(b: Bench) -> tuple[SessionConversation, list[ev.Event]]:
    """A conversation over the alert mark, with what was heard of it."""
    c = await b.open()
    heard: list[ev.Event] = []
    c.listen(heard.append)
    for n in range(30):
        await collect(c.send(f"Read the page, time {n}."))
        if of(heard, ev.CompactionOffered):
            break
    assert not of(heard, ev.CompactionFinished)
    return c, heard


async def ready(c: SessionConversation) -> None:
    async with asyncio.timeout(20):
        while c.drafted is None:
            await asyncio.sleep(0)


async def test_a_draft_is_ready_when_the_danger_mark_comes(tmp_path: Path) -> None:
    b = long_session(tmp_path, 40, window=65_536)
    c, heard = await to_the_alert_mark(b)
    await ready(c)
    draft = c.drafted
    assert draft is not None
    assert of(heard, ev.DraftReady)[-1].proposal is draft
    asked = sum(r.purpose == "summary" for r in b.model.requests)
    for n in range(30):
        await collect(c.send(f"And once more, {n}."))
        if done := of(heard, ev.CompactionFinished):
            break
    assert done[0].record.id == draft.record.id, "the draft was used"
    assert done[0].record.trigger == "danger"
    assert sum(r.purpose == "summary" for r in b.model.requests) == asked, "nobody waited for notes"
    assert c.drafted is None
    await c.close()
    await b.close()


async def test_a_draft_is_thrown_away_when_it_does_not_fit_any_more(tmp_path: Path) -> None:
    b = long_session(tmp_path, 40, window=65_536)
    c, heard = await to_the_alert_mark(b)
    await ready(c)
    draft = c.drafted
    assert draft is not None
    await c.pin(c.state.context[0].id)
    assert c.drafted is None
    assert of(heard, ev.DraftDropped)[-1].code == "compaction.stale"
    with pytest.raises(ContextError, match=r"compaction\.stale"):
        await c.accept_compaction(draft)
    await c.close()
    await b.close()


async def test_one_who_only_wants_to_be_reminded_pays_for_no_draft(tmp_path: Path) -> None:
    b = long_session(tmp_path, 40, window=65_536)
    b.policy = Policy("remind", at_danger=False)
    c, heard = await to_the_alert_mark(b)
    last: list[ev.Event] = []
    for n in range(30):
        last = await collect(c.send(f"And once more, {n}."))
        if of(last, ev.RunFinished)[-1].reason == "error":
            break
    assert not of(heard, ev.DraftStarted)
    assert not of(heard, ev.CompactionFinished), "switched off means off"
    assert of(last, ev.RunFinished)[-1].code == "context.over_window"
    record = await c.accept_compaction(await c.propose_compaction())
    assert record.after < record.before
    assert of(await collect(c.go_on()), ev.RunFinished)[-1].reason == "completed"
    await c.close()
    await b.close()
