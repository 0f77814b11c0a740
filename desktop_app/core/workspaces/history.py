"""Reading ``context.jsonl``: one message a line, written by programs that may have crashed.

A line that does not parse is reported and skipped, or mended where that is certain (zero bytes
before a record, a torn record with a whole one glued to it). Messages that were written twice are
folded by (message id, block ids); a message that left the context in parts is put together.
"""

from __future__ import annotations

import asyncio
import json
from array import array
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from .backend import Backend

if TYPE_CHECKING:
    from desktop_app.core.messages import Msg

LONGEST = 64 << 20  # bytes of one message; what is longer is skipped and reported


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a file that are no message: its line (from 1), where it begins, how many."""

    line: int
    offset: int
    bytes: int


@dataclass(slots=True)
class History:
    """``messages`` in order of first occurrence. ``repeats``: lines that brought nothing new."""

    messages: list[Msg] = field(default_factory=lambda: cast("list[Msg]", []))
    damaged: list[Damage] = field(default_factory=list[Damage])
    lines: int = 0
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stands; ``number`` from 1. ``skipped`` bytes were not kept: it is longer than
    any message (``LONGEST``)."""

    number: int
    offset: int
    raw: bytes
    skipped: int = 0


class _Splitter:
    """Cuts pieces into lines without copying what is not finished again and again."""

    def __init__(self, offset: int, first: int) -> None:
        self._at, self._number = offset, first
        self._parts: list[bytes] = []
        self._held = self._skipped = 0

    def feed(self, piece: bytes) -> list[Line]:
        head, *others = piece.split(b"\n")
        if not others:
            self._hold(head)
            return []
        self._hold(head)
        lines = [self.finish()]
        last = others.pop()
        for raw in others:
            lines.append(Line(self._number, self._at, raw))
            self._number += 1
            self._at += len(raw) + 1
        self._hold(last)
        return lines

    def _hold(self, part: bytes) -> None:
        if self._skipped or self._held + len(part) > LONGEST:
            self._skipped += self._held + len(part)
            self._parts, self._held = [], 0
        elif part:
            self._parts.append(part)
            self._held += len(part)

    def finish(self) -> Line:
        """What is held as a line, whether its newline came or not."""
        raw = b"".join(self._parts)
        line = Line(self._number, self._at, raw, self._skipped)
        self._number += 1
        self._at += len(raw) + self._skipped + 1
        self._parts, self._held, self._skipped = [], 0, 0
        return line

    @property
    def holds(self) -> bool:
        return bool(self._held or self._skipped)


async def read_lines(
    backend: Backend, path: str, *, offset: int = 0, length: int | None = None, first: int = 1
) -> AsyncGenerator[list[Line]]:
    """The lines in batches of about 1 MiB. A last line without its newline is a line, too."""
    splitter = _Splitter(offset, first)
    async with aclosing(backend.read(path, offset=offset, length=length)) as pieces:
        async for piece in pieces:
            if lines := splitter.feed(piece):
                yield lines
    if splitter.holds:
        yield [splitter.finish()]


def parse_line(raw: bytes) -> tuple[dict[str, Any] | None, int]:
    """The message of a line and how many of its bytes are no part of it. ``(None, 0)``: blank."""
    text = raw.strip(b"\r\n\t \x00")
    if not text:
        return None, raw.count(b"\0")
    junk = raw.count(b"\0")
    if (found := _message(text)) is not None:
        return found, junk
    # A record torn by a crash, and the next program's record glued to it.
    at = text.rfind(b'{"name":')
    if at > 0 and (found := _message(text[at:])) is not None:
        return found, junk + at
    return None, len(raw)


def _message(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    message = cast(dict[str, Any], value)
    known = isinstance(message.get("content"), list | str) and "role" in message
    return message if known else None


class Fold:
    """Puts lines together into messages; ``add`` lines in order, then ``messages``."""

    def __init__(self) -> None:
        self._order: list[tuple[Line, dict[str, Any]]] = []
        self._by_id: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, Counter[tuple[str, ...]]] = {}
        self.repeats = 0

    def add(self, message: dict[str, Any], line: Line) -> None:
        msg_id = message.get("id")
        if not isinstance(msg_id, str):  # nothing to fold by
            self._order.append((line, message))
            return
        blocks = _blocks(message)
        known = self._by_id.get(msg_id)
        if known is None:
            self._by_id[msg_id] = message
            self._order.append((line, message))
            self._seen[msg_id] = Counter(map(_key, blocks))
            return
        # Counted, not a set: a provider may give two calls of one reply the same id.
        seen, here = self._seen[msg_id], Counter[tuple[str, ...]]()
        fresh: list[dict[str, Any]] = []
        for block in blocks:
            key = _key(block)
            here[key] += 1
            if here[key] > seen[key]:
                fresh.append(block)
        if not fresh:
            self.repeats += 1
            return
        seen |= here
        known["content"] = [*_blocks(known), *fresh]

    def messages(self) -> tuple[list[Msg], list[Damage]]:
        """The messages, and the lines that are JSON of this shape and no message after all."""
        from pydantic import ValidationError

        from desktop_app.core.messages import Msg

        found: list[Msg] = []
        damaged: list[Damage] = []
        for line, message in self._order:
            try:
                _date(message)
                found.append(Msg.model_validate(message))
            except ValidationError:
                damaged.append(Damage(line.number, line.offset, len(line.raw)))
        return found, damaged


def _date(value: dict[str, Any]) -> None:
    """Where a writer gave no time, say so: the model's default would be the time of reading."""
    value.setdefault("created_at", None)
    for key in ("content", "output", "hint"):
        inner = value.get(key)
        if isinstance(inner, list):
            for item in cast(list[Any], inner):
                if isinstance(item, dict):
                    _date(cast(dict[str, Any], item))


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if not isinstance(content, list):
        return [{"type": "text", "text": content}]
    return [cast(dict[str, Any], b) for b in cast(list[Any], content) if isinstance(b, dict)]


def _key(block: dict[str, Any]) -> tuple[str, ...]:
    """A call's id may come again in a later iteration of the same reply; its time does not."""
    names = ("type", "id", "created_at")
    key = tuple(str(block.get(name, "")) for name in names)
    return key if block.get("id") else (*key, json.dumps(block, sort_keys=True))


async def read_history(backend: Backend, path: str) -> History:
    """The whole file folded; parsing runs in a thread. For a very long file use ``index_lines`` and
    read what is looked at."""
    history, fold = History(), Fold()

    def take(lines: list[Line]) -> None:
        for line in lines:
            message, junk = (None, line.skipped) if line.skipped else parse_line(line.raw)
            history.lines += 1
            if junk:
                history.damaged.append(Damage(line.number, line.offset, junk))
            if message is not None:
                fold.add(message, line)

    async with aclosing(read_lines(backend, path)) as batches:
        async for batch in batches:
            await asyncio.to_thread(take, batch)
    history.messages, bad = await asyncio.to_thread(fold.messages)
    history.damaged = sorted([*history.damaged, *bad], key=lambda damage: damage.offset)
    history.repeats = fold.repeats
    return history


async def index_lines(backend: Backend, path: str) -> array[int]:
    """Where each line begins, then the size of the file: 8 bytes a line, whatever its length."""
    starts: array[int] = array("Q", [0])
    size = 0

    def take(piece: bytes, base: int) -> None:
        at = piece.find(b"\n")
        while at >= 0:
            starts.append(base + at + 1)
            at = piece.find(b"\n", at + 1)

    async with aclosing(backend.read(path)) as pieces:
        async for piece in pieces:
            await asyncio.to_thread(take, piece, size)
            size += len(piece)
    if starts[-1] != size:
        starts.append(size)
    return starts


@dataclass(slots=True)
class ContextFile:
    """A ``context.jsonl`` of any length, read where it is looked at: an index of 8 bytes a line is
    all that is kept. Lines are as written: repeats are not folded here."""

    backend: Backend
    path: str
    starts: array[int]

    @classmethod
    async def open(cls, backend: Backend, path: str) -> ContextFile:
        return cls(backend, path, await index_lines(backend, path))

    def __len__(self) -> int:
        return len(self.starts) - 1

    async def page(self, first: int, count: int) -> list[Msg | Damage]:
        """Lines ``first`` (from 0) and on; blank ones are left out."""
        last = min(first + count, len(self))
        if first >= last:
            return []
        start, length = self.starts[first], self.starts[last] - self.starts[first]
        found: list[Msg | Damage] = []
        lines = read_lines(self.backend, self.path, offset=start, length=length, first=first + 1)
        async with aclosing(lines) as batches:
            async for batch in batches:
                found += await asyncio.to_thread(_each, batch)
        return found


def _each(lines: list[Line]) -> list[Msg | Damage]:
    found: list[Msg | Damage] = []
    for line in lines:
        fold = Fold()
        message, junk = (None, line.skipped) if line.skipped else parse_line(line.raw)
        if junk:
            found.append(Damage(line.number, line.offset, junk))
        if message is not None:
            fold.add(message, line)
            messages, damaged = fold.messages()
            found += [*messages, *damaged]
    return found
