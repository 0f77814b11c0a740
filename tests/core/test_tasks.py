"""Ending a task for certain, and work that recurs while a block goes on."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from desktop_app.core.tasks import Recurring, Tasks, cancelled, ending


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


async def test_recurring_work_ends_with_its_block() -> None:
    done, twice = 0, asyncio.Event()

    async def work() -> None:
        nonlocal done
        done += 1
        if done == 2:
            twice.set()

    async with asyncio.timeout(30):
        async with Recurring(0.001, work, name="work"):
            await twice.wait()
        before = done
        await asyncio.sleep(0.02)
    assert done == before
    assert len(asyncio.all_tasks()) == 1


async def test_a_block_that_is_over_sooner_has_had_no_task() -> None:
    async def work() -> None:
        raise AssertionError("not yet due")

    async with Recurring(3600, work, name="work") as recurring:
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1
    assert recurring.failed is None


async def test_the_error_of_recurring_work_is_there_for_the_block() -> None:
    async def work() -> None:
        raise ValueError("broken")

    async with asyncio.timeout(30), Recurring(0.001, work, name="work") as recurring:
        while recurring.failed is None:
            await asyncio.sleep(0.001)
    assert str(recurring.failed) == "broken"
