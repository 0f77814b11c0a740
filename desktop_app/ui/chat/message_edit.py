"""The field of the composer: grows with its text, is safe with input methods, takes files."""

from __future__ import annotations

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QElapsedTimer,
    QIODevice,
    QMimeData,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QImageWriter,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop_app.core.agent.base import Attachment
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text, say

from . import attach

MAX_LINES = 8
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MessageEdit(Live, QPlainTextEdit):
    """Plain text of one message.

    Enter asks to send, Shift+Enter makes a line, Esc asks to stop, Up in an empty field asks for
    the queued message. While an input method composes every key is its own: none of these fire.
    """

    submitted = Signal()
    stopRequested = Signal()
    queuedRequested = Signal()
    filesPasted = Signal(list)  # local paths
    attached = Signal(object)  # Attachment made of pasted bytes
    mentionChanged = Signal(str)  # what stands after "@" left of the cursor
    mentionEnded = Signal()

    def __init__(self, placeholder: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._placeholder = placeholder
        self._composing = False
        self._pasted = 0
        self._typed = QElapsedTimer()
        self.mention_keys = False  # the list of files is open and takes Up, Down, Enter, Esc
        self.setProperty("bare", True)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self.textChanged.connect(self._look_for_mention)
        self.cursorPositionChanged.connect(self._look_for_mention)
        self.restyle()
        self.retranslate()

    # -- look -------------------------------------------------------------------------------

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._placeholder))
        words = "" if self._composing else say(self._placeholder)
        # Qt would break it over lines that the field does not show.
        mode = Qt.TextElideMode.ElideRight
        room = self.viewport().width() - 2
        self.setPlaceholderText(QFontMetricsF(self.font()).elidedText(words, mode, room))
        self.viewport().update()  # Qt repaints only when the words come or go, not when they change

    def set_placeholder(self, text: Text) -> None:
        self._placeholder = text
        self.retranslate()

    def restyle(self) -> None:
        font = theme().font("message")
        if self.font() != font:
            self.setFont(font)
            self.viewport().setFont(font)  # the placeholder's; the sheet keeps it from following
            self.retranslate()
        self._grow()

    def _line(self) -> float:
        return QFontMetricsF(self.font()).lineSpacing()

    def _grow(self, *_: object) -> None:
        lines = max(1, min(MAX_LINES, round(self.document().size().height())))
        height = round(lines * self._line()) + 2
        bar = Qt.ScrollBarPolicy
        many = self.document().size().height() > MAX_LINES
        policy = bar.ScrollBarAsNeeded if many else bar.ScrollBarAlwaysOff
        if self.verticalScrollBarPolicy() != policy:
            self.setVerticalScrollBarPolicy(policy)
        if self.height() != height or self.maximumHeight() != height:
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()
        if event.size().width() != event.oldSize().width():
            self.retranslate()

    def sizeHint(self) -> QSize:
        return QSize(theme().px(300), self.height())

    # -- keys -------------------------------------------------------------------------------

    @property
    def composing(self) -> bool:
        """An input method is in the middle of something."""
        return self._composing

    def idle_ms(self) -> int:
        """Since something was typed that was not sent."""
        if self._composing:
            return 0
        return int(self._typed.elapsed()) if self._typed.isValid() else 1 << 31

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        self._typed.start()
        super().inputMethodEvent(event)
        self.retranslate()
        self._grow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        none = plain == Qt.KeyboardModifier.NoModifier
        self._typed.start()
        if self._composing or (self.mention_keys and self._mention_key(event)):
            if self._composing:
                super().keyPressEvent(event)
            return
        if key in _ENTER and (none or plain == Qt.KeyboardModifier.ControlModifier):
            self._typed.invalidate()
            self.submitted.emit()
        elif key in _ENTER and plain == Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif key == Qt.Key.Key_Escape and none:
            self.stopRequested.emit()
        elif key == Qt.Key.Key_Up and none and self.document().isEmpty():
            self.queuedRequested.emit()
        else:
            super().keyPressEvent(event)

    mentionKey = Signal(int)

    def _mention_key(self, event: QKeyEvent) -> bool:
        keys = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Tab, Qt.Key.Key_Escape, *_ENTER)
        if event.key() not in keys or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return False
        self.mentionKey.emit(int(event.key()))
        return True

    def focusNextPrevChild(self, next_child: bool) -> bool:
        # Tab chooses while the list of files is open.
        return False if self.mention_keys else super().focusNextPrevChild(next_child)

    # -- mentions ---------------------------------------------------------------------------

    def mention_at_cursor(self) -> tuple[int, str] | None:
        """Where an "@" word left of the cursor begins, and what stands after the "@"."""
        cursor = self.textCursor()
        if cursor.hasSelection() or self._composing:
            return None
        left = cursor.block().text()[: cursor.positionInBlock()]
        at = left.rfind("@")
        if at < 0 or (at > 0 and not left[at - 1].isspace() and left[at - 1] not in "(（，。、："):
            return None
        query = left[at + 1 :]
        if len(query) > 80 or any(c.isspace() for c in query):
            return None
        return cursor.block().position() + at, query

    def _look_for_mention(self) -> None:
        found = self.mention_at_cursor()
        if found is None:
            self.mentionEnded.emit()
        else:
            self.mentionChanged.emit(found[1])

    def insert_mention(self, path: str) -> None:
        """Replace the "@" word at the cursor (or insert one) by a file's name."""
        cursor = self.textCursor()
        if (found := self.mention_at_cursor()) is not None:
            cursor.setPosition(found[0], QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(attach.mention(path) + " ")
        self.setTextCursor(cursor)

    def begin_mention(self) -> None:
        """Type an "@" for the person."""
        cursor = self.textCursor()
        left = cursor.block().text()[: cursor.positionInBlock()]
        cursor.insertText("@" if not left or left[-1].isspace() else " @")
        self.setTextCursor(cursor)
        self.setFocus()

    # -- paste and drop ---------------------------------------------------------------------

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if paths:
            self.filesPasted.emit(paths)
        elif source.hasImage() and not source.hasText():
            self._paste_image(source)
        elif source.hasText() and len(source.text()) > attach.LONG_PASTE:
            self._pasted += 1
            name = f"pasted-{self._pasted}.txt"
            self._attach(name, source.text().encode("utf-8", "replace"), "text/plain")
        else:
            super().insertFromMimeData(source)

    def _paste_image(self, source: QMimeData) -> None:
        image = QImage(source.imageData())
        if image.isNull():
            return
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        if not QImageWriter(buffer, QByteArray(b"png")).write(image):
            return
        self._pasted += 1
        self._attach(f"pasted-{self._pasted}.png", bytes(data.data()), "image/png")

    def _attach(self, name: str, data: bytes, kind: str) -> None:
        made: Attachment = attach.from_bytes(name, data, kind)
        self.attached.emit(made)
