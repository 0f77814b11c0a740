"""Sandboxes of the account that no workspace here has: what they are, and the way to end them."""

from __future__ import annotations

import time

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.workspaces.e2b.sandbox import THEIRS, Found
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Card, Label, StateGlyph, figures
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
        row.setSpacing(theme().px(12))
        words = QVBoxLayout()
        words.setSpacing(theme().px(2))
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
        if THEIRS in found.metadata:
            return tr(
                "{template}, made {ago} ago by AgentScope", template=found.template, ago=since
            )
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


class OrphansDialog(Dialog):
    """Lists them; closes itself when none is left."""

    def __init__(self, parent: QWidget | None, vm: MachinesViewModel) -> None:
        super().__init__(parent, lambda: tr("Sandboxes without an owner"), width=560)
        self._vm = vm
        self.body.addWidget(
            Label(
                lambda: tr(
                    "These run or are kept in your E2B account, and no workspace here has them. "
                    "They may belong to another computer of yours."
                ),
                wrap=True,
            )
        )
        self._list = QVBoxLayout()
        self._list.setSpacing(theme().px(8))
        self.body.addLayout(self._list)
        self.body.addStretch(1)
        self.rows: list[OrphanRow] = []
        self.add_button(Button(lambda: tr("Close"), variant="primary"), run=self.accept)
        vm.orphansFound.connect(self._show)
        self._show(vm.orphans)

    def _show(self, found: list[Found]) -> None:
        for row in self.rows:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [OrphanRow(one, self._vm) for one in found]
        for row in self.rows:
            row.grew.connect(self.fit_later)
            self._list.addWidget(row)
        self.fit_later()
        if not found and self.isVisible():
            self.accept()
