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

BATCH_BYTES = 1 << 20


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
    """One line as it stands; ``number`` from 1."""

    number: int
    offset: int
    raw: bytes


async def read_lines(
    backend: Backend, path: str, *, offset: int = 0, length: int | None = None, first: int = 1
) -> AsyncGenerator[list[Line]]:
    """The lines in batches of about 1 MiB. A last line without its newline is a line, too."""
    rest, at, number = b"", offset, first
    async with aclosing(backend.read(path, offset=offset, length=length)) as pieces:
        async for piece in pieces:
            parts = (rest + piece).split(b"\n") if rest else piece.split(b"\n")
            rest = parts.pop()
            batch: list[Line] = []
            for raw in parts:
                batch.append(Line(number, at, raw))
                number += 1
                at += len(raw) + 1
            if batch:
                yield batch
    if rest:
        yield [Line(number, at, rest)]


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
            message, junk = parse_line(line.raw)
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
