"""What this program is: version, what it runs on, where it keeps things."""

from __future__ import annotations

import platform
import sys

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app import __version__
from desktop_app.core.paths import Paths
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Label
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import Dialog, FactRow
from desktop_app.ui.widgets.mark import AppMark


class AboutDialog(Dialog):
    """Shown by Help, About. "Copy" puts everything a report of a fault needs on the clipboard."""

    def __init__(self, parent: QWidget | None, where: Paths) -> None:
        super().__init__(parent, lambda: tr("About Slipway"), width=480)
        self._where = where
        row = QHBoxLayout()
        follow(row, setSpacing=16)
        row.addWidget(AppMark())
        words = QVBoxLayout()
        follow(words, setSpacing=2)
        words.addWidget(Label("Slipway", role="figure"))
        words.addWidget(
            Label(lambda: tr("Version {version}", version=__version__), tone="muted", select=True)
        )
        row.addLayout(words, 1)
        self.body.addLayout(row)
        self.body.addWidget(
            Label(lambda: tr("Run agents in workspaces, and see everything they keep."), wrap=True)
        )
        facts = QVBoxLayout()
        facts.setSpacing(0)
        for name, value in self.facts():
            text = Label(value, role="small", wrap=True, select=True)
            text.setMinimumHeight(theme().size("field"))
            facts.addWidget(FactRow(name, text))
        self.body.addLayout(facts)
        self.copy_button = Button(lambda: tr("Copy"), glyph="copy")
        self.copy_button.clicked.connect(self.copy)
        self.aside(self.copy_button)
        logs = Button(lambda: tr("Show the logs"), glyph="folder-open")
        self.add_button(logs, run=self._show_logs)
        close = Button(lambda: tr("Close"), variant="primary")
        self.add_button(close, run=self.accept, default=True)
        close.setFocus()

    def facts(self) -> list[tuple[Text, str]]:
        """(name, value) of each line."""
        python = ".".join(map(str, sys.version_info[:3]))
        return [
            (lambda: tr("Runs on"), f"Python {python}, Qt {qVersion()}, PySide {pyside_version}"),
            (lambda: tr("System"), platform.platform()),
            (lambda: tr("Data"), str(self._where.data)),
            (lambda: tr("Settings"), str(self._where.settings)),
            (lambda: tr("Log"), str(self._where.log)),
        ]

    def copy(self) -> None:
        """Everything as text, in English: for whoever looks into a fault."""
        names = ("Runs on", "System", "Data", "Settings", "Log")
        lines = [f"Slipway {__version__}"]
        lines += [f"{n}: {v}" for n, (_, v) in zip(names, self.facts(), strict=True)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _show_logs(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._where.log.parent)))
