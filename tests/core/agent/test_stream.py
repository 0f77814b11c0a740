"""A run and the one who follows it, whenever it is stopped."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.stream import RunStream
from desktop_app.core.tasks import Tasks
from tests.helpers.sessions import collect

SAVED = ev.Saved(1, 1)


@pytest.fixture
def stream() -> RunStream:
    failed: list[Any] = []
    return RunStream(Tasks(lambda *error: failed.append(error)))


@pytest.mark.parametrize("turns", range(4))
async def test_who_follows_a_run_that_is_stopped_hears_its_end(
    stream: RunStream, turns: int
) -> None:
    """Also where it was stopped before its first step."""

    async def work() -> None:
        stream.emit(SAVED)
        await asyncio.sleep(3600)

    following = asyncio.ensure_future(collect(stream.start(work, "work")))
    for _ in range(turns):
        await asyncio.sleep(0)
    await stream.stop()
    done, _ = await asyncio.wait([following], timeout=20)
    assert done
    assert not stream.running

    async def again() -> None:
        stream.emit(SAVED)

    assert await collect(stream.start(again, "again")) == [SAVED]
