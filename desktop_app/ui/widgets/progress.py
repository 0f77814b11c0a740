"""Progress of something that takes longer than a moment, with a way to stop it."""

from __future__ import annotations

import time

from PySide6.QtCore import QRectF, QSize, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme

from .base import Live, Text, follow
from .buttons import Button
from .labels import ElidedLabel, Label
from .painting import box, fill_hatched
from .turning import Turning

_AFTER_MS = 300
_FRAME_MS = 33
_TURN = 1.4  # seconds for the moving piece to cross the bar


class ProgressBar(Turning, QWidget):
    """A bar of 4 px. ``set_share(None)`` when nobody knows how much is left: a piece moves across
    (a still hatch where motion is reduced)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._share: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        shown = "" if self._share is None else f" {round(self._share * 100)}%"
        self.setAccessibleName(tr("Progress") + shown)

    def set_share(self, share: float | None) -> None:
        self._share = None if share is None else min(1.0, max(0.0, share))
        self.retranslate()
        self.turn()
        self.update()

    def pace(self) -> int:
        return _FRAME_MS if self._share is None else 0

    def sizeHint(self) -> QSize:
        return QSize(theme().px(120), 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        rect = QRectF(self.rect())
        box(painter, rect, 2, color("pressed"))
        if self._share is not None:
            if self._share > 0:
                rect.setWidth(max(4.0, self._share * rect.width()))
                box(painter, rect, 2, color("accent-text"))
        elif theme().reduced_motion:
            fill_hatched(painter, rect, color("pressed"), color("accent-text"))
        else:
            piece = rect.width() * 0.3
            at = (time.monotonic() / _TURN) % 1.0
            x = at * (rect.width() + piece) - piece
            box(painter, QRectF(x, 0, piece, rect.height()), 2, color("accent-text"))


class ProgressLine(Live, QWidget):
    """What is being done, how far it is, and a cancel button. It appears only when the work takes
    more than 300 ms: ``begin``, ``set_share``, ``end``."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None, *, cancellable: bool = True) -> None:
        super().__init__(parent)
        self.label = ElidedLabel("", role="small", tone="muted")
        self.detail = Label("", role="small", tone="faint")
        self.bar = ProgressBar()
        self.cancel = Button(lambda: tr("Cancel"), small=True)
        self.cancel.setVisible(cancellable)
        self.cancel.clicked.connect(self._stop)
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=12)
        column = QVBoxLayout()
        follow(column, setSpacing=4)
        head = QHBoxLayout()
        head.addWidget(self.label, 1)
        head.addWidget(self.detail)
        column.addLayout(head)
        column.addWidget(self.bar)
        row.addLayout(column, 1)
        row.addWidget(self.cancel)
        self._delay = QTimer(self, singleShot=True, interval=_AFTER_MS)
        self._delay.timeout.connect(self.show)
        self.hide()

    def begin(self, text: Text, detail: Text = "") -> None:
        """Work starts; the line shows itself if it lasts."""
        self.label.set_source(text)
        self.detail.set_source(detail)
        self.cancel.setEnabled(True)
        self.bar.set_share(None)
        if not self.isVisible():
            self._delay.start()

    def set_share(self, share: float | None, detail: Text = "") -> None:
        self.bar.set_share(share)
        self.detail.set_source(detail)

    def end(self) -> None:
        """Work is over, however it ended."""
        self._delay.stop()
        self.hide()

    def _stop(self) -> None:
        self.cancel.setEnabled(False)
        self.label.set_source(lambda: tr("Stopping…"))
        self.cancelled.emit()
