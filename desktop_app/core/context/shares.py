"""A total handed out to what it is made of: categories, items and rests that always add up.

What the provider measured is shared out by the estimates of what it measured; what came since by
its own. So a measured item keeps its figure while the prompt grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from .pricing import Piece
from .types import CATEGORIES, Category, Item

MAX_ITEMS = 200  # of a breakdown; rests hold the others

Key = tuple[Category, str]  # category and group


class Sums:
    """Raw tokens and pieces by category and group."""

    def __init__(self) -> None:
        self.raw: dict[Key, float] = {}
        self.count: dict[Key, int] = {}

    def add(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            key = (piece.category, piece.group)
            self.raw[key] = self.raw.get(key, 0.0) + piece.raw
            self.count[key] = self.count.get(key, 0) + 1

    def merge(self, other: Sums) -> None:
        for key, raw in other.raw.items():
            self.raw[key] = self.raw.get(key, 0.0) + raw
            self.count[key] = self.count.get(key, 0) + other.count[key]

    def copy(self) -> Sums:
        other = Sums()
        other.raw, other.count = dict(self.raw), dict(self.count)
        return other

    def within(self, other: Sums) -> Sums:
        """What is both here and in ``other``."""
        both = Sums()
        for key, raw in self.raw.items():
            if key in other.raw:
                both.raw[key] = min(raw, other.raw[key])
                both.count[key] = min(self.count[key], other.count[key])
        return both

    def total(self) -> float:
        return sum(self.raw.values())

    def images(self) -> float:
        return self.raw.get(("images", "images"), 0.0)

    def without(self, other: Sums) -> Sums:
        """What is here and not in ``other``; never below nothing."""
        left = Sums()
        for key, raw in self.raw.items():
            left.raw[key] = max(0.0, raw - other.raw.get(key, 0.0))
            left.count[key] = max(0, self.count[key] - other.count.get(key, 0))
        return left


def share(
    sums: Sums, known: Sums, listed: Sequence[tuple[Piece, bool]], total: int, measured: int
) -> tuple[dict[Category, int], tuple[Item, ...], tuple[Item, ...]]:
    """Parts, items and rests of ``total``. ``sums`` is of everything in the prompt, ``known`` of
    what was in the measured one, which ``measured`` belongs to; ``listed`` are the pieces that
    become items, True with those of ``known``."""
    known = known.within(sums)
    since = sums.without(known)
    if since.total() <= 0:
        measured = total
    elif known.total() <= 0:
        measured = 0
    items: list[Item] = []
    rest: list[Item] = []
    for half, tokens, sure in ((known, measured, True), (since, total - measured, False)):
        pieces = [p for p, was in listed if was == sure]
        _hand_out(half, pieces, tokens, sure, items, rest)
    items.sort(key=lambda i: -i.tokens)
    parts: dict[Category, int] = dict.fromkeys(CATEGORIES, 0)
    for item in (*items, *rest):
        parts[cast(Category, item.category)] += item.tokens
    return parts, tuple(items), tuple(rest)


def _hand_out(
    sums: Sums,
    listed: Sequence[Piece],
    tokens: int,
    sure: bool,
    items: list[Item],
    rest: list[Item],
) -> None:
    """Whole numbers for the listed pieces and for what is left of each group, in proportion to
    their estimates, adding up to ``tokens``."""
    shown = Sums()
    shown.add(listed)
    left = sums.without(shown)
    unseen = [(key, raw) for key, raw in left.raw.items() if left.count[key] > 0]
    raw = sum(p.raw for p in listed) + sum(r for _, r in unseen)
    if raw <= 0:
        if tokens > 0:
            rest.append(Item("system", "", tokens, "system", sure, "system"))
        return
    scale, at, given = tokens / raw, 0.0, 0
    for piece in listed:
        at += piece.raw
        n = round(at * scale) - given
        given += n
        items.append(Item(piece.category, piece.label, n, piece.ref, sure, piece.group))
    for (category, group), more in unseen:
        at += more
        n = round(at * scale) - given
        given += n
        count = left.count[category, group]
        rest.append(Item(category, "", n, f"{category}/{group}", sure, group, count))
    if given != tokens:  # the sums' own rounding
        last = (rest or items)[-1]
        (rest or items)[-1] = replace(last, tokens=last.tokens + tokens - given)
