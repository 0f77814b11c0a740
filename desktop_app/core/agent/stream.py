"""A run in a task of its own, and the iterator through which one consumer follows it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable

from desktop_app.core.errors import SessionError
from desktop_app.core.events import Event
from desktop_app.core.tasks import Tasks


class _Inbox:
    """Events on their way to the one who follows, who is woken once for all that came meanwhile.
    None is the end."""

    def __init__(self) -> None:
        self.events: deque[Event | None] = deque()
        self._waiter: asyncio.Future[None] | None = None

    def put(self, event: Event | None) -> None:
        self.events.append(event)
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def filled(self) -> None:
        """Until there is something."""
        while not self.events:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter


class RunStream:
    """At most one run at a time. ``emit`` reaches the consumer of the run under way and all
    ``listeners``; ``start`` gives the consumer's iterator. The run does not depend on being
    consumed; closing the iterator stops it."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None
        self._inbox: _Inbox | None = None
        self.listeners: list[Callable[[Event], None]] = []

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def emit(self, event: Event) -> None:
        if self._inbox is not None:
            self._inbox.put(event)
        if self.listeners:
            for listener in [*self.listeners]:  # one may stop listening
                listener(event)

    def start(self, work: Callable[[], Awaitable[None]], name: str) -> AsyncIterator[Event]:
        """Start ``work``; SessionError ``run.busy`` while another one runs."""
        if self.running:
            raise SessionError("run.busy")
        inbox = self._inbox = _Inbox()
        task = self._task = self._tasks.start(_done(work), name=name)
        # Not by the run itself: one that is stopped before its first step never gets to its end.
        task.add_done_callback(lambda _: self._end(inbox))
        return self._consume(inbox, task)

    def _end(self, inbox: _Inbox) -> None:
        inbox.put(None)
        if self._inbox is inbox:
            self._inbox = None

    async def _consume(self, inbox: _Inbox, task: asyncio.Task[None]) -> AsyncIterator[Event]:
        events = inbox.events
        try:
            while True:
                if not events:
                    await inbox.filled()
                if (event := events.popleft()) is None:
                    break
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


async def _done(work: Callable[[], Awaitable[None]]) -> None:
    await work()
