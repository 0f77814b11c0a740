"""The arguments of a call, open to change: texts as texts, in a field each."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui.files.visible import visible
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.labels import ElidedLabel
from desktop_app.ui.widgets.texts import MonoText

_MOST = 300  # logical pixels that the fields take together before they scroll
_LINES = 8  # of one field


def written(arguments: dict[str, Any]) -> str:
    """The arguments to be read: a line each, a text as it is and the further lines of one indented,
    so that no value can pass for another argument; anything else as JSON."""
    lines: list[str] = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = text.split("\n")
        if rest:
            lines += [f"{name}:", *(f"    {line}" for line in (first, *rest))]
        else:
            lines.append(f"{name}: {first}")
    return "\n".join(lines)


class _Value(MonoText):
    """One value: a text as it is, anything else as JSON. As high as its lines, up to a limit."""

    done = Signal()

    def __init__(self, name: str, value: Any) -> None:
        super().__init__()
        self.name, self._value = name, value
        self.is_text = isinstance(value, str)
        self._was = value if self.is_text else json.dumps(value, ensure_ascii=False, indent=2)
        self.setTabChangesFocus(True)
        self.setPlainText(self._was)
        self._was = self.toPlainText()  # as Qt gives it back when nobody touched it
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(self.name or tr("Arguments of the call"))

    def restyle(self) -> None:
        """A tab is four blanks wide, as in the transcript."""
        super().restyle()
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
        self._grow()

    def _grow(self, *_: object) -> None:
        lines = max(1, min(_LINES, round(self.document().size().height())))
        margins = self.contentsMargins()
        room = 2 * self.document().documentMargin() + margins.top() + margins.bottom() + 4
        height = round(lines * QFontMetricsF(self.font()).lineSpacing() + room)
        if self.height() != height or self.minimumHeight() != height:
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.done.emit()
        else:
            super().keyPressEvent(event)

    def value(self) -> Any:
        """What was made of it; one that nobody touched is the very same, with its line ends.
        Raises ValueError with words."""
        text = self.toPlainText()
        if text == self._was:
            return self._value
        if isinstance(self._value, str):
            lines = self._value
            crlf = "\r\n" in lines and "\n" not in lines.replace("\r\n", "")
            return text.replace("\n", "\r\n") if crlf else text
        try:
            return json.loads(text)
        except ValueError as error:
            words = tr("This is not JSON: {why}", why=str(error))
            raise ValueError(f"{self.name}: {words}" if self.name else words) from None


class ArgumentsEditor(QScrollArea):
    """A command alone, every argument in a field of its own, or, where none is a text, all of them
    as one JSON object. ``done``: Ctrl+Enter in a field."""

    done = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._arguments: dict[str, Any] = {}
        self.fields: list[_Value] = []
        self._room = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setProperty("ground", "raised")

    def show_arguments(self, arguments: dict[str, Any]) -> None:
        """Begin with these."""
        self._arguments = dict(arguments)
        body = QWidget()
        body.setProperty("ground", "raised")
        column = QVBoxLayout(body)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=4)
        if isinstance(arguments.get("command"), str):
            self.fields = [_Value("command", arguments["command"])]
        elif any(isinstance(value, str) for value in arguments.values()):
            self.fields = [_Value(name, value) for name, value in arguments.items()]
        else:
            self.fields = [_Value("", arguments)]
        for field in self.fields:
            if len(self.fields) > 1:
                if column.count():
                    column.addSpacing(theme().px(4))  # a name is closer to its own field
                shown = visible(field.name)[0]
                column.addWidget(ElidedLabel(shown, role="caption", tone="muted"))
            field.done.connect(self.done)
            field.cursorPositionChanged.connect(lambda field=field: self._follow(field))
            field.document().documentLayout().documentSizeChanged.connect(self.updateGeometry)
            column.addWidget(field)
        column.addStretch(1)
        self.setWidget(body)
        self.setFocusProxy(self._first())
        self.updateGeometry()

    def set_room(self, height: int) -> None:
        """How high it may be; two lines are seen in any case."""
        px = theme().px
        self._room = max(px(60), min(px(_MOST), height))
        self.updateGeometry()

    def _follow(self, field: _Value) -> None:
        """Where it is written stays in view."""
        if (body := self.widget()) is not None:
            at = field.viewport().mapTo(body, field.cursorRect().center())
            self.ensureVisible(at.x(), at.y(), 0, theme().px(20))

    def _first(self) -> _Value:
        """The longest text: what a person wants to change."""
        return max(self.fields, key=lambda field: (field.is_text, len(field.toPlainText())))

    def arguments(self) -> dict[str, Any]:
        """All of them as they are now. Raises ValueError with words for the person."""
        if len(self.fields) == 1 and not self.fields[0].name:
            whole = self.fields[0].value()
            if not isinstance(whole, dict):
                raise ValueError(tr("The arguments must be one JSON object"))
            return whole
        made = {**self._arguments, **{field.name: field.value() for field in self.fields}}
        if isinstance(self._arguments.get("command"), str) and not made["command"].strip():
            raise ValueError(tr("The command is empty"))
        return made

    def sizeHint(self) -> QSize:
        body = self.widget()
        high = body.sizeHint().height() if body is not None else 0
        return QSize(theme().px(300), min(high, self._room or theme().px(_MOST)))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())
