"""Threads of one's own: calls carried out beside the loop, awaited from it.

What a step of the agent costs is mostly its ways to a thread and back, beside syncs of 0.1 ms: one
queue, no lock of ours, one wake-up of the loop (about half of ``run_in_executor``).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import ParamSpec, TypeVar, cast

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Job = Callable[[], object]


class Crew:
    """At most ``most`` threads, started when they are needed. With one, the order of calls is the
    order of effect. A cancelled caller leaves its call to be carried out; with ``lazy`` one that
    was not begun is left undone. The threads end with ``stop``, with the object or the program."""

    def __init__(self, name: str, most: int = 1, *, lazy: bool = False) -> None:
        self._name = name
        self._most = most
        self._lazy = lazy
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._idle: deque[None] = deque()  # one for each thread that waits
        self._started = 0
        self._stopped = False

    async def call(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``do`` gives or raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._put(partial(_answer, partial(do, *args, **kwargs), loop, answer, self._lazy))
        return await answer

    def soon(self, do: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Carry out ``do`` after what was asked before; nobody waits for it."""
        self._put(partial(_quietly, partial(do, *args, **kwargs)))

    def stop(self) -> None:
        """End the threads when they have done what they were asked."""
        if not self._stopped:
            self._stopped = True
            for _ in range(self._started):
                self._jobs.put(None)

    def _put(self, job: Job) -> None:
        if self._stopped:
            raise RuntimeError(f"the threads of {self._name} were ended")
        try:
            self._idle.pop()
        except IndexError:
            if self._started < self._most:
                self._started += 1
                # Daemons: what nobody waits for any more does not keep a program from ending.
                name = f"{self._name}-{self._started}"
                work = partial(_work, self._jobs, self._idle)
                threading.Thread(target=work, name=name, daemon=True).start()
        self._jobs.put(job)

    def __del__(self) -> None:
        self.stop()


def _work(jobs: SimpleQueue[Job | None], idle: deque[None]) -> None:
    """A thread's life. It was started for the job that is coming."""
    while (job := jobs.get()) is not None:
        job()
        del job  # its caller's objects are not held while there is nothing to do
        idle.append(None)


def _answer(
    do: Callable[[], T], loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], lazy: bool
) -> None:
    if lazy and answer.cancelled():
        return
    value, failed = None, None
    try:
        value = do()
    except BaseException as error:  # noqa: BLE001 - handed to who waits
        failed = error
    try:
        loop.call_soon_threadsafe(_settle, answer, cast(T, value), failed)
    except RuntimeError:
        pass  # the loop was closed while this was carried out


def _settle(answer: asyncio.Future[T], value: T, failed: BaseException | None) -> None:
    if answer.cancelled():
        return
    if failed is not None:
        answer.set_exception(failed)
    else:
        answer.set_result(value)


def _quietly(do: Callable[[], object]) -> None:
    try:
        do()
    except Exception:
        logger.exception("what nobody waited for failed")
