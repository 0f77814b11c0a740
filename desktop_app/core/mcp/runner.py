"""A thread with an event loop of its own, where the MCP SDK lives.

Importing the SDK takes about a second, parsing a long listing tens of milliseconds: neither may
hold the window's loop. Everything that touches the SDK runs in here; what comes out are our own
frozen dataclasses.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)
_LAST = 2.0  # seconds for what nobody else ends


class Runner:
    """Runs coroutines on its own loop. The thread is started by the first of them."""

    def __init__(self, name: str = "mcp") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._live: set[concurrent.futures.Future[Any]] = set()

    @property
    def running(self) -> bool:
        """Whether the thread has been started."""
        return self._thread is not None

    def _ensure(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._main, args=(loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop

    @staticmethod
    def _main(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start ``work`` over there; cancelling the future cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._ensure())
        self._live.add(future)
        future.add_done_callback(self._live.discard)
        return future

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` over there and wait for it; a cancellation is passed on."""
        return await asyncio.wrap_future(self.start(work))

    def post(self, call: Callable[[], None]) -> None:
        """Call something over there, soon; nothing happens when the thread never started."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    async def close(self, seconds: float = 8.0) -> None:
        """Cancel what is left, stop the loop, end the thread; idempotent."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        for future in list(self._live):
            future.cancel()
        done = asyncio.run_coroutine_threadsafe(_cancel_all(seconds), loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(done), seconds + _LAST + 1)
        except TimeoutError:
            log.warning("the MCP thread still had work when it was stopped")
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, 2.0)


async def _cancel_all(seconds: float) -> None:
    """End every task: first those that were told to stop, whose own are ended by them in order (a
    server's process by whoever holds it), then what is left."""
    me = asyncio.current_task()
    told = {task for task in asyncio.all_tasks() if task is not me and task.cancelling()}
    if told:
        await asyncio.wait(told, timeout=seconds)
    rest = {task for task in asyncio.all_tasks() if task is not me}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=_LAST)
