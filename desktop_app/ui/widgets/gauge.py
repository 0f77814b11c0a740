"""The context gauge: who uses the window, as a bar and as a ring.

Plain values come in (``Usage``). Parts are drawn in the order of the prompt, whatever their size;
what was not confirmed by the provider is hatched, so is the room kept for the answer. Ticks stand
at the two marks; a pale hatched band after the parts reaches as far as the marks see.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme

from . import figures
from .base import Live
from .focus import Ringed
from .painting import dpr_of, fill_hatched, hair
from .usage import Usage, category_name, describe, segments


class _Moving(Live, Ringed, QWidget):
    """Base: follows a usage in 140 ms, says it in words, can be clicked."""

    clicked = Signal()
    ring_radius = "badge"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._usage = Usage()
        self._shown = Usage()
        self._from = Usage()
        self._motion = QVariantAnimation(self)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.valueChanged.connect(self._step)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def usage(self) -> Usage:
        return self._usage

    def set_usage(self, usage: Usage) -> None:
        """Show ``usage``; the picture follows in 140 ms (at once where motion is reduced)."""
        if usage == self._usage:
            return
        self._from = self._shown
        self._usage = usage
        self.retranslate()
        ms = theme().ms("gauge") if self.isVisible() and self._from.window else 0
        self._motion.stop()
        if ms:
            self._motion.setDuration(ms)
            self._motion.start()
        else:
            self._shown = usage
            self.update()

    def _step(self, at: object) -> None:
        done = float(at) if isinstance(at, float) else 1.0
        if done >= 1.0:
            self._shown = self._usage
        else:
            old, new = self._from, self._usage
            names = {*old.parts, *new.parts}
            parts = {
                n: round(old.parts.get(n, 0) * (1 - done) + new.parts.get(n, 0) * done)
                for n in names
            }
            margin = (old.most - old.total) * (1 - done) + (new.most - new.total) * done
            self._shown = replace(new, parts=parts, upper=sum(parts.values()) + round(margin))
        self.update()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Context"))
        self.setAccessibleDescription(describe(self._usage))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and inside:
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)


class ContextGauge(_Moving):
    """The bar: ``thick`` 6 in the status line, 8 in the inspector, 10 in the preview. ``ground`` is
    the colour it stands on, which parts its pieces."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        thick: int = 8,
        width: int = 0,
        ground: str = "bg",
    ) -> None:
        super().__init__(parent)
        self._thick = thick
        self._wide = width
        self._ground = ground
        if not width:
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def sizeHint(self) -> QSize:
        return QSize(self._wide or 148, self._thick + 4)  # the ticks stand out by 2

    def minimumSizeHint(self) -> QSize:
        return QSize(self._wide or 60, self._thick + 4)

    def _bar(self) -> QRectF:
        top = (self.height() - self._thick) // 2
        return QRectF(0, top, self.width(), self._thick)

    def part_at(self, x: float) -> str:
        """The category under ``x``; "margin", "reserve" or "free" beyond the used part."""
        for segment in segments(self._shown, self.width()):
            if segment.x <= x < segment.x + segment.width + 1:
                return segment.category
        usage = self._shown
        if usage.window and x < usage.most / usage.window * self.width():
            return "margin"
        kept = usage.reserve / usage.window * self.width() if usage.window else 0
        return "reserve" if kept and x >= self.width() - kept else "free"

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            category = self.part_at(event.pos().x())
            usage = self._usage
            rest = max(0, usage.window - usage.total - usage.reserve)
            margin = usage.most - usage.total
            more = {"reserve": usage.reserve, "free": rest, "margin": margin}
            n = {**more, **usage.parts}.get(category, 0)
            words = f"{category_name(category)}: {figures.tokens(n)}"
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        bar, usage = self._bar(), self._shown
        radius = min(3.0, self._thick / 2)
        clip = QPainterPath()
        clip.addRoundedRect(bar, radius, radius)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(clip)
        painter.fillRect(bar, color("cat-free"))
        if usage.window:
            kept = min(1.0, usage.reserve / usage.window) * bar.width()
            end = QRectF(bar.right() - kept, bar.y(), kept, bar.height())
            fill_hatched(painter, end, color("cat-free"), color("cat-reserve"))
            self._draw_margin(painter, bar, usage)
            self._draw_parts(painter, bar, usage)
        painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for mark in (usage.alert, usage.danger):
            if mark and usage.window:
                self._draw_tick(painter, bar, mark / usage.window)

    def _draw_parts(self, painter: QPainter, bar: QRectF, usage: Usage) -> None:
        dpr = dpr_of(painter)
        ground = theme().color(self._ground)

        def snap(x: float) -> float:
            return round(x * dpr) / dpr

        for part in segments(usage, bar.width()):
            left, right = snap(part.x), snap(part.x + part.width)
            right = max(right, left + 1 / dpr)
            middle = min(max(snap(part.hatch_from), left), right)
            solid = theme().color(f"cat-{part.category}")
            painter.fillRect(QRectF(left, bar.y(), middle - left, bar.height()), solid)
            if right > middle:
                tail = QRectF(middle, bar.y(), right - middle, bar.height())
                fill_hatched(painter, tail, theme().color(f"cat-{part.category}-soft"), solid)
            gap = snap(part.x + part.width + 1) - right
            painter.fillRect(QRectF(right, bar.y(), max(gap, 1 / dpr), bar.height()), ground)

    def _draw_margin(self, painter: QPainter, bar: QRectF, usage: Usage) -> None:
        """From what is used to what may be; its end is a line, since that is what passes a mark."""
        start = min(1.0, usage.share) * bar.width()
        end = min(1.0, usage.most / usage.window) * bar.width()
        if end - start < 1:
            return
        color = theme().color
        band = QRectF(start, bar.y(), end - start, bar.height())
        fill_hatched(painter, band, color("cat-free-soft"), color("faint"))
        painter.fillRect(QRectF(end - 1, bar.y(), 1, bar.height()), color("muted"))

    def _draw_tick(self, painter: QPainter, bar: QRectF, share: float) -> None:
        dpr = dpr_of(painter)
        x = round(share * bar.width() * dpr) / dpr
        rect = QRectF(x, bar.y() - 2, hair(painter), bar.height() + 4)
        painter.fillRect(rect, theme().color("text"))


class Ring(_Moving):
    """The gauge as a ring, 18 or 28 across; the figure stands beside it, never inside. It repaints
    only when the arc moved by half a device pixel."""

    def __init__(self, parent: QWidget | None = None, *, side: int = 18) -> None:
        super().__init__(parent)
        self._plain_side = side
        self._painted = -1.0
        self.retranslate()

    def retranslate(self) -> None:
        super().retranslate()
        self.setToolTip(describe(self._usage) if self._usage.window else "")

    @property
    def _side(self) -> int:
        return theme().px(self._plain_side)

    def sizeHint(self) -> QSize:
        return QSize(self._side, self._side)

    def update(self, *args: object) -> None:
        """Ask for a repaint, unless nothing would look different."""
        length = 3.1416 * self._side * self.devicePixelRatioF()
        moved = abs(self._shown.share - self._painted) * length
        if moved >= 0.5 or self._shown is self._usage:
            super().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        usage = self._shown
        self._painted = usage.share
        stroke = float(theme().px(4 if self._plain_side >= 28 else 3))
        inset = stroke / 2
        circle = QRectF(inset, inset, self._side - stroke, self._side - stroke)
        color = theme().color
        painter.setPen(QPen(color("pressed"), stroke))
        painter.drawEllipse(circle)
        if not usage.window:
            return
        share = min(1.0, usage.share)
        sure = min(share, max(0.0, (usage.total - usage.estimated) / usage.window))

        def arc(start: float, end: float, pen: QPen) -> None:
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawArc(circle, round((90 - start * 360) * 16), round((start - end) * 360 * 16))

        arc(0, sure, QPen(color(usage.tone), stroke))
        if share > sure:
            arc(sure, share, QPen(color(usage.tone, 0.45), stroke))
        if (most := min(1.0, usage.most / usage.window)) > share:
            arc(share, most, QPen(color(usage.tone, 0.2), stroke))
        if usage.alert:
            at = usage.alert / usage.window
            half = 1.2 / (3.1416 * circle.width()) / 2
            arc(at - half, at + half, QPen(color("text"), stroke))
