"""What all widgets share: words that follow the language, redrawing when the theme changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from desktop_app.ui.theme import theme

Text = str | Callable[[], str]
"""Words, or a function that gives them (``lambda: tr("Save")``): then the widget says them anew
when the language changes."""

_Widget = QWidget if TYPE_CHECKING else object


class _Follower(QObject):
    """Gives a widget its sizes anew when the font size or the density changes."""

    def __init__(self, widget: QWidget, sizes: dict[str, int | str]) -> None:
        super().__init__(widget)
        self._widget, self._sizes = widget, sizes
        theme().changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        for name, value in self._sizes.items():
            size = theme().size(value) if isinstance(value, str) else theme().px(value)
            getattr(self._widget, name)(size)


def follow(widget: QWidget, **sizes: int | str) -> None:
    """Set sizes that follow the font size: ``follow(button, setFixedWidth=28)``; a number is in
    unscaled pixels, a name one of ``tokens.SIZES``."""
    _Follower(widget, sizes)


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
