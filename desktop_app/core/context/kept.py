"""What was read of messages, as JSON beside the state that they stand in, so that a session that is
opened again need not be read anew.

Derived data: it may be dropped at any time and costs a reading then. It is good for the very blocks
that it was made from and for one counter of one version of the program; whatever does not fit is
not used. Long texts are not written out again, but as places in the texts that they came from.
"""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections.abc import Sequence
from operator import is_
from typing import Any

import desktop_app
from desktop_app.core.messages import AnyBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock

from .findings import shape
from .glimpses import Answer
from .parts import Entry, Part, Parts
from .pieces import Said, cut_of, put_cut
from .pricing import Piece, Pricer
from .reading import Called, Found, Rule, Step, Told, Words
from .todos import Change, Todo
from .tokens import CountCache
from .types import Evidence, LedgerItem

logger = logging.getLogger(__name__)
VERSION = f"{desktop_app.__version__}-3"  # of what is read and how: raise the last figure with it
Row = list[Any]


class Kept:
    """What ``dump`` gave for ``context``, as bytes: looked at when somebody asks. Make it before
    the context grows or changes: each row is good for the blocks that are there now."""

    def __init__(self, data: bytes, context: Sequence[Msg]) -> None:
        self._data = data
        self._blocks = [(m.id, list(m.content)) for m in context]
        self._lock = threading.Lock()
        self._counter = self._model = ""
        self._rows: dict[str, tuple[list[AnyBlock], bytes]] = {}

    def _load(self) -> None:
        """Parse what was kept, once."""
        with self._lock:
            data, self._data = self._data, b""
            blocks, self._blocks = self._blocks, []
            checksum, _, told = data.partition(b" ")
            if checksum != _sum(told):
                return
            head, *rows = told.split(b"\v")
            value: Any = json.loads(head)
            if value["v"] != VERSION:
                return
            self._counter, self._model = value["counter"], value["model"]
            self._rows = {
                name: (own, row) for (name, own), row in zip(blocks, rows, strict=False) if row
            }

    def fits(self, pricer: Pricer) -> bool:
        """Whether it was weighed as ``pricer`` weighs."""
        if self._data:
            self._load()
        return (self._counter, self._model) == (pricer.texts.counter.name, pricer.model)

    def row(self, msg: Msg) -> tuple[list[AnyBlock], bytes]:
        """Of ``msg``, where it begins with the blocks that were read; else nothing."""
        blocks, row = self._rows.get(msg.id, _NOTHING)
        same = len(blocks) <= len(msg.content) and all(map(is_, blocks, msg.content))
        return (blocks, row) if same else _NOTHING

    def entry(self, msg: Msg, texts: CountCache) -> Entry | None:
        """The entry that a row was made from, once; None where there is none, or it is damaged."""
        blocks, row = self.row(msg)
        self._rows.pop(msg.id, None)
        if not row:
            return None
        try:
            loop, own = json.loads(row)
            make = _step if msg.role == "assistant" else _said
            parts = [make(msg, blocks, part, texts) for part in own]
            whole = bool(parts) and parts[-1].end == len(blocks)
            return Entry(msg.role, blocks, parts, bool(loop), row=row) if whole else None
        except (ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
            logger.warning("a message is read anew: %s", error)
            return None


_NOTHING: tuple[list[AnyBlock], bytes] = ([], b"")


def adopt(kept: Kept, parts: Parts, pricer: Pricer) -> None:
    """Let ``parts`` go on from what was read before, where that was for the same counter and
    model."""
    parts.adopt(lambda msg: kept.entry(msg, pricer.texts) if kept.fits(pricer) else None)


def dump(context: Sequence[Msg], parts: Parts, pricer: Pricer, kept: Kept | None) -> bytes:
    """What of ``context`` was read, for ``Kept``: now, or before (``kept``) where nobody asked for
    it since. Empty when it is nothing."""
    texts, rows = pricer.texts, list[bytes]()
    if kept is not None and not kept.fits(pricer):
        kept = None
    for msg in context:
        if (entry := parts.known(msg)) is not None:
            entry.row = entry.row or _row(msg, entry, texts)
            rows.append(entry.row)
        else:
            rows.append(kept.row(msg)[1] if kept is not None else b"")
    if not any(rows):
        return b""
    head = _bytes({"v": VERSION, "counter": texts.counter.name, "model": pricer.model})
    told = b"\v".join([head, *rows])  # which JSON never holds
    return _sum(told) + b" " + told


def _row(msg: Msg, entry: Entry, texts: CountCache) -> bytes:
    told = _step_row if msg.role == "assistant" else _said_row
    return _bytes([entry.loop, [told(entry.blocks, part, texts) for part in entry.parts]])


def _bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sum(data: bytes) -> bytes:
    return f"{zlib.crc32(data):08x}".encode()


# -- messages of the person ----------------------------------------------------------------------


def _said_row(blocks: list[AnyBlock], part: Part, texts: CountCache) -> Row:
    words = None
    if part.words is not None:
        text, own = part.words.text, _text_of(blocks)
        rules = [list(r) for r in part.words.rules]
        cut = cut_of(part.words.said, texts)
        words = [None if text == own else text, rules, cut]
    return [part.end, part.raw, part.pieces, part.person, part.said, words]


def _said(msg: Msg, blocks: list[AnyBlock], row: Row, texts: CountCache) -> Part:
    end, raw, pieces, person, size, told = row
    words = None
    if told is not None:
        text = _text_of(blocks) if told[0] is None else str(told[0])
        rules = tuple([Rule(*r) for r in told[1]])
        said = Said(id=msg.id, text=text)
        words = Words(text, rules, said)
        texts.keep(text, size)
        if told[2] is not None:
            put_cut(said, told[2], texts)
    return Part(0, end, raw, _pieces(pieces), person, words=words, said=size)


def _text_of(blocks: Sequence[AnyBlock]) -> str:
    return "\n\n".join([b.text for b in blocks if isinstance(b, TextBlock)])


# -- steps of replies ----------------------------------------------------------------------------


def _step_row(blocks: list[AnyBlock], part: Part, texts: CountCache) -> Row:
    read = part.step
    own = None
    if read is not None:
        at = {id(b): n for n, b in enumerate(blocks)}
        told = [
            [at[id(t.block)], _change_row(t.boxes), [_found_row(t, f, texts) for f in t.found]]
            for t in read.texts
        ]
        called = [_called_row(c, at) for c in read.calls]
        own = [told, called, read.lists]
    return [
        part.start,
        part.end,
        part.raw,
        part.pieces,
        (part.open, part.thinks, part.tasks),
        part.found,
        own,
    ]


def _step(msg: Msg, blocks: list[AnyBlock], row: Row, texts: CountCache) -> Part:
    start, end, raw, pieces, (opened, thinks, tasks), size, own = row
    step = None
    if own is not None:
        told = tuple([_told(msg, blocks[n], b, f, texts) for n, b, f in own[0]])
        found = tuple([f for t in told for f in t.found])
        step = Step(told, tuple([_called(blocks, c) for c in own[1]]), found, bool(own[2]))
    made = _pieces(pieces)
    return Part(start, end, raw, made, False, opened, thinks, tasks, step=step, found=size)


def _found_row(told: Told, found: Found, texts: CountCache) -> Row:
    item, text = found.item, told.block.text
    quote = item.evidence[0].quote
    at = text.find(item.text)
    where = [at, len(item.text)] if at >= 0 else item.text
    counts = [texts.count(item.text), texts.count_lines(f"- {item.text}")]
    return [
        item.id,
        item.kind,
        where,
        None if quote == item.text else quote,
        found.changes,
        *counts,
    ]


def _told(msg: Msg, block: Any, boxes: Any, found: list[Row], texts: CountCache) -> Told:
    if not isinstance(block, TextBlock):
        raise ValueError("no text stands there")
    made: list[Found] = []
    for name, kind, where, quote, changes, count, line in found:
        text = where if isinstance(where, str) else block.text[where[0] : where[0] + where[1]]
        texts.keep_all((text, f"- {text}"), (count, line))
        evidence = Evidence(msg.id, text if quote is None else quote)
        item = LedgerItem(name, kind, text, evidence=(evidence,))
        made.append(Found(item, shape(text), bool(changes)))
    return Told(block, _change(boxes), tuple(made))


def _called_row(called: Called, at: dict[int, int]) -> Row:
    return [
        at[id(called.call)],
        at[id(called.result)],
        called.what,
        called.why,
        _change_row(called.change),
        called.files,
        called.skill,
        None if called.answer is None else called.answer.lines,
    ]


def _called(blocks: Sequence[Any], row: Row) -> Called:
    at, to, what, why, change, files, skill, lines = row
    call, result = blocks[at], blocks[to]
    if not (isinstance(call, ToolCallBlock) and isinstance(result, ToolResultBlock)):
        raise ValueError("no call stands there")
    touched = tuple([(path, action) for path, action in files])
    answer = None if lines is None else Answer(call.id, call.name, tuple(lines))
    return Called(call, result, what, why, _change(change), touched, skill, answer)


def _change_row(change: Change | None) -> Row | None:
    if change is None:
        return None
    return [change.tool, change.what, [t.model_dump() for t in change.entries]]


def _change(row: Row | None) -> Change | None:
    if row is None:
        return None
    return Change(row[0], row[1], [Todo(**t) for t in row[2]])


def _pieces(rows: list[Row]) -> list[Piece]:
    return [Piece(*row) for row in rows]
