"""Badges and state glyphs: a shape and a word, never only a colour."""

from __future__ import annotations

import time
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.theme import theme
from desktop_app.ui.theme.tokens import SPINNER_STEPS

from .base import Live, Text, say
from .painting import box, draw_icon, draw_text, text_width
from .turning import Turning

Tone = Literal["neutral", "accent", "success", "warning", "danger", "info"]
StateName = Literal[
    "running", "done", "busy", "waiting", "paused", "idle", "warning", "failed", "none"
]
STATE_TOKENS: dict[str, str] = {
    "running": "success",
    "done": "success",
    "busy": "accent-text",
    "waiting": "warning",
    "paused": "muted",
    "idle": "faint",
    "warning": "warning",
    "failed": "danger",
}


def badge_width(text: str, glyph: str | None) -> int:
    """Width of a badge in pixels."""
    width = text_width(text, "caption-strong") if text else 0
    if glyph:
        width += theme().px(12) + (theme().px(4) if text else 0)
    return width + theme().px(12)


def draw_badge(
    painter: QPainter, rect: QRectF, text: str, tone: Tone = "neutral", glyph: str | None = None
) -> None:
    """A badge that fills ``rect``."""
    ink = {"neutral": "muted", "accent": "accent-text"}.get(tone, tone)
    fill = "hover" if tone == "neutral" else f"{tone}-soft"
    line = theme().color(ink) if theme().high_contrast else None
    box(painter, rect, theme().radius("badge"), theme().color(fill), line)
    x = rect.x() + theme().px(6)
    if glyph:
        side = theme().px(12)
        draw_icon(painter, QRectF(x, rect.y(), side, rect.height()), glyph, ink, 12)
        x += side + theme().px(4)
    room = QRectF(x, rect.y(), rect.right() - x, rect.height())
    draw_text(painter, room, text, "caption-strong", ink)


class Badge(Live, QWidget):
    """A count, a tag, "Pinned"; at most two in a row."""

    def __init__(
        self,
        text: Text = "",
        parent: QWidget | None = None,
        *,
        tone: Tone = "neutral",
        glyph: str | None = None,
    ) -> None:
        super().__init__(parent)
        self._source = text
        self._tone: Tone = tone
        self._glyph = glyph
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def set_badge(self, text: Text, tone: Tone = "neutral", glyph: str | None = None) -> None:
        self._source, self._tone, self._glyph = text, tone, glyph
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._source))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(badge_width(say(self._source), self._glyph), theme().size("badge"))

    def paintEvent(self, event: QPaintEvent) -> None:
        rect = QRectF(self.rect())
        draw_badge(QPainter(self), rect, say(self._source), self._tone, self._glyph)


def spinner_step() -> int:
    """Which of the 12 steps a spinner shows now; the same everywhere."""
    if theme().reduced_motion:
        return 0
    turn = theme().ms("spinner") / 1000
    return int(time.monotonic() / turn * SPINNER_STEPS) % SPINNER_STEPS


def draw_state(painter: QPainter, rect: QRectF, state: StateName, step: int | None = None) -> None:
    """The glyph of a state, 10 x 10, centred in ``rect``."""
    if state == "none":
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.center() - QPointF(5, 5) * theme().scale)
    painter.scale(theme().scale, theme().scale)
    color = theme().color(STATE_TOKENS[state])
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    solid = Qt.PenStyle.SolidLine
    stroke = QPen(color, 1.5, solid, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    if state == "running":
        painter.drawEllipse(QPointF(5, 5), 4, 4)
    elif state == "done":
        painter.setPen(stroke)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([QPointF(1.2, 5.4), QPointF(3.9, 8), QPointF(8.8, 2.2)]))
    elif state == "busy":
        _draw_busy(painter, stroke, spinner_step() if step is None else step)
    elif state == "waiting":
        points = [QPointF(5, 0.4), QPointF(9.6, 5), QPointF(5, 9.6), QPointF(0.4, 5)]
        painter.drawPolygon(QPolygonF(points))
    elif state == "paused":
        painter.drawRoundedRect(QRectF(2, 1, 2, 8), 0.5, 0.5)
        painter.drawRoundedRect(QRectF(6, 1, 2, 8), 0.5, 0.5)
    elif state == "idle":
        painter.setPen(stroke)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(5, 5), 3.4, 3.4)
    else:
        painter.drawPolygon(QPolygonF([QPointF(5, 0.8), QPointF(9.8, 9), QPointF(0.2, 9)]))
    painter.restore()


def _draw_busy(painter: QPainter, stroke: QPen, step: int) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    faint = QPen(stroke)
    color = stroke.color()
    color.setAlphaF(0.3)
    faint.setColor(color)
    painter.setPen(faint)
    circle = QRectF(1.2, 1.2, 7.6, 7.6)
    painter.drawEllipse(circle)
    if theme().reduced_motion:
        painter.setPen(stroke)
        painter.drawArc(circle, 90 * 16, -90 * 16)
        return
    painter.setPen(stroke)
    painter.drawArc(circle, int((90 - step * 360 / SPINNER_STEPS) * 16), -90 * 16)


class StateGlyph(Turning, QWidget):
    """The glyph of a state with its word. It turns while it is "busy"."""

    def __init__(
        self,
        state: StateName = "none",
        word: Text = "",
        parent: QWidget | None = None,
        *,
        role: str = "body",
    ) -> None:
        super().__init__(parent)
        self._state: StateName = state
        self._word = word
        self._role = role
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def set_state(self, state: StateName, word: Text = "") -> None:
        self._state, self._word = state, word
        self.retranslate()
        self.turn()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._word))
        self.setToolTip(say(self._word))
        self.updateGeometry()
        self.update()

    def pace(self) -> int:
        return theme().ms("spinner") // SPINNER_STEPS if self._state == "busy" else 0

    def sizeHint(self) -> QSize:
        width = theme().px(10)
        if word := say(self._word):
            width += theme().px(6) + text_width(word, self._role)
        return QSize(width, theme().line(self._role))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        side = theme().px(10)
        draw_state(painter, QRectF(0, 0, side, self.height()), self._state)
        if word := say(self._word):
            x = side + theme().px(6)
            rect = QRectF(x, 0, self.width() - x, self.height())
            draw_text(painter, rect, word, self._role)
