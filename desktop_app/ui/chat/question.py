"""The card of an agent's question: options, several at once where allowed, words of one's own."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.agent.base import Question
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.badge import StateGlyph
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import paint_asking
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.toggles import Check

from .foreign import visible

_HEAD = 34


class QuestionPart(Live, QWidget):
    """One of up to four questions."""

    changed = Signal()

    def __init__(self, question: dict[str, Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = question
        self.multi = bool(question.get("multi_select"))
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=5)
        column.addWidget(Label(self._words("question"), role="semibold", wrap=True, select=True))
        if context := self._words("context"):
            column.addWidget(Label(context, role="small", tone="muted", wrap=True, select=True))
        self._group = QButtonGroup(self)
        self._group.setExclusive(not self.multi)
        self._buttons: list[QAbstractButton] = []
        for option in question.get("options") or ():
            if isinstance(option, dict):
                self._add(column, option)
        self.other = QLineEdit()
        self.other.textChanged.connect(self._other_typed)
        column.addWidget(self.other)
        self.retranslate()

    def _words(self, key: str) -> str:
        return visible(str(self.question.get(key) or ""))[0]

    def _add(self, column: QVBoxLayout, option: dict[str, Any]) -> None:
        label = visible(str(option.get("label") or ""))[0]
        shown = label.replace("&", "&&")
        button: QAbstractButton = Check(shown) if self.multi else QRadioButton(shown)
        button.setProperty("label", str(option.get("label") or ""))
        button.toggled.connect(self._option_toggled)
        self._group.addButton(button)
        self._buttons.append(button)
        column.addWidget(button)
        for key in ("description", "preview"):
            if text := visible(str(option.get(key) or ""))[0]:
                words = Label(text, role="small", tone="muted", wrap=True)
                follow(words, setContentsMargins=(23, 0, 0, 0))
                column.addWidget(words)

    def retranslate(self) -> None:
        self.other.setPlaceholderText(tr("Something else, in your words"))
        self.other.setAccessibleName(tr("Something else, in your words"))

    def _option_toggled(self, on: bool) -> None:
        if on and not self.multi and self.other.text():
            self.other.clear()
        self.changed.emit()

    def _other_typed(self, text: str) -> None:
        if text and not self.multi and (button := self._group.checkedButton()) is not None:
            # One answer only: own words take the place of the option.
            self._group.setExclusive(False)
            button.setChecked(False)
            self._group.setExclusive(True)
        self.changed.emit()

    def answer(self) -> dict[str, Any] | None:
        """``{"question", "selected", "other"?}``; None while nothing was chosen."""
        selected = [b.property("label") for b in self._buttons if b.isChecked()]
        other = self.other.text().strip()
        if not selected and not other:
            return None
        made: dict[str, Any] = {
            "question": str(self.question.get("question") or ""),
            "selected": selected,
        }
        if other:
            made["other"] = other
        return made

    def choose(self, index: int) -> None:
        """Choose the option of a number key."""
        if 0 <= index < len(self._buttons):
            button = self._buttons[index]
            button.setChecked(not button.isChecked() if self.multi else True)


class QuestionCard(Live, QFrame):
    """All questions of one AskUser call. ``answered(op_id, answer)``."""

    answered = Signal(str, dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question: Question | None = None
        self.parts: list[QuestionPart] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._head = QWidget()
        head = QHBoxLayout(self._head)
        follow(head, setContentsMargins=(12, 0, 12, 0), setSpacing=8)
        head.addWidget(StateGlyph("waiting"))
        self._title = Label(lambda: tr("The agent asks you"), role="semibold")
        head.addWidget(self._title, 1)
        follow(self._head, setFixedHeight=_HEAD)
        self._holder = QWidget()
        self._column = QVBoxLayout(self._holder)
        follow(self._column, setContentsMargins=(13, 10, 13, 4), setSpacing=14)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._holder)
        self._scroll.viewport().setAutoFillBackground(False)
        self._holder.setAutoFillBackground(False)
        self.send = Button(lambda: tr("Answer"), variant="primary")
        self.send.clicked.connect(self._send)
        foot = QHBoxLayout()
        follow(foot, setContentsMargins=(13, 4, 13, 12))
        foot.addWidget(self.send)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self._scroll)
        column.addLayout(foot)
        self.hide()

    @property
    def question(self) -> Question | None:
        return self._question

    def show_questions(self, questions: list[Question]) -> None:
        """Show the first of ``questions``; hidden when there are none."""
        if not questions:
            self._question = None
            self.hide()
            return
        if self._question is None or self._question.op_id != questions[0].op_id:
            self._question = questions[0]
            self._fill(self._question.questions)
        self.retranslate()
        self.show()

    def _fill(self, questions: list[dict[str, Any]]) -> None:
        for part in self.parts:
            self._column.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.parts = [QuestionPart(q) for q in questions]
        for part in self.parts:
            self._column.addWidget(part)
            part.changed.connect(self._changed)
        self._changed()
        self._fit()

    def _fit(self) -> None:
        """As high as the questions need, at most 340; then it scrolls."""
        width = max(theme().px(200), self._scroll.viewport().width())
        needed = self._column.heightForWidth(width) if self.parts else 0
        height = min(max(0, needed), theme().px(340))
        if self._scroll.height() != height or self._scroll.maximumHeight() != height:
            self._scroll.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("The agent asks you"))
        words = [str(p.question.get("question") or "") for p in self.parts]
        self.setAccessibleDescription(" ".join(words))

    def _changed(self) -> None:
        self.send.setEnabled(all(part.answer() is not None for part in self.parts))

    def _send(self) -> None:
        if self._question is None or not self.send.isEnabled():
            return
        answers = [part.answer() for part in self.parts]
        self.answered.emit(self._question.op_id, {"answers": answers})

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._send()
        elif len(self.parts) == 1 and Qt.Key.Key_1 <= key <= Qt.Key.Key_9:
            self.parts[0].choose(key - Qt.Key.Key_1)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_asking(self, self._head)
