"""What all widgets share: words that follow the language, redrawing when the theme changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QLayout, QWidget

from desktop_app.ui.theme import Theme, theme

Text = str | Callable[[], str]
"""Words, or a function that gives them (``lambda: tr("Save")``): then the widget says them anew
when the language changes."""

Size = int | str | tuple[int, ...]

_Widget = QWidget if TYPE_CHECKING else object


Sizes = dict[str, Size]


def _apply(sized: QWidget | QLayout, sizes: Sizes) -> None:
    for name, value in sizes.items():
        if isinstance(value, tuple):
            now = [theme().px(one) for one in value]
        else:
            now = [theme().size(value) if isinstance(value, str) else theme().px(value)]
        getattr(sized, name)(*now)


class _Follower(QObject):
    """Gives a widget its sizes anew when the font size or the density changes."""

    def __init__(self, widget: QWidget, sizes: Sizes) -> None:
        super().__init__(widget)
        self._widget, self._sizes = widget, sizes
        theme().changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        _apply(self._widget, self._sizes)


class _Rooms:
    """The same for layouts, all in one list: an object of Python's below a layout makes PySide
    (6.11) crash in the collector. Those whose window is gone are dropped now and then."""

    def __init__(self) -> None:
        self._followed: list[tuple[QLayout, Sizes]] = []
        self._most = _FEW
        self._of: Theme | None = None

    def follow(self, layout: QLayout, sizes: Sizes) -> None:
        if self._of is not theme():
            self._of = theme()
            self._of.changed.connect(self.apply)
        if len(self._followed) >= self._most:
            self._drop()
        self._followed.append((layout, sizes))
        _apply(layout, sizes)

    def _drop(self) -> None:
        self._followed = [one for one in self._followed if shiboken6.isValid(one[0])]
        self._most = max(_FEW, 2 * len(self._followed))

    def apply(self) -> None:
        self._drop()
        for layout, sizes in self._followed:
            _apply(layout, sizes)


_FEW = 256
_rooms = _Rooms()


def follow(sized: QWidget | QLayout, **sizes: Size) -> None:
    """Set sizes that follow the font size: ``follow(button, setFixedWidth=28)``; a number is in
    unscaled pixels, several go to the setter together (``follow(column, setSpacing=8,
    setContentsMargins=(16, 4, 16, 6))``), a name is one of ``tokens.SIZES``."""
    if isinstance(sized, QLayout):
        _rooms.follow(sized, sizes)
    else:
        _Follower(sized, sizes)


def say(text: Text) -> str:
    """The words of ``text`` in the language in force."""
    return text if isinstance(text, str) else text()


class Live(_Widget):
    """Mixin, named before the Qt class: ``retranslate`` runs when the language changes,
    ``restyle`` when colours, fonts or density do."""

    def retranslate(self) -> None:
        """Set words anew. The base does nothing."""

    def restyle(self) -> None:
        """Set fonts and sizes anew; the base asks for a new layout and a repaint."""
        self.updateGeometry()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        kind = event.type()
        if kind == QEvent.Type.LanguageChange:
            self.retranslate()
        elif kind == QEvent.Type.StyleChange:
            self.restyle()
        super().changeEvent(event)
