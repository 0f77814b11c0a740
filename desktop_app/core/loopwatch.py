"""How long callbacks hold the event loop, counted by the thread's CPU time.

The wall clock would blame a callback for whatever else the machine is doing; CPU time is what the
callback itself cost. Every loop that runs ``asyncio.Handle`` objects is covered, the window's too.
Costs about a microsecond a callback while it watches, nothing otherwise.
"""

from __future__ import annotations

import asyncio
import heapq
import threading
import time
from dataclasses import dataclass, field
from typing import Any, cast

LIMIT_MS = 16.0
"""One frame at 60 Hz: longer than this and a person can see it."""

_original: Any = asyncio.Handle._run
_watching: list[LoopWatch] = []


@dataclass(frozen=True, slots=True, order=True)
class Held:
    """A callback and the CPU time it took, in milliseconds."""

    ms: float
    name: str = field(compare=False)


class LoopWatch:
    """Records the longest callbacks of the thread that calls ``start`` until ``stop``::

        with LoopWatch() as watch:
            await work()
        assert watch.longest().ms <= LIMIT_MS

    ``count`` callbacks were seen, ``over`` of them took more than ``limit_ms``; the ``keep``
    longest are in ``slowest()``. Several watches may run at once.
    """

    def __init__(self, limit_ms: float = LIMIT_MS, keep: int = 20) -> None:
        self.limit_ms = limit_ms
        self.keep = keep
        self.count = 0
        self.over = 0
        self.thread = 0
        self._heap: list[Held] = []

    def start(self) -> LoopWatch:
        """Begin; starting again goes on with what was recorded."""
        self.thread = threading.get_ident()
        if self not in _watching:
            _watching.append(self)
        asyncio.Handle._run = _timed_run
        return self

    def stop(self) -> None:
        """End; what was recorded stays. Idempotent."""
        if self in _watching:
            _watching.remove(self)
        if not _watching:
            asyncio.Handle._run = _original

    def clear(self) -> None:
        """Forget what was recorded."""
        self.count = self.over = 0
        self._heap.clear()

    def longest(self) -> Held:
        """The longest callback; ``Held(0.0, "")`` when none was seen."""
        return max(self._heap, default=Held(0.0, ""))

    def slowest(self) -> list[Held]:
        """The longest callbacks, longest first."""
        return sorted(self._heap, reverse=True)

    def record(self, ms: float, callback: Any) -> None:
        """Count one callback; also for work that no ``Handle`` runs, such as a slot of Qt."""
        self.count += 1
        self.over += ms > self.limit_ms
        if len(self._heap) < self.keep:
            heapq.heappush(self._heap, Held(ms, name_of(callback)))
        elif ms > self._heap[0].ms:
            heapq.heapreplace(self._heap, Held(ms, name_of(callback)))

    def __enter__(self) -> LoopWatch:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def _timed_run(self: Any) -> Any:
    callback = self._callback  # gone once it ran, when it was cancelled meanwhile
    start = time.thread_time()
    try:
        return _original(self)
    finally:
        ms = (time.thread_time() - start) * 1e3
        thread = threading.get_ident()
        for watch in _watching:
            if watch.thread == thread:
                watch.record(ms, callback)


def name_of(callback: Any) -> str:
    """What a person looks for: a task's name and coroutine, or the function."""
    if isinstance(callback, str):
        return callback
    task = getattr(callback, "__self__", None)
    if isinstance(task, asyncio.Task):
        coroutine = cast("Any", task).get_coro()
        return f"{task.get_name()} ({getattr(coroutine, '__qualname__', coroutine)})"
    while (inner := getattr(callback, "func", None)) is not None:
        callback = inner
    return str(getattr(callback, "__qualname__", None) or repr(callback))
