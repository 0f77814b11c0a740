"""The program's own mark: a hull on a slipway over the water line; also the window's icon."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.theme import theme

from .base import Live
from .painting import box

# On a square of 40: hull, ramp, water.
_HULL = [(14, 17.4), (25.6, 13.4), (24.4, 16.6), (25, 18.6), (16.4, 21.6)]
_RAMP = ((10.8, 23.8), (29.4, 17.2))
_WATER = ((8.8, 29.5), (31.2, 29.5))


def draw_mark(painter: QPainter, rect: QRectF) -> None:
    """The mark in ``rect`` (square)."""
    scale = rect.width() / 40
    painter.save()
    painter.translate(rect.topLeft())
    painter.scale(scale, scale)
    box(painter, QRectF(0, 0, 40, 40), 8, theme().color("accent"))
    ink = theme().color("accent-fg")
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in _HULL]))
    solid, round_cap = Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap
    painter.setPen(QPen(ink, 1.8, solid, round_cap))
    for start, end in (_RAMP, _WATER):
        painter.drawLine(QPointF(*start), QPointF(*end))
    painter.restore()


def app_icon() -> QIcon:
    """The window's icon in the sizes that task bars ask for."""
    icon = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256):
        image = QPixmap(side, side)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_mark(painter, QRectF(0, 0, side, side))
        painter.end()
        icon.addPixmap(image)
    return icon


class AppMark(Live, QWidget):
    """The mark as a widget, 40 x 40."""

    def __init__(self, parent: QWidget | None = None, *, side: int = 40) -> None:
        super().__init__(parent)
        self._side = side
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        side = theme().px(self._side)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_mark(painter, QRectF(self.rect()))
