"""The watch finds who holds the loop, by CPU time and by name."""

from __future__ import annotations

import asyncio
import threading
import time

from desktop_app.core.loopwatch import LoopWatch


def burn(ms: float) -> None:
    end = time.thread_time() + ms / 1e3
    while time.thread_time() < end:
        pass


async def busy() -> None:
    await asyncio.sleep(0)
    burn(30)


async def test_a_task_that_computes_is_named() -> None:
    with LoopWatch() as watch:
        await asyncio.create_task(busy(), name="index")
    assert watch.longest().ms >= 30
    assert watch.longest().name == "index (busy)"
    assert watch.over == 1
    assert watch.count >= 2


async def test_a_plain_callback_is_named() -> None:
    with LoopWatch() as watch:
        asyncio.get_running_loop().call_soon(burn, 20)
        await asyncio.sleep(0.001)
    assert watch.longest().name == "burn"


async def test_time_that_only_passes_does_not_count() -> None:
    async def blocked() -> None:
        time.sleep(0.05)

    with LoopWatch() as watch:
        await asyncio.create_task(blocked())
    assert watch.longest().ms < 16
    assert watch.over == 0


async def test_other_threads_do_not_count() -> None:
    with LoopWatch() as watch:
        thread = threading.Thread(target=lambda: asyncio.run(busy()))
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.001)
    assert watch.over == 0


async def test_stopped_means_stopped_and_the_longest_are_kept() -> None:
    original = asyncio.Handle._run
    watch, other = LoopWatch(keep=2), LoopWatch()
    with other:
        with watch:
            for ms in (4, 12, 8):
                asyncio.get_running_loop().call_soon(burn, ms)
            await asyncio.sleep(0.001)
        assert asyncio.Handle._run is not original  # the other one still watches
        count = watch.count
        await asyncio.sleep(0)
        assert watch.count == count
    assert asyncio.Handle._run is original
    assert [h.ms >= ms for h, ms in zip(watch.slowest(), (12, 8), strict=True)] == [True, True]
    watch.clear()
    assert watch.longest().ms == 0
