"""A context in sums, and a ledger of some of it: what a plan chooses its cut from."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from desktop_app.core.messages import Msg

from .atoms import Atoms
from .intake import Intake
from .parts import Entry, Part


def _unread(msg: Msg) -> Entry:
    raise LookupError(msg.id)


def _floats() -> array[float]:
    return array("d", [0.0])


@dataclass(slots=True)
class Standing:
    """Of a context: its ``entries`` (None: read when somebody asks, see ``entry``), its ``atoms``
    in order, and for each message its first atom (``firsts``, one more than there are messages).
    ``raw``, ``said`` and ``found`` are sums of the atoms before each, ``weights`` and ``images`` of
    the messages before each. ``persons`` and ``opens`` are atoms of the person and atoms that wait
    for results, ``changing`` those that do something to lists; ``loops`` are messages with signed
    thinking, ``tasks`` those that show the task list.
    """

    context: Sequence[Msg]
    entries: list[Entry | None] = field(default_factory=list[Entry | None])
    atoms: Atoms = field(default_factory=Atoms)
    firsts: array[int] = field(default_factory=lambda: array("q", [0]))
    raw: array[float] = field(default_factory=_floats)
    said: array[float] = field(default_factory=_floats)
    found: array[float] = field(default_factory=_floats)
    weights: array[float] = field(default_factory=_floats)
    images: array[float] = field(default_factory=_floats)
    persons: list[int] = field(default_factory=list[int])
    opens: list[int] = field(default_factory=list[int])
    loops: list[int] = field(default_factory=list[int])
    tasks: list[int] = field(default_factory=list[int])
    changing: list[int] = field(default_factory=list[int])
    read: Callable[[Msg], Entry] = _unread

    @classmethod
    def of(cls, context: Sequence[Msg], entries: list[Entry]) -> Standing:
        """One made at once."""
        standing = cls(context)
        standing.extend(entries)
        return standing

    def entry(self, place: int) -> Entry:
        """Of the message at ``place``."""
        entry = self.entries[place]
        if entry is None:
            entry = self.entries[place] = self.read(self.context[place])
        return entry

    def every(self) -> list[Entry]:
        """Of all messages."""
        return [self.entry(place) for place in range(len(self.entries))]

    def part(self, number: int) -> Part:
        """What an atom is."""
        place = self.atoms[number].message
        return self.entry(place).parts[number - self.firsts[place]]

    def extend(self, entries: Sequence[Entry]) -> None:
        """Messages that came at the end. ``context`` is as long already."""
        first, place = len(self.atoms), len(self.entries)
        self.entries += entries
        parts: list[Part] = []
        for at, entry in enumerate(entries, place):
            self.atoms.extend(entry.at(at))
            parts += entry.parts
            self.firsts.append(len(self.atoms))
            if entry.loop:
                self.loops.append(at)
            if entry.tasks:
                self.tasks.append(at)
        new = self.atoms[first:]
        for sums, more in (
            (self.raw, [a.raw for a in new]),
            (self.said, [p.said for p in parts]),
            (self.found, [p.found for p in parts]),
            (self.weights, [e.raw for e in entries]),
            (self.images, [e.images for e in entries]),
        ):
            sums.extend(accumulate(more, initial=sums.pop()))
        for n, (atom, part) in enumerate(zip(new, parts, strict=True), first):
            if atom.person:
                self.persons.append(n)
            if atom.open:
                self.opens.append(n)
            if part.step is not None and part.step.changing:
                self.changing.append(n)

    def cut_back(self, messages: int) -> None:
        """Leave the first ``messages`` alone."""
        atoms = self.firsts[messages]
        for sums, end in (
            (self.entries, messages),
            (self.firsts, messages + 1),
            (self.raw, atoms + 1),
            (self.said, atoms + 1),
            (self.found, atoms + 1),
            (self.weights, messages + 1),
            (self.images, messages + 1),
        ):
            del sums[end:]
        self.atoms.cut_back(atoms)
        for places, end in (
            (self.persons, atoms),
            (self.opens, atoms),
            (self.changing, atoms),
            (self.loops, messages),
            (self.tasks, messages),
        ):
            while places and places[-1] >= end:
                places.pop()

    def copy(self, context: Sequence[Msg]) -> Standing:
        """For somebody who goes on with it while this one grows."""
        other = Standing(context, read=self.read)
        for name in LISTS:
            setattr(other, name, getattr(self, name)[:])
        other.atoms = self.atoms.copy()
        return other

    def left(self, sums: Sequence[float], places: Sequence[int]) -> float:
        """Of sums by message, what is left without the messages ``places``."""
        left, first = 0.0, 0
        for start, end in runs_of(places):
            left += sums[start] - sums[first]
            first = end
        return left + sums[-1] - sums[first]

    @property
    def opened(self) -> int:
        """The first atom that waits for results; after the last one when none does."""
        return self.opens[0] if self.opens else len(self.atoms)


LISTS = [name for name in Standing.__dataclass_fields__ if name not in ("context", "read", "atoms")]


Runs = list[tuple[int, int]]  # of numbers, each up to its end


def runs_of(numbers: Sequence[int]) -> Runs:
    """Ascending numbers as runs, of which there are few."""
    runs, at, count = Runs(), 0, len(numbers)
    while at < count:
        start = numbers[at]
        # So many go on without a gap: found by halves.
        end = at + bisect_left(range(count - at), True, key=lambda n: numbers[at + n] - start > n)
        runs.append((start, start + end - at))
        at = end
    return runs


@dataclass(slots=True)
class Read:
    """What was taken in of the atoms ``done``, and what was pinned of them then: messages and
    results by their places. ``shared``: somebody else goes on from it, so it does not change."""

    intake: Intake
    done: Runs = field(default_factory=Runs)
    pinned: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    shared: bool = False

    @property
    def upto(self) -> int:
        """Where it ends."""
        return self.done[-1][1] if self.done else 0

    def copy(self) -> Read:
        return Read(self.intake.copy(), list(self.done), set(self.pinned))

    def begins(self, wanted: Runs) -> bool:
        """Whether all of it is at the beginning of ``wanted``."""
        if not self.done:
            return True
        *whole, (start, end) = self.done
        at = len(whole)
        if len(wanted) <= at or wanted[:at] != whole:
            return False
        return wanted[at][0] == start and wanted[at][1] >= end

    def rest(self, wanted: Runs) -> Runs:
        """What of ``wanted`` comes after it."""
        if not self.done:
            return wanted
        at = len(self.done) - 1
        half = (self.done[at][1], wanted[at][1])
        return [*([half] if half[0] < half[1] else []), *wanted[at + 1 :]]

    def take(self, standing: Standing, runs: Runs) -> None:
        """Take in more atoms, oldest first."""
        context, intake = standing.context, self.intake
        atoms = standing.atoms
        for start, end in runs:
            for number in range(start, end):
                part, msg = standing.part(number), context[atoms[number].message]
                if part.step is not None:
                    intake.take_step(msg, part.step)
                else:
                    intake.take_person(msg, part.words)
            if self.done and self.done[-1][1] == start:
                self.done[-1] = self.done[-1][0], end
            else:
                self.done.append((start, end))
