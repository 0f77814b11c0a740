"""Ledgers of what leaves, for all the cuts that one plan tries.

Each cut takes a little more away than the last one: what was taken in of the messages for one is
gone on from, and not taken in again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from desktop_app.core.messages import Msg

from .intake import Intake
from .ledger import Ledger
from .parts import Entry
from .pins import settle

Count = Callable[[str], float]


@dataclass(slots=True)
class _Read:
    """What was taken in of the parts ``done``."""

    intake: Intake
    done: list[int] = field(default_factory=list[int])

    def copy(self) -> _Read:
        return _Read(self.intake.copy(), list(self.done))


class Past:
    """The parts of a context (messages of the person, steps of replies) and ledgers of some of
    them, on top of ``first``. ``first``, ``entries`` and the messages are never changed."""

    def __init__(self, context: Sequence[Msg], entries: Sequence[Entry], first: Ledger) -> None:
        self.first = first
        self._settled = first.fork()
        settle(self._settled)
        self._context = context
        self._parts = [(place, part) for place, e in enumerate(entries) for part in e.parts]
        last = max((n for n, m in enumerate(context) if m.role == "user"), default=-1)
        # Parts before the person's last message, which may stay whatever its age.
        self._spoke = sum(len(e.parts) for e in entries[: max(0, last)])
        self._known: list[_Read] = []  # each goes on from the one before

    def ledger(self, gone: set[int], front: int | None, blocks: int, count: Count) -> Ledger:
        """A ledger of its own, of the messages at the places ``gone`` and of the first ``blocks``
        blocks of the one at ``front``."""
        wanted = [
            n
            for n, (place, part) in enumerate(self._parts)
            if place in gone or (place == front and part.end <= blocks)
        ]
        while self._known and wanted[: len(self._known[-1].done)] != self._known[-1].done:
            self._known.pop()
        if not self._known:
            self._known.append(_Read(Intake(self._settled, count)))
        early = [n for n in wanted if n < self._spoke]
        for upto in (early, wanted):
            if len(self._known[-1].done) < len(upto):
                read = self._known[-1].copy()
                self._read(read, upto[len(read.done) :])
                self._known.append(read)
        ledger = self._settled.fork()
        self._known[-1].intake.copy().close(ledger)
        return ledger

    def _read(self, read: _Read, parts: Sequence[int]) -> None:
        context, intake = self._context, read.intake
        for number in parts:
            place, part = self._parts[number]
            if part.step is not None:
                intake.take_step(context[place], part.step)
            else:
                intake.take_person(context[place], part.words)
        read.done += parts
