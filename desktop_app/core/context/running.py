"""A context as it stands, in sums that go on while it grows: a compaction chooses its cut from them
and takes the ledger of what is sure to leave from where it was left, without going through the
messages again.

Only the end of a context changes. What differs from last time is found by comparing the messages'
identity; from the first one that differs all is made anew.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import is_, itemgetter
from typing import Any

from desktop_app.core.messages import Msg, ToolResultBlock

from .intake import Intake
from .ledger import Ledger, is_pinned, ledger_from
from .parts import Atom, Entry, Part, Parts
from .pins import settle

Count = Callable[[str], float]
FEW = 12  # atoms taken in on the event loop at once
KEPT = 0.3  # of W: what is older than the newest so much leaves with nearly any compaction
_ATOM = itemgetter(0)


@dataclass(slots=True)
class Standing:
    """Of a context: its ``entries``, their ``atoms`` in order with the ``parts`` that these are,
    and for each message its first atom (``firsts``, one more than there are messages). ``raw``,
    ``said`` and ``found`` are sums of the atoms before each, ``weights`` and ``images`` of the
    messages before each. ``persons`` and ``opens`` are atoms of the person and atoms that wait for
    results, ``changing`` those that do something to lists; ``loops`` are messages with signed
    thinking, ``tasks`` those that show the task list. ``results`` are those of calls, each with its
    atom.
    """

    context: Sequence[Msg]
    entries: list[Entry] = field(default_factory=list[Entry])
    atoms: list[Atom] = field(default_factory=list[Atom])
    parts: list[Part] = field(default_factory=list[Part])
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
    results: list[tuple[int, ToolResultBlock]] = field(
        default_factory=list[tuple[int, ToolResultBlock]]
    )

    @classmethod
    def of(cls, context: Sequence[Msg], entries: list[Entry]) -> Standing:
        """One made at once."""
        standing = cls(context)
        standing.extend(entries)
        return standing

    def extend(self, entries: Sequence[Entry]) -> None:
        """Messages that came at the end. ``context`` is as long already."""
        first, place = len(self.atoms), len(self.entries)
        self.entries += entries
        for at, entry in enumerate(entries, place):
            self.atoms += entry.at(at)
            self.parts += entry.parts
            self.firsts.append(len(self.atoms))
            if entry.loop:
                self.loops.append(at)
            if entry.tasks:
                self.tasks.append(at)
        new, parts = self.atoms[first:], self.parts[first:]
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
            if part.step is not None:
                if part.step.lists or any(c.change is not None for c in part.step.calls):
                    self.changing.append(n)
                self.results.extend((n, c.result) for c in part.step.calls)

    def cut_back(self, messages: int) -> None:
        """Leave the first ``messages`` alone."""
        atoms = self.firsts[messages]
        for sums, end in (
            (self.entries, messages),
            (self.atoms, atoms),
            (self.parts, atoms),
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
        while self.results and self.results[-1][0] >= atoms:
            self.results.pop()

    def copy(self, context: Sequence[Msg]) -> Standing:
        """For somebody who goes on with it while this one grows."""
        lists = (getattr(self, name) for name in _LISTS)
        return Standing(context, *map(list, lists))

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


_LISTS = [name for name in Standing.__dataclass_fields__ if name != "context"]


@dataclass(slots=True)
class Read:
    """What was taken in of the atoms ``done``."""

    intake: Intake
    done: list[int] = field(default_factory=list[int])

    def copy(self) -> Read:
        return Read(self.intake.copy(), list(self.done))

    def take(self, standing: Standing, numbers: Sequence[int]) -> None:
        """Take in more atoms, oldest first."""
        context, intake = standing.context, self.intake
        atoms, parts = standing.atoms, standing.parts
        for number in numbers:
            part, msg = parts[number], context[atoms[number].message]
            if part.step is not None:
                intake.take_step(msg, part.step)
            else:
                intake.take_person(msg, part.words)
        self.done += numbers


class Running:
    """Of one session with one model. A thread that plans and the event loop may both ask: whoever
    plans waits for the other, the loop never does (``advance``)."""

    def __init__(self, parts: Parts, count: Count) -> None:
        self._parts = parts
        self._count = count
        self._lock = threading.Lock()
        self._context: list[Msg] = []
        self._standing = Standing.of(self._context, [])
        self._part: dict[str, Any] = {}  # of the state, and the ledger that it is
        self._ledger = Ledger()
        self._settled = Ledger()
        self._read: Read | None = None
        self._pinned: list[int] = []  # of what was taken in, then

    def standing(self, context: Sequence[Msg]) -> Standing:
        """Of ``context``, which does not change while it is used. O(new messages), and copies."""
        with self._lock:
            self._update(context)
            return self._standing.copy(context)

    def ledger(self, part: dict[str, Any]) -> Ledger:
        """The ledger of a state's part, of its own."""
        with self._lock:
            self._begin(part)
            return self._ledger.fork()

    def read(self, context: Sequence[Msg], part: dict[str, Any], keep: float) -> Read:
        """The ledger of what leaves whatever the plan, when ``keep`` raw tokens may stay at most:
        taken in as far as it goes, to be gone on from."""
        with self._lock:
            self._update(context)
            self._begin(part)
            read = self._read
            if read is not None and set(self._pins(0, len(read.done))) != set(self._pinned):
                self._read = None  # marks are beside the text and may change on what is there
            return self._take_in(keep).copy()

    def advance(self, context: Sequence[Msg], part: dict[str, Any], keep: float) -> None:
        """Go on with what has come since and take in what is sure to leave, a little at a time:
        O(new messages). Nothing while a thread is at it, or where more than the end is new: whoever
        plans looks at all of it."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            old, sure = self._context, self._sure()
            at, more = max(0, sure - FEW), len(context) - len(old)
            same = 0 <= more <= FEW and all(map(is_, old[at:sure], context[at:]))
            if same and self._is_of(part) and all(map(self._parts.knows, context[sure:])):
                self._go_on(context, sure)
                self._take_in(keep, FEW)
        finally:
            self._lock.release()

    # -- under the lock ------------------------------------------------------------------------

    def _update(self, context: Sequence[Msg]) -> None:
        """Make ``_standing`` that of ``context``. Messages are compared by identity, as
        ``PromptBuilder`` does; what was the newest reply, or came after it, may have grown."""
        old, sure = self._context, min(self._sure(), len(context))
        if not all(map(is_, old[:sure], context)):
            sure = next(n for n in range(sure) if old[n] is not context[n])
        self._go_on(context, sure)
        self._parts.forget(context, self._standing.entries)

    def _sure(self) -> int:
        """How many of the messages can have changed only with their identity."""
        old = self._context
        return next((n for n in range(len(old) - 1, -1, -1) if old[n].role == "assistant"), 0)

    def _go_on(self, context: Sequence[Msg], sure: int) -> None:
        """The first ``sure`` messages are as they were."""
        standing, known = self._standing, self._standing.entries
        entries = [self._parts.entry(m) for m in context[sure:]]
        pairs = zip(known[sure:], entries, strict=False)
        same = sure + next((n for n, (a, b) in enumerate(pairs) if a is not b), len(entries))
        same = min(same, len(known))
        if same < len(known):
            standing.cut_back(same)
            if self._read is not None and len(self._read.done) > standing.firsts[same]:
                self._read = None
        self._context[sure:] = context[sure:]
        standing.extend(entries[same - sure :])

    def _is_of(self, part: dict[str, Any]) -> bool:
        """Whether ``_ledger`` is that of ``part``."""
        return part is self._part or not (part or self._part)

    def _begin(self, part: dict[str, Any]) -> None:
        if not self._is_of(part):
            self._part, self._ledger = part, ledger_from(part)
            self._settled = self._ledger.fork()
            settle(self._settled)
            self._read = None

    def _take_in(self, keep: float, most: int | None = None) -> Read:
        standing, read = self._standing, self._read
        if read is None:
            read, self._pinned = Read(Intake(self._settled, self._count)), []
            self._read = read
        last = standing.persons[-1] if standing.persons else 0
        done = len(read.done)
        upto = min(last, standing.opened, bisect_left(standing.raw, standing.raw[-1] - keep))
        if most is not None:
            upto = min(upto, done + most)
        if upto > done:
            read.take(standing, range(done, upto))
            read.intake.cut()
            self._pinned += self._pins(done, upto)
        return read

    def _pins(self, first: int, end: int) -> list[int]:
        """What is pinned of the atoms from ``first`` to ``end``, as things are: results by their
        number, messages (with their first atom) by theirs, counted down from -1."""
        standing, firsts = self._standing, self._standing.firsts
        at, to = bisect_left(firsts, first), bisect_left(firsts, end)
        said = enumerate(self._context[at:to], at)
        found = [-1 - n for n, m in said if m.metadata and is_pinned(m.metadata)]
        at, to = (bisect_left(standing.results, n, key=_ATOM) for n in (first, end))
        results = enumerate(standing.results[at:to], at)
        return [*found, *(n for n, (_, r) in results if r.metadata and is_pinned(r.metadata))]
