"""Ending a task for certain."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from desktop_app.core.tasks import Tasks, cancelled, ending


async def test_a_task_that_missed_its_cancellation_is_cancelled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("desktop_app.core.tasks.CANCEL_SECONDS", 0.01)
    seen: list[bool] = []

    async def deaf() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        seen.append(ending())
        await asyncio.Event().wait()

    task = Tasks(lambda name, error: None).start(deaf(), name="deaf")
    await asyncio.sleep(0)
    await cancelled(task)
    assert (task.cancelled(), seen, ending()) == (True, [True], False)
