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
from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from operator import is_
from typing import Any

import desktop_app
from desktop_app.core.asleep import Stored, number_of, wake
from desktop_app.core.messages import AnyBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState

from .accounting import Accounting
from .columns import Columns, pack
from .findings import shape
from .glimpses import Answer
from .parts import Entry, Part
from .pieces import Said, cut_of, key_of, put_cut
from .pricing import Piece, Pricer
from .reading import Called, Found, Rule, Step, Told, Words
from .todos import Change, Todo
from .tokens import CountCache
from .types import Evidence, LedgerItem

logger = logging.getLogger(__name__)
VERSION = f"{desktop_app.__version__}-5"  # of what is read and how: raise the last figure with it
Row = list[Any]


class Kept:
    """What ``dump`` gave for the messages of ``state``, as bytes: looked at when somebody asks.
    Make it before the state grows or changes: each row is good for the blocks that are there now.
    ``stored`` are the messages, where they are asleep."""

    def __init__(
        self, data: bytes | memoryview, state: AgentState, stored: Stored | None = None
    ) -> None:
        self._data: bytes | memoryview = data
        self._whole = state.model_copy(update={"context": list(state.context)})
        self._stored = stored
        self._blocks = {} if stored is not None else self._now()
        self._lock = threading.Lock()
        self._looked = False
        self._counter = self._model = ""
        self._first = 0  # where the first row begins
        self._table = memoryview(b"")
        self._used: set[str] = set()
        self.running: memoryview | None = None  # see ``ahead``

    def _now(self) -> dict[int, list[AnyBlock]]:
        return {n: list(m.content) for n, m in enumerate(self._whole.context)}

    def _load(self) -> None:
        """Look at what was kept, once."""
        with self._lock:
            if self._looked:
                return
            view = memoryview(self._data)
            try:
                end = bytes(view[: 1 << 12]).index(b"\n")
                value: Any = json.loads(bytes(view[9:end]))
                if value["v"] != VERSION:
                    return
                table = end + 1 + value["table"]
                self._first = table + value["running"]
                if len(view) != self._first + value["rows"]:
                    raise ValueError("it is cut short")
                if bytes(view[:9]) != _sum(view[9 : self._first]) + b" ":
                    raise ValueError("it is damaged")
                self._table = view[end + 1 : table]
                self.running = view[table : self._first]
                self._counter, self._model = value["counter"], value["model"]
            except (ValueError, KeyError, TypeError) as error:
                logger.info("what was read before is not used: %s", error)
            finally:
                self._looked = True

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Of messages that have a row, by id."""
        ids = [m.id for m in self._whole.context]
        return dict(zip(ids, range(len(self._starts) - 1), strict=False))

    def _number(self, msg: Msg) -> int | None:
        """Which of the messages it is, with a row."""
        number = None
        if self._stored is not None:
            number = number_of(msg, self._stored)
            if number is None:
                number = self._stored.numbers.get(id(msg))
        if number is None or self._whole.context[number] is not msg:
            return self._numbers.get(msg.id)
        return number if number < len(self._starts) - 1 else None

    @cached_property
    def _starts(self) -> array[int]:
        """Where each row begins, and the last one ends."""
        return Columns(self._table).ints("starts") if self._counter else array("q")

    def fits(self, pricer: Pricer) -> bool:
        """Whether it was weighed as ``pricer`` weighs."""
        if not self._looked:
            self._load()
        return (self._counter, self._model) == (pricer.texts.counter.name, pricer.model)

    def release(self) -> None:
        """Let all of it go, once every message that is still there was looked at."""
        with self._lock:
            self._looked, self._counter = True, ""
            self._data = self._table = memoryview(b"")
            self.running = self._stored = None
            self._whole, self._blocks = AgentState(session_id=""), {}
            vars(self).pop("_numbers", None)
            vars(self).pop("_starts", None)

    @property
    def state(self) -> AgentState:
        """What it was kept of, as that was then."""
        return self._whole

    def row(self, msg: Msg) -> tuple[list[AnyBlock], bytes]:
        """Of ``msg``, where it begins with the blocks that were read; else nothing."""
        number = self._number(msg)
        if number is None:
            return _NOTHING
        wake(msg)
        woken = self._stored.woken if self._stored is not None else self._blocks
        blocks = woken.get(number)
        if blocks is None or len(blocks) > len(msg.content):
            return _NOTHING
        same = all(map(is_, blocks, msg.content))
        return (blocks, self._row(number)) if same else _NOTHING

    def _row(self, number: int) -> bytes:
        start, end = self._starts[number : number + 2]
        return bytes(memoryview(self._data)[self._first + start : self._first + end])

    def asleep(self, msg: Msg) -> bytes | None:
        """The row of a message that nobody looked at yet; None of another."""
        number = number_of(msg, self._stored) if self._stored is not None else None
        mine = number is not None and number < len(self._starts) - 1
        return self._row(number) if mine and number is not None else None

    def entry(self, msg: Msg, texts: CountCache) -> Entry | None:
        """The entry that a row was made from, once; None where there is none, or it is damaged."""
        if msg.id in self._used:
            return None
        blocks, row = self.row(msg)
        self._used.add(msg.id)
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


def adopt(kept: Kept, account: Accounting) -> None:
    """Let ``account`` go on from what was read before, where that was for the same counter and
    model."""
    pricer = account.pricer
    account.parts.adopt(lambda msg: kept.entry(msg, pricer.texts) if kept.fits(pricer) else None)
    account.running.adopt(lambda: kept if kept.fits(pricer) else None)


def dump(state: AgentState, account: Accounting, kept: Kept | None) -> bytes:
    """What of ``state`` was read, for ``Kept``: now, or before (``kept``) where nobody asked for
    it since. Empty when it is nothing."""
    parts, texts, rows = account.parts, account.pricer.texts, list[bytes]()
    if kept is not None and not kept.fits(account.pricer):
        kept = None
    wanted = False  # of what was read before
    for msg in state.context:
        if kept is not None and (row := kept.asleep(msg)) is not None:
            rows.append(row)
            wanted = True
        elif (entry := parts.known(msg)) is not None:
            entry.row = entry.row or _row(msg, entry, texts)
            rows.append(entry.row)
        else:
            rows.append(kept.row(msg)[1] if kept is not None else b"")
            wanted = wanted or bool(rows[-1])
    if kept is not None and not wanted:
        kept.release()
    if not any(rows):
        return b""
    head = {"v": VERSION, "counter": texts.counter.name, "model": account.pricer.model}
    running = account.running.dump(state)
    table = pack({"starts": array("q", accumulate(map(len, rows), initial=0))})
    sizes = {"table": len(table), "running": len(running), "rows": sum(map(len, rows))}
    checked = b"".join([_bytes({**head, **sizes}), b"\n", table, running])
    return b"".join([_sum(checked), b" ", checked, *rows])


def _row(msg: Msg, entry: Entry, texts: CountCache) -> bytes:
    told = _step_row if msg.role == "assistant" else _said_row
    return _bytes([entry.loop, [told(entry.blocks, part, texts) for part in entry.parts]])


def _bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sum(data: bytes | memoryview) -> bytes:
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
        made.append(Found(item, key_of(shape(text)), bool(changes)))
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
