"""A new session: what can be asked for here, with three examples from the folder itself."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import state_of
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.focus import Ringed
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.painting import box, draw_icon, draw_text

Example = tuple[str, dict[str, str]]


def example_words(example: Example) -> str:
    """The prompt of an example."""
    kind, params = example
    match kind:
        case "summarise_table":
            return tr("How many rows does {name} have, and which columns?", **params)
        case "summarise_text":
            return tr("Summarise {name}", **params)
        case "explore_folder":
            return tr("What is in the folder {name}?", **params)
        case "organise":
            return tr("List the files by size and say what could be tidied up")
        case "find_word":
            return tr("Find every file that mentions TODO")
        case "write_readme":
            return tr("Write a README.md that says what is in this folder")
        case _:
            return tr("What is in this folder?")


class ExampleButton(Live, Ringed, QAbstractButton):
    """One example, as wide as the column: a card with an arrow."""

    def __init__(self, example: Example, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.example = example
        self.ring_radius = "card"
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(example_words(self.example))
        self.setAccessibleName(self.text())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme().px(420), theme().px(40))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color, px = theme().color, theme().px
        state = state_of(self)
        fill = {"hover": "hover", "pressed": "pressed"}.get(state, "raised")
        rect = QRectF(self.rect())
        box(painter, rect, theme().radius("card"), color(fill), color("border"))
        words = rect.adjusted(px(14), 0, -px(40), 0)
        draw_text(painter, words, self.text(), elide=Qt.TextElideMode.ElideMiddle)
        arrow = QRectF(rect.right() - px(34), rect.y(), px(20), rect.height())
        draw_icon(painter, arrow, "arrow-up-left", "faint", 14)


class EmptyChat(Live, QWidget):
    """``chosen(text)``: the person wants an example in the composer."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        px = theme().px
        holder = QWidget()
        follow(holder, setMaximumWidth=440)
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        middle = Qt.AlignmentFlag.AlignHCenter
        self.title = Label("", role="title", wrap=True)
        self.text = Label("", tone="muted", wrap=True)
        self._column = QVBoxLayout()
        follow(self._column, setSpacing=8)
        inner.addWidget(Glyph("message-square", "faint", 32), 0, middle)
        inner.addSpacing(px(12))
        for label in (self.title, self.text):
            label.setAlignment(middle)
            inner.addWidget(label)
            inner.addSpacing(px(4))
        inner.addSpacing(px(16))
        inner.addLayout(self._column)
        outer = QVBoxLayout(self)
        follow(outer, setContentsMargins=(24, 24, 24, 24))
        outer.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(holder)
        row.addStretch(1)
        outer.addLayout(row)
        outer.addStretch(3)
        self.buttons: list[ExampleButton] = []
        self.retranslate()

    def set_workspace(self, name: str) -> None:
        self._name = name
        self.retranslate()

    def set_examples(self, examples: list[Example]) -> None:
        """Show these prompts."""
        if [b.example for b in self.buttons] == examples:
            return
        for button in self.buttons:
            self._column.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = [ExampleButton(example) for example in examples]
        for button in self.buttons:
            self._column.addWidget(button)
            button.clicked.connect(lambda _=False, b=button: self.chosen.emit(b.text()))

    def retranslate(self) -> None:
        if self._name:
            self.title.set_source(tr("What should be done in {name}?", name=self._name))
        else:
            self.title.set_source(tr("What should be done?"))
        self.text.set_source(
            tr(
                "The agent reads the files of this folder. Before it writes or runs something, "
                "it asks you."
            )
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), theme().color("surface"))
