"""Find in the session: a bar under the header."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import IconButton
from desktop_app.ui.widgets.fields import SearchField
from desktop_app.ui.widgets.painting import hline


class FindBar(Live, QWidget):
    """``searched(text)`` follows typing; Enter and Shift+Enter step; Esc closes."""

    searched = Signal(str)
    next = Signal()
    previous = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = SearchField(lambda: tr("Find in this session"))
        self.field.searched.connect(self.searched)
        self._previous = IconButton(
            "chevron-up", lambda: tr("Previous hit"), small=True, keys="Shift+F3"
        )
        self._next = IconButton("chevron-down", lambda: tr("Next hit"), small=True, keys="F3")
        self._close = IconButton("x", lambda: tr("Close"), small=True, keys="Esc")
        self._previous.clicked.connect(self.previous)
        self._next.clicked.connect(self.next)
        self._close.clicked.connect(self.close_bar)
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(16, 6, 10, 7), setSpacing=4)
        row.addStretch(1)
        follow(self.field, setMaximumWidth=300)
        for widget in (self.field, self._previous, self._next, self._close):
            row.addWidget(widget)
        self.set_count(0, 0, done=True)
        self.hide()

    def open_bar(self, text: str = "") -> None:
        """Show the bar with the field focused."""
        self.show()
        if text:
            self.field.setText(text)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.tell()
        if self.field.text():
            self.searched.emit(self.field.text())

    def close_bar(self) -> None:
        self.hide()
        self.searched.emit("")
        self.closed.emit()

    def set_count(self, current: int, count: int, *, done: bool) -> None:
        """``current`` of ``count`` hits (from 1; 0: none chosen), more may come unless ``done``."""
        for button in (self._previous, self._next):
            button.setEnabled(count > 0)
        if not self.field.text():
            self.field.set_count("")
        elif not count:
            self.field.set_count(tr("no hits") if done else "…")
        else:
            more = "" if done else "+"
            self.field.set_count(
                tr("{n} of {m}", n=current, m=f"{count}{more}") if current else f"{count}{more}"
            )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key == Qt.Key.Key_Escape:
            self.close_bar()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            (self.previous if back else self.next).emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        hline(painter, 0, self.width(), self.height() - 1, theme().color("border"))
