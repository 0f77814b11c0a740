"""Parts of an answer on their way to the program, in batches: it is not woken for every token."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from . import frames
from .base import ModelEvent, TextPart, ThinkingPart, ToolCallPart
from .frames import Frame

PACE = 0.008  # seconds between two batches: half a frame
HIGH_WATER = 2_000_000  # characters on their way; above, the provider is read no further


class Batches:
    """Parts of one call on their way to the program, at most one batch in ``PACE``. A reader that
    is slower than the provider makes ``put`` wait."""

    def __init__(self, send: Callable[[Frame], None], call: int) -> None:
        self._send = send
        self._call = call
        self._pending: list[ModelEvent] = []
        self._flushed = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._out = 0  # characters that the reader has not taken
        self._room = asyncio.Event()
        self._room.set()

    async def put(self, part: ModelEvent) -> None:
        await self._room.wait()
        self._pending.append(part)
        if self._timer is None:
            wait = PACE - (time.monotonic() - self._flushed)
            if wait <= 0:
                self.flush()
            else:
                self._timer = asyncio.get_running_loop().call_later(wait, self.flush)

    def flush(self) -> None:
        """Send what there is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed = time.monotonic()
        if self._pending:
            batch, self._pending = merged(self._pending), []
            size = sum(map(_size, batch))
            self._out += size
            if self._out > HIGH_WATER:
                self._room.clear()
            parts = [frames.part_out(p) for p in batch]
            self._send({"did": "parts", "call": self._call, "parts": parts, "size": size})

    def took(self, size: int) -> None:
        """The reader has taken so many characters."""
        self._out -= size
        if self._out <= HIGH_WATER:
            self._room.set()


def _size(part: ModelEvent) -> int:
    if isinstance(part, TextPart | ThinkingPart):
        return len(part.text)
    return len(part.arguments) if isinstance(part, ToolCallPart) else 0


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
