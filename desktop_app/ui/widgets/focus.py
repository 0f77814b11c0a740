"""The focus ring: drawn outside of a control, and only for focus that came by the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from desktop_app.ui.theme import theme

from .painting import box

_Widget = QWidget if TYPE_CHECKING else object
KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_WIDTH, _GAP = 2, 1


class FocusRing(QWidget):
    """An overlay beside the focused control: 2 px, 1 px outside of it. One per window."""

    def __init__(self, target: QWidget, radius: int, *, inside: bool = False) -> None:
        super().__init__(target.parentWidget())
        self._out = -_GAP if inside else _WIDTH + _GAP
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._target = target
        self._radius = radius
        target.installEventFilter(self)
        self._follow()
        self.show()
        self.raise_()

    def _follow(self) -> None:
        # The strip around the mask's hole takes no part in the parent's layout.
        out, parent = self._out, self.parentWidget()
        whole = self._target.geometry().adjusted(-out, -out, out, out)
        # Where the parent ends closer it would cut the ring off: it is drawn closer then.
        self.setGeometry(whole & parent.rect() if parent is not None else whole)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.Move, QEvent.Type.Resize):
            self._follow()
        elif kind == QEvent.Type.Hide:
            self.hide()
        elif kind == QEvent.Type.Show:
            self.show()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        width = _WIDTH + theme().high_contrast
        painter = QPainter(self)
        rect = QRectF(self.rect())
        radius = self._radius + (2 if self._out > 0 else -_GAP)
        box(painter, rect, radius, line=theme().color("focus"), width=width)


class Ringed(_Widget):
    """Mixin, named before the Qt class: shows the ring. ``ring_radius`` is the control's own."""

    ring_radius = "button"
    ring_inside = False  # for what fills its parent, which would cut the ring off
    _ring: FocusRing | None = None

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in KEYBOARD:
            self.show_ring()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu or another window in front keeps the place.
        if event.reason() not in (
            Qt.FocusReason.PopupFocusReason,
            Qt.FocusReason.ActiveWindowFocusReason,
        ):
            self.hide_ring()

    def show_ring(self) -> None:
        if self._ring is None and self.parentWidget() is not None:
            radius = theme().radius(self.ring_radius)
            self._ring = FocusRing(self, radius, inside=self.ring_inside)

    def hide_ring(self) -> None:
        ring, self._ring = self._ring, None
        if ring is not None and shiboken6.isValid(ring):
            ring.hide()
            ring.deleteLater()
