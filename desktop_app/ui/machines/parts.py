"""Pieces of the forms: a card that chooses a kind, rows of choices, and what is typed as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFileDialog,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Choice, Field, Glyph, Label
from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.focus import Ringed
from desktop_app.ui.widgets.painting import box
from desktop_app.ui.widgets.texts import MonoText

_BETWEEN = re.compile(r"[\s,]+(?![^\[\]]*\])")
_OPERATOR = re.compile(r"\s*([=<>!~]=|[<>])\s*")


def packages(text: str) -> tuple[str, ...]:
    """Pip requirements from a line: ``numpy, pandas >= 2`` is two."""
    tight = _OPERATOR.sub(r"\1", text.strip())
    return tuple(one for one in _BETWEEN.split(tight) if one)


def pairs(text: str) -> tuple[dict[str, str], str]:
    """Environment variables from lines ``NAME=value``, and the first line that is none."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, sign, value = line.strip().partition("=")
        if not sign or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name.strip()):
            return found, line.strip()
        found[name.strip()] = value
    return found, ""


class KindCard(Live, Ringed, QAbstractButton):
    """A choice among a few, with a sentence about it."""

    ring_radius = "card"

    def __init__(self, glyph: str, title: Text, text: Text) -> None:
        super().__init__()
        self._title, self._text = title, text
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(12, 10, 12, 10), setSpacing=4)
        head = QHBoxLayout()
        follow(head, setSpacing=8)
        self._glyph_name, self._glyph = glyph, Glyph(glyph, "muted", 16)
        head.addWidget(self._glyph)
        head.addWidget(Label(title, role="semibold"), 1)
        column.addLayout(head)
        column.addWidget(Label(text, role="small", tone="muted", wrap=True))
        column.addStretch(1)
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.toggled.connect(self._toggled)
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(say(self._title))
        self.setAccessibleName(say(self._title))
        self.setAccessibleDescription(say(self._text))

    def _toggled(self, on: bool) -> None:
        self._glyph.set_glyph(self._glyph_name, "accent-text" if on else "muted")
        self.update()

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return layout.sizeHint() if layout is not None else QSize()

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        fill, line, width = (
            ("accent-soft", "accent-text", 2)
            if self.isChecked()
            else (
                "hover" if self.underMouse() else "raised",
                "border-strong",
                1,
            )
        )
        radius = theme().radius("card")
        box(QPainter(self), QRectF(self.rect()), radius, color(fill), color(line), width)


class PathField(QWidget):
    """A path with a button that chooses it. ``folder`` or else a file."""

    def __init__(
        self, name: Text, title: Text, *, folder: bool, placeholder: Text = "", filters: Text = ""
    ) -> None:
        super().__init__()
        self._title, self._folder, self._filters = title, folder, filters
        self.field = Field(name, placeholder=placeholder)
        self.button = Button(lambda: tr("Browse…"), glyph="folder-open")
        self.button.clicked.connect(self._choose)
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        row.addWidget(self.field, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.setFocusProxy(self.field)

    def text(self) -> str:
        return self.field.text().strip()

    def _choose(self) -> None:
        dialog = QFileDialog(self.window(), say(self._title))
        if self._folder:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        else:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setNameFilters([say(self._filters), tr("All files (*)")])
        dialog.fileSelected.connect(self.field.edit.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


class PairsField(Live, QWidget):
    """Environment variables, one a line."""

    def __init__(self) -> None:
        super().__init__()
        self.edit = MonoText()
        self.edit.setTabChangesFocus(True)
        self.edit.setPlaceholderText("NAME=value")
        self._error = Label("", role="caption", tone="danger", wrap=True)
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=3)
        column.addWidget(self.edit)
        column.addWidget(self._error)
        self._error.hide()
        self.setFocusProxy(self.edit)
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        self.edit.setFixedHeight(theme().px(64))

    def retranslate(self) -> None:
        self.edit.setAccessibleName(tr("Environment variables, one a line"))

    def set_error(self, reason: str) -> None:
        self._error.set_source(reason)
        self._error.setVisible(bool(reason))

    def set_pairs(self, values: dict[str, str]) -> None:
        self.edit.setPlainText("\n".join(f"{name}={value}" for name, value in values.items()))

    def pairs(self) -> dict[str, str] | None:
        """None, with the line shown, where one says no variable."""
        found, wrong = pairs(self.edit.toPlainText())
        self.set_error(tr("“{line}” is not NAME=value.", line=wrong[:60]) if wrong else "")
        return None if wrong else found


FOLD = 12  # pixels at 100 % from its left edge to its sign


class Fold(Button):
    """Opens and closes what is rarely wanted: ``folded`` tells whether it is open."""

    folded = Signal(bool)

    def __init__(self, text: Text) -> None:
        super().__init__(text, variant="ghost", glyph="chevron-right", small=True)
        self._open = False
        self.clicked.connect(lambda: self._turn(not self._open))

    def open(self) -> None:
        self._turn(True)

    def _turn(self, on: bool) -> None:
        self._open = on
        self.set_glyph("chevron-down" if on else "chevron-right")
        self.folded.emit(on)


def choice(name: Text, values: Sequence[tuple[str, Text]], value: str) -> Choice:
    """A choice whose list gets ``value`` when it has it not yet."""
    made = Choice(name)
    known = [key for key, _ in values]
    extra: list[tuple[str, Text]] = [] if value in known else [(value, value)]
    made.set_choices([*values, *extra], value)
    return made
