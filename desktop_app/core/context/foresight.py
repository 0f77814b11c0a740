"""How much of the newest steps can stay, foreseen by sums: a plan that is nearly right at once
needs no rounds of ledgers that are made to be thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .atoms import Atom, cut_for
from .ledger import Ledger, Room
from .parts import Entry
from .tokens import CountCache

FILE = 12  # raw tokens of a line that names a file
TITLES = 60  # raw tokens: headings that a part gets when its first item comes


@dataclass(slots=True)
class Foresight:
    """Sums over the atoms of a context. ``said`` and ``found`` are what each would bring into a
    ledger; ``scale`` is what a ledger took of what was foreseen, once there was one."""

    found: Sequence[Atom]
    brought: Sequence[tuple[float, float]]
    said: float
    facts: float
    other: float
    scale: float = 1.0
    last: float = 1.0  # what was foreseen of the ledger last

    @classmethod
    def of(
        cls, entries: Sequence[Entry], found: Sequence[Atom], ledger: Ledger, texts: CountCache
    ) -> Foresight:
        """Of a context and the ledger that was there before."""
        brought = [(p.said, p.found) for entry in entries for p in entry.parts]
        said = sum(texts.count(s.text) for s in ledger.said)
        facts = ledger.found_size(texts.count)
        other = texts.count(ledger.pinned) + texts.count(ledger.history) - said - facts
        return cls(found, brought, said, facts, max(0.0, other) + TITLES)

    def ledger(self, said: float, facts: float, room: Room) -> float:
        """Raw tokens of a ledger that took in so much."""
        size = min(self.said + said, room.said) + min(self.facts + facts, room.found)
        return (size + self.other + FILE * room.shown) * self.scale

    def keep(self, keep: float, least: float, most: float, room: Room) -> float:
        """The most raw tokens, at most ``keep`` and not much under ``least``, that the newest atoms
        may have for these and the ledger of all others to have ``most``."""
        found, brought = self.found, self.brought
        cut = cut_for(found, keep)
        if not cut.first or cut.first == len(found):
            self.last = 0.0
            return keep
        gone = [brought[n] for n in range(cut.first) if n != cut.request]
        said, facts = sum(s for s, _ in gone), sum(f for _, f in gone)
        kept = sum(a.raw for a in cut.kept(found))
        for n in range(cut.first, len(found) - 1):
            over = kept + self.ledger(said, facts, room) - most
            if over <= 0 or kept - found[n].raw < least:
                break
            said, facts = said + brought[n][0], facts + brought[n][1]
            kept -= found[n].raw
        self.last = self.ledger(said, facts, room)
        return min(keep, kept + 1)

    def again(self, ledger: float, keep: float, least: float, most: float, room: Room) -> float:
        """``keep`` once more, after the ledger of what it said last took ``ledger`` tokens."""
        self.scale *= ledger / self.last if self.last > 0 else 1.0
        return self.keep(keep, least, most, room)
