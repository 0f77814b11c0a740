"""What the doctor found, and a way to look again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.doctor import Finding
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Button, Card, Glyph, Label
from desktop_app.ui.widgets.base import follow

from .words import finding_detail, finding_title

GLYPHS = {
    "good": ("circle-check", "success"),
    "warning": ("triangle-alert", "warning"),
    "bad": ("circle-x", "danger"),
}


class FindingRow(QWidget):
    """A sign, what was found, and below what to do about it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.finding = finding
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        quiet = finding.what == "other"
        glyph = ("minus", "faint") if quiet else GLYPHS[finding.verdict]
        row.addWidget(Glyph(*glyph, 16), 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        follow(column, setSpacing=2)
        self.title = Label(lambda: finding_title(finding), wrap=True, select=True)
        column.addWidget(self.title)
        self.detail = Label(
            lambda: finding_detail(finding), role="caption", tone="faint", wrap=True, select=True
        )
        self.detail.setVisible(bool(finding_detail(finding)))
        column.addWidget(self.detail)
        row.addLayout(column, 1)


class DoctorCard(Card):
    """``again`` asks for another look."""

    again = Signal()

    def __init__(self) -> None:
        super().__init__(fill="sunken")
        self.rows: list[FindingRow] = []
        self._list = QVBoxLayout()
        follow(self._list, setSpacing=8)
        self.body.addLayout(self._list)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        self.waiting = Label(lambda: tr("Looking…"), role="small", tone="muted")
        foot.addWidget(self.waiting)
        self.others = Button("", variant="link", small=True)
        self.others.setCheckable(True)
        self.others.toggled.connect(self._show_others)
        foot.addWidget(self.others)
        foot.addStretch(1)
        self.retry = Button(lambda: tr("Look again"), glyph="refresh-cw", small=True)
        self.retry.clicked.connect(lambda: self.again.emit())
        foot.addWidget(self.retry)
        self.body.addLayout(foot)
        self.looking()

    def looking(self) -> None:
        """A look is under way; what was found before stays until it comes back."""
        self.waiting.show()
        self.others.hide()
        self.retry.setEnabled(False)

    def show_findings(self, findings: Sequence[Finding]) -> None:
        for row in self.rows:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [FindingRow(finding) for finding in findings]
        for row in self.rows:
            self._list.addWidget(row)
        self.waiting.hide()
        self.retry.setEnabled(True)
        n = sum(row.finding.what == "other" for row in self.rows)
        self.others.set_source(
            lambda: trn("{n} other place was tried", "{n} other places were tried", n)
        )
        self.others.setVisible(bool(n))
        none = not any(
            r.finding.what == "engine" and r.finding.verdict == "good" for r in self.rows
        )
        self.others.setChecked(bool(n) and none)
        self._show_others(self.others.isChecked())

    def _show_others(self, on: bool) -> None:
        for row in self.rows:
            row.setVisible(on or row.finding.what != "other")
