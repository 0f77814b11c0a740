"""Keeping and showing what a command prints: whole up to a cap, live in steady steps."""

from __future__ import annotations

import asyncio
import codecs
import re
from collections import deque
from typing import Literal

from .base import Emit

MAX_KEPT = 32 << 20  # bytes of one stream that are kept whole
TAIL_KEPT = 256 << 10  # bytes kept of the end beyond that
PIECE = 1 << 18
LIVE_SECONDS = 0.05  # live output goes out at most this often
LIVE_CHARS = 64 << 10  # of each step, the newest this much

# CSI, OSC and the short escapes (ECMA-48); bounded so that a stray ESC swallows nothing.
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|[@-Z\\-_])"
)
_OVERWRITTEN = re.compile(r"[^\r\n]*\r(?![\r\n])")


class Kept:
    """One stream's bytes: the first ``cap`` whole, then only the newest ``TAIL_KEPT``."""

    def __init__(self, cap: int = MAX_KEPT) -> None:
        self._head: list[bytes] = []
        self._room = cap
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        if self._room:
            self._head.append(data[: self._room])
            data = data[self._room :]
            self._room -= len(self._head[-1])
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= TAIL_KEPT:
                self._tail_size -= len(self._tail.popleft())

    @property
    def dropped(self) -> int:
        """Bytes between head and tail that are gone."""
        return self.total - sum(map(len, self._head)) - self._tail_size

    def bytes(self) -> bytes:
        """What was kept, with a line where something is missing."""
        note = (
            f"\n[{self.dropped} bytes of output dropped here]\n".encode() if self.dropped else b""
        )
        return b"".join([*self._head, note, *self._tail])


def readable(data: bytes) -> tuple[str, bool]:
    """(text, same): output as a model should read it. Colour codes go, a progress line that
    overwrote itself is left as it ended; ``same`` when nothing of the bytes was lost by that.

    Done in pieces, since a regular expression over megabytes holds the interpreter lock."""
    texts: list[str] = []
    all_same = True
    start = 0
    while start < len(data):
        end = start + PIECE
        if end < len(data):
            newline = data.rfind(b"\n", start, end)
            # without a line end, at least not inside a character
            end = newline + 1 if newline >= 0 else _character_border(data, end)
        text, same = _readable(data[start:end])
        texts.append(text)
        all_same = all_same and same
        start = end
    return "".join(texts), all_same


def _character_border(data: bytes, at: int) -> int:
    border = at
    while border > at - 4 and data[border] & 0xC0 == 0x80:
        border -= 1
    return border


def _readable(data: bytes) -> tuple[str, bool]:
    try:
        text = data.decode("utf-8")
        same = True
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        same = False
    clean = text.replace("\r\n", "\n") if "\r" in text else text
    if "\x1b" in clean:
        clean = _ANSI.sub("", clean)
    if "\r" in clean:
        clean = _OVERWRITTEN.sub("", clean)
    return clean, same and clean == text


class Live:
    """Hands live output on in steps of ``LIVE_SECONDS``; of a flood only the newest part."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._decoders = {
            "stdout": codecs.getincrementaldecoder("utf-8")("replace"),
            "stderr": codecs.getincrementaldecoder("utf-8")("replace"),
        }
        self._pending: list[tuple[Literal["stdout", "stderr"], str]] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, stream: Literal["stdout", "stderr"], data: bytes) -> None:
        text = self._decoders[stream].decode(data[-4 * LIVE_CHARS :])
        if not text:
            return
        if self._pending and self._pending[-1][0] == stream:
            text = self._pending.pop()[1] + text
        self._pending.append((stream, text[-LIVE_CHARS:]))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LIVE_SECONDS, self.flush)

    def flush(self) -> None:
        """Hand on what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._pending = self._pending, []
        for stream, text in waiting[-64:]:
            self._emit(stream, text)
