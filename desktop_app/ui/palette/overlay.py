"""A field over the window with a list below it, for the palette and the search in everything."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QObject,
    QPoint,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QListView,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.keyhint import KeyHint
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.painting import box, hline
from desktop_app.ui.widgets.texts import TypedLine

_ROWS = 9


class _Hints(Live, QWidget):
    """The strip of keys at the bottom."""

    def __init__(self, run: Text) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(14, 1, 14, 0))
        follow(row, setSpacing=4)
        left: list[tuple[list[str], Text]] = [
            (["Up", "Down"], lambda: tr("choose")),
            (["Return"], run),
        ]
        for keys, words in left:
            for key in keys:
                row.addWidget(KeyHint(key))
            row.addWidget(Label(words, role="caption", tone="muted"))
            row.addSpacing(theme().px(8))
        row.addStretch(1)
        row.addWidget(KeyHint("Esc"))
        row.addWidget(Label(lambda: tr("close"), role="caption", tone="muted"))
        self.setFixedHeight(theme().size("palette-footer"))


class _Veil(QWidget):
    """Covers the window unseen while the palette is open: a click elsewhere closes it. (A filter
    on the application would see every event, and crashes when the program ends meanwhile.)"""

    pressed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed.emit()


class Overlay(Live, QFrame):
    """Opened by ``open()``. It closes on Esc, on a click elsewhere and after something was chosen;
    focus goes back where it was. Usable by keyboard alone.

    A subclass gives ``model`` (rows that cannot be selected are heads), ``refresh`` (what was typed
    changed) and ``chosen_row`` (what Enter does, None for a head)."""

    closed = Signal()

    def __init__(self, window: QWidget, model: QAbstractItemModel, run: Text, width: int) -> None:
        super().__init__(window)
        self._window = window
        self._width = width
        self._veil = _Veil(window)
        self._veil.pressed.connect(self.dismiss)
        self._before: QWidget | None = None
        self._nothing: Text = lambda: tr("Nothing found")
        self.field = TypedLine(role="message")
        self.field.setProperty("bare", True)
        self.field.setFrame(False)
        self.field.textChanged.connect(self.refresh)
        self.field.installEventFilter(self)
        self._count = Label("", role="small", tone="faint")
        self.list = QListView()
        self.list.setModel(model)
        self.list.setProperty("ground", "raised")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.entered.connect(self.list.setCurrentIndex)
        self.list.clicked.connect(lambda index: self._run(index.row()))
        self._build(run)
        self.hide()

    def _build(self, run: Text) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        head = QHBoxLayout()
        follow(head, setContentsMargins=(14, 0, 14, 0), setSpacing=10)
        head.addWidget(Glyph("search", "muted", 16))
        head.addWidget(self.field, 1)
        head.addWidget(self._count)
        self._head = QWidget()
        self._head.setLayout(head)
        column.addWidget(self._head)
        holder = QVBoxLayout()
        follow(holder, setContentsMargins=(0, 6, 0, 6))
        holder.addWidget(self.list)
        self._empty = Label("", tone="faint")
        follow(self._empty, setContentsMargins=(14, 0, 14, 0))
        self._empty.hide()
        holder.addWidget(self._empty)
        column.addLayout(holder, 1)
        self._foot = _Hints(run)
        column.addWidget(self._foot)

    def restyle(self) -> None:
        self._head.setFixedHeight(theme().size("palette-field"))
        self.update()

    # -- what a subclass does ---------------------------------------------------------------

    def refresh(self) -> None:
        """Show what fits the field's text."""
        raise NotImplementedError

    def chosen_row(self, row: int) -> Any:
        """What choosing a row does: a callable, or None."""
        raise NotImplementedError

    def next_row(self, row: int, step: int) -> int:
        """The next row that can be chosen from ``row`` on, around the ends; -1: none."""
        model = self.list.model()
        count = model.rowCount()
        for _ in range(count):
            row = (row + step) % count
            if model.flags(model.index(row, 0)) & Qt.ItemFlag.ItemIsSelectable:
                return row
        return -1

    # -- opening and closing ----------------------------------------------------------------

    def open(self, query: str = "") -> None:
        """Show it with ``query`` typed; open already: only the field is taken."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self.field.setText(query)
        self.refresh()
        self._window.installEventFilter(self)
        self._veil.show()
        self._veil.raise_()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def dismiss(self) -> None:
        """Close, and give the focus back."""
        if not self.isVisible():
            return
        self.hide()
        self._window.removeEventFilter(self)
        self._veil.hide()
        before, self._before = self._before, None
        try:
            if before is not None and before.isVisible():
                before.setFocus(Qt.FocusReason.PopupFocusReason)
        except RuntimeError:
            pass  # what had the focus is gone
        self.closed.emit()

    def place(self) -> None:
        """Put it in its place, as high as its rows need."""
        window = self._window
        none = self.list.model().rowCount() == 0
        self._empty.set_source(say(self._nothing) if none else "")
        self.list.setVisible(not none)
        self._empty.setVisible(none)
        self._veil.setGeometry(window.rect())
        width = min(theme().px(self._width), window.width() - 24)
        count = self.list.model().rowCount()
        rows = sum(self.list.sizeHintForRow(row) for row in range(min(count, 2 * _ROWS)))
        low = theme().size("palette-row")
        most = max(_ROWS * low, _ROWS * self.list.sizeHintForRow(count - 1) if count else 0)
        around = self._head.height() + self._foot.height() + theme().px(12) + 2
        room = window.height() - theme().px(48) - around - 24
        height = min(max(rows, low), most, max(60, room))
        total = height + around
        top = min(theme().size("palette-top"), max(12, window.height() - total - 12))
        self.resize(width, total)
        self.move(QPoint((window.width() - width) // 2, top))

    # -- keys and mouse ---------------------------------------------------------------------

    def select_row(self, row: int) -> None:
        index = self.list.model().index(row, 0)
        self.list.setCurrentIndex(index)
        if row >= 0:
            self.list.scrollTo(index)
            if self.next_row(-1, 1) == row:
                self.list.scrollToTop()

    def _run(self, row: int) -> None:
        run = self.chosen_row(row)
        if run is None:
            return
        self.dismiss()
        # After the focus is back: what runs may move it on.
        QTimer.singleShot(0, self, run)

    def _key(self, event: QKeyEvent) -> bool:
        key, row = event.key(), self.list.currentIndex().row()
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Tab: 1,
            Qt.Key.Key_Backtab: -1,
        }
        if key in steps:
            self.select_row(self.next_row(row, steps[Qt.Key(key)]))
        elif key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            step = 1 if key == Qt.Key.Key_PageDown else -1
            for _ in range(_ROWS - 1):
                ahead = self.next_row(row, step)
                if (ahead - row) * step <= 0:
                    break
                row = ahead
            self.select_row(row)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(row)
        elif key == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            return False
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self.field:
            if kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._key(event)
        elif kind == QEvent.Type.Resize and watched is self._window:
            self.place()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        rect, radius = QRectF(self.rect()), theme().radius("dialog")
        box(painter, rect, radius, color("raised"))
        path = QPainterPath()
        path.addRoundedRect(rect, radius, radius)
        painter.setClipPath(path)
        painter.fillRect(self._foot.geometry(), color("bg"))
        hline(painter, 0, self.width(), self._head.geometry().bottom() + 1, color("border"))
        hline(painter, 0, self.width(), self._foot.y(), color("border"))
        painter.setClipping(False)
        box(painter, rect, radius, None, color("border-strong"))
