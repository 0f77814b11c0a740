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
from typing import Generic, ParamSpec, TypeVar, cast

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Tell = Callable[[], object]
Job = Callable[[], Tell | None]  # carries a call out, and gives what tells of it


class Begun(Generic[T]):
    """A call under way that nobody may ever ask for: the loop is not woken when it is done, unless
    somebody waits by then."""

    def __init__(self, do: Callable[[], T], loop: asyncio.AbstractEventLoop) -> None:
        self._do = do
        self._loop = loop
        self._outcome: tuple[T, BaseException | None] | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def result(self) -> T:
        """What it gave or raised."""
        if self._outcome is None:
            # The thread looks for the waiter after it has put its outcome down.
            waiter = self._waiter = self._loop.create_future()
            if self._outcome is None:
                await waiter
        value, failed = cast("tuple[T, BaseException | None]", self._outcome)
        if failed is not None:
            raise failed
        return value

    def carry_out(self) -> Tell | None:
        value, failed = _tried(self._do)
        self._outcome = value, failed
        waiter = self._waiter
        return partial(_tell, self._loop, waiter, None, None) if waiter is not None else None


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
        self._starting = threading.Lock()  # calls may come from several loops
        self._stopped = False

    async def call(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``do`` gives or raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._put(partial(_answer, partial(do, *args, **kwargs), loop, answer, self._lazy))
        return await answer

    def begin(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Begun[T]:
        """Start ``do`` for a caller who has something else to wait for first."""
        begun = Begun(partial(do, *args, **kwargs), asyncio.get_running_loop())
        self._put(begun.carry_out)
        return begun

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
            self._start_one()
        self._jobs.put(job)

    def _start_one(self) -> None:
        with self._starting:
            if self._started == self._most:
                return
            self._started += 1
            name = f"{self._name}-{self._started}"
        # A daemon: what nobody waits for any more does not keep a program from ending.
        work = partial(_work, self._jobs, self._idle)
        threading.Thread(target=work, name=name, daemon=True).start()

    def __del__(self) -> None:
        self.stop()


def _work(jobs: SimpleQueue[Job | None], idle: deque[None]) -> None:
    """A thread's life. It was started for the job that is coming."""
    while (job := jobs.get()) is not None:
        tell = job()
        idle.append(None)  # before the answer: who asks again at once finds this thread free
        if tell is not None:
            tell()
        del job, tell  # a caller's objects are not held while there is nothing to do


def _answer(
    do: Callable[[], T], loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], lazy: bool
) -> Tell | None:
    if lazy and answer.cancelled():
        return None
    return partial(_tell, loop, answer, *_tried(do))


def _tried(do: Callable[[], T]) -> tuple[T, BaseException | None]:
    try:
        return do(), None
    except BaseException as error:  # noqa: BLE001 - handed to who waits
        return cast(T, None), error


def _tell(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[T],
    value: T,
    failed: BaseException | None,
) -> None:
    try:
        loop.call_soon_threadsafe(_settle, answer, value, failed)
    except RuntimeError:
        pass  # the loop was closed while this was carried out


def _settle(answer: asyncio.Future[T], value: T, failed: BaseException | None) -> None:
    if answer.done():  # cancelled
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
