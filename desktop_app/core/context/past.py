"""Ledgers of what leaves, for all the cuts that one plan tries.

Each cut takes a little more away than the last one: what was taken in of the messages for one is
gone on from, and not taken in again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from desktop_app.core.messages import Msg

from .glimpses import Answer
from .ledger import Ledger
from .parts import Entry, Part
from .pins import settle

Count = Callable[[str], float]


@dataclass(slots=True)
class _Read:
    """A ledger of the parts ``done``, without what stood out in their results."""

    ledger: Ledger
    done: list[int] = field(default_factory=list[int])
    answers: list[Answer] = field(default_factory=list[Answer])

    def copy(self) -> _Read:
        return _Read(self.ledger.fork(), list(self.done), list(self.answers))


class Past:
    """The parts of a context (messages of the person, steps of replies) and ledgers of some of
    them, on top of ``first``. ``first``, ``entries`` and the messages are never changed."""

    def __init__(self, context: Sequence[Msg], entries: Sequence[Entry], first: Ledger) -> None:
        self.first = first
        self._parts: list[tuple[int, int, Msg, Part]] = []
        self._spoke = 0  # parts before the person's last message, which may stay whatever its age
        for place, (msg, entry) in enumerate(zip(context, entries, strict=True)):
            if msg.role == "user":
                self._spoke = len(self._parts)
            self._parts += [(place, part.end, msg, part) for part in entry.parts]
        self._known: list[_Read] = []  # each goes on from the one before

    def ledger(self, gone: set[int], front: int | None, blocks: int, count: Count) -> Ledger:
        """A ledger of its own, of the messages at the places ``gone`` and of the first ``blocks``
        blocks of the one at ``front``."""
        wanted = [
            n
            for n, (place, end, _, _) in enumerate(self._parts)
            if place in gone or (place == front and end <= blocks)
        ]
        while self._known and wanted[: len(self._known[-1].done)] != self._known[-1].done:
            self._known.pop()
        if not self._known:
            ledger = self.first.fork()
            settle(ledger)
            self._known.append(_Read(ledger))
        early = [n for n in wanted if n < self._spoke]
        for upto in (early, wanted):
            if len(self._known[-1].done) < len(upto):
                read = self._known[-1].copy()
                self._read(read, upto[len(read.done) :], count)
                self._known.append(read)
        read = self._known[-1]
        ledger = read.ledger.fork()
        ledger.taken(read.answers)
        return ledger

    def _read(self, read: _Read, parts: Sequence[int], count: Count) -> None:
        for number in parts:
            _, _, msg, part = self._parts[number]
            if part.step is not None:
                read.ledger.take_step(msg, part.step, read.answers)
            else:
                read.ledger.take_person(msg, part.words, count)
        read.done += parts
