"""Ledgers of what leaves, for all the cuts that one plan tries.

Each cut takes a little more away than the last one: what was taken in of the messages for one is
gone on from, and not taken in again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from .intake import Intake
from .ledger import Ledger
from .pins import settle
from .standing import Read, Standing

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

    def ledger(self, gone: set[int], front: int | None, blocks: int, count: Count) -> Ledger:
        """A ledger of its own, of the messages at the places ``gone`` and of the first ``blocks``
        blocks of the one at ``front``."""
        wanted = self._wanted(gone, front, blocks)
        while self._known and wanted[: len(self._known[-1].done)] != self._known[-1].done:
            self._known.pop()
        if not self._known:
            self._known.append(Read(Intake(self._settled, count)))
        early = wanted[: bisect_left(wanted, self._spoke)]
        for upto in (early, wanted):
            if len(self._known[-1].done) < len(upto):
                read = self._known[-1].copy()
                read.take(self._standing, upto[len(read.done) :])
                self._known.append(read)
        ledger = self._settled.fork()
        self._known[-1].intake.copy().close(ledger)
        return ledger

    def _wanted(self, gone: set[int], front: int | None, blocks: int) -> Sequence[int]:
        """The parts that leave, in order."""
        firsts, atoms = self._standing.firsts, self._standing.atoms
        places = gone if front is None else gone | {front}
        stays = [n for n in range(max(places, default=-1) + 1) if n not in places]
        wanted: list[int] = []
        first = 0
        for end in (*stays, max(places, default=-1) + 1):  # in runs: mostly there is one
            wanted += range(firsts[first], firsts[end])
            first = end + 1
        if front is None or front in gone:
            return wanted
        late = set(range(firsts[front], firsts[front + 1]))
        return [n for n in wanted if n not in late or atoms[n].end <= blocks]
