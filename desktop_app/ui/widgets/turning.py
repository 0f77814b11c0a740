"""What moves while something goes on: a spinner, a bar of which nobody knows the end."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from desktop_app.ui.theme import theme

from .base import Live


class Turning(Live):
    """Mixin, named before the Qt class: the widget is painted again and again, but only while it
    can be seen in an active window and motion is not reduced. ``turn`` when ``pace`` changed."""

    _timer: QTimer | None = None

    def pace(self) -> int:
        """Milliseconds from one picture to the next; 0 where nothing moves."""
        raise NotImplementedError

    def turn(self, visible: bool | None = None) -> None:
        """Begin to move, or rest."""
        seen = self.isVisible() if visible is None else visible
        pace = 0 if theme().reduced_motion or not seen else self.pace()
        if self._timer is None:
            if not pace:
                return
            self._timer = QTimer(cast(QWidget, self))
            self._timer.timeout.connect(self._next)
        if pace:
            self._timer.start(pace)
        else:
            self._timer.stop()

    def _next(self) -> None:
        if self.isActiveWindow():
            self.update()

    def restyle(self) -> None:
        super().restyle()
        self.turn()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.turn(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.turn(False)
