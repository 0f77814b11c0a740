"""The working folder: tree, marks of what the agent changed, a look into a file."""

from __future__ import annotations

import logging
from pathlib import PurePosixPath

from PySide6.QtCore import (
    QModelIndex,
    Qt,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QStackedLayout,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import Backend, FileInfo
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.errors import describe
from desktop_app.ui.files.model import FilesModel, InfoRole, PathRole
from desktop_app.ui.files.preview import preview_text, read_start
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.buttons import IconButton
from desktop_app.ui.widgets.card import EmptyState
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.rows import RowDelegate
from desktop_app.ui.widgets.tree import Tree

_SOON_MS = 400
log = logging.getLogger(__name__)


class FilesPanel(Live, QWidget):
    """Tree above, preview below. ``mentionRequested(path)``: name the file in the composer."""

    mentionRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._sources = ChatSources()
        self._tasks = Tasks(self._failed)
        self._path = ""
        self._info: FileInfo | None = None
        self.model = FilesModel(self)
        self.model.failed.connect(self._listing_failed)
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self.model.refresh)
        self._build()

    def _build(self) -> None:
        self._build_tree()
        self._empty = EmptyState("folder-x", lambda: tr("The folder cannot be read"), "")
        self._preview = QWidget()
        column = QVBoxLayout(self._preview)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._preview_head())
        column.addWidget(self._preview_body(), 1)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.tree)
        split.addWidget(self._preview)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setChildrenCollapsible(False)
        self._split = split
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme().px(6), 0, 0)
        outer.addWidget(split, 1)
        outer.addWidget(self._empty, 1)
        self._empty.hide()
        self._preview.hide()
        self.restyle()
        self.retranslate()

    def _build_tree(self) -> None:
        self.tree = Tree()
        self.tree.setModel(self.model)
        self.tree.setUniformRowHeights(True)
        self.tree.setItemDelegate(RowDelegate(self.tree, size="tree-session"))
        self.tree.setIndentation(theme().px(16))
        self.tree.setProperty("ground", "bg")
        self.tree.viewport().setProperty("ground", "bg")
        self.tree.setMouseTracking(True)
        self.tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.selectionModel().currentChanged.connect(self._choose)
        self.tree.activated.connect(self._activated)

    def _preview_head(self) -> QHBoxLayout:
        """The file's name, its size and what can be done with it."""
        px = theme().px
        head = QHBoxLayout()
        head.setContentsMargins(px(16), px(4), px(8), px(4))
        head.setSpacing(px(2))
        self.name = ElidedLabel("", role="strong", mode=Qt.TextElideMode.ElideMiddle)
        self.size_label = Label("", role="caption", tone="faint")
        self.mention = IconButton("at-sign", lambda: tr("Mention in the message"), small=True)
        self.open = IconButton("external-link", lambda: tr("Open"), small=True)
        self.reveal = IconButton("folder-open", lambda: tr("Show in the file manager"), small=True)
        self.mention.clicked.connect(lambda: self.mentionRequested.emit(self._path))
        self.open.clicked.connect(self._open)
        self.reveal.clicked.connect(self._reveal)
        head.addWidget(self.name, 1)
        head.addWidget(self.size_label)
        for button in (self.mention, self.open, self.reveal):
            head.addWidget(button)
        return head

    def _preview_body(self) -> QWidget:
        """The beginning of the file, or a note in its place."""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setProperty("bare", True)
        self.text.setProperty("ground", "sunken")
        self.note = Label("", role="small", tone="muted", wrap=True)
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.text)
        self._stack.addWidget(self.note)
        return holder

    def restyle(self) -> None:
        self.text.setFont(theme().font("mono"))
        self.text.document().setDocumentMargin(theme().px(14))

    def retranslate(self) -> None:
        self.tree.setAccessibleName(tr("Files of the workspace"))
        self.text.setAccessibleName(tr("Preview"))

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
            self._preview.hide()
            self.model.set_backend(sources.backend)
            missing = sources.missing
            self._show_tree(sources.backend is not None)
            if missing is not None:
                self._say_why(*missing)
        self.model.set_touched(vm.touched if vm is not None else {})

    def _show_tree(self, shown: bool) -> None:
        self._split.setVisible(shown)
        self._empty.setVisible(not shown)

    def _say_why(self, code: str, params: dict[str, object]) -> None:
        words = describe(code, params)
        self._empty.title.set_source(words.title)
        self._empty.text.set_source(words.reason)
        self._show_tree(False)

    def _listing_failed(self, path: str, code: str, params: dict[str, object]) -> None:
        if not path:
            self._say_why(code, params)
            return
        words = describe(code, params)
        self._show_note(words.reason or words.title)

    def _touched(self) -> None:
        if self._vm is not None:
            self.model.set_touched(self._vm.touched)
        if self.isVisible():
            self._soon.start()

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("files task %s failed", name, exc_info=error)

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.model.close_tasks()

    # -- preview ----------------------------------------------------------------------------

    def _choose(self, index: QModelIndex, _old: QModelIndex | None = None) -> None:
        info: FileInfo | None = index.data(InfoRole) if index.isValid() else None
        if info is None:
            self._preview.hide()
            return
        self._path, self._info = str(index.data(PathRole)), info
        self.name.set_source(self._path)
        self.size_label.set_source("" if info.kind == "dir" else figures.size(info.size))
        local = self._sources.local
        self.open.setVisible(local and info.kind != "special")
        self.reveal.setVisible(local)
        self._preview.show()
        if info.kind == "dir":
            self._show_note(tr("A folder"))
        elif info.kind == "special":
            self._show_note(tr("A special file (device, pipe or socket); it is never opened"))
        elif self._sources.backend is not None:
            self._tasks.replace(self._load(self._sources.backend, info), name="preview")

    async def _load(self, backend: Backend, info: FileInfo) -> None:
        path = f"{backend.cwd.rstrip('/')}/{self._path}"
        try:
            data = await read_start(backend, path, info.size)
        except SlipwayError as error:
            words = describe(error.code, error.params)
            self._show_note(words.reason or words.title)
            return
        text = preview_text(data, info.size)
        if text is None:
            self._show_note(tr("A binary file of {size}", size=figures.size(info.size)))
        elif not data:
            self._show_note(tr("An empty file"))
        else:
            self.text.setPlainText(text)
            self._stack.setCurrentWidget(self.text)

    def _show_note(self, words: str) -> None:
        self.note.set_source(words)
        self._stack.setCurrentWidget(self.note)
        self._preview.show()

    # -- opening ----------------------------------------------------------------------------

    def _local_path(self) -> str | None:
        cwd = self._sources.cwd
        return f"{cwd.rstrip('/')}/{self._path}" if cwd and self._path else None

    def _activated(self, index: QModelIndex) -> None:
        if self._info is not None and self._info.kind == "file":
            self._open()

    def _open(self) -> None:
        if (path := self._local_path()) is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _reveal(self) -> None:
        if (path := self._local_path()) is not None:
            folder = str(PurePosixPath(path).parent)
            QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
