"""The working folder: tree, marks of what the agent changed, a look into a file."""

from __future__ import annotations

from pathlib import PurePosixPath

from PySide6.QtCore import QModelIndex, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.errors import describe
from desktop_app.ui.files.browser import FileBrowser
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import IconButton
from desktop_app.ui.widgets.card import EmptyState

_SOON_MS = 400


class FilesPanel(QWidget):
    """Tree above, preview below. ``mentionRequested(path)``: name the file in the composer."""

    mentionRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._sources = ChatSources()
        self.browser = FileBrowser(Qt.Orientation.Vertical, "bg")
        self.model, self.tree, self.text = (
            *(self.browser.model, self.browser.tree),
            self.browser.text,
        )
        self.browser.split.setStretchFactor(0, 3)
        self.browser.split.setStretchFactor(1, 2)
        self.browser.chosen.connect(self._chosen)
        self.browser.unreadable.connect(self._say_why)
        self.tree.activated.connect(self._activated)
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self.model.refresh)
        self._add_acts()
        self._empty = EmptyState("folder-x", lambda: tr("The folder cannot be read"), "")
        outer = QVBoxLayout(self)
        follow(outer, setContentsMargins=(0, 6, 0, 0))
        outer.addWidget(self.browser, 1)
        outer.addWidget(self._empty, 1)
        self._empty.hide()
        self.browser.preview.hide()

    def _add_acts(self) -> None:
        """What can be done with the chosen file."""
        self.mention = IconButton("at-sign", lambda: tr("Mention in the message"), small=True)
        self.open = IconButton("external-link", lambda: tr("Open"), small=True)
        self.reveal = IconButton("folder-open", lambda: tr("Show in the file manager"), small=True)
        self.mention.clicked.connect(lambda: self.mentionRequested.emit(self.browser.path))
        self.open.clicked.connect(self._open)
        self.reveal.clicked.connect(self._reveal)
        for button in (self.mention, self.open, self.reveal):
            self.browser.head.addWidget(button)

    # -- following --------------------------------------------------------------------------

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Show the folder of another session."""
        if self._vm is not None:
            self._vm.filesTouched.disconnect(self._touched)
        same = sources.backend is not None and sources.backend is self._sources.backend
        self._vm, self._sources = vm, sources
        if vm is not None:
            vm.filesTouched.connect(self._touched)
        if not same:
            self.browser.bind(sources.backend)
            self.browser.preview.hide()
            self._show_tree(sources.backend is not None)
            if sources.missing is not None:
                self._say_why(*sources.missing)
        self.model.set_touched(vm.touched if vm is not None else {})

    def _show_tree(self, shown: bool) -> None:
        self.browser.setVisible(shown)
        self._empty.setVisible(not shown)

    def _say_why(self, code: str, params: dict[str, object]) -> None:
        words = describe(code, params)
        self._empty.title.set_source(words.title)
        self._empty.text.set_source(words.reason)
        self._show_tree(False)

    def _touched(self) -> None:
        if self._vm is not None:
            self.model.set_touched(self._vm.touched)
        if self.isVisible():
            self._soon.start()

    async def close_tasks(self) -> None:
        await self.browser.close_tasks()

    # -- the chosen one ---------------------------------------------------------------------

    def _chosen(self) -> None:
        info, local = self.browser.info, self._sources.local
        self.browser.preview.setVisible(info is not None)
        self.open.setVisible(local and info is not None and info.kind != "special")
        self.reveal.setVisible(local)

    def _local_path(self) -> str | None:
        cwd, path = self._sources.cwd, self.browser.path
        return f"{cwd.rstrip('/')}/{path}" if cwd and path else None

    def _activated(self, index: QModelIndex) -> None:
        if self.browser.info is not None and self.browser.info.kind == "file":
            self._open()

    def _open(self) -> None:
        if (path := self._local_path()) is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _reveal(self) -> None:
        if (path := self._local_path()) is not None:
            folder = str(PurePosixPath(path).parent)
            QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
