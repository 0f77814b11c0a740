"""Small charts: a line over time, a bar in a cell."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.theme import theme
from desktop_app.ui.theme.tokens import ALERT, DANGER

from .base import Live, Text, say
from .painting import box, draw_text, hline


class Sparkline(Live, QWidget):
    """A line with a fill under it. ``set_values(values, top)``: ``top`` is what the full height
    stands for (the largest value when None). ``start`` and ``end`` are the words below."""

    def __init__(
        self,
        name: Text,
        parent: QWidget | None = None,
        *,
        token: str = "accent-text",
        height: int = 24,
        grid: bool = False,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._token = token
        self._tall = height
        self._grid = grid
        self._values: tuple[float, ...] = ()
        self._top: float | None = None
        self._start: Text = ""
        self._end: Text = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def set_values(
        self, values: Sequence[float], top: float | None = None, start: Text = "", end: Text = ""
    ) -> None:
        self._values, self._top = tuple(values), top
        self._start, self._end = start, end
        self.updateGeometry()
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._name))
        shown = ", ".join(f"{v:g}" for v in self._values[-12:])
        self.setAccessibleDescription(shown)

    def sizeHint(self) -> QSize:
        return QSize(theme().px(120), self._tall + self._foot())

    def _foot(self) -> int:
        return theme().line("caption") + 2 if say(self._start) or say(self._end) else 0

    def points(self) -> list[QPointF]:
        """The line in widget coordinates."""
        if len(self._values) < 2:
            return []
        top = self._top if self._top is not None else max(self._values)
        height = self.height() - self._foot() - 2
        step = self.width() / (len(self._values) - 1)
        scale = height / top if top > 0 else 0.0
        low = height + 1
        return [
            QPointF(i * step, low - min(max(v, 0.0), top or 0.0) * scale)
            for i, v in enumerate(self._values)
        ]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        base = self.height() - self._foot()
        if self._grid:
            for y in (0, base // 2, base - 1):
                hline(painter, 0, self.width(), y, color("border"))
        if points := self.points():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area = QPolygonF([QPointF(0, base), *points, QPointF(self.width(), base)])
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(self._token, 0.12))
            painter.drawPolygon(area)
            painter.setPen(QPen(color(self._token), 1.25))
            painter.drawPolyline(QPolygonF(points))
        if foot := self._foot():
            rect = QRectF(0, base, self.width(), foot)
            draw_text(painter, rect, say(self._start), "caption", "faint")
            right = Qt.AlignmentFlag.AlignRight
            draw_text(painter, rect, say(self._end), "caption", "faint", right)


def mini_bar_token(share: float, *, context: bool) -> str:
    """Load is accent; context is grey, amber from 65 %, red from 85 %."""
    if not context:
        return "accent-text"
    return "danger" if share >= DANGER else "warning" if share >= ALERT else "outline"


def draw_mini_bar(painter: QPainter, rect: QRectF, share: float, *, context: bool = False) -> None:
    """A 4 px bar in the middle of ``rect``."""
    track = QRectF(rect.x(), round(rect.center().y() - 2), rect.width(), 4)
    box(painter, track, 2, theme().color("pressed"))
    if share > 0:
        filled = QRectF(track)
        filled.setWidth(max(4.0, min(1.0, share) * track.width()))
        box(painter, filled, 2, theme().color(mini_bar_token(share, context=context)))


class MiniBar(Live, QWidget):
    """A share as a bar of 32 or 48 by 4."""

    def __init__(
        self, name: Text, parent: QWidget | None = None, *, width: int = 48, context: bool = False
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._wide = width
        self._context = context
        self._share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def set_share(self, share: float) -> None:
        self._share = share
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        self.setAccessibleName(f"{say(self._name)} {round(self._share * 100)}%")

    def sizeHint(self) -> QSize:
        return QSize(theme().px(self._wide), 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_mini_bar(QPainter(self), QRectF(self.rect()), self._share, context=self._context)
