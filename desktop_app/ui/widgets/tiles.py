"""Tiles of a treemap: what one is, in which order they lie, which are too small to be drawn alone.

No Qt: areas are logical pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .squarify import Rect, squarify

STEADY = 1.1  # a tile moves ahead of its neighbour only when it is larger by this factor
REST = "\0rest"  # key of the tile that stands for the small ones of its group
ALL = "\0all"  # key of the tile of a group whose tiles are all small


@dataclass(frozen=True, slots=True)
class Tile:
    """One rectangle. ``group`` is a category (``CATEGORY_ORDER``, "reserve" or "free"), whose
    colour it has; ``estimated`` of its ``weight`` is not confirmed and is hatched; ``count`` is
    how many things it stands for. ``key`` finds it again in the next update, within its group."""

    key: str
    group: str
    name: str
    weight: float
    estimated: float = 0.0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Placed:
    tile: Tile
    rect: Rect


def steady(before: Sequence[str], weights: dict[str, float]) -> list[str]:
    """Keys, the largest first, in the order they had where that is still nearly true: in a map that
    follows a running session tiles must not jump."""
    known = set(before)
    new = sorted((k for k in weights if k not in known), key=lambda k: (-weights[k], k))
    order: list[str] = []
    for key in (*(k for k in before if k in weights), *new):
        at = len(order)
        margin = STEADY if key in known else 1.0
        while at and weights[key] > margin * weights[order[at - 1]]:
            at -= 1
        order.insert(at, key)
    return order


class Arrangement:
    """Places tiles, first by group, then within it; remembers the order of the last time."""

    def __init__(self) -> None:
        self._groups: list[str] = []
        self._keys: dict[str, list[str]] = {}

    def place(self, tiles: Sequence[Tile], area: Rect, least: float) -> list[Placed]:
        """Tiles in their rectangles. What would be smaller than ``least`` (an area) is one tile
        with the rest of its group, key ``REST``; a group of small ones is one tile, key ``ALL``."""
        total = sum(t.weight for t in tiles)
        if total <= 0 or area.w <= 0 or area.h <= 0:
            return []
        enough = least * total / (area.w * area.h)
        groups: dict[str, list[Tile]] = {}
        for tile in tiles:
            if tile.weight > 0:
                groups.setdefault(tile.group, []).append(tile)
        groups = {name: _merged(name, found, enough) for name, found in groups.items()}
        sums = {name: sum(t.weight for t in found) for name, found in groups.items()}
        self._groups = steady(self._groups, sums)
        self._keys = {name: self._keys.get(name, []) for name in groups}
        placed: list[Placed] = []
        places = squarify([sums[name] for name in self._groups], area)
        for name, rect in zip(self._groups, places, strict=True):
            placed += self._within(name, groups[name], rect)
        return placed

    def _within(self, name: str, tiles: list[Tile], area: Rect) -> list[Placed]:
        found = {t.key: t for t in tiles}
        order = steady(self._keys[name], {t.key: t.weight for t in tiles if t.key != REST})
        self._keys[name] = order
        if REST in found:
            order = [*order, REST]  # always last, however much it is together
        rects = squarify([found[key].weight for key in order], area)
        return [Placed(found[key], rect) for key, rect in zip(order, rects, strict=True)]


def _merged(group: str, tiles: Sequence[Tile], enough: float) -> list[Tile]:
    """Tiles of one group with its small ones joined; a single small one stays what it is."""
    small = [t for t in tiles if t.weight < enough or t.key == REST]
    if len(small) < 2:
        return list(tiles)
    large = [t for t in tiles if t.weight >= enough and t.key != REST]
    rest = Tile(
        REST if large else ALL,
        group,
        "",
        sum(t.weight for t in small),
        sum(t.estimated for t in small),
        sum(t.count for t in small),
    )
    return [*large, rest]


def neighbour(rects: Sequence[Rect], at: int, dx: int, dy: int) -> int:
    """The tile that an arrow key goes to from ``at``: the nearest one that lies on that side; tiles
    beside it count before those further up or down. ``at`` itself when there is none."""
    here = rects[at]
    cx, cy = here.x + here.w / 2, here.y + here.h / 2
    best, found = float("inf"), at
    for i, rect in enumerate(rects):
        if i == at:
            continue
        if dx:
            gap = rect.x - (here.x + here.w) if dx > 0 else here.x - (rect.x + rect.w)
            aside = max(rect.y - cy, cy - (rect.y + rect.h), 0.0)
        else:
            gap = rect.y - (here.y + here.h) if dy > 0 else here.y - (rect.y + rect.h)
            aside = max(rect.x - cx, cx - (rect.x + rect.w), 0.0)
        if gap < -0.5:
            continue
        cost = max(gap, 0.0) + 2 * aside
        if cost < best - 1e-9:
            best, found = cost, i
    return found
