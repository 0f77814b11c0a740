"""A laid-out row: sections one below the other, each laid out when it comes into view.

Short rows are one section. A Markdown row has one for each block, so that a very long message
costs only what is seen of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .flow import Flow
from .items import Item, Paint, Zone
from .style import Style

Painter = Callable[[Paint, float, float, int], None]


@dataclass(slots=True)
class Section:
    """``h`` is an estimate until ``flow`` is there. ``source`` is its Markdown, when it has."""

    h: int
    gap: int = 0  # above it
    flow: Flow | None = None
    make: Callable[[], Flow] | None = None
    source: str = ""
    sep: str = "\n\n"  # from what is above, when copied
    top: int = field(default=0, init=False)

    def realise(self) -> int:
        """Lay out; returns the difference to the estimate."""
        if self.flow is not None or self.make is None:
            return 0
        self.flow = self.make()
        delta = self.flow.h - self.h
        self.h = self.flow.h
        return delta


@dataclass(slots=True, eq=False)
class RowBox:
    """Sections at ``x``; ``background`` is painted before them, ``w`` the column's width."""

    row_id: str
    w: int
    style: Style
    key: tuple[object, ...] = ()
    x: int = 0
    pad_top: int = 0  # space to the row above
    inset_top: int = 0
    inset_bottom: int = 0
    sections: list[Section] = field(default_factory=list)
    background: Painter | None = None
    foreground: Painter | None = None
    notify: Callable[[str, int], None] | None = None  # the height changed by being asked
    height: int = field(default=0, init=False)
    shown: int | None = None  # the height while it opens or closes
    busy: bool = False  # has something that turns
    w_column: int = 0  # the column's width it was made for
    _tops: list[int] = field(default_factory=list, init=False)

    def stack(self, first: int = 0) -> int:
        """Place the sections from ``first`` on; returns the row's height."""
        sections = self.sections
        del self._tops[first:]
        y = self.pad_top + self.inset_top
        if first:
            before = sections[first - 1]
            y = before.top + before.h
        for section in sections[first:]:
            y += section.gap
            section.top = y
            self._tops.append(y)
            y += section.h
        self.height = y + self.inset_bottom if self.shown is None else self.shown
        return self.height

    def ensure(self, y0: float, y1: float, hold: float = 0) -> int:
        """Lay out what is between. What is below ``y0``, and below ``hold`` (which was in view
        already), is to stay where it is: returns how far it moved."""
        shift = 0
        n = max(0, bisect_right(self._tops, y0) - 1)
        while n < len(self.sections) and self.sections[n].top < y1:
            section = self.sections[n]
            delta = section.realise()
            if delta:
                if section.top < max(y0, hold):
                    shift += delta
                    y0 += delta
                    y1 += delta
                    hold += delta
                self.stack(n)
            n += 1
        return shift

    def exact(self) -> bool:
        return all(section.flow is not None for section in self.sections)

    def visible(self, y0: float, y1: float) -> Iterator[tuple[int, Section]]:
        """Laid-out sections between, with their index."""
        n = max(0, bisect_right(self._tops, y0) - 1)
        while n < len(self.sections) and self.sections[n].top < y1:
            if self.sections[n].flow is not None:
                yield n, self.sections[n]
            n += 1

    def realise(self) -> None:
        """Lay out every section, and tell when that changed the height."""
        before = self.height
        first = -1
        for n, section in enumerate(self.sections):
            if section.flow is None:
                first = n if first < 0 else first
                section.realise()
        if first >= 0:
            self.stack(first)
        if self.height != before and self.notify is not None:
            self.notify(self.row_id, self.height)

    def items(self) -> Iterator[tuple[int, int, Section, Item]]:
        """All items, laid out if need be: (section, index, section, item)."""
        self.realise()
        for n, section in enumerate(self.sections):
            for k, item in enumerate(section.flow.items if section.flow else ()):
                yield n, k, section, item

    def item(self, n: int, k: int) -> tuple[Section, Item] | None:
        if n >= len(self.sections):
            return None
        section = self.sections[n]
        if section.flow is None:
            self.realise()
        flow = section.flow
        if flow is None or k >= len(flow.items):
            return None
        return section, flow.items[k]

    def zones(self, y0: float, y1: float) -> list[Zone]:
        """Places to click, relative to the row's left edge and top."""
        out: list[Zone] = []
        for _, section in self.visible(y0, y1):
            assert section.flow is not None
            for item in section.flow.items:
                if item.y + section.top <= y1 and item.y + item.h + section.top >= y0:
                    for zone in item.zones():
                        rect = zone.rect.translated(self.x, section.top)
                        out.append(
                            Zone(
                                rect,
                                zone.kind,
                                zone.target,
                                zone.tooltip,
                                zone.label,
                                zone.item,
                                zone.enabled,
                            )
                        )
        return out

    def nearest(self, x: float, y: float) -> tuple[int, int, int] | None:
        """(section, item, position) of the text nearest to a point of the row."""
        best: tuple[float, int, int, Section, Item] | None = None
        for n, section in self.visible(y - 600, y + 600):
            assert section.flow is not None
            for k, item in enumerate(section.flow.items):
                if item.text is None:
                    continue
                left, top = self.x + item.x, section.top + item.y
                dx = max(left - x, 0, x - left - item.w)
                dy = max(top - y, 0, y - top - item.h)
                distance = dy * 10_000 + dx
                if best is None or distance < best[0]:
                    best = (distance, n, k, section, item)
        if best is None:
            return None
        _, n, k, section, item = best
        return n, k, item.hit(x - self.x, y - section.top)
