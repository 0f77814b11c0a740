"""Threads beside the loop: order, failures, cancelled callers, ends."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable

import pytest

from desktop_app.core.crew import Crew

LONG = 30.0  # seconds; a busy machine is no failure


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not true():
            await asyncio.sleep(0.005)


def alive(name: str) -> int:
    return sum(t.name.startswith(f"{name}-") for t in threading.enumerate())


async def test_one_thread_carries_out_calls_in_order_and_hands_back_what_they_give() -> None:
    crew, seen = Crew("order"), list[int]()
    for n in range(50):
        crew.soon(seen.append, n)
    assert await crew.call(lambda: list(seen)) == list(range(50))
    assert alive("order") == 1
    crew.stop()
    await until(lambda: alive("order") == 0)


async def test_a_failure_reaches_the_caller_and_the_thread_goes_on() -> None:
    crew = Crew("failing")

    def fails() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        await crew.call(fails)
    crew.soon(fails)  # nobody waits: logged
    assert await crew.call(lambda: 7) == 7
    crew.stop()


async def test_what_a_cancelled_caller_asked_for_is_done_unless_the_crew_is_lazy() -> None:
    for lazy in (False, True):
        crew, gate, done = Crew("cancelled", lazy=lazy), threading.Event(), list[str]()
        crew.soon(gate.wait, LONG)
        async with asyncio.TaskGroup() as group:
            caller = group.create_task(crew.call(done.append, "asked"))
            await asyncio.sleep(0)
            caller.cancel()
        gate.set()
        await crew.call(lambda: None)
        assert done == ([] if lazy else ["asked"])
        crew.stop()


async def test_no_more_threads_than_are_needed_nor_than_are_allowed() -> None:
    crew, gate = Crew("many", 3), threading.Event()
    for _ in range(5):
        await crew.call(time.sleep, 0)
    assert alive("many") == 1
    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(crew.call(gate.wait, LONG))
        await until(lambda: alive("many") == 3)
        gate.set()
    assert alive("many") == 3
    crew.stop()
    await until(lambda: alive("many") == 0)


async def test_threads_end_with_their_owner_and_a_stopped_crew_takes_nothing() -> None:
    crew = Crew("owner", 2)
    await crew.call(time.sleep, 0)
    del crew
    gc.collect()
    await until(lambda: alive("owner") == 0)
    crew = Crew("stopped")
    crew.stop()
    with pytest.raises(RuntimeError):
        await crew.call(time.sleep, 0)


async def test_a_call_that_was_begun_is_asked_for_before_after_or_never() -> None:
    crew, gate = Crew("begun"), threading.Event()
    slow = crew.begin(gate.wait, LONG)
    never, soon = crew.begin(int, "9"), crew.begin(int, "7")
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(slow.result())
        await asyncio.sleep(0)
        gate.set()
        assert await waiting is True
    await crew.call(int)
    assert await soon.result() == 7
    assert await soon.result() == 7  # as often as one likes
    bad = crew.begin(int, "no number")
    with pytest.raises(ValueError, match="no number"):
        await bad.result()
    del never
    crew.stop()


async def test_who_stops_waiting_for_a_begun_call_may_ask_again() -> None:
    crew, gate = Crew("asked-again"), threading.Event()
    begun = crew.begin(gate.wait, LONG)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(begun.result())
        await asyncio.sleep(0)
        waiting.cancel()
    gate.set()
    assert await begun.result() is True
    crew.stop()
