"""A thread with an event loop of its own, for what would hold the program's loop.

The providers' SDKs build requests and parse answers in pieces of up to seconds, and importing them
takes longer still. All of that happens here; what the program's loop sees are finished parts.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from .base import ModelEvent, TextPart, ThinkingPart, ToolCallPart

T = TypeVar("T")
logger = logging.getLogger(__name__)

PACE = 0.008  # seconds between two batches: half a frame
HIGH_WATER = 2_000_000  # characters on their way; above, the provider is read no further


class Worker:
    """The thread. It starts at the first call and ends with ``close``; afterwards a call starts it
    again."""

    def __init__(self, name: str = "models") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.at_end: list[Callable[[], Coroutine[Any, Any, None]]] = []

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The thread's loop, running."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()

    def start(self, coro: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run ``coro`` there. Cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(coro, self.loop)

    async def call(self, coro: Coroutine[Any, Any, T]) -> T:
        """Run ``coro`` there and wait for its result here."""
        return await asyncio.wrap_future(self.start(coro))

    async def close(self, seconds: float = 3.0) -> None:
        """Cancel what runs there, let go of connections, end the thread. Idempotent."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        ending = asyncio.run_coroutine_threadsafe(self._end(), loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(ending), seconds)
        except (TimeoutError, asyncio.CancelledError):
            logger.warning("a model call would not end")
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, seconds)
        if not thread.is_alive():
            loop.close()

    async def _end(self) -> None:
        mine = asyncio.current_task()
        others = [t for t in asyncio.all_tasks() if t is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for end in self.at_end:
            await end()
        await asyncio.get_running_loop().shutdown_asyncgens()
        await asyncio.get_running_loop().shutdown_default_executor()


class Pipe:
    """Parts from the worker's loop to the one that waits for them, in batches of ``PACE``.

    The worker's side is ``put`` and ``finish``; the other one iterates. A reader that is slower
    than the provider makes ``put`` wait.
    """

    def __init__(self, worker: asyncio.AbstractEventLoop) -> None:
        self._worker = worker
        self._reader = asyncio.get_running_loop()
        self._queue: asyncio.Queue[list[ModelEvent] | None] = asyncio.Queue()
        self._pending: list[ModelEvent] = []
        self._flushed = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._out = 0  # characters on their way
        self._room = asyncio.Event()  # of the worker's loop
        self._room.set()

    # -- the worker's side --

    async def put(self, part: ModelEvent) -> None:
        """Hand a part over; waits while too much is on its way."""
        await self._room.wait()
        self._pending.append(part)
        if self._timer is None:
            wait = PACE - (time.monotonic() - self._flushed)
            if wait <= 0:
                self._flush()
            else:
                self._timer = self._worker.call_later(wait, self._flush)

    def finish(self) -> None:
        """Nothing more comes."""
        self._flush()
        self._send(None)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed = time.monotonic()
        if self._pending:
            batch, self._pending = merged(self._pending), []
            self._out += _size(batch)
            if self._out > HIGH_WATER:
                self._room.clear()
            self._send(batch)

    def _send(self, batch: list[ModelEvent] | None) -> None:
        try:
            self._reader.call_soon_threadsafe(self._queue.put_nowait, batch)
        except RuntimeError:  # the reader's loop is closed: nobody waits any more
            self._room.set()

    def _took(self, size: int) -> None:
        self._out -= size
        if self._out <= HIGH_WATER:
            self._room.set()

    # -- the reader's side --

    async def parts(self) -> AsyncIterator[ModelEvent]:
        """The parts, until ``finish``."""
        while (batch := await self._queue.get()) is not None:
            for part in batch:
                yield part
            try:
                self._worker.call_soon_threadsafe(self._took, _size(batch))
            except RuntimeError:
                return


def _size(batch: list[ModelEvent]) -> int:
    total = 0
    for part in batch:
        if isinstance(part, TextPart | ThinkingPart):
            total += len(part.text)
        elif isinstance(part, ToolCallPart):
            total += len(part.arguments)
    return total


def merged(parts: list[ModelEvent]) -> list[ModelEvent]:
    """``parts`` with neighbours of one block put together; nothing else changes."""
    out: list[ModelEvent] = []
    run: list[str] = []

    def close() -> None:
        if len(run) > 1:
            last = out[-1]
            if isinstance(last, TextPart):
                out[-1] = TextPart(last.index, "".join(run))
            elif isinstance(last, ThinkingPart):
                out[-1] = ThinkingPart(last.index, "".join(run))
            elif isinstance(last, ToolCallPart):
                out[-1] = ToolCallPart(last.index, None, None, "".join(run))
        run.clear()

    for part in parts:
        text = _plain(part)
        if text is None:
            close()
            out.append(part)
            continue
        if run and type(out[-1]) is type(part) and _index(out[-1]) == _index(part):
            run.append(text)
            continue
        close()
        out.append(part)
        run.append(text)
    close()
    return out


def _plain(part: ModelEvent) -> str | None:
    """The text of a part that is nothing but text."""
    if isinstance(part, TextPart | ThinkingPart):
        return part.text if part.extra is None else None
    if isinstance(part, ToolCallPart) and not (part.call_id or part.name or part.extra):
        return part.arguments
    return None


def _index(part: ModelEvent) -> int:
    return getattr(part, "index", -1)
