"""Text that somebody else wrote: shown whole, wrapped, with nothing hidden in it."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from desktop_app.ui.files.visible import visible
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text, say
from desktop_app.ui.widgets.painting import box

# What looks like nothing or like something else: format characters, controls, odd spaces, private
# use, lone surrogates. A line end is a line end; a tab is shown as one.
MAX_MARKS = 500


class ForeignText(Live, QPlainTextEdit):
    """Read-only text on ``sunken``; grows to ``max_lines``, then scrolls. ``kind`` "diff" fills
    added and removed lines over their whole width. Marks are drawn in ``danger``."""

    def __init__(
        self,
        name: Text,
        parent: QWidget | None = None,
        *,
        kind: Literal["plain", "diff"] = "plain",
        max_lines: int = 14,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self.kind: Literal["plain", "diff"] = kind
        self._max = max_lines
        self._marks: list[tuple[int, int]] = []
        self.prompt = ""
        self.setProperty("bare", True)
        self.setReadOnly(True)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(self.wordWrapMode().WrapAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        px = theme().px
        self.setViewportMargins(px(10), px(6), px(6), px(6))
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._name))

    def restyle(self) -> None:
        font = theme().font("mono")
        if self.font() != font:
            self.setFont(font)
        self._mark()
        self._grow()
        self.viewport().update()

    @property
    def marked(self) -> bool:
        """Something in the text could not be seen as it was."""
        return bool(self._marks)

    def show_text(self, text: str) -> None:
        """Show all of ``text``."""
        shown, self._marks = visible(text.rstrip("\n"))
        self.setPlainText(shown)
        self._mark()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._grow()

    def set_most(self, lines: int) -> None:
        """Grow to so many lines, then scroll."""
        if lines != self._max:
            self._max = lines
            self._grow()

    def _mark(self) -> None:
        selections: list[QTextEdit.ExtraSelection] = []
        for start, end in self._marks[:MAX_MARKS]:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            selection.cursor = cursor  # type: ignore[attr-defined]
            selection.format.setForeground(theme().color("danger"))  # type: ignore[attr-defined]
            selection.format.setFontUnderline(True)  # type: ignore[attr-defined]
            selections.append(selection)
        self.setExtraSelections(selections)

    def _grow(self, *_: object) -> None:
        lines = max(1, min(self._max, round(self.document().size().height())))
        margins = self.viewportMargins()
        line = QFontMetricsF(self.font()).lineSpacing()
        height = round(lines * line) + margins.top() + margins.bottom() + 2
        bar = Qt.ScrollBarPolicy
        many = self.document().size().height() > self._max
        policy = bar.ScrollBarAsNeeded if many else bar.ScrollBarAlwaysOff
        if self.verticalScrollBarPolicy() != policy:
            self.setVerticalScrollBarPolicy(policy)
        if self.minimumHeight() != height or self.maximumHeight() != height:
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def sizeHint(self) -> QSize:
        return QSize(theme().px(300), self.maximumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme().color("sunken"))
        if self.kind == "diff":
            self._fill_lines(painter)
        painter.end()
        super().paintEvent(event)

    def _fill_lines(self, painter: QPainter) -> None:
        block = self.firstVisibleBlock()
        bottom = self.viewport().height()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if rect.top() > bottom:
                break
            token = line_token(block.text())
            if token:
                width = float(self.viewport().width())
                painter.fillRect(QRectF(0, rect.top(), width, rect.height()), theme().color(token))
            block = block.next()


def line_token(line: str) -> str:
    """The fill of a line of a unified diff."""
    if line.startswith(("+++", "---", "diff ", "index ")):
        return ""
    return {"+": "added", "-": "removed", "@": "hover"}.get(line[:1], "")


class ForeignBox(Live, QWidget):
    """A ``ForeignText`` in its frame: ``sunken``, a line around, radius 6."""

    def __init__(self, text: QPlainTextEdit | QTextEdit, parent: QWidget | None = None) -> None:
        from PySide6.QtWidgets import QVBoxLayout

        super().__init__(parent)
        self.text = text
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.addWidget(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        rect = QRectF(self.rect())
        box(QPainter(self), rect, theme().radius("button"), color("sunken"), color("border"))
