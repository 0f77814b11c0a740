"""The pieces that leave the context whole: a person's message, or one step of a reply."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from .parts import Atom, Entry


def atoms(entries: Sequence[Entry]) -> list[Atom]:
    """Those of a context, in order; every block is in exactly one atom."""
    found: list[Atom] = []
    for place, entry in enumerate(entries):
        found += entry.at(place)
    return found


class Atoms(Sequence[Atom]):
    """Atoms of a context: the first ones as columns (of message, start, end, raw tokens and flags),
    made when somebody asks for them; those that came since as they are."""

    def __init__(self, columns: tuple[Sequence[Any], ...] = ((), (), (), (), b"")) -> None:
        self._columns = columns
        self._first = len(columns[0])
        self._own: list[Atom] = []

    def __len__(self) -> int:
        return self._first + len(self._own)

    @overload
    def __getitem__(self, at: int) -> Atom: ...

    @overload
    def __getitem__(self, at: slice) -> list[Atom]: ...

    def __getitem__(self, at: int | slice) -> Atom | list[Atom]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        if at >= self._first:
            return self._own[at - self._first]
        if at < 0:
            raise IndexError(at)
        places, starts, ends, raws, flags = self._columns
        own: int = flags[at]
        return Atom(
            places[at],
            starts[at],
            ends[at],
            raws[at],
            bool(own & 1),
            bool(own & 2),
            bool(own & 4),
            bool(own & 8),
        )

    def raw_at(self, at: int) -> float:
        """Raw tokens of one."""
        return self._columns[3][at] if at < self._first else self._own[at - self._first].raw

    def extend(self, more: Iterable[Atom]) -> None:
        self._own += more

    def cut_back(self, end: int) -> None:
        """Leave the first ``end`` alone."""
        del self._own[max(0, end - self._first) :]
        self._first = min(self._first, end)

    def copy(self) -> Atoms:
        other = Atoms(self._columns)
        other._first, other._own = self._first, list(self._own)
        return other

    def columns(self) -> tuple[array[int], array[int], array[int], array[float], bytes]:
        """All of them as columns."""
        all_of = list(self)
        return (
            array("q", [a.message for a in all_of]),
            array("q", [a.start for a in all_of]),
            array("q", [a.end for a in all_of]),
            array("d", [a.raw for a in all_of]),
            bytes([a.person + 2 * a.open + 4 * a.thinks + 8 * a.loop for a in all_of]),
        )


@dataclass(frozen=True, slots=True)
class Cut:
    """What stays: atoms from ``first`` on, and ``request``, the person's last message, when it lies
    before (a model must find what it was asked as a live message)."""

    first: int
    request: int | None = None

    def messages(self, found: Sequence[Atom]) -> set[int]:
        """Those of which something leaves."""
        gone = set(range(found[self.first - 1].message + 1)) if self.first else set[int]()
        if self.request is not None:
            gone.discard(found[self.request].message)
        return gone

    def kept(self, found: Sequence[Atom]) -> list[Atom]:
        own = [] if self.request is None else [found[self.request]]
        return [*own, *found[self.first :]]


def newest_said(found: Sequence[Atom]) -> int | None:
    """The person's last message."""
    return next((n for n in range(len(found) - 1, -1, -1) if found[n].person), None)


def cut_for(found: Sequence[Atom], budget: float, opened: int | None = None) -> Cut:
    """The newest atoms that fit ``budget`` raw tokens together. The person's last message stays
    while it fits half of it, or is the newest of all; what waits for results stays always. A reply
    with signed thinking is cut before a step that begins with it, where there is one, so that what
    stays of the loop stays whole. ``opened`` is the first that waits, where it is known."""
    last = newest_said(found)
    left = budget
    raw_at = found.raw_at if isinstance(found, Atoms) else [a.raw for a in found].__getitem__
    if last is not None and (found[last].raw <= budget / 2 or last == len(found) - 1):
        left -= found[last].raw
    else:
        last = None
    first = len(found)
    while first and (first - 1 == last or raw_at(first - 1) <= left):
        first -= 1
        left -= 0 if first == last else raw_at(first)
    if opened is None:
        opened = next((n for n, a in enumerate(found) if a.open), len(found))
    first = min(opened, _at_thinking(found, first, opened))
    return Cut(first, last if last is not None and last < first else None)


def _at_thinking(found: Sequence[Atom], first: int, opened: int) -> int:
    """``first``, or a later step of the same reply that begins with signed thinking."""
    if first < len(found) and found[first].start > 0 and found[first].loop:
        for later in range(first, min(opened + 1, len(found))):
            if found[later].message != found[first].message:
                break
            if found[later].thinks:
                return later
    return first
