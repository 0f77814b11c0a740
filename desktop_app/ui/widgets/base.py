"""What all widgets share: words that follow the language, redrawing when the theme changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QLayout, QWidget

from desktop_app.ui.theme import theme

Text = str | Callable[[], str]
"""Words, or a function that gives them (``lambda: tr("Save")``): then the widget says them anew
when the language changes."""

Size = int | str | tuple[int, ...]

_Widget = QWidget if TYPE_CHECKING else object


class _Follower(QObject):
    """Gives a widget or a layout its sizes anew when the font size or the density changes."""

    def __init__(self, sized: QWidget | QLayout, sizes: dict[str, Size]) -> None:
        super().__init__(sized)
        self._sized, self._sizes = sized, sizes
        theme().changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        for name, value in self._sizes.items():
            if isinstance(value, tuple):
                now = [theme().px(one) for one in value]
            else:
                now = [theme().size(value) if isinstance(value, str) else theme().px(value)]
            getattr(self._sized, name)(*now)


def follow(sized: QWidget | QLayout, **sizes: Size) -> None:
    """Set sizes that follow the font size: ``follow(button, setFixedWidth=28)``; a number is in
    unscaled pixels, several go to the setter together (``follow(column, setSpacing=8,
    setContentsMargins=(16, 4, 16, 6))``), a name is one of ``tokens.SIZES``."""
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
