"""A run in a task of its own, and the iterator through which one consumer follows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from desktop_app.core.errors import SessionError
from desktop_app.core.events import Event
from desktop_app.core.tasks import Tasks


class RunStream:
    """At most one run at a time. ``emit`` reaches the consumer of the run under way and all
    ``listeners``; ``start`` gives the consumer's iterator. The run does not depend on being
    consumed; closing the iterator stops it."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[Event | None] | None = None
        self.listeners: list[Callable[[Event], None]] = []

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def emit(self, event: Event) -> None:
        if self._queue is not None:
            self._queue.put_nowait(event)
        for listener in list(self.listeners):
            listener(event)

    def start(self, work: Callable[[], Awaitable[None]], name: str) -> AsyncIterator[Event]:
        """Start ``work``; SessionError ``run.busy`` while another one runs."""
        if self.running:
            raise SessionError("run.busy")
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._queue = queue
        task = self._task = self._tasks.start(self._produce(work, queue), name=name)
        return self._consume(queue, task)

    async def _produce(
        self, work: Callable[[], Awaitable[None]], queue: asyncio.Queue[Event | None]
    ) -> None:
        try:
            await work()
        finally:
            queue.put_nowait(None)
            if self._queue is queue:
                self._queue = None

    async def _consume(
        self, queue: asyncio.Queue[Event | None], task: asyncio.Task[None]
    ) -> AsyncIterator[Event]:
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task  # an error of the run itself, beyond what it reports as an event
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])

    async def stop(self) -> None:
        """Cancel the run and wait until it has put everything away."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])
