"""What a server wants the model to be sent: whole, and open to change."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.core.mcp.asks import Sampling
from desktop_app.core.messages import Msg, TextBlock
from desktop_app.ui.chat.foreign import ForeignBox, ForeignText
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.fields import Field
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.texts import MonoText

from . import words


class _Text(QWidget):
    """One text under its role: read, or edited."""

    def __init__(self, role: str, text: str) -> None:
        super().__init__()
        self._text = text
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=4)
        column.addWidget(Label(lambda: words.role(role), role="caption", tone="muted"))
        self.shown = ForeignText(lambda: words.role(role), max_lines=10)
        self.shown.show_text(text)
        self._box = ForeignBox(self.shown)
        self.editor = MonoText(text)
        self.editor.setTabChangesFocus(True)
        self.editor.setAccessibleName(words.role(role))
        follow(self.editor, setFixedHeight=96)
        column.addWidget(self._box)
        column.addWidget(self.editor)
        self.edit(False)

    def edit(self, on: bool) -> None:
        if on:
            self.editor.setPlainText(self._text)
        self._box.setVisible(not on)
        self.editor.setVisible(on)

    def text(self) -> str:
        """What was made of it; untouched line ends stay as they were."""
        now = self.editor.toPlainText()
        return self._text if now == self._text.replace("\r\n", "\n") else now


class SamplingPart(Live, QWidget):
    """The instructions and every message; ``edited()`` after ``edit(True)``."""

    def __init__(self, what: Sampling, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.what = what
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        self.system = _Text("system", what.system)
        self.system.setVisible(bool(what.system))
        self.messages = [_Text(msg.role, msg.text()) for msg in what.messages]
        for part in (self.system, *self.messages):
            column.addWidget(part)
        self._most_label = Label(lambda: tr("Tokens of the answer, at most"), role="caption")
        self.most = Field(
            lambda: tr("Tokens of the answer, at most"), text=str(max(1, what.max_tokens))
        )
        self.most.edit.setValidator(QIntValidator(1, max(1, what.max_tokens), self.most))
        follow(self.most, setMaximumWidth=120)
        column.addWidget(self._most_label)
        column.addWidget(self.most)
        self.edit(False)

    @property
    def marked(self) -> bool:
        """Something in it could not be seen as it was."""
        return any(part.shown.marked for part in (self.system, *self.messages))

    def edit(self, on: bool) -> None:
        for part in (self.system, *self.messages):
            part.edit(on)
        self._most_label.setVisible(on)
        self.most.setVisible(on)
        if on:
            (self.messages or [self.system])[-1].editor.setFocus()

    def edited(self) -> Sampling:
        """What is sent instead; messages that were emptied are left out."""
        made: list[Msg] = []
        for msg, part in zip(self.what.messages, self.messages, strict=True):
            text = part.text()
            if text == msg.text():
                made.append(msg)
                continue
            rest = [block for block in msg.content if not isinstance(block, TextBlock)]
            blocks = [*([TextBlock(text=text)] if text.strip() else []), *rest]
            if blocks:
                made.append(Msg(name=msg.name, role=msg.role, content=blocks))
        return replace(
            self.what,
            system=self.system.text(),
            messages=tuple(made),
            max_tokens=min(self.what.max_tokens, int(self.most.text() or 1) or 1),
        )
