"""A page of the help, in the language of the window where there is one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QWidget

from desktop_app.core import resources
from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.transcript import TranscriptModel, TranscriptView
from desktop_app.ui.transcript.rows import MarkdownRow
from desktop_app.ui.widgets import Button
from desktop_app.ui.widgets.dialogs import Dialog

WIDTH, HEIGHT = 760, 520


def page_file(name: str, language: str) -> Path:
    """The file of a page: in ``language``, or in English."""
    own = resources.path("help", f"{name}.{language}.md")
    return own if own.is_file() else resources.path("help", f"{name}.md")


class HelpPage(Dialog):
    """Shows one page; ``name`` is its file's without language and ending."""

    def __init__(self, parent: QWidget | None, name: str) -> None:
        super().__init__(parent, lambda: tr("Help"), width=WIDTH)
        self._name = name
        self.model = TranscriptModel()
        self.view = TranscriptView(self.model)
        self.view.grows = False
        self.view.setAccessibleName(tr("Help"))
        self.view.setMinimumHeight(theme().px(HEIGHT))
        self.body.addWidget(self.view, 1)
        close = Button(lambda: tr("Close"), variant="primary")
        self.add_button(close, run=self.accept, default=True)

    async def load(self) -> None:
        """Read the page and show its beginning."""
        file = page_file(self._name, i18n.language())
        text = await asyncio.to_thread(file.read_text, "utf-8")
        self.model.set_rows([MarkdownRow("page", text)])
        self.view.stick = False
