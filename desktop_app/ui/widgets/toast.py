"""Toasts: what happened in the background, with one action, at the lower right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QPropertyAnimation, QRectF, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.theme.tokens import TOAST_MS, TRAVEL

from .base import Live, Text, follow, say
from .buttons import Button, IconButton
from .card import Glyph
from .labels import ElidedLabel
from .painting import box

Tone = Literal["success", "info", "warning", "danger"]
_ICONS = {"success": "check", "info": "info", "warning": "triangle-alert", "danger": "circle-x"}
_EDGE, _GAP, _MOST = 12, 8, 4


def announce(widget: QWidget, text: str) -> None:
    """Have a screen reader say ``text``."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


class Toast(Live, QFrame):
    """One message. It goes after 6 s unless hovered or focused; errors stay."""

    def __init__(
        self,
        host: ToastHost,
        text: Text,
        tone: Tone,
        act: Text,
        run: Callable[[], object] | None,
    ) -> None:
        super().__init__(host.window_widget)
        self._host = host
        self.text = text
        self.tone: Tone = tone
        self._run = run
        self.setFrameShape(QFrame.Shape.NoFrame)
        row = QHBoxLayout(self)
        px = theme().px
        follow(row, setContentsMargins=(12, 0, 6, 0), setSpacing=8)
        row.addWidget(Glyph(_ICONS[tone], tone, 16))
        self.label = ElidedLabel(text)
        row.addWidget(self.label, 1)
        if run is not None and act:
            self.button = Button(act, variant="link")
            self.button.clicked.connect(self._act)
            row.addSpacing(px(8))
            row.addWidget(self.button)
        self.closer = IconButton("x", lambda: tr("Close"), small=True)
        self.closer.clicked.connect(self.dismiss)
        row.addWidget(self.closer)
        self._timer = QTimer(self, singleShot=True, interval=TOAST_MS)
        self._timer.timeout.connect(self._over)
        self._motion = QPropertyAnimation(self, b"pos", self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.restart()

    def restart(self) -> None:
        """Count its time anew."""
        if self.tone != "danger":
            self._timer.start()

    def _over(self) -> None:
        focus = self.window().focusWidget()
        held = self.underMouse() or (focus is not None and self.isAncestorOf(focus))
        self.restart() if held else self.dismiss()

    def _act(self) -> None:
        self.dismiss()
        if self._run is not None:
            self._run()

    def dismiss(self) -> None:
        self._timer.stop()
        self._motion.stop()
        self._host.remove(self)

    def place(self, at: QPoint, *, fresh: bool) -> None:
        ms = theme().ms("toast")
        if not fresh or ms == 0:
            self._motion.stop()
            self.move(at)
            return
        self._motion.setDuration(ms)
        self._motion.setStartValue(at + QPoint(0, TRAVEL))
        self._motion.setEndValue(at)
        self._motion.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        rect = QRectF(self.rect())
        painter = QPainter(self)
        box(painter, rect, theme().radius("card"), color("raised"), color("border-strong"))


class ToastHost(QObject):
    """Shows toasts over ``window_widget``, newest lowest, at most four. The same text again
    restarts the toast that is there instead of adding one. ``above`` is what none may cover while
    it is seen: a person may be writing there."""

    def __init__(self, window_widget: QWidget) -> None:
        super().__init__(window_widget)
        self.window_widget = window_widget
        self.above: QWidget | None = None
        self._toasts: list[Toast] = []
        window_widget.installEventFilter(self)

    def show(
        self,
        text: Text,
        tone: Tone = "success",
        act: Text = "",
        run: Callable[[], object] | None = None,
    ) -> Toast:
        """Show ``text``, with one action where there is something to do about it."""
        words = say(text)
        for toast in self._toasts:
            if say(toast.text) == words and toast.tone == tone and run is None:
                toast.restart()
                return toast
        while len(self._toasts) >= _MOST:
            self._toasts[0].dismiss()
        toast = Toast(self, text, tone, act, run)
        self._toasts.append(toast)
        toast.show()
        toast.raise_()
        self._arrange(fresh=toast)
        announce(self.window_widget, words)
        return toast

    def toasts(self) -> list[Toast]:
        return list(self._toasts)

    def remove(self, toast: Toast) -> None:
        if toast in self._toasts:
            self._toasts.remove(toast)
            toast.hide()
            toast.deleteLater()
            self._arrange()

    def _arrange(self, fresh: Toast | None = None) -> None:
        area = self.window_widget.rect()
        y = area.height() - _EDGE - theme().size("status")
        if self.above is not None and self.above.isVisible():
            y = min(y, self.above.mapTo(self.window_widget, QPoint(0, 0)).y() - _GAP)
        for toast in reversed(self._toasts):
            width = min(theme().size("toast-max"), area.width() - 2 * _EDGE)
            width = min(width, max(theme().px(220), toast.sizeHint().width()))
            height = theme().size("toast")
            toast.resize(width, height)
            y -= height
            toast.place(QPoint(area.width() - _EDGE - width, y), fresh=toast is fresh)
            y -= _GAP

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return False
