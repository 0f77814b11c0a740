"""Buttons, icons and words inside rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from .items import Item, Paint, Zone, ZoneKind
from .rows import Action
from .style import Style, box

Look = Literal["primary", "normal", "ghost", "link", "icon"]


def draw_text(
    p: QPainter, style: Style, x: float, y: float, h: float, text: str, role: str, token: str
) -> float:
    """One line of text, centred in the height ``h``; returns its width."""
    fm = style.fm(role)
    p.setFont(style.font(role))
    p.setPen(style.color(token))
    baseline = round(y + (h - fm.ascent() - fm.descent()) / 2 + fm.ascent())
    p.drawText(QPointF(x, baseline), text)
    return fm.horizontalAdvance(text)


def draw_icon(c: Paint, name: str, token: str, size: int, x: float, y: float) -> None:
    """An icon at whole device pixels."""
    spot = QPointF(round(x * c.dpr) / c.dpr, round(y * c.dpr) / c.dpr)
    c.p.drawPixmap(spot, c.style.icon(name, token, size, c.dpr))


@dataclass(slots=True, eq=False)
class Button(Item):
    """A small button; as ``icon`` a square with nothing but its icon."""

    action: Action | None = None
    look: Look = "normal"
    kind: ZoneKind = "action"

    def fit(self, style: Style) -> Button:
        """Take the size the label needs."""
        action = self.action
        assert action is not None
        self.h = style.small_button
        if self.look == "icon":
            self.w = self.h
            return self
        inside = style.px(0 if self.look == "link" else 8)
        self.w = 2 * inside + int(style.fm("small-strong").horizontalAdvance(action.label)) + 1
        if action.icon:
            self.w += style.px(14 + 6)
        return self

    def zones(self) -> list[Zone]:
        action = self.action
        assert action is not None
        rect = QRectF(self.x, self.y, self.w, self.h)
        tip = action.tooltip or (action.label if self.look == "icon" else "")
        return [Zone(rect, self.kind, action.id, tip, action.label, self, action.enabled)]

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        action, style, p = self.action, c.style, c.p
        assert action is not None
        rect = QRectF(ox + self.x, oy + self.y, self.w, self.h)
        hot = c.hover is not None and c.hover.item is self and action.enabled
        token = self._ground(c, rect, hot and c.pressed, hot)
        if c.focus is not None and c.focus.item is self:
            box(p, rect.adjusted(-2, -2, 2, 2), style.px(7), None, style.color("focus"))
        if not action.enabled:
            token = "disabled"
        if self.look == "icon":
            side = style.px(14)
            x, y = rect.center().x() - side / 2, rect.center().y() - side / 2
            draw_icon(c, action.icon or "circle", token, 14, x, y)
            return
        x = rect.x() + style.px(0 if self.look == "link" else 8)
        if action.icon:
            y = rect.center().y() - style.px(14) / 2
            draw_icon(c, action.icon, token, 14, x, y)
            x += style.px(14 + 6)
        width = draw_text(p, style, x, rect.y(), rect.height(), action.label, "small-strong", token)
        if self.look == "link" and hot:
            y = rect.center().y() + style.px(7)
            p.fillRect(QRectF(x, round(y), width, 1), style.color(token))

    def _ground(self, c: Paint, rect: QRectF, down: bool, hot: bool) -> str:
        """Paint what is under the label; returns the label's colour."""
        style, p = c.style, c.p
        radius = style.px(5)
        if self.look == "primary":
            fill = "accent-pressed" if down else "accent-hover" if hot else "accent"
            box(p, rect, radius, style.color(fill))
            return "accent-fg"
        if self.look == "normal":
            fill = "pressed" if down else "hover" if hot else "raised"
            box(p, rect, radius, style.color(fill), style.color("border-strong"))
            return "text"
        if self.look == "link":
            return "accent-text"
        if hot:
            box(p, rect, radius, style.color("pressed" if down else "hover"))
        return "text" if hot else "muted"


@dataclass(slots=True, eq=False)
class Badge(Item):
    """A tag with an icon: ``hover`` fill, ``muted`` text."""

    label: str = ""
    icon: str = ""

    def fit(self, style: Style) -> Badge:
        self.h = style.px(18)
        self.w = int(style.fm("caption-strong").horizontalAdvance(self.label)) + 1 + style.px(12)
        if self.icon:
            self.w += style.px(16)
        return self

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style = c.style
        rect = QRectF(ox + self.x, oy + self.y, self.w, self.h)
        box(c.p, rect, style.px(4), style.color("hover"))
        x = rect.x() + style.px(6)
        if self.icon:
            draw_icon(c, self.icon, "muted", 12, x, rect.center().y() - style.px(6))
            x += style.px(16)
        draw_text(c.p, style, x, rect.y(), rect.height(), self.label, "caption-strong", "muted")


def elide(style: Style, role: str, text: str, width: float, middle: bool = False) -> str:
    mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
    return style.fm(role).elidedText(text, mode, max(0.0, width))
