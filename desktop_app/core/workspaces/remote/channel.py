"""Frames to and from the far end, over whatever carries bytes."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any, Protocol

HEAD = struct.Struct("!II")

Frame = tuple[dict[str, Any], bytes]


class Channel(Protocol):
    """A connection to a started far end. WorkspaceError ``backend.unreachable`` when it broke."""

    text: bool  # whether it carries only text: frames are lines of base64 then

    async def send(self, data: bytes) -> None: ...

    async def receive(self) -> bytes:
        """What came, at least one byte; empty at the end."""
        ...

    async def close(self) -> None: ...


def encode(head: dict[str, Any], body: bytes, text: bool) -> bytes:
    """One frame as it travels."""
    raw = json.dumps(head).encode()
    frame = HEAD.pack(len(raw), len(body)) + raw + body
    return base64.b64encode(frame) + b"\n" if text else frame


class Decoder:
    """Bytes as they come, frames as they are whole. ValueError on what is no frame."""

    def __init__(self, text: bool) -> None:
        self._text = text
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        self._waiting += data
        return self._lines() if self._text else self._binary()

    def _binary(self) -> list[Frame]:
        found: list[Frame] = []
        waiting, at = self._waiting, 0
        while len(waiting) - at >= HEAD.size:
            head, body = HEAD.unpack_from(waiting, at)
            end = at + HEAD.size + head + body
            if len(waiting) < end:
                break
            start = at + HEAD.size
            found.append(
                (json.loads(waiting[start : start + head]), bytes(waiting[start + head : end]))
            )
            at = end
        del waiting[:at]
        return found

    def _lines(self) -> list[Frame]:
        *lines, rest = self._waiting.split(b"\n")
        self._waiting = bytearray(rest)
        found: list[Frame] = []
        for line in lines:
            frame = base64.b64decode(line, validate=True)
            head, _ = HEAD.unpack_from(frame)
            start = HEAD.size + head
            found.append((json.loads(frame[HEAD.size : start]), frame[start:]))
        return found
