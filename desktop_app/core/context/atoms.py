"""The pieces that leave the context whole: a person's message, or one step of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .parts import Atom, Entry


def atoms(entries: Sequence[Entry]) -> list[Atom]:
    """Those of a context, in order; every block is in exactly one atom."""
    found: list[Atom] = []
    for place, entry in enumerate(entries):
        found += entry.at(place)
    return found


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
    if last is not None and (found[last].raw <= budget / 2 or last == len(found) - 1):
        left -= found[last].raw
    else:
        last = None
    first = len(found)
    while first and (first - 1 == last or found[first - 1].raw <= left):
        first -= 1
        left -= 0 if first == last else found[first].raw
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
