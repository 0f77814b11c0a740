"""Text: a label in a style and tone, and a line that is elided when it has too little room."""

from __future__ import annotations

import html
import re
from typing import Literal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QWidget

from desktop_app.ui.theme import theme

from .base import Live, Text, say
from .painting import draw_text, text_width

Tone = Literal["text", "muted", "faint", "danger", "warning", "success", "disabled", "accent-text"]

_TAG = re.compile(r"<[^>]+>")


class Label(Live, QLabel):
    """Words in a text style. With ``wrap`` they flow over lines of the style's line height;
    ``select`` lets a person copy them. The text is taken literally, except with ``markup``: then
    it is rich text of the program's own making, everything foreign in it escaped by the caller."""

    def __init__(
        self,
        text: Text = "",
        parent: QWidget | None = None,
        *,
        role: str = "body",
        tone: Tone = "text",
        wrap: bool = False,
        select: bool = False,
        markup: bool = False,
    ) -> None:
        super().__init__(parent)
        self._markup = markup
        self._source = text
        self._role = role
        self._tone = tone
        self._plain = ""
        # Only rich text knows of line heights; what is shown is escaped.
        self.setTextFormat(Qt.TextFormat.RichText if wrap else Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if select:
            flags = Qt.TextInteractionFlag
            self.setTextInteractionFlags(flags.TextSelectableByMouse)
        self.restyle()
        self.retranslate()

    def set_source(self, text: Text) -> None:
        """New words."""
        self._source = text
        self.retranslate()

    def set_tone(self, tone: Tone) -> None:
        self._tone = tone
        self.restyle()

    def text(self) -> str:
        """The words themselves."""
        return self._plain

    def heightForWidth(self, width: int) -> int:
        """Of the width that it may get: a layout asks with its own, however wide that is."""
        return super().heightForWidth(min(width, self.maximumWidth()))

    def retranslate(self) -> None:
        self._plain = say(self._source)
        spoken = html.unescape(_TAG.sub("", self._plain)) if self._markup else self._plain
        self.setAccessibleName(spoken)
        if not self.wordWrap():
            self.setText(self._plain)
            return
        words = self._plain
        if not self._markup:
            words = html.escape(words).replace("\n", "<br>")
        height = theme().line(self._role)
        style = f"line-height: {height}px; white-space: pre-wrap"
        self.setText(f'<p style="{style}">{words}</p>' if words else "")

    def restyle(self) -> None:
        font = theme().font(self._role)
        if self.font() != font:
            self.setFont(font)
            self.retranslate()
        palette = self.palette()
        palette.setColor(self.foregroundRole(), theme().color(self._tone))
        if palette != self.palette():
            self.setPalette(palette)


class ElidedLabel(Live, QWidget):
    """One line that shows as much as fits; the whole is in the tooltip and the accessible name."""

    def __init__(
        self,
        text: Text = "",
        parent: QWidget | None = None,
        *,
        role: str = "body",
        tone: Tone = "text",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._source = text
        self._role = role
        self._tone = tone
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def text(self) -> str:
        return say(self._source)

    def set_source(self, text: Text) -> None:
        self._source = text
        self.retranslate()

    def set_tone(self, tone: Tone) -> None:
        self._tone = tone
        self.update()

    def retranslate(self) -> None:
        self.setAccessibleName(self.text())
        self.updateGeometry()
        self.update()

    def is_elided(self) -> bool:
        return text_width(self.text(), self._role) > self.width()

    def sizeHint(self) -> QSize:
        return QSize(text_width(self.text(), self._role) + 1, theme().line(self._role))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(theme().px(24), self.sizeHint().width()), theme().line(self._role))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and not self.toolTip():
            if self.is_elided():
                QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), self.text(), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = QRectF(self.rect())
        draw_text(painter, rect, self.text(), self._role, self._tone, elide=self._mode)
