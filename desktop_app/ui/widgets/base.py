"""What all widgets share: words that follow the language, redrawing when the theme changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

Text = str | Callable[[], str]
"""Words, or a function that gives them (``lambda: tr("Save")``): then the widget says them anew
when the language changes."""

_Widget = QWidget if TYPE_CHECKING else object


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
