"""The pieces of all that a person said, as flat columns that grow with it: what fits a room is
found by sums and one sort, without looking at each message again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

from .pieces import PASTED, Pieces, Said, pasted, pieces_of

Count = Callable[[str], float]
FLAT = (  # columns of figures
    "key_places",
    "keys",
    "least",
    "long",
    "places",
    "plain",
    "special",
    "told",
    "whole",
    "worth",
    "by",
    "numbers",
    "sizes",
)
_LISTS = ("best", "own", "said", "sound", *FLAT)


class Cuts:
    """Of the messages ``said`` without the first and the last, which are not cut into pieces like
    the others; places count from 0 here.

    Of each message: ``whole`` tokens, how many telling pieces (``told``) and what these are
    together (``best``), tokens of its ``plain`` ones and of its smallest piece (``least``), whether
    its pieces are all of it (``sound``). Of each telling piece of one that is not ``special``: its
    ``places`` and ``numbers`` in it, ``worth``, ``by`` (what that is divided by) and ``sizes``. Of
    each piece: ``keys`` in the message ``key_places``; ``again`` are those of several pieces.
    ``long`` are pasted ones, of which nothing is here.
    """

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.own: list[Pieces | None] = []
        self.whole: list[float] = []
        self.told: list[int] = []
        self.best: list[str] = []
        self.plain: list[float] = []
        self.least: list[float] = []
        self.sound: list[bool] = []
        self.special: list[int] = []
        self.long: list[int] = []
        self.places: list[int] = []
        self.numbers: list[int] = []
        self.worth: list[float] = []
        self.by: list[float] = []
        self.sizes: list[float] = []
        self.keys: list[int] = []
        self.key_places: list[int] = []
        self._seen: set[int] | None = None  # of ``keys``, once somebody asks
        self.again: dict[int, int] = {}
        self.shared = False  # somebody else reads it: it grows no more

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cuts)  # they say nothing that is not in the messages

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def copy(self) -> Cuts:
        other = Cuts()
        for name in _LISTS:
            setattr(other, name, list(getattr(self, name)))
        other._seen = set(self._seen) if self._seen is not None else None
        other.again = dict(self.again)
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
        self.whole.append(count(one.text))
        if pasted(one, count):
            self.long.append(place)
            self.own.append(None)
            self._row(0, "", 0.0, float(PASTED), False)
            return
        own = pieces_of(one, count, "")
        self.own.append(own)
        self._row(len(own.telling), own.best, own.plain_size, min(own.sizes), own.sound)
        if self._seen is None:
            self._seen = set(self.keys)
        seen, again = self._seen, self.again
        for key in own.keys:
            if key in seen:
                again[key] = again.get(key, 1) + 1
            else:
                seen.add(key)
        self.keys += own.keys
        self.key_places += [place] * len(own.keys)
        if own.special:
            self.special.append(place)
            return
        worth, sizes = own.worth, own.sizes
        self.places += [place] * len(own.telling)
        self.numbers += own.telling
        self.worth += [worth[n] for n in own.telling]
        self.by += [1 + sizes[n] / 200 for n in own.telling]
        self.sizes += [sizes[n] for n in own.telling]

    def _row(self, told: int, best: str, plain: float, least: float, sound: bool) -> None:
        self.told.append(told)
        self.best.append(best)
        self.plain.append(plain)
        self.least.append(least)
        self.sound.append(sound)
