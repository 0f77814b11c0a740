"""Drawing helpers: boxes and lines on whole device pixels, hatching, elided text."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen, QPixmap

from desktop_app.ui.theme import pixmap, theme
from desktop_app.ui.theme.tokens import HATCH_STEP


def dpr_of(painter: QPainter) -> float:
    """Device pixels per logical pixel of what is painted on."""
    return painter.device().devicePixelRatioF()


def hair(painter: QPainter) -> float:
    """A line of one logical pixel, in whole device pixels (as a logical length)."""
    dpr = dpr_of(painter)
    return max(1, round(dpr)) / dpr


def box(
    painter: QPainter,
    rect: QRectF,
    radius: float,
    fill: QColor | None = None,
    line: QColor | None = None,
    width: int = 1,
) -> None:
    """A rounded rectangle whose outline lies inside ``rect``, sharp at every scale."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, radius > 0)
    if line is None:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        thick = hair(painter) * width
        rect = rect.adjusted(thick / 2, thick / 2, -thick / 2, -thick / 2)
        radius = max(0.0, radius - thick / 2)
        painter.setPen(QPen(line, thick))
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect, radius, radius)


def hline(painter: QPainter, x1: float, x2: float, y: float, color: QColor) -> None:
    """A horizontal line of one pixel whose upper edge is at ``y``."""
    painter.fillRect(QRectF(x1, y, x2 - x1, hair(painter)), color)


def vline(painter: QPainter, x: float, y1: float, y2: float, color: QColor) -> None:
    """A vertical line of one pixel whose left edge is at ``x``, snapped to a device pixel."""
    dpr = dpr_of(painter)
    painter.fillRect(QRectF(round(x * dpr) / dpr, y1, hair(painter), y2 - y1), color)


@lru_cache(256)
def _hatch_tile(rgba: int, dpr: float) -> QPixmap:
    """One period of diagonal lines; the period along an axis is the step times the root of two,
    rounded to whole device pixels so that tiles join."""
    side = max(4, round(HATCH_STEP * 1.4142 * dpr))
    tile = QPixmap(side, side)
    tile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor.fromRgba(rgba), max(1.0, dpr)))
    for shift in (-side, 0, side):
        painter.drawLine(QLineF(shift, side, shift + side, 0))
    painter.end()
    tile.setDevicePixelRatio(dpr)
    return tile


def hatch(color: QColor, dpr: float) -> QBrush:
    """Diagonal lines of ``color``: what is estimated or kept free."""
    brush = QBrush()
    brush.setTexture(_hatch_tile(color.rgba(), dpr))
    return brush


def fill_hatched(painter: QPainter, rect: QRectF, ground: QColor, lines: QColor) -> None:
    painter.fillRect(rect, ground)
    painter.setBrushOrigin(rect.topLeft())
    painter.fillRect(rect, hatch(lines, dpr_of(painter)))


def draw_icon(
    painter: QPainter, rect: QRectF, name: str, token: str = "muted", size: int = 16
) -> None:
    """An icon of ``size`` (before scaling by font size) centred in ``rect``."""
    side = theme().px(size)
    dpr = dpr_of(painter)
    image = pixmap(name, token, side, dpr)
    x = round((rect.center().x() - side / 2) * dpr) / dpr
    y = round((rect.center().y() - side / 2) * dpr) / dpr
    painter.drawPixmap(QPointF(x, y), image)


def draw_text(
    painter: QPainter,
    rect: QRectF,
    text: str,
    role: str = "body",
    token: str = "text",
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    *,
    figures: bool = False,
) -> float:
    """One line, vertically centred, elided when too long; returns the width drawn."""
    font = theme().font(role, figures=figures)
    metrics = QFontMetricsF(font)
    if metrics.horizontalAdvance(text) > rect.width() + 0.5:
        text = metrics.elidedText(text, elide, rect.width())
    painter.setFont(font)
    painter.setPen(theme().color(token))
    painter.drawText(rect, align | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)
    return metrics.horizontalAdvance(text)


def text_width(text: str, role: str = "body", *, figures: bool = False) -> int:
    """Width of one line, rounded up."""
    width = QFontMetricsF(theme().font(role, figures=figures)).horizontalAdvance(text)
    return int(width + 0.999)
