"""Supervised background tasks: the only place of the program that calls ``create_task``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

CANCEL_SECONDS = 2.0


def ending() -> bool:
    """Whether the task that asks was cancelled. A loop that goes on after errors asks this: a
    library may have made an error of the cancellation."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel ``task`` and wait for its end; again, should it have missed it."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)


class Tasks:
    """Background tasks with one owner: named, strongly held, a failure reported once, cancelled
    together.

    ``on_error(name, exception)`` is called once for each task that fails; a cancelled task is no
    failure. An owner that goes away calls ``close``.
    """

    def __init__(self, on_error: Callable[[str, BaseException], None]) -> None:
        self._live: dict[asyncio.Task[Any], None] = {}
        self._named: dict[str, asyncio.Task[Any]] = {}
        self._on_error = on_error

    def start(self, coro: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Start ``coro`` on the running loop and hold it until it ends."""
        task = asyncio.get_running_loop().create_task(coro, name=name)
        self._live[task] = None
        task.add_done_callback(self._done)
        return task

    def replace(self, coro: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Like ``start``, after cancelling the task that was last started under ``name``."""
        if (old := self._named.pop(name, None)) is not None:
            old.cancel()
        task = self.start(coro, name=name)
        self._named[name] = task
        return task

    def cancel(self, name: str) -> None:
        """Cancel the task last started by ``replace`` under ``name``, if it still runs."""
        if (task := self._named.pop(name, None)) is not None:
            task.cancel()

    def __len__(self) -> int:
        return len(self._live)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._live.pop(task, None)
        if self._named.get(task.get_name()) is task:
            del self._named[task.get_name()]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_error(task.get_name(), error)

    async def finish(self) -> None:
        """Wait until all have ended by themselves; their failures go to ``on_error``."""
        while self._live:
            await asyncio.wait(set(self._live))

    async def close(self, seconds: float = 5.0) -> list[str]:
        """Cancel all and wait at most ``seconds``; returns the names of those still running."""
        for task in list(self._live):
            task.cancel()
        if self._live:
            await asyncio.wait(set(self._live), timeout=seconds)
        return [task.get_name() for task in self._live]


class Recurring:
    """``work`` every ``seconds`` while an ``async with`` block goes on, first after that time. A
    timer until then and a task only where the block lasts that long: most are over sooner. It ends
    with its first error, which is kept in ``failed`` for who is in the block."""

    def __init__(self, seconds: float, work: Callable[[], Awaitable[None]], *, name: str) -> None:
        self.failed: BaseException | None = None
        self._seconds = seconds
        self._work = work
        self._name = name
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: Tasks | None = None

    async def __aenter__(self) -> Recurring:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._begin)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._tasks is not None:
            await self._tasks.close()

    def _begin(self) -> None:
        self._tasks = Tasks(self._fail)
        self._tasks.start(self._go_on(), name=self._name)

    def _fail(self, _name: str, error: BaseException) -> None:
        self.failed = error

    async def _go_on(self) -> None:
        while True:
            await self._work()
            await asyncio.sleep(self._seconds)
