"""What a machine's main process wrote, as it comes."""

from __future__ import annotations

import logging
from contextlib import aclosing

from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.remote.managed import ManagedWorkspace
from desktop_app.ui.bridge import Coalescer
from desktop_app.ui.errors import describe
from desktop_app.ui.files.visible import visible
from desktop_app.ui.i18n import sentences, tr
from desktop_app.ui.widgets import Label
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.texts import MonoText

log = logging.getLogger(__name__)
LINES = 5000
CUT = 4000  # characters of a line


class LogsTab(Live, QWidget):
    """``follow`` a workspace while it is in view; None lets go."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tasks = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))
        self._lines: Coalescer[str] = Coalescer(self, self._append, 50)
        self._following: tuple[ManagedWorkspace, bool] | None = None
        self.text = MonoText(margin=14)
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(LINES)
        self.text.setLineWrapMode(MonoText.LineWrapMode.NoWrap)
        self.text.setProperty("bare", True)
        self.note = Label("", tone="muted", wrap=True)
        follow(self.note, setContentsMargins=(16, 12, 16, 0))
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        noted = QWidget()
        inside = QVBoxLayout(noted)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.note)
        inside.addStretch(1)
        self._noted = noted
        self._stack.addWidget(noted)
        self._stack.addWidget(self.text)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(holder)
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        self.text.setAccessibleName(tr("Log of the machine"))

    def follow(self, workspace: ManagedWorkspace | None, *, up: bool = False) -> None:
        """Show what it wrote, and what it writes while it is ``up``."""
        wanted = None if workspace is None else (workspace, up)
        if wanted == self._following:
            return
        self._following = wanted
        self._lines.clear()
        self.text.clear()
        if workspace is None:
            self._tasks.cancel("follow")
            return
        self._say(tr("Nothing was written to the log."))
        self._tasks.replace(self._follow(workspace, up), name="follow")

    async def _follow(self, workspace: ManagedWorkspace, up: bool) -> None:
        try:
            async with aclosing(workspace.logs(lines=500, follow=up)) as lines:
                async for line in lines:
                    self._lines.push(line)
        except SlipwayError as error:
            words = describe(error.code, error.params)
            self._say(sentences(words.title, words.reason))

    def _say(self, words: str) -> None:
        self.note.set_source(words)
        self._stack.setCurrentWidget(self._noted)

    def _append(self, lines: list[str]) -> None:
        self._stack.setCurrentWidget(self.text)
        shown = [visible(line[:CUT].rstrip("\r"))[0] for line in lines[-LINES:]]
        self.text.appendPlainText("\n".join(shown))

    async def close_tasks(self) -> None:
        self._lines.clear()
        await self._tasks.close()
