"""A context in sums, and a ledger of some of it: what a plan chooses its cut from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from desktop_app.core.messages import Msg

from .intake import Intake
from .parts import Atom, Entry, Part


def _unread(msg: Msg) -> Entry:
    raise LookupError(msg.id)


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
    atoms: list[Atom] = field(default_factory=list[Atom])
    firsts: list[int] = field(default_factory=lambda: [0])
    raw: list[float] = field(default_factory=lambda: [0.0])
    said: list[float] = field(default_factory=lambda: [0.0])
    found: list[float] = field(default_factory=lambda: [0.0])
    weights: list[float] = field(default_factory=lambda: [0.0])
    images: list[float] = field(default_factory=lambda: [0.0])
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
            self.atoms += entry.at(at)
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
            sums += list(accumulate(more, initial=sums.pop()))
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
            (self.atoms, atoms),
            (self.firsts, messages + 1),
            (self.raw, atoms + 1),
            (self.said, atoms + 1),
            (self.found, atoms + 1),
            (self.weights, messages + 1),
            (self.images, messages + 1),
        ):
            del sums[end:]
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
            setattr(other, name, list(getattr(self, name)))
        return other

    def left(self, sums: Sequence[float], gone: Iterable[int]) -> float:
        """Of sums by message, what is left without the messages ``gone``: in runs, mostly one."""
        places, at, left = sorted(gone), 0, 0.0
        first = 0
        while at < len(places):
            start = at
            while at < len(places) and places[at] - places[start] == at - start:
                at += 1
            left += sums[places[start]] - sums[first]
            first = places[at - 1] + 1
        return left + sums[-1] - sums[first]

    @property
    def opened(self) -> int:
        """The first atom that waits for results; after the last one when none does."""
        return self.opens[0] if self.opens else len(self.atoms)


LISTS = [name for name in Standing.__dataclass_fields__ if name not in ("context", "read")]


@dataclass(slots=True)
class Read:
    """What was taken in of the atoms ``done``, and what was pinned of them then: messages and
    results by their places. ``shared``: somebody else goes on from it, so it does not change."""

    intake: Intake
    done: list[int] = field(default_factory=list[int])
    pinned: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    shared: bool = False

    def copy(self) -> Read:
        return Read(self.intake.copy(), list(self.done), set(self.pinned))

    def take(self, standing: Standing, numbers: Sequence[int]) -> None:
        """Take in more atoms, oldest first."""
        context, intake = standing.context, self.intake
        atoms = standing.atoms
        for number in numbers:
            part, msg = standing.part(number), context[atoms[number].message]
            if part.step is not None:
                intake.take_step(msg, part.step)
            else:
                intake.take_person(msg, part.words)
        self.done += numbers
