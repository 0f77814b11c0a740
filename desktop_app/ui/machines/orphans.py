"""Machines that no workspace here has: sandboxes of ours without an owner and the way to end them,
machines of AgentScope's and the way to have them in the list."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.neighbours import Neighbour
from desktop_app.core.workspaces.e2b.sandbox import Found
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Button, Card, Glyph, Label, StateGlyph, figures
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.dialogs import Dialog

from .view_model import MachinesViewModel


class OrphanRow(Card):
    """One sandbox. Ending it takes two presses: the first one says what is lost. ``grew``: it
    needs more room."""

    grew = Signal()

    def __init__(self, found: Found, vm: MachinesViewModel) -> None:
        super().__init__()
        self._found, self._vm = found, vm
        self._sure = False
        row = QHBoxLayout()
        follow(row, setSpacing=12)
        words = QVBoxLayout()
        follow(words, setSpacing=2)
        head = QHBoxLayout()
        head.addWidget(Label(found.id, role="mono", select=True))
        state = (
            StateGlyph("running", lambda: tr("Running"))
            if found.running
            else StateGlyph("paused", lambda: tr("Paused"))
        )
        head.addWidget(state)
        head.addStretch(1)
        words.addLayout(head)
        words.addWidget(Label(lambda: self._about(), role="small", tone="muted", wrap=True))
        self.warning = Label(
            lambda: tr("All files in it would be gone. Press again to end it."),
            role="small",
            tone="danger",
            wrap=True,
        )
        self.warning.hide()
        words.addWidget(self.warning)
        row.addLayout(words, 1)
        self.end = Button(lambda: tr("End it…"), variant="danger", small=True)
        self.end.clicked.connect(self._end)
        row.addWidget(self.end)
        self.body.addLayout(row)

    def _about(self) -> str:
        found = self._found
        since = figures.duration(max(60.0, time.time() - found.started_us / 1e6))
        return tr(
            "{template}, made {ago} ago by Slipway: another computer, or a list that was lost",
            template=found.template,
            ago=since,
        )

    def _end(self) -> None:
        if not self._sure:
            self._sure = True
            self.warning.show()
            self.end.set_source(lambda: tr("End it"))
            self.grew.emit()
            return
        self.end.setEnabled(False)
        self._vm.end_orphan(self._found.id)


class NeighbourRow(Card):
    """One machine of AgentScope's. Adding it to the list changes nothing in it."""

    def __init__(self, found: Neighbour, vm: MachinesViewModel) -> None:
        super().__init__()
        self._found, self._vm = found, vm
        row = QHBoxLayout()
        follow(row, setSpacing=12)
        words = QVBoxLayout()
        follow(words, setSpacing=2)
        head = QHBoxLayout()
        head.addWidget(Label(found.machine, role="mono", select=True))
        head.addWidget(
            StateGlyph("running", lambda: tr("Running"))
            if found.running
            else StateGlyph("idle", lambda: tr("Stopped"))
        )
        head.addStretch(1)
        words.addLayout(head)
        words.addWidget(Label(lambda: self._about(), role="small", tone="muted", wrap=True))
        row.addLayout(words, 1)
        self.add = Button(lambda: tr("Add to the list"), small=True)
        self.add.clicked.connect(self._add)
        row.addWidget(self.add)
        self.body.addLayout(row)

    def _about(self) -> str:
        found = self._found
        since = figures.duration(max(60.0, time.time() - found.started_us / 1e6))
        return tr("{template}, made {ago} ago by AgentScope", template=found.image, ago=since)

    def _add(self) -> None:
        self.add.setEnabled(False)
        self._vm.add_neighbour(self._found)


class FoundLine(Live, QWidget):
    """How many there are, and the way to them; nothing while there are none."""

    def __init__(self, vm: MachinesViewModel) -> None:
        super().__init__()
        self._vm = vm
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        self.sign = Glyph("triangle-alert", "warning", 14)
        self.words = Label("", role="small", tone="muted")
        self.review = Button(lambda: tr("Review"), variant="link")
        self.review.clicked.connect(self.review_them)
        for part in (self.sign, self.words, self.review):
            row.addWidget(part)
        vm.orphansFound.connect(lambda _found: self.retranslate())
        vm.neighboursFound.connect(lambda _found: self.retranslate())
        self.retranslate()

    def retranslate(self) -> None:
        lost, theirs = len(self._vm.orphans), len(self._vm.neighbours)
        words: list[str] = []
        if lost:
            words.append(trn("{n} sandbox has no owner", "{n} sandboxes have no owner", lost))
        if theirs:
            words.append(
                trn("{n} machine of AgentScope found", "{n} machines of AgentScope found", theirs)
            )
        self.words.set_source(" · ".join(words))
        self.sign.setVisible(bool(lost))
        self.setVisible(bool(words))

    def review_them(self) -> None:
        """Show them, with what can be done."""
        dialog = OrphansDialog(self.window(), self._vm)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


class OrphansDialog(Dialog):
    """Lists both kinds; closes itself when none is left."""

    def __init__(self, parent: QWidget | None, vm: MachinesViewModel) -> None:
        super().__init__(parent, lambda: tr("Machines that no workspace here has"), width=560)
        self._vm = vm
        self.rows: list[OrphanRow] = []
        self.found: list[NeighbourRow] = []
        self._theirs_words, self._theirs = self._group(
            lambda: tr(
                "AgentScope made these. In the list everything in them can be read; they are not "
                "changed, started, stopped or removed."
            )
        )
        self._lost_words, self._lost = self._group(
            lambda: tr(
                "These run or are kept in your E2B account, and no workspace here has them. "
                "They may belong to another computer of yours."
            )
        )
        self.body.addStretch(1)
        self.add_button(Button(lambda: tr("Close"), variant="primary"), run=self.accept)
        vm.orphansFound.connect(lambda _found: self._show())
        vm.neighboursFound.connect(lambda _found: self._show())
        self._show()

    def _group(self, words: Callable[[], str]) -> tuple[Label, QVBoxLayout]:
        label, rows = Label(words, wrap=True), QVBoxLayout()
        follow(rows, setSpacing=8)
        self.body.addWidget(label)
        self.body.addLayout(rows)
        return label, rows

    def _show(self) -> None:
        for row in (*self.rows, *self.found):
            row.hide()
            row.deleteLater()
        self.found = [NeighbourRow(one, self._vm) for one in self._vm.neighbours]
        self.rows = [OrphanRow(one, self._vm) for one in self._vm.orphans]
        for row in self.found:
            self._theirs.addWidget(row)
        for row in self.rows:
            row.grew.connect(self.fit_later)
            self._lost.addWidget(row)
        self._theirs_words.setVisible(bool(self.found))
        self._lost_words.setVisible(bool(self.rows))
        self.fit_later()
        if not (self.rows or self.found) and self.isVisible():
            self.accept()
