"""What is written into in a type of its own: one line, and several lines of code."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from desktop_app.ui.theme import theme

from .base import Live


class TypedLine(Live, QLineEdit):
    """In the type of ``role`` at every font size and in either look. It sets its font itself, when
    its own style changes: the style sheet takes one back that was set while its parent's did."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, role: str) -> None:
        super().__init__(text, parent)
        self._role = role
        self.restyle()

    def restyle(self) -> None:
        font = theme().font(self._role)
        if self.font() != font:
            self.setFont(font)


class MonoText(Live, QPlainTextEdit):
    """In the type of code at every font size and in either look, as ``TypedLine`` is, with
    ``margin`` (pixels at 100 %) around the text."""

    def __init__(
        self, text: str = "", parent: QWidget | None = None, *, margin: int | None = None
    ) -> None:
        super().__init__(text, parent)
        self._margin = margin
        self.restyle()

    def restyle(self) -> None:
        font = theme().font("mono")
        if self.font() != font:
            self.setFont(font)
        if self._margin is not None:
            self.document().setDocumentMargin(theme().px(self._margin))
