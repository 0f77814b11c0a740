"""The approval card: what would be done, whole, and four answers. Real widgets, never elided."""

from __future__ import annotations

import html
from typing import Any

from PySide6.QtCore import QElapsedTimer, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.events import Approval
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.badge import StateGlyph
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import paint_asking
from desktop_app.ui.widgets.keyhint import KeyHint
from desktop_app.ui.widgets.labels import Label

from . import tool_words
from .approval_words import Facts, facts
from .arguments import ArgumentsEditor, written
from .foreign import ForeignBox, ForeignText

_HEAD = 34
_GRACE_MS = 350  # a key meant for the card before must not answer this one
_LABEL = 64
_LEAST, _MOST = 2, 14  # lines of the text that are seen at once


def text_of(approval: Approval) -> tuple[str, bool]:
    """What is shown of a call: the whole command, the whole diff (True), or its arguments."""
    preview = approval.preview
    if isinstance(diff := preview.get("diff"), str) and diff:
        # Which file it is stands below; its two head lines say nothing more.
        lines = diff.split("\n", 2)
        one = len(lines) == 3 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
        return lines[2] if one else diff, True
    if isinstance(command := preview.get("command"), str) and command:
        return command, False
    if isinstance(content := approval.arguments.get("content"), str):
        return content, False
    return written(approval.arguments), False


def _rich(shown: Facts) -> str:
    """The rule in mono and its words, as rich text with nothing of the rule's own markup."""
    words = html.escape(shown.rule_words)
    if not shown.rule:
        return words
    families = ", ".join(f"'{name}'" for name in theme().families("mono"))
    rule = html.escape(shown.rule).replace("\n", "<br>").replace("  ", "&nbsp; ")
    return f'<span style="font-family: {families}">{rule}</span> &nbsp;{words}'


class ApprovalCard(Live, QFrame):
    """One approval at a time, "n of m" when several wait.

    ``decided(op_id, allowed, always, arguments)``; ``arguments`` is None unless the person edited
    them. Y, A, E, N work while the card (or, through the page, the transcript) has the focus.
    """

    decided = Signal(str, bool, bool, object)

    def __init__(self, parent: QWidget | None = None, *, grace_ms: int = _GRACE_MS) -> None:
        super().__init__(parent)
        self._approval: Approval | None = None
        self._facts: Facts | None = None
        self._place = (1, 1)
        self._grace = grace_ms
        self._room = 0
        self._shown = QElapsedTimer()
        self._batch: set[str] = set()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._build()
        self.hide()

    # -- building ---------------------------------------------------------------------------

    def _build(self) -> None:
        px = theme().px
        self._head = QWidget()
        head = QHBoxLayout(self._head)
        follow(head, setContentsMargins=(12, 0, 12, 0), setSpacing=8)
        self._diamond = StateGlyph("waiting")
        self._title = Label(lambda: tr("Waiting for your approval"), role="semibold")
        self._count = Label("", tone="muted")
        self._tool = Label("", tone="muted")
        head.addWidget(self._diamond)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._count)
        head.addWidget(self._tool)
        self._keys = QWidget()
        keys = QHBoxLayout(self._keys)
        follow(keys, setContentsMargins=(6, 0, 0, 0), setSpacing=4)
        keys.addWidget(KeyHint("F6"))
        keys.addWidget(Label(lambda: tr("answer by keys"), role="caption", tone="muted"))
        self._keys.hide()
        head.addWidget(self._keys)
        follow(self._head, setFixedHeight=_HEAD)

        self.text = ForeignText(lambda: tr("What would be done"))
        self._box = ForeignBox(self.text)
        self.editor = ArgumentsEditor()
        self.editor.done.connect(self._run_edited)
        self._error = Label("", role="small", tone="danger", wrap=True)

        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._head)
        body = QVBoxLayout()
        follow(body, setContentsMargins=(13, 10, 13, 12), setSpacing=8)
        for widget in (self._box, self.editor, self._error):
            body.addWidget(widget)
        body.addLayout(self._build_facts())
        body.addSpacing(px(2))
        body.addLayout(self._build_buttons())
        column.addLayout(body)
        self._edit_mode(False)

    def _build_facts(self) -> QGridLayout:
        grid = QGridLayout()
        follow(grid, setHorizontalSpacing=0, setVerticalSpacing=4)
        grid.setColumnStretch(1, 1)
        self._values: list[Label] = []
        names = (lambda: tr("Touches"), lambda: tr("Risk"), lambda: tr("Always"))
        top = Qt.AlignmentFlag.AlignTop
        for row, name in enumerate(names):
            label = Label(name, role="small", tone="faint")
            follow(label, setMinimumWidth=_LABEL)
            grid.addWidget(label, row, 0, top)
            # The rule stands in the last sentence, in mono; everything in it is escaped.
            value = Label("", role="small", wrap=True, select=True, markup=row == 2)
            self._values.append(value)
            grid.addWidget(value, row, 1)
        return grid

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        follow(row, setSpacing=8)
        self.allow = Button(lambda: tr("Allow once"), variant="primary", keys="Y")
        self.always = Button(lambda: tr("Always"), keys="A")
        self.edit = Button(lambda: tr("Edit"), keys="E")
        self.deny = Button(lambda: tr("Deny"), variant="danger", keys="N")
        self.run = Button(lambda: tr("Allow what I wrote"), variant="primary", keys="Ctrl+Return")
        self.cancel = Button(lambda: tr("Cancel"))
        for button in (self.allow, self.always, self.edit, self.run, self.cancel):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.deny)
        self.allow.clicked.connect(lambda: self._decide(True))
        self.always.clicked.connect(lambda: self._decide(True, always=True))
        self.deny.clicked.connect(lambda: self._decide(False))
        self.edit.clicked.connect(self._begin_edit)
        self.cancel.clicked.connect(lambda: self._edit_mode(False))
        self.run.clicked.connect(self._run_edited)
        return row

    # -- showing ----------------------------------------------------------------------------

    def show_approvals(self, approvals: list[Approval]) -> None:
        """Show the first of ``approvals``; hidden when there are none."""
        if not approvals:
            self._approval = None
            self._batch.clear()
            self.hide()
            return
        waiting = {a.op_id for a in approvals}
        if not waiting & self._batch:
            self._batch.clear()
        self._batch |= waiting
        self._place = (len(self._batch) - len(waiting) + 1, len(self._batch))
        if self._approval is None or self._approval.op_id != approvals[0].op_id:
            self._approval = approvals[0]
            text, is_diff = text_of(self._approval)
            self.text.kind = "diff" if is_diff else "plain"
            self.text.show_text(text)
            self._edit_mode(False)
            self._shown.restart()
        self.retranslate()
        self.show()
        self._fit()

    def set_room(self, height: int) -> None:
        """How high it may be: the text, which can be scrolled, gives way to everything else."""
        self._room = height
        self._fit()

    def _fit(self) -> None:
        if self._room <= 0 or self.isHidden():
            return
        whole = self.heightForWidth(self.width())
        if not self.editor.isHidden():
            self.editor.set_room(self._room - whole + self.editor.sizeHint().height())
            return
        line = QFontMetricsF(self.text.font()).lineSpacing()
        rest = whole - self.text.height()
        self.text.set_most(max(_LEAST, min(_MOST, int((self._room - rest) / line))))

    @property
    def approval(self) -> Approval | None:
        return self._approval

    def retranslate(self) -> None:
        if (approval := self._approval) is None:
            return
        self._facts = facts(approval, hidden=self.text.marked)
        n, m = self._place
        self._count.set_source(tr("{n} of {m}", n=n, m=m) if m > 1 else "")
        self._tool.set_source(tool_words.title(approval.name))
        for label, words in zip(
            self._values,
            (self._facts.touches, self._facts.risk, _rich(self._facts)),
            strict=True,
        ):
            label.set_source(words)
        self._values[1].set_tone("danger" if self._facts.level == "high" else "text")
        self.always.setEnabled(bool(self._facts.rule))
        self.always.setToolTip(self._facts.rule_words)
        self.setAccessibleName(tr("Waiting for your approval"))
        self.setAccessibleDescription(f"{self._facts.touches}. {self.text.toPlainText()[:2000]}")

    def set_keys_live(self, live: bool) -> None:
        """Whether the keys on the buttons work now; else the way there is shown."""
        self._keys.setVisible(not live)

    # -- answering --------------------------------------------------------------------------

    def _decide(
        self, allowed: bool, *, always: bool = False, arguments: dict[str, Any] | None = None
    ) -> None:
        if self._approval is None or (always and not self.always.isEnabled()):
            return
        self.decided.emit(self._approval.op_id, allowed, always, arguments)

    def handle_key(self, event: QKeyEvent) -> bool:
        """Answer by key; True when the key was one of the card's. Ignored for a moment after a new
        approval came up, with modifiers, and while arguments are being edited."""
        if self._approval is None or not self.isVisible() or self.editor.isVisible():
            return False
        if event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier or event.isAutoRepeat():
            return False
        actions = {
            Qt.Key.Key_Y: lambda: self._decide(True),
            Qt.Key.Key_A: lambda: self._decide(True, always=True),
            Qt.Key.Key_N: lambda: self._decide(False),
            Qt.Key.Key_E: self._begin_edit,
        }
        action = actions.get(Qt.Key(event.key()))
        if action is None:
            return False
        if self.takes_keys:
            action()
        return True

    @property
    def takes_keys(self) -> bool:
        """Whether the moment is over in which a key may still have been meant for something
        else."""
        return self._shown.elapsed() >= self._grace

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.editor.isHidden():  # the card stands for the field that is written in
            self.editor.setFocus(event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.editor.isVisible() and event.key() == Qt.Key.Key_Escape:
            self._edit_mode(False)
        elif not self.handle_key(event):
            super().keyPressEvent(event)

    # -- editing ----------------------------------------------------------------------------

    def _begin_edit(self) -> None:
        if (approval := self._approval) is None:
            return
        self.editor.show_arguments(approval.arguments)
        self._edit_mode(True)
        self.editor.setFocus()

    def _edit_mode(self, on: bool) -> None:
        had_focus = self.editor.isAncestorOf(self.focusWidget() or self)
        for widget in (self.editor, self.run, self.cancel):
            widget.setVisible(on)
        for widget in (self._box, self.allow, self.always, self.edit):
            widget.setVisible(not on)
        self.deny.set_keys("" if on else "N")
        self._show_error("")
        self._fit()
        if not on and had_focus:
            self.setFocus()

    def _show_error(self, words: str) -> None:
        self._error.set_source(words)
        self._error.setVisible(bool(words))

    def _run_edited(self) -> None:
        try:
            arguments = self.editor.arguments()
        except ValueError as error:
            self._show_error(str(error))
            return
        self._decide(True, arguments=arguments)

    # -- look -------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_asking(self, self._head)
