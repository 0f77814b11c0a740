"""Dialogs: a frame with head, body and footer; confirmation, a prompt for one line, trust.

They are opened with ``await bridge.show(dialog)``, never run by a loop of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme

from .base import Live, Text, follow, say
from .buttons import Button
from .card import Card, Glyph
from .fields import Field
from .labels import Label
from .painting import hline
from .toggles import Check


class _Footer(Live, QWidget):
    """The strip of buttons: ``bg``, a line above; buttons at the right, an aside at the left."""

    def __init__(self) -> None:
        super().__init__()
        self.row = QHBoxLayout(self)
        follow(self.row, setContentsMargins=(20, 0, 20, 0), setSpacing=8)
        self.restyle()

    def restyle(self) -> None:
        self.setFixedHeight(theme().size("dialog-footer"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        hline(painter, 0, self.width(), 0, theme().color("border"))


class Dialog(Live, QDialog):
    """Title bar text, ``body`` (a column) and a footer. ``add_button`` puts a button at the right,
    ``aside`` one at the left. ``around`` is what the body leaves free at its left, top, right and
    bottom, ``gap`` what is between two things in it: pixels at 100 %, kept at every font size.
    ``tall``: the body scrolls where the screen is too low for it, so that the footer is always
    within reach."""

    def __init__(
        self,
        parent: QWidget | None,
        title: Text,
        *,
        width: int = 520,
        tall: bool = False,
        around: tuple[int, int, int, int] = (20, 20, 20, 20),
        gap: int = 12,
    ) -> None:
        super().__init__(parent)
        self._title, self._around, self._gap = title, around, gap
        self._scale = theme().scale
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.body = QVBoxLayout()
        self._scrolled: QWidget | None = None
        if tall:
            column.addWidget(self._scroll_body(), 1)
        else:
            column.addLayout(self.body, 1)
        self.footer = _Footer()
        self.footer.row.addStretch(1)
        column.addWidget(self.footer)
        self._width = width
        self.restyle()
        self.retranslate()

    def _scroll_body(self) -> QScrollArea:
        self._scrolled = QWidget()
        self._scrolled.setLayout(self.body)
        self._scrolled.setProperty("ground", "surface")
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self._scrolled)
        area.viewport().setProperty("ground", "surface")
        return area

    def room(self) -> QSize:
        """How large it may be on its screen."""
        return self.screen().availableGeometry().size() - QSize(40, 60)

    def retranslate(self) -> None:
        self.setWindowTitle(say(self._title))

    def restyle(self) -> None:
        """As wide as the drawing at this font size, within the screen."""
        self.body.setContentsMargins(*(theme().px(side) for side in self._around))
        self.body.setSpacing(theme().px(self._gap))
        was, self._scale = self._scale, theme().scale
        if self.isVisible() and was != self._scale:  # what is in it is to take its new size first
            size = self.size() * (self._scale / was)
            QTimer.singleShot(
                0, self, lambda: QTimer.singleShot(0, self, lambda: self._resized(size))
            )
        self.setMinimumWidth(min(theme().px(self._width), self.room().width()))

    def _resized(self, size: QSize) -> None:
        """At another font size: ``size``, or as large as it needs to be then, on the screen."""
        least = self.sizeHint().expandedTo(QSize(self.minimumWidth(), 0))
        self.resize(size.boundedTo(self.room()).expandedTo(least))
        self._fit()
        area, frame = self.screen().availableGeometry(), self.frameGeometry()
        left = max(area.left(), min(frame.left(), area.right() + 1 - frame.width()))
        top = max(area.top(), min(frame.top(), area.bottom() + 1 - frame.height()))
        self.move(left, top)

    def showEvent(self, event: QShowEvent) -> None:
        """Take the height that the words need at this width (a size hint supposes another)."""
        super().showEvent(event)
        self._fit()

    def fit_later(self) -> None:
        """Take the height that the words need now, when the layout knows of what was added."""
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        if (held := self._scrolled) is not None:
            self.body.activate()
            tall = max(self.body.totalHeightForWidth(self.width()), held.minimumSizeHint().height())
            height = min(tall + self.footer.height(), self.room().height())
            self.resize(self.width(), height)
            return
        layout = self.layout()
        if layout is not None and layout.hasHeightForWidth():
            layout.activate()
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))

    def add_button(self, button: Button, *, run: Callable[[], object], default: bool = False):
        """A button at the right; ``default`` runs on Enter."""
        button.clicked.connect(lambda: run())
        button.setDefault(default)
        button.setAutoDefault(default)
        self.footer.row.addWidget(button)
        return button

    def aside(self, widget: QWidget) -> None:
        """A widget at the left of the footer."""
        self.footer.row.insertWidget(0, widget)


class _Fate(QWidget):
    """Two columns: what is kept (tick) and what is lost (cross), each in words."""

    def __init__(self, kept: Sequence[str], lost: Sequence[str]) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=24)
        for items, glyph, token in ((kept, "check", "success"), (lost, "x", "danger")):
            if not items:
                continue
            column = QVBoxLayout()
            follow(column, setSpacing=6)
            for item in items:
                line = QHBoxLayout()
                follow(line, setSpacing=6)
                sign = Glyph(glyph, token, 14)
                sign.setFixedHeight(theme().line("small"))  # beside the first line of the words
                line.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
                line.addWidget(Label(item, role="small", wrap=True), 1)
                column.addLayout(line)
            column.addStretch(1)
            row.addLayout(column, 1)


@dataclass(frozen=True)
class Option:
    """A box that a person may tick to have more done: the words beside it, and what the dialog
    then says in place of its own."""

    label: str
    text: str
    action: str
    lost: Sequence[str] = ()
    kept: Sequence[str] = ()


class ConfirmDialog(Dialog):
    """Asks before something that cannot be taken back; says exactly what is kept and what is
    lost. The safe choice has the focus and is what Enter and Esc do when ``danger``, which what
    ``option`` adds always is; ``option_chosen`` says whether it was."""

    def __init__(
        self,
        parent: QWidget | None,
        *,
        title: str,
        text: str,
        action: str,
        danger: bool = False,
        lost: Sequence[str] = (),
        kept: Sequence[str] = (),
        cancel: Text = "",
        option: Option | None = None,
    ) -> None:
        super().__init__(parent, title, width=460)
        self._plain = Option("", text, action, lost, kept)
        self._danger = danger
        px = theme().px
        row = QHBoxLayout()
        follow(row, setSpacing=12)
        self._sign = Glyph("", size=20)
        self._show_sign(danger)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        self._words = words = QVBoxLayout()
        follow(words, setSpacing=6)
        self.heading = Label(title, role="title", wrap=True)
        self.text = Label(text, wrap=True)
        words.addWidget(self.heading)
        words.addWidget(self.text)
        self._fate: QWidget | None = None
        if kept or lost:
            words.addSpacing(px(4))
            self._fate = _Fate(kept, lost)
            words.addWidget(self._fate)
        self.option: Check | None = None
        if option is not None:
            self.option = Check(option.label)
            self.option.toggled.connect(lambda on: self._say(option if on else self._plain))
            words.addSpacing(px(4))
            words.addWidget(self.option)
        row.addLayout(words, 1)
        self.body.addLayout(row)
        self.cancel = Button(cancel or (lambda: tr("Cancel")))
        self.go = Button(action, variant="danger" if danger else "primary")
        self.add_button(self.cancel, run=self.reject, default=danger)
        self.add_button(self.go, run=self.accept, default=not danger)
        first = self.cancel if danger else self.go
        first.setFocus(Qt.FocusReason.TabFocusReason)
        self.setAccessibleDescription("\n".join([text, *kept, *lost]))

    @property
    def option_chosen(self) -> bool:
        return self.option is not None and self.option.isChecked()

    def _show_sign(self, danger: bool) -> None:
        sign = ("triangle-alert", "warning") if danger else ("circle-question-mark", "info")
        self._sign.set_glyph(*sign)

    def _say(self, what: Option) -> None:
        self.text.set_source(what.text)
        self.go.set_source(what.action)
        danger = self._danger or what is not self._plain
        self.go.set_variant("danger" if danger else "primary")
        for button, default in ((self.cancel, danger), (self.go, not danger)):
            button.setDefault(default)
            button.setAutoDefault(default)
        if danger and self.go.hasFocus():
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show_sign(danger)
        fate = _Fate(what.kept, what.lost)
        if self._fate is not None:
            self._words.replaceWidget(self._fate, fate)
            self._fate.hide()
            self._fate.deleteLater()
        self._fate = fate
        self.setAccessibleDescription("\n".join([what.text, *what.kept, *what.lost]))
        self.fit_later()


class TextPrompt(Dialog):
    """Asks for one line, for instance a new name. ``check(text)`` returns why a text will not do,
    or an empty string; the reason shows below the field and the button is off."""

    def __init__(
        self,
        parent: QWidget | None,
        *,
        title: Text,
        label: Text,
        text: str = "",
        action: Text = "",
        check: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(parent, title, width=420)
        self._check = check or self._not_empty
        name = Label(label, tone="muted")
        self.field = Field(label, text=text)
        name.setBuddy(self.field.edit)
        self.body.addWidget(Label(title, role="title", wrap=True))
        column = QVBoxLayout()
        follow(column, setSpacing=4)
        column.addWidget(name)
        column.addWidget(self.field)
        self.body.addLayout(column)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(action or (lambda: tr("Save")), variant="primary")
        self.add_button(self.go, run=self._accept, default=True)
        self.field.edit.textChanged.connect(self._changed)
        self.field.edit.selectAll()
        self.field.edit.setFocus()
        self._initial = text
        self._changed(text)

    def text(self) -> str:
        """What was typed, without blanks around."""
        return self.field.text().strip()

    def _not_empty(self, text: str) -> str:
        return "" if text.strip() else tr("A name is needed.")

    def _changed(self, text: str) -> None:
        reason = self._check(text)
        self.go.setEnabled(not reason)
        self.field.set_error(reason if text != self._initial else "")

    def _accept(self) -> None:
        if not self._check(self.field.text()):
            self.accept()


class TrustDialog(Dialog):
    """Before a workspace that was not made here is trusted: which commands it would run and what
    else it brings. ``commands`` are whole command lines, shown unshortened; ``notes`` are
    sentences ("3 skills enter the prompt")."""

    def __init__(
        self,
        parent: QWidget | None,
        *,
        name: str,
        path: str,
        commands: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(parent, lambda: tr("Trust this workspace?"), width=560)
        row = QHBoxLayout()
        follow(row, setSpacing=12)
        row.addWidget(Glyph("shield-alert", "warning", 20), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        follow(words, setSpacing=6)
        words.addWidget(
            Label(lambda: tr("Do you trust {name}?", name=name), role="title", wrap=True)
        )
        words.addWidget(Label(path, role="mono", tone="muted", wrap=True, select=True))
        words.addWidget(
            Label(
                lambda: tr(
                    "It was not made on this computer. Until you trust it, none of its programs "
                    "start, its skills stay out of the prompt and the agent only reads."
                ),
                wrap=True,
            )
        )
        row.addLayout(words, 1)
        self.body.addLayout(row)
        self.body.addWidget(self._commands(commands))
        for note in notes:
            self.body.addWidget(Label(note, role="small", tone="muted", wrap=True))
        stay = Button(lambda: tr("Keep it restricted"))
        self.add_button(stay, run=self.reject, default=True)
        go = Button(lambda: tr("Trust"), variant="normal", glyph="shield-check")
        self.add_button(go, run=self.accept)
        self.trust = go
        stay.setFocus(Qt.FocusReason.TabFocusReason)

    def _commands(self, commands: Sequence[str]) -> QWidget:
        card = Card(fill="sunken")
        if not commands:
            card.body.addWidget(
                Label(lambda: tr("It declares no commands of its own."), tone="muted", wrap=True)
            )
            return card
        card.body.addWidget(
            Label(lambda: tr("It would run these commands:"), role="small", tone="muted")
        )
        for command in commands:
            card.body.addWidget(Label(visible(command), role="mono", wrap=True, select=True))
        if len(commands) <= 6:
            return card
        area = QScrollArea()
        area.setWidget(card)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        follow(area, setMaximumHeight=220)
        return area


def visible(text: str) -> str:
    """``text`` with characters that cannot be seen, or that reorder what is, spelled out
    (``‹U+202E›``), and long runs of blanks shown as their number: a command must not hide its
    end."""
    out: list[str] = []
    run = 0

    def close() -> None:
        nonlocal run
        if run > 8:
            out.append(f"‹{run} ×›")
        elif run:
            out.append(" " * run)
        run = 0

    for char in text:
        if char in " \t\u00a0\u3000":
            run += 1
            continue
        close()
        hidden = not char.isprintable() and char != "\n"
        out.append(f"‹U+{ord(char):04X}›" if hidden else char)
    close()
    return "".join(out)


class FactRow(QWidget):
    """A line of a form: a muted label in a column of 112, in lines where it is longer, then the
    control, which so begins where those above and below do. ``outdent``: pixels at 100 % (12 at
    most) that it begins further left, for a button whose sign is to stand there."""

    def __init__(self, label: Text, control: QWidget, hint: Text = "", *, outdent: int = 0) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=12 - outdent)
        name = Label(label, tone="muted", wrap=True)
        follow(name, setFixedWidth="dialog-label", setMinimumHeight="field")
        self._name = name
        name.setBuddy(control)
        row.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        follow(column, setSpacing=3)
        # Fields take the width; segments, boxes and switches keep their own, at the left.
        own = (QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
        fixed = control.sizePolicy().horizontalPolicy() in own
        side = Qt.AlignmentFlag.AlignLeft if fixed else Qt.AlignmentFlag(0)
        column.addWidget(control, 0, side)
        if say(hint):
            column.addWidget(Label(hint, role="caption", tone="faint", wrap=True))
        row.addLayout(column, 1)
