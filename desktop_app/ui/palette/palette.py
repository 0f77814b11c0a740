"""The palette over the window: a field, the list, the keys. Usable by keyboard alone."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui.commands import Commands
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text, say
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.keyhint import KeyHint, caps_width, draw_caps, keys_of
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.painting import box, draw_text, hline
from desktop_app.ui.widgets.rows import Role, RowDelegate

from .model import KEYS, Entry, Index, PaletteModel, Source, count_words

_ROWS = 9


class _Delegate(RowDelegate):
    """A row with key caps at the right; heads of groups are lower."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, size="palette-row")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), theme().px(26)) if index.data(Role.HEADER) else size

    def _right(self, painter: QPainter, inner: QRectF, index: Index) -> float:
        keys = keys_of(index.data(KEYS) or "")
        if not keys:
            return inner.right()
        x = inner.right() - caps_width(keys)
        draw_caps(painter, x, inner.center().y(), keys)
        return x - theme().px(8)


class _Hints(Live, QWidget):
    """The strip of keys at the bottom."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme().px(14), 1, theme().px(14), 0)
        row.setSpacing(theme().px(4))
        left: list[tuple[list[str], Text]] = [
            (["Up", "Down"], lambda: tr("choose")),
            (["Return"], lambda: tr("run")),
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


class Palette(Live, QFrame):
    """Opened by ``open()``; ``add_source`` offers sessions, files and others beside the commands.
    It closes on Esc, on a click elsewhere and after running; focus goes back where it was."""

    closed = Signal()

    def __init__(self, window: QWidget, commands: Commands) -> None:
        super().__init__(window)
        self._window = window
        self._veil = _Veil(window)
        self._veil.pressed.connect(self.dismiss)
        self._commands = commands
        self._sources: list[tuple[Text, Source]] = []
        self._before: QWidget | None = None
        self.model = PaletteModel(self)
        self.field = QLineEdit()
        self.field.setProperty("bare", True)
        self.field.setFrame(False)
        self.field.textChanged.connect(self.refresh)
        self.field.installEventFilter(self)
        self._count = Label("", role="small", tone="faint")
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.setProperty("ground", "raised")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.entered.connect(self.list.setCurrentIndex)
        self.list.clicked.connect(lambda index: self._run(index.row()))
        self._build()
        self.retranslate()
        self.hide()

    def _build(self) -> None:
        px = theme().px
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(px(14), 0, px(14), 0)
        head.setSpacing(px(10))
        head.addWidget(Glyph("search", "muted", 16))
        head.addWidget(self.field, 1)
        head.addWidget(self._count)
        self._head = QWidget()
        self._head.setLayout(head)
        self._head.setFixedHeight(theme().size("palette-field"))
        column.addWidget(self._head)
        holder = QVBoxLayout()
        holder.setContentsMargins(0, px(6), 0, px(6))
        holder.addWidget(self.list)
        column.addLayout(holder, 1)
        self._foot = _Hints()
        column.addWidget(self._foot)

    def retranslate(self) -> None:
        words = tr("Search or run a command")
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self.list.setAccessibleName(tr("Commands"))

    def restyle(self) -> None:
        super().restyle()
        self.field.setFont(theme().font("message"))

    def add_source(self, title: Text, source: Source) -> None:
        """Offer what ``source`` gives under ``title``."""
        self._sources.append((title, source))

    # -- opening and closing ----------------------------------------------------------------

    def open(self, query: str = "") -> None:
        """Show it with ``query`` typed; open already: only the field is taken."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self._commands.refresh()
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

    def _place(self) -> None:
        window = self._window
        self._veil.setGeometry(window.rect())
        width = min(theme().size("palette"), window.width() - 24)
        rows = sum(
            self.list.sizeHintForRow(row) for row in range(min(self.model.rowCount(), 2 * _ROWS))
        )
        most = _ROWS * theme().size("palette-row")
        room = window.height() - theme().px(48) - self._head.height() - self._foot.height()
        height = min(max(rows, theme().size("palette-row")), most, max(60, room - 40))
        total = height + self._head.height() + self._foot.height() + theme().px(12) + 2
        top = min(theme().size("palette-top"), max(12, window.height() - total - 12))
        self.resize(width, total)
        self.move(QPoint((window.width() - width) // 2, top))

    # -- content ----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Ask all sources again and keep the choice at the best entry."""
        query = self.field.text()
        groups: list[tuple[str, list[Entry]]] = self._command_groups(query)
        for title, source in self._sources:
            groups.append((say(title), list(source(query))))
        self.model.fill(query, groups)
        self._count.set_source(count_words(self.model.found))
        self._select(self.model.next(-1, 1))
        self._place()

    def _entry(self, command_id: str) -> Entry:
        command = self._commands[command_id]
        return Entry(
            command_id,
            say(command.title).rstrip("…"),
            lambda: self._commands.run(command_id),
            say(command.group),
            command.icon,
            self._commands.key(command_id),
            f"{say(command.words)} {command_id}",
        )

    def _command_groups(self, query: str) -> list[tuple[str, list[Entry]]]:
        live = [c.id for c in self._commands if not c.hidden and c.enabled()]
        recent = [name for name in self._commands.recent if name in live]
        if query.strip():
            order = [*recent, *(name for name in live if name not in recent)]
            return [(tr("Commands"), [self._entry(name) for name in order])]
        rest = [self._entry(name) for name in live if name not in recent]
        recents = [self._entry(name) for name in recent[:5]]
        return [(tr("Recent"), recents), (tr("Commands"), rest)]

    # -- keys and mouse ---------------------------------------------------------------------

    def _select(self, row: int) -> None:
        index = self.model.index(row, 0)
        self.list.setCurrentIndex(index)
        if row >= 0:
            first = self.model.next(-1, 1) == row
            self.list.scrollTo(index)
            if first:
                self.list.scrollToTop()

    def _run(self, row: int) -> None:
        entry = self.model.entry(row)
        if entry is None:
            return
        self.dismiss()
        # After the focus is back: what runs may move it on.
        QTimer.singleShot(0, self, entry.run)

    def _key(self, event: QKeyEvent) -> bool:
        key, row = event.key(), self.list.currentIndex().row()
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Tab: 1,
            Qt.Key.Key_Backtab: -1,
        }
        if key in steps:
            self._select(self.model.next(row, steps[Qt.Key(key)]))
        elif key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            step = 1 if key == Qt.Key.Key_PageDown else -1
            for _ in range(_ROWS - 1):
                ahead = self.model.next(row, step)
                if (ahead - row) * step <= 0:
                    break
                row = ahead
            self._select(row)
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
            self._place()
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
        if self.model.rowCount() == 0:
            area = QRectF(self.list.geometry()).adjusted(theme().px(14), 0, 0, 0)
            draw_text(painter, area, tr("Nothing found"), "body", "faint")
