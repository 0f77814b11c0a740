"""The person's own words, as many of them as fit: whole messages, else their telling sentences.

Every piece is byte for byte what the person wrote. What carries exact words, wishes or rules is
kept before what is repeated, asked in passing or small talk; the rest is in the offload.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from .cuts import Cuts
from .entities import entities
from .pieces import (
    BACK,
    GAP,
    HEAD_AND_TAIL,
    NAMED,
    NOTHING,
    PASTED,
    WISH,
    Count,
    Pieces,
    Said,
    ends,
    joined,
    may_wish,
)
from .tokens import CountCache

__all__ = ["GAP", "PASTED", "WISH", "Cuts", "Said", "fit", "fitted", "may_wish"]

LEAST = 8.0  # tokens: pieces are not looked for to fill less room
LOWEST = 0.02
LATER = 0.3  # what the newest message is worth more than the oldest


def fit(
    said: Sequence[Said], budget: float, count: Count, where: str, cuts: Cuts | None = None
) -> tuple[list[Said], int]:
    """``said`` within ``budget`` tokens, in order, and how many messages are left out wholly. The
    first (the task) and the last are whole while they fit half of it each. ``cuts`` are those of
    the first of them, as far as they are known."""
    kept, gone, _ = fitted(said, budget, count, where, cuts)
    return kept, gone


def fitted(
    said: Sequence[Said], budget: float, count: Count, where: str, cuts: Cuts | None = None
) -> tuple[list[Said], int, list[float]]:
    """The same, and what each counts in the prompt."""
    unit = count.unit if isinstance(count, CountCache) else count
    cuts = (cuts or Cuts()).upto(said, count)
    first_and_last = dict.fromkeys((0, len(said) - 1))
    whole = cuts.all_whole + sum([count(said[n].text) for n in first_and_last])
    if whole <= budget and not cuts.long:
        shown = [unit(said[n].text) for n in first_and_last]
        return list(said), 0, [*shown[:1], *cuts.shown, *shown[1:]]
    kept: list[Said] = []
    left = budget
    for place in first_and_last:
        one = said[place]
        if count(one.text) > budget / 2 and not one.edited:
            one = ends(one, max(60.0, min(HEAD_AND_TAIL, left / 2)), count, where)
        kept.append(one)
        left -= count(one.text)
    between, sizes = _Choice(cuts, len(said), count, where).within(left)
    shown = [unit(one.text) for one in kept]
    kept = [kept[0], *between, *kept[1:]]
    return kept, len(said) - len(kept), [*shown[:1], *sizes, *shown[1:]]


class _Choice:
    """The messages between, shortened to their best pieces that fit together. What may be taken is
    in columns: telling pieces of plain messages one by one (``cuts`` has them), the plain pieces of
    each message together, and what of other messages was looked at closely, since it depends on
    what was said after it. Scores are below 0, the lowest the best."""

    def __init__(self, cuts: Cuts, messages: int, count: Count, where: str) -> None:
        self.cuts = self._cuts = cuts
        self._count = count
        self._where = where
        self._later = LATER / max(1, messages)
        # Places of messages, of their pieces, tokens and scores: of what was looked at closely.
        self._places: list[int] = []
        self._own: list[tuple[int, ...]] = []
        self._sizes: list[float] = []
        self._scores: list[float] = []
        self._long = {n: self.pieces(n) for n in cuts.long}
        self._often = self._said_often()
        self._close = self._closely()

    def pieces(self, place: int) -> Pieces:
        return self._cuts.pieces(place, self._count, self._where)

    def within(self, budget: float) -> tuple[list[Said], list[float]]:
        """What is taken of ``budget`` tokens, and what each counts in the prompt."""
        cuts, close, later = self._cuts, self._close, self._later
        # Of the same score the newest first.
        newest = range(len(cuts.said) - 1, -1, -1)
        whole = [n for n in newest if cuts.plain[n] > 0 and n not in close]
        if self._all_telling(budget):
            sizes = [cuts.plain[n] for n in whole]
            taken = _Taken(self, None, whole)
            return self._filled(taken, sizes, range(len(whole)), budget - cuts.all_sizes)
        wanted = range(len(cuts.places) - 1, -1, -1)
        telling = [n for n in wanted if cuts.places[n] not in close]
        scores = [-(cuts.worth[n] + later * (cuts.places[n] + 1)) / cuts.by[n] for n in telling]
        scores += [-max(later * (n + 1), LOWEST) for n in whole]
        sizes = [cuts.sizes[n] for n in telling] + [cuts.plain[n] for n in whole]
        scores += self._scores
        sizes += self._sizes
        order = sorted(range(len(scores)), key=scores.__getitem__)
        return self._filled(_Taken(self, telling, whole), sizes, order, budget)

    def _all_telling(self, budget: float) -> bool:
        """Whether all telling pieces fit and come before all others: most often so, and then none
        need be looked at."""
        cuts = self._cuts
        if self._close or not cuts.sizes or cuts.all_sizes > budget:
            return False
        # What is newer is worth a little more: by itself each is worth that at least.
        return cuts.worst < -max(self._later * len(cuts.said), LOWEST)

    def _filled(
        self, taken: _Taken, sizes: Sequence[float], order: Sequence[int], budget: float
    ) -> tuple[list[Said], list[float]]:
        """The first in ``order`` that fit one after the other, then whatever still fits."""
        running = list(accumulate([sizes[n] for n in order]))
        at = bisect_right(running, budget)
        left = budget - (running[at - 1] if at else 0.0)
        taken.begin(order[:at])
        least = min(self._cuts.least, default=0.0)
        for number in order[at:]:
            if left < least:
                break
            if sizes[number] <= left:
                taken.add(number)
                left -= sizes[number]
            elif left > LEAST and len(own := taken.own(number)[1]) > 1:
                place = taken.own(number)[0]
                pieces = self.pieces(place)
                for n in own:
                    if (size := pieces.sizes[n]) <= left:
                        taken.some(place, n)
                        left -= size
        return taken.made()

    def chosen(self, number: int) -> tuple[int, tuple[int, ...]]:
        """What was looked at closely."""
        return self._places[number], self._own[number]

    def made(self, place: int, own: list[int]) -> tuple[Said, float]:
        """A message of these of its pieces."""
        one, pieces = self._cuts.said[place], self.pieces(place)
        own.sort()
        if len(own) == len(pieces.texts) and (pieces.sound or not one.whole):
            return one, self._cuts.shown[place]
        text, count = joined(pieces, own, self._count), self._count
        return Said.part(one, text), count.unit(text) if isinstance(count, CountCache) else 0.0

    def _said_often(self) -> Mapping[int, int]:
        """How often what is said in several messages, or twice in one, is said."""
        if not self._long:
            return self._cuts.again
        times = Counter(self._cuts.keys)
        for pieces in self._long.values():
            times.update(pieces.keys)
        return {key: n for key, n in times.items() if n > 1}

    def _closely(self) -> set[int]:
        """Look at all that depends on other messages, newest first: what is said again later, and
        what was taken back, counts for nothing."""
        cuts, often = self._cuts, self._often
        close = {*cuts.special, *self._long}
        if often:
            pairs = zip(cuts.keys, cuts.key_places, strict=True)
            close.update([place for key, place in pairs if key in often])
        seen: set[int] = set()
        back: set[str] = set()  # exact words of what took something back
        places = sorted(close)
        while places:
            place = places.pop()
            self._look(place, seen, back)
            if back and len(places) < place:  # anything older may speak of what was taken back
                places = list(range(place))
                close.update(places)
        return close

    def _look(self, place: int, seen: set[int], back: set[str]) -> None:
        """Of one message. ``seen`` are pieces that were said again, ``back`` what was taken
        back."""
        own, often = self._long.get(place) or self.pieces(place), self._often
        later = self._later * (place + 1)
        rest: list[int] = []
        for n in range(len(own.texts) - 1, -1, -1):
            flag, key, size = own.flags[n], own.keys[n], own.sizes[n]
            known = key in seen
            if key in often:
                seen.add(key)
            if flag & NOTHING or known:
                continue
            score = (own.worth[n] + later) / often.get(key, 1)
            if flag & BACK:
                back |= set(entities(own.texts[n]))
                score += 4
            elif back and flag & NAMED and back.intersection(entities(own.texts[n])):
                self._may(place, (n,), size, -LOWEST / (1 + size / 200))
                continue
            elif not own.worth[n] > 0:
                rest.append(n)
                continue
            self._may(place, (n,), size, -max(score, LOWEST) / (1 + size / 200))
        if rest:
            rest.reverse()
            size = sum(own.sizes[n] for n in rest)
            self._may(place, tuple(rest), size, -max(later, LOWEST))

    def _may(self, place: int, own: tuple[int, ...], size: float, score: float) -> None:
        self._places.append(place)
        self._own.append(own)
        self._sizes.append(size)
        self._scores.append(score)


class _Taken:
    """What was taken: numbers of ``telling`` pieces, then of plain ones of ``whole`` messages, then
    of what was looked at closely. ``telling`` None: all are, and have no numbers."""

    def __init__(self, choice: _Choice, telling: list[int] | None, whole: list[int]) -> None:
        self._choice = choice
        self._cuts = choice.cuts
        self._telling = telling
        self._whole = whole
        first = len(telling or ())
        self._ends = first, first + len(whole)
        self._told: list[int] = []
        self._plain: set[int] = set()
        self._some: dict[int, list[int]] = {}

    def begin(self, first: Sequence[int]) -> None:
        """Take all these."""
        told, plain = self._ends
        self._told = [n for n in first if n < told]
        self._plain = {self._whole[n - told] for n in first if told <= n < plain}
        for n in first:
            if n >= plain:
                self.add(n)

    def own(self, number: int) -> tuple[int, tuple[int, ...]]:
        """The place of a message and those of its pieces."""
        told, plain = self._ends
        if number >= plain:
            return self._choice.chosen(number - plain)
        if number >= told:
            place = self._whole[number - told]
            return place, self._choice.pieces(place).plain
        n = (self._telling or ())[number]
        return self._cuts.places[n], (self._cuts.numbers[n],)

    def add(self, number: int) -> None:
        told, plain = self._ends
        if number < told:
            self._told.append(number)
        elif number < plain:
            self._plain.add(self._whole[number - told])
        else:
            place, own = self._choice.chosen(number - plain)
            self._some.setdefault(place, []).extend(own)

    def some(self, place: int, number: int) -> None:
        self._some.setdefault(place, []).append(number)

    def made(self) -> tuple[list[Said], list[float]]:
        """The messages, in order, and what each counts in the prompt."""
        cuts, some, plain = self._cuts, self._some, self._plain
        telling = self._telling
        if telling is None:
            told = {place: times for place, times in enumerate(cuts.told) if times}
            for place in told.keys() & some.keys():
                some[place] += self._choice.pieces(place).telling
        else:
            told = Counter([cuts.places[telling[n]] for n in self._told])
            parted = {p for p, times in told.items() if times < cuts.told[p] or p in some}
            for n in self._told if parted else ():
                if (place := cuts.places[telling[n]]) in parted:
                    self.some(place, cuts.numbers[telling[n]])
        for place in plain & some.keys():
            some[place] += self._choice.pieces(place).plain
        made, sizes = list[Said](), list[float]()
        for place in sorted({*told, *plain, *some}):
            one = cuts.said[place]
            if place in some:
                own = some[place]
            elif place not in plain and cuts.plain[place] > 0:
                made.append(Said.part(one, cuts.best[place]))
                sizes.append(cuts.best_shown[place])
                continue
            elif cuts.told[place] and place not in told:
                own = [*self._choice.pieces(place).plain]  # alone
            elif cuts.sound[place] or not one.whole:
                made.append(one)
                sizes.append(cuts.shown[place])
                continue
            else:
                own = [*range(len(self._choice.pieces(place).texts))]
            one, size = self._choice.made(place, own)
            made.append(one)
            sizes.append(size)
        return made, sizes
