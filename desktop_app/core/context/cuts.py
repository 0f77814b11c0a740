"""The pieces of all that a person said, as flat columns that grow with it: what fits a room is
found by sums and one sort, without looking at each message again."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import is_

from .columns import Keys
from .pieces import PASTED, Pieces, Said, pasted, pieces_of
from .tokens import CountCache

Count = Callable[[str], float]
# Columns of figures, with the kinds of their arrays.
FLAT = {
    "keys": "q",
    "key_places": "q",
    "long": "q",
    "special": "q",
    "told": "q",
    "sound": "q",
    "places": "q",
    "numbers": "q",
    "whole": "d",
    "shown": "d",
    "best_shown": "d",
    "plain": "d",
    "least": "d",
    "worth": "d",
    "by": "d",
    "sizes": "d",
}


class Cuts:
    """Of the messages ``said`` without the first and the last, which are not cut into pieces like
    the others; places count from 0 here.

    Of each message: ``whole`` tokens, what it counts in the prompt whole (``shown``) and by its
    best pieces (``best_shown``), how many telling pieces (``told``) and what these are
    together (``best``), tokens of its ``plain`` ones and of its smallest piece (``least``), whether
    its pieces are all of it (``sound``). Of each telling piece of one that is not ``special``: its
    ``places`` and ``numbers`` in it, ``worth``, ``by`` (what that is divided by) and ``sizes``. Of
    each piece: ``keys`` in the message ``key_places``; ``again`` are those of several pieces.
    ``all_whole`` and ``all_sizes`` are sums. ``long`` are pasted ones, of which nothing is here.
    """

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.own: list[Pieces | None] = []
        self.best: list[str] = []
        self.whole, self.plain, self.least = array("d"), array("d"), array("d")
        self.shown, self.best_shown = array("d"), array("d")
        self.told, self.sound = array("q"), array("q")
        self.special, self.long = array("q"), array("q")
        self.places, self.numbers = array("q"), array("q")
        self.worth, self.by, self.sizes = array("d"), array("d"), array("d")
        self.keys, self.key_places = array("q"), array("q")
        self.seen = Keys()
        self.again: dict[int, int] = {}
        self.all_whole = self.all_sizes = 0.0
        self.worst = -1000.0  # the lowest that a telling piece is worth by itself, as a score
        self.shared = False  # somebody else reads it: it grows no more

    def copy(self) -> Cuts:
        other = Cuts()
        for name in ("said", "own", "best", *FLAT):
            setattr(other, name, getattr(self, name)[:])
        other.all_whole, other.all_sizes = self.all_whole, self.all_sizes
        other.worst = self.worst
        other.seen, other.again = self.seen.copy(), dict(self.again)
        return other

    def upto(self, said: Sequence[Said], count: Count) -> Cuts:
        """Those of ``said``: this where it is of the first of them, grown; else made anew."""
        wanted, here = len(said) - 2, len(self.said)
        if here > max(0, wanted) or not all(map(is_, self.said, said[1:])):
            return Cuts().upto(said, count)
        return self.grown(said, count)

    def grown(self, said: Sequence[Said], count: Count) -> Cuts:
        """The same where ``said`` is known to go on from what is here."""
        here = len(self.said)
        if here >= len(said) - 2:
            return self
        own = self.copy() if self.shared else self
        for one in said[here + 1 : -1]:
            own._add(one, count)
        return own

    def pieces(self, place: int, count: Count, where: str) -> Pieces:
        """Of one message."""
        own = self.own[place]
        return own if own is not None else pieces_of(self.said[place], count, where)

    def _add(self, one: Said, count: Count) -> None:
        place = len(self.said)
        self.said.append(one)
        size = count(one.text)
        self.whole.append(size)
        self.all_whole += size
        if pasted(one, count):
            self.long.append(place)
            self.own.append(None)
            self._row(0, "", 0.0, float(PASTED), False)
            self._shown(one.text, "", count)
            return
        own = pieces_of(one, count, "")
        self.own.append(own)
        self._row(len(own.telling), own.best, own.plain_size, min(own.sizes), own.sound)
        self._shown(one.text, own.best, count)
        seen, again = self.seen, self.again
        for key in own.keys:
            if key in seen:
                again[key] = again.get(key, 1) + 1
            else:
                seen.add(key)
        self.keys.extend(own.keys)
        self.key_places.extend([place] * len(own.keys))
        if own.special:
            self.special.append(place)
            return
        worth, sizes = own.worth, own.sizes
        self.places.extend([place] * len(own.telling))
        self.numbers.extend(own.telling)
        self.worth.extend([worth[n] for n in own.telling])
        self.by.extend([1 + sizes[n] / 200 for n in own.telling])
        for n in own.telling:
            self.sizes.append(sizes[n])
            self.all_sizes += sizes[n]
            self.worst = max(self.worst, -worth[n] / (1 + sizes[n] / 200))

    def _shown(self, whole: str, best: str, count: Count) -> None:
        unit = count.unit if isinstance(count, CountCache) else count
        self.shown.append(unit(whole))
        self.best_shown.append(unit(best) if best else 0.0)

    def _row(self, told: int, best: str, plain: float, least: float, sound: bool) -> None:
        self.told.append(told)
        self.best.append(best)
        self.plain.append(plain)
        self.least.append(least)
        self.sound.append(sound)
