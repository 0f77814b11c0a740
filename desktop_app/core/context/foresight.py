"""How much of the newest steps can stay, foreseen by sums: a plan that is nearly right at once
needs no rounds of ledgers that are made to be thrown away."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from .atoms import cut_for
from .ledger import Ledger, Room
from .standing import Standing
from .tokens import CountCache

FILE = 12  # raw tokens of a line that names a file
TITLES = 60  # raw tokens: headings that a part gets when its first item comes


@dataclass(slots=True)
class Foresight:
    """Of a context and the ledger that was there before: tokens of its ``said``, its ``facts`` and
    all ``other`` things. ``scale`` is what a ledger took of what was foreseen, once there was one.
    """

    standing: Standing
    said: float
    facts: float
    other: float
    scale: float = 1.0
    last: float = 1.0  # what was foreseen of the ledger last

    @classmethod
    def of(cls, standing: Standing, ledger: Ledger, texts: CountCache) -> Foresight:
        said = sum(texts.count(s.text) for s in ledger.said)
        facts = ledger.found_size(texts.count)
        whole = texts.count_lines(ledger.pinned) + texts.count_lines(ledger.history)
        return cls(standing, said, facts, max(0.0, whole - said - facts) + TITLES)

    def ledger(self, said: float, facts: float, room: Room) -> float:
        """Raw tokens of a ledger that took in so much."""
        size = min(self.said + said, room.said) + min(self.facts + facts, room.found)
        return (size + self.other + FILE * room.shown) * self.scale

    def keep(self, keep: float, least: float, most: float, room: Room) -> float:
        """The most raw tokens, at most ``keep`` and not much under ``least``, that the newest atoms
        may have for these and the ledger of all others to have ``most``."""
        here = self.standing
        found = here.atoms
        cut = cut_for(found, keep, here.opened)
        first = cut.first
        if not first or first == len(found):
            self.last = 0.0
            return keep
        said, facts, kept = here.said[first], here.found[first], here.raw[-1] - here.raw[first]
        if (request := cut.request) is not None:
            said = said - here.said[request + 1] + here.said[request]
            kept += found[request].raw
        raws, told, facts_of = here.raw, here.said, here.found

        def enough(n: int) -> bool:
            """Whether no more than the first ``n`` need leave, or can."""
            left = kept - (raws[n] - raws[first])
            if left - (raws[n + 1] - raws[n]) < least:
                return True
            own = self.ledger(
                said + told[n] - told[first], facts + facts_of[n] - facts_of[first], room
            )
            return left + own <= most

        n = first + bisect_left(range(first, len(found) - 1), True, key=enough)
        said, facts = said + told[n] - told[first], facts + facts_of[n] - facts_of[first]
        kept -= raws[n] - raws[first]
        self.last = self.ledger(said, facts, room)
        return min(keep, kept + 1)

    def leaves(self, keep: float, least: float, most: float, room: Room) -> int:
        """About how many atoms leave by ``keep``: what sums say, and nothing else of the cut."""
        here = self.standing
        raw, said, found = here.raw, here.said, here.found
        first = bisect_left(raw, raw[-1] - keep)
        last = max(first, bisect_left(raw, raw[-1] - least))

        def fits(n: int) -> bool:
            return raw[-1] - raw[n] + self.ledger(said[n], found[n], room) <= most

        return first + bisect_left(range(first, last), True, key=fits)

    def again(self, ledger: float, keep: float, least: float, most: float, room: Room) -> float:
        """``keep`` once more, after the ledger of what it said last took ``ledger`` tokens."""
        self.scale *= ledger / self.last if self.last > 0 else 1.0
        return self.keep(keep, least, most, room)
