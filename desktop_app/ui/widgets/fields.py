"""Fields: one line with an error below, search, a choice."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.theme import theme

from .base import Live, Text, follow, say
from .buttons import IconButton
from .card import Glyph
from .labels import Label
from .painting import draw_icon, draw_text, text_width
from .texts import TypedLine

_SEARCH_MS = 80


class Field(Live, QWidget):
    """A line edit with its reason below when what it holds is invalid. ``name`` is the accessible
    name; a visible label should be its buddy (``label.setBuddy(field.edit)``). ``role`` is the type
    that it is written in."""

    def __init__(
        self,
        name: Text,
        parent: QWidget | None = None,
        *,
        placeholder: Text = "",
        text: str = "",
        role: str = "body",
    ) -> None:
        super().__init__(parent)
        self._name, self._placeholder = name, placeholder
        self.edit = TypedLine(text, role=role)
        self._error: Text = ""
        self._icon = Glyph("circle-alert", "danger", 12)
        self._reason = Label("", role="caption", tone="danger", wrap=True)
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=3)
        column.addWidget(self.edit)
        below = QHBoxLayout()
        follow(below, setSpacing=4)
        below.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        below.addWidget(self._reason, 1)
        column.addLayout(below)
        self.setFocusProxy(self.edit)
        self.set_error("")
        self.retranslate()

    def retranslate(self) -> None:
        self.edit.setAccessibleName(say(self._name))
        self.edit.setPlaceholderText(say(self._placeholder))
        self.edit.setAccessibleDescription(say(self._error))

    def text(self) -> str:
        return self.edit.text()

    def set_error(self, reason: Text) -> None:
        """Show why the content is not valid; empty when it is."""
        self._error = reason
        self._reason.set_source(reason)
        shown = bool(say(reason))
        self._reason.setVisible(shown)
        self._icon.setVisible(shown)
        if bool(self.edit.property("invalid")) != shown:
            self.edit.setProperty("invalid", shown)
            self.edit.style().unpolish(self.edit)
            self.edit.style().polish(self.edit)
        self.retranslate()


class SearchField(Live, QLineEdit):
    """Search: ``searched`` follows typing after a moment (at once on Enter), Esc empties it,
    Down asks for the list (``leaving``). ``set_count`` shows how many were found."""

    searched = Signal(str)
    leaving = Signal()

    def __init__(
        self,
        placeholder: Text,
        parent: QWidget | None = None,
        *,
        keys: str = "",
        page: bool = False,
    ) -> None:
        super().__init__(parent)
        self._placeholder = placeholder
        self._keys = keys
        self._page = page
        self._count: Text = ""
        self._clear = IconButton("x", lambda: i18n.tr("Clear"), self, small=True)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._clear.hide()
        self._timer = QTimer(self, singleShot=True, interval=_SEARCH_MS)
        self._timer.timeout.connect(self._now)
        self._told = ""
        self.textChanged.connect(self._changed)
        self.returnPressed.connect(self._now)
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        text = say(self._placeholder)
        self.setPlaceholderText(text)
        self.setAccessibleName(text)
        self._layout()

    def restyle(self) -> None:
        font = theme().font("message" if self._page else "body")
        if self.font() != font:
            self.setFont(font)
        self._layout()

    def set_count(self, text: Text) -> None:
        """What was found, in words ("7 commands"); empty for nothing to say."""
        self._count = text
        self._layout()
        self.update()

    def sizeHint(self) -> QSize:
        height = theme().size("page-search" if self._page else "field")
        return QSize(theme().px(220), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme().px(90), self.sizeHint().height())

    def _right(self) -> int:
        """Room taken at the right by the count and the clear button."""
        width = 0
        if self.text():
            width += theme().px(22)
            if count := say(self._count):
                width += text_width(count, "small") + theme().px(8)
        return width

    def _layout(self) -> None:
        self.setTextMargins(theme().px(20), 0, self._right(), 0)
        side = theme().px(20)
        self._clear.setGeometry(
            self.width() - side - theme().px(4), (self.height() - side) // 2, side, side
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._layout()

    def _changed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        self._layout()
        if text:
            self._timer.start()
        else:
            self._now()

    def tell(self) -> None:
        """Tell what is searched for now, not after the moment that follows typing."""
        self._now()

    def _now(self) -> None:
        self._timer.stop()
        if self.text() != self._told:
            self._told = self.text()
            self.searched.emit(self._told)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif key == Qt.Key.Key_Down:
            self._now()
            self.leaving.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        side = theme().px(14)
        rect = QRectF(theme().px(8), 0, side, self.height())
        draw_icon(painter, rect, "search", "muted", 14)
        if self.text() and (count := say(self._count)):
            right = self.width() - theme().px(28)
            rect = QRectF(0, 0, right, self.height())
            draw_text(painter, rect, count, "small", "faint", Qt.AlignmentFlag.AlignRight)


class Choice(Live, QComboBox):
    """A choice of one: ``set_choices([(value, words), …])``; ``chosen`` tells the value."""

    chosen = Signal(str)

    def __init__(self, name: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._choices: list[tuple[str, Text]] = []
        self.activated.connect(lambda i: self.chosen.emit(self.itemData(i)))
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._name))
        for i, (_value, words) in enumerate(self._choices):
            self.setItemText(i, say(words))

    def set_choices(self, choices: list[tuple[str, Text]], value: str = "") -> None:
        self._choices = choices
        self.clear()
        for key, words in choices:
            self.addItem(say(words), key)
        self.set_value(value)

    def value(self) -> str:
        return self.currentData() or ""

    def set_value(self, value: str) -> None:
        if (i := self.findData(value)) >= 0:
            self.setCurrentIndex(i)

    def wheelEvent(self, event) -> None:
        """Scrolling a page must not change what the pointer happens to pass."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        side = theme().px(14)
        rect = QRectF(self.width() - side - theme().px(7), 0, side, self.height())
        token = "muted" if self.isEnabled() else "disabled"
        draw_icon(QPainter(self), rect, "chevron-down", token, 14)
