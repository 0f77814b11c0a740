"""The layout of a treemap: rectangles in proportion to weights, as square as they come.

Squarified treemaps (Bruls, Huizing, van Wijk 2000): rows are laid along the shorter side, and a
row takes in the next weight while that makes its worst aspect ratio better. Weights are taken in
the order in which they come; the largest first gives the squarest tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Rect(NamedTuple):
    x: float
    y: float
    w: float
    h: float


def squarify(weights: Sequence[float], area: Rect) -> list[Rect]:
    """A rectangle for each weight, in their order: together they are ``area``, none lies over
    another, and each is as large as its weight's share. A weight of 0 or less gets no room."""
    total = sum(w for w in weights if w > 0)
    made = [Rect(area.x, area.y, 0.0, 0.0)] * len(weights)
    if total <= 0 or area.w <= 0 or area.h <= 0:
        return made
    order = [i for i, w in enumerate(weights) if w > 0]
    scale = area.w * area.h / total
    start = 0
    while start < len(order):
        end = _row_end(weights, order, start, min(area.w, area.h), scale)
        row = order[start:end]
        area = _lay(weights, row, area, scale, made, last=end == len(order))
        start = end
    return made


def _row_end(
    weights: Sequence[float], order: Sequence[int], start: int, side: float, scale: float
) -> int:
    """Where the row that begins at ``start`` is best ended."""
    low = high = total = weights[order[start]] * scale
    end = start + 1
    best = _worst(low, high, total, side)
    while end < len(order):
        size = weights[order[end]] * scale
        low, high, total = min(low, size), max(high, size), total + size
        ratio = _worst(low, high, total, side)
        if ratio > best:
            break
        best = ratio
        end += 1
    return end


def _worst(low: float, high: float, total: float, side: float) -> float:
    """The worst aspect ratio in a row of ``total`` along ``side``, by its smallest and largest."""
    if side <= 0 or total <= 0 or low <= 0:
        return float("inf")
    square = (side / total) ** 2
    return max(square * high, 1 / (square * low))


def _lay(
    weights: Sequence[float],
    row: Sequence[int],
    area: Rect,
    scale: float,
    made: list[Rect],
    *,
    last: bool,
) -> Rect:
    """Put a row along the shorter side; what is left of the area. The last of a row and the last
    row end where the area ends, so that roundings leave no slit."""
    total = sum(weights[i] for i in row)
    across = area.w < area.h  # the row lies along the upper edge
    side, depth = (area.w, area.h) if across else (area.h, area.w)
    thick = depth if last else min(depth, total * scale / side)
    begin = end = area.x if across else area.y
    stop = begin + side
    for place, i in enumerate(row):
        end = stop if place == len(row) - 1 else min(stop, begin + side * weights[i] / total)
        if across:
            made[i] = Rect(begin, area.y, end - begin, thick)
        else:
            made[i] = Rect(area.x, begin, thick, end - begin)
        begin = end
    if across:
        return Rect(area.x, area.y + thick, area.w, area.h - thick)
    return Rect(area.x + thick, area.y, area.w - thick, area.h)
