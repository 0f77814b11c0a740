"""The parts around the pages: top bar with menus and the palette's field, rail, status line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import RailButton
from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.keyhint import caps_width, draw_caps, keys_of, spoken
from desktop_app.ui.widgets.painting import box, draw_icon, draw_text, hline, text_width, vline


class FieldButton(Live, QPushButton):
    """Looks like a search field and opens what one can search with: the command palette, or the
    search in everything."""

    def __init__(self, words: Text, keys: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._keys = words, keys
        self.setFlat(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._words))
        self.setToolTip(f"{say(self._words)}  {spoken(self._keys)}")
        self.update()

    def restyle(self) -> None:
        self.setFixedHeight(theme().px(24))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px, color = theme().px, theme().color
        rect = QRectF(self.rect())
        focus, over = self.hasFocus(), self.underMouse()
        line = color("focus" if focus else "outline" if over else "border-strong")
        box(painter, rect, theme().radius("button"), color("raised"), line)
        draw_icon(painter, QRectF(px(6), 0, px(18), rect.height()), "search", "faint", 14)
        keys, words = keys_of(self._keys), say(self._words)
        width = caps_width(keys)
        room = QRectF(px(28), 0, rect.width() - px(40) - width, rect.height())
        if room.width() < min(text_width(words), px(90)):
            room.setRight(rect.right() - px(8))  # too narrow for the keys: the words come first
        else:
            draw_caps(painter, rect.right() - width - px(6), rect.center().y(), keys)
        draw_text(painter, room, words, "body", "faint")


class TopBar(Live, QWidget):
    """Menus left, the palette's field in the middle."""

    def __init__(self, palette_keys: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.menus = QMenuBar()
        self.menus.setNativeMenuBar(True)
        self.field = FieldButton(lambda: tr("Search or run a command"), palette_keys)
        for widget in (self.menus, self.field):
            widget.setParent(self)
        self.restyle()

    def _place(self) -> None:
        """The menus have the width of their words, always; the field the middle of the window, or
        what is left."""
        px = theme().px
        width, height = self.width(), self.height() - 1
        menus = self.menus.sizeHint()
        native = self.menus.isNativeMenuBar()
        left = px(6) if native else px(6) + menus.width() + px(8)
        tall = min(height, menus.height())
        self.menus.setGeometry(px(6), (height - tall) // 2, menus.width(), tall)
        want = min(px(440), max(px(160), width // 3))
        x = max(left, (width - want) // 2)
        rest = min(want, width - px(12) - x)
        field = self.field.height()
        self.field.setGeometry(x, (height - field) // 2, max(0, rest), field)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def event(self, event: QEvent) -> bool:
        """Without a layout of its own, it hears what its parts need by itself."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def restyle(self) -> None:
        self.setFixedHeight(theme().px(34))
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        hline(painter, 0, self.width(), self.height() - 1, theme().color("border"))


class Rail(Live, QWidget):
    """One button a page, settings at the bottom."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[str, RailButton] = {}
        self._column = QVBoxLayout(self)
        follow(self._column, setContentsMargins=(6, 6, 6, 6), setSpacing=4)
        self._column.addStretch(1)
        self.restyle()

    def restyle(self) -> None:
        self.setFixedWidth(theme().px(48))

    def add(self, name: str, button: RailButton, *, bottom: bool = False) -> None:
        """``name`` comes back in ``chosen``."""
        self.buttons[name] = button
        at = self._column.count() if bottom else len(self.buttons) - 1
        self._column.insertWidget(at, button)
        button.clicked.connect(lambda: self.chosen.emit(name))

    def set_current(self, name: str) -> None:
        for key, button in self.buttons.items():
            button.setChecked(key == name)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        vline(painter, self.width() - 1, 0, self.height(), theme().color("border"))


class StatusBar(Live, QWidget):
    """The line at the bottom; holds what pages put into it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 1, 0, 0)
        self.restyle()

    def restyle(self) -> None:
        self.setFixedHeight(theme().size("status"))

    def add(self, widget: QWidget) -> None:
        self._row.addWidget(widget)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        hline(painter, 0, self.width(), 0, theme().color("border"))
