"""Ledgers of what leaves, for all the cuts that one plan tries.

Each cut takes a little more away than the last one: what was taken in of the messages for one is
gone on from, and not taken in again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from .intake import Intake
from .ledger import Ledger
from .pins import settle
from .standing import Read, Runs, Standing, runs_of

Count = Callable[[str], float]


class Past:
    """The parts of a context (messages of the person, steps of replies) and ledgers of some of
    them, on top of ``first``. ``read`` is what was taken in of the oldest already, each more than
    the one before. ``first``,
    entries and messages are never changed, nor is what was ``read``."""

    def __init__(self, standing: Standing, first: Ledger, read: Sequence[Read] = ()) -> None:
        self.first = first
        self._settled = first.fork()
        settle(self._settled)
        self._standing = standing
        # Parts before the person's last message, which may stay whatever its age.
        self._spoke = standing.persons[-1] if standing.persons else 0
        self._known = list(read)  # each goes on from the one before

    def ledger(self, gone: Collection[int], front: int | None, blocks: int, count: Count) -> Ledger:
        """A ledger of its own, of the messages at the places ``gone`` and of the first ``blocks``
        blocks of the one at ``front``."""
        wanted = self._wanted(gone, front, blocks)
        while self._known and not self._known[-1].begins(wanted):
            self._known.pop()
        if not self._known:
            self._known.append(Read(Intake(self._settled, count)))
        spoke = self._spoke
        early = [(start, min(end, spoke)) for start, end in wanted if start < spoke]
        for upto in (early, wanted):
            if self._known[-1].begins(upto) and (more := self._known[-1].rest(upto)):
                read = self._known[-1].copy()
                read.take(self._standing, more)
                self._known.append(read)
        ledger = self._settled.fork()
        self._known[-1].intake.copy().close(ledger)
        return ledger

    def _wanted(self, gone: Collection[int], front: int | None, blocks: int) -> Runs:
        """The parts that leave, in order."""
        firsts, atoms = self._standing.firsts, self._standing.atoms
        wanted = Runs()
        for start, end in runs_of(sorted(gone)):
            wanted.append((firsts[start], firsts[end]))
        if front is not None and front not in gone:
            first, last = firsts[front], firsts[front + 1]
            left = first
            while left < last and atoms[left].end <= blocks:
                left += 1
            if left > first:
                wanted.append((first, left))
                wanted.sort()
        joined = Runs()
        for start, end in wanted:
            if joined and joined[-1][1] == start:
                joined[-1] = joined[-1][0], end
            elif start < end:
                joined.append((start, end))
        return joined
