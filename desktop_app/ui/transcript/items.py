"""What a laid-out row consists of: items with a place, which paint themselves.

Coordinates are whole logical pixels, relative to the row's column and top. Text-bearing items also
answer hits and selections; places that can be clicked are ``Zone``s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from .style import Style

ZoneKind = Literal["action", "link", "expand", "copy-code", "wrap", "show-all", "copy-row"]


@dataclass(frozen=True, slots=True)
class Zone:
    """A place to click. ``target`` is the action's id, the link's address …; ``item`` the code
    block it belongs to."""

    rect: QRectF
    kind: ZoneKind
    target: str = ""
    tooltip: str = ""
    label: str = ""
    item: Item | None = None
    enabled: bool = True


@dataclass(slots=True)
class Paint:
    """What a paint needs to know besides the item."""

    p: QPainter
    style: Style
    clip: QRectF
    dpr: float
    selection: tuple[int, int] | None = None
    hits: Sequence[tuple[int, int, bool]] = ()
    """Found text: start, end, whether it is the current hit."""
    hover: Zone | None = None
    pressed: bool = False
    focus: Zone | None = None
    row_hover: bool = False
    width: int = 0  # of the column
    spin: int = 0


@dataclass(slots=True, eq=False)
class Item:
    """Base of all. ``text`` is None where there is nothing to select. ``source`` is the Markdown
    that stands for the whole item when it is copied."""

    x: int = 0
    y: int = 0
    w: int = 0
    h: int = 0
    text: str | None = field(default=None, init=False)
    lead: str = field(default="", init=False)
    """What stands before the text when it is copied: a list's marker, a quote's sign."""
    sep: str = field(default="\n\n", init=False)
    """What parts it from the text before it."""

    def move(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        """Paint at (ox + x, oy + y)."""

    def zones(self) -> list[Zone]:
        """Places to click, relative to the row."""
        return []

    def hit(self, x: float, y: float) -> int:
        """The nearest position in ``text``."""
        return 0

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Where ``text[start:end]`` is, relative to the row."""
        return []

    def markdown(self, start: int, end: int) -> str:
        """A part of the text as Markdown."""
        return self.plain(start, end)

    def plain(self, start: int, end: int) -> str:
        return (self.text or "")[start:end]

    def wheel(self, dx: int) -> bool:
        """Scroll sideways; whether anything moved."""
        return False
