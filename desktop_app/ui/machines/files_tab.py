"""The files of a workspace through the backend contract: tree, viewer, upload, download."""

from __future__ import annotations

import asyncio
import logging
import posixpath
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QStackedLayout,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.errors import SlipwayError, WorkspaceError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import Backend, FileInfo
from desktop_app.core.workspaces.transfer import download, upload
from desktop_app.ui.bridge import Coalescer, confirm
from desktop_app.ui.errors import describe
from desktop_app.ui.files.model import FilesModel, InfoRole, PathRole
from desktop_app.ui.files.preview import preview_text, read_start
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import (
    Act,
    Button,
    ElidedLabel,
    EmptyState,
    Label,
    ProgressLine,
    RowDelegate,
    figures,
)
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.tree import Tree

log = logging.getLogger(__name__)


class FilesTab(Live, QWidget):
    """``bind`` shows a workspace's folder; None says that its machine must be started first."""

    startWanted = Signal()
    failed = Signal(object)  # SlipwayError

    def __init__(self) -> None:
        super().__init__()
        self._backend: Backend | None = None
        self._info: FileInfo | None = None
        self._path = ""
        self._size = 0
        self._tasks = Tasks(self._task_failed)
        self._copied: Coalescer[int] = Coalescer(self, self._show_copied, 100)
        self.model = FilesModel(self)
        self.model.failed.connect(self._listing_failed)
        self._build()
        self.restyle()
        self.retranslate()

    # -- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        px = theme().px
        self.tree = Tree()
        self.tree.setModel(self.model)
        self.tree.setUniformRowHeights(True)
        self.tree.setItemDelegate(RowDelegate(self.tree, size="tree-session"))
        self.tree.setIndentation(px(16))
        self.tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.tree.selectionModel().currentChanged.connect(self._choose)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setProperty("bare", True)
        self.text.setProperty("ground", "sunken")
        self.note = Label("", tone="muted", wrap=True)
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        view = QWidget()
        self._view = QStackedLayout(view)
        self._view.addWidget(self.note)
        self._view.addWidget(self.text)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head())
        column.addWidget(view, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.tree)
        split.addWidget(right)
        split.setSizes([px(360), px(800)])
        self.progress = ProgressLine()
        self.progress.setContentsMargins(px(16), px(4), px(16), px(4))
        self.progress.cancelled.connect(lambda: self._tasks.cancel("copy"))
        self._body = QWidget()
        inner = QVBoxLayout(self._body)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.progress)
        inner.addWidget(split, 1)
        self.stopped = EmptyState(
            "folder-x",
            lambda: tr("Its files can be seen while it runs"),
            lambda: tr("Starting it changes nothing in them."),
            [Act("start", lambda: tr("Start"), "play")],
        )
        self.stopped.action.connect(lambda _id: self.startWanted.emit())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._body)
        outer.addWidget(self.stopped)

    def _head(self) -> QHBoxLayout:
        px = theme().px
        head = QHBoxLayout()
        head.setContentsMargins(px(12), px(6), px(12), px(6))
        head.setSpacing(px(8))
        self.name = ElidedLabel("", role="strong", mode=Qt.TextElideMode.ElideMiddle)
        self.size_label = Label("", role="caption", tone="faint")
        self.up = Button(lambda: tr("Upload…"), glyph="upload", small=True)
        self.down = Button(lambda: tr("Download…"), glyph="download", small=True)
        self.again = Button(lambda: tr("Refresh"), glyph="refresh-cw", small=True)
        self.up.clicked.connect(self._choose_upload)
        self.down.clicked.connect(self._choose_download)
        self.again.clicked.connect(self.model.refresh)
        head.addWidget(self.name, 1)
        head.addWidget(self.size_label)
        for button in (self.again, self.up, self.down):
            head.addWidget(button)
        return head

    def restyle(self) -> None:
        self.text.setFont(theme().font("mono"))
        self.text.document().setDocumentMargin(theme().px(12))

    def retranslate(self) -> None:
        self.tree.setAccessibleName(tr("Files of the workspace"))
        self.text.setAccessibleName(tr("Preview"))

    # -- what it shows ---------------------------------------------------------------------------

    def bind(self, backend: Backend | None) -> None:
        """Show this folder; the same one again changes nothing."""
        self._body.setVisible(backend is not None)
        self.stopped.setVisible(backend is None)
        if backend is self._backend:
            return
        self._backend, self._info, self._path = backend, None, ""
        self._tasks.cancel("copy")
        self._say(tr("Choose a file to look into it."))
        self.name.set_source("")
        self.size_label.set_source("")
        self.down.setEnabled(False)
        self.model.set_backend(backend)

    def _choose(self, index: QModelIndex, _old: QModelIndex | None = None) -> None:
        info: FileInfo | None = index.data(InfoRole) if index.isValid() else None
        if info is None or self._backend is None:
            return
        self._path, self._info = str(index.data(PathRole)), info
        self.name.set_source(self._path)
        self.size_label.set_source("" if info.kind == "dir" else figures.size(info.size))
        self.down.setEnabled(info.kind in ("file", "link"))
        if info.kind == "dir":
            self._say(tr("A folder"))
        elif info.kind == "special":
            self._say(tr("A special file (device, pipe or socket); it is never opened"))
        else:
            self._tasks.replace(self._load(self._backend, info), name="preview")

    async def _load(self, backend: Backend, info: FileInfo) -> None:
        try:
            data = await read_start(backend, self._absolute(backend, self._path), info.size)
        except SlipwayError as error:
            words = describe(error.code, error.params)
            self._say(words.reason or words.title)
            return
        text = preview_text(data, info.size)
        if text is None:
            self._say(tr("A binary file of {size}", size=figures.size(info.size)))
        elif not data:
            self._say(tr("An empty file"))
        else:
            self.text.setPlainText(text)
            self._view.setCurrentWidget(self.text)

    def _say(self, words: str) -> None:
        self.note.set_source(words)
        self._view.setCurrentWidget(self.note)

    def _listing_failed(self, _path: str, code: str, params: dict[str, Any]) -> None:
        words = describe(code, params)
        self._say(f"{words.title}: {words.reason}" if words.reason else words.title)

    @staticmethod
    def _absolute(backend: Backend, path: str) -> str:
        return f"{backend.cwd.rstrip('/')}/{path}"

    def folder(self) -> str:
        """The folder that is chosen, or that of the chosen file; relative, empty for the top."""
        if self._info is not None and self._info.kind == "dir":
            return self._path
        return posixpath.dirname(self._path)

    # -- copying ---------------------------------------------------------------------------------

    def _choose_upload(self) -> None:
        dialog = QFileDialog(self.window(), tr("Upload files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda paths: self.upload([Path(p) for p in paths]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def upload(self, sources: list[Path]) -> None:
        """Copy files of this computer into the chosen folder."""
        if self._backend is not None:
            work = self._upload(self._backend, sources, self.folder())
            self._tasks.replace(self._copying(work), name="copy")

    async def _upload(self, backend: Backend, sources: list[Path], folder: str) -> None:
        for source in sources:
            path = self._absolute(backend, posixpath.join(folder, source.name))
            self._size = (await asyncio.to_thread(source.stat)).st_size
            name = source.name
            self.progress.begin(lambda name=name: tr("Uploading {name}", name=name))
            try:
                await upload(backend, source, path, self._copied.push)
            except WorkspaceError as error:
                if error.code != "file.exists":
                    raise
                if await self._replace(name):
                    await upload(backend, source, path, self._copied.push, replace=True)
        self.model.refresh()

    async def _replace(self, name: str) -> bool:
        return await confirm(
            self.window(),
            title=tr("Replace {name}?", name=name),
            text=tr("A file of that name is there already. Its content would be lost."),
            action=tr("Replace"),
            danger=True,
        )

    def _choose_download(self) -> None:
        dialog = QFileDialog(self.window(), tr("Save as"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(posixpath.basename(self._path))
        dialog.fileSelected.connect(lambda path: self.download(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def download(self, target: Path) -> None:
        """Copy the chosen file to this computer."""
        if self._backend is not None and self._info is not None:
            self._size = self._info.size
            name = posixpath.basename(self._path)
            self.progress.begin(lambda: tr("Downloading {name}", name=name))
            path = self._absolute(self._backend, self._path)
            work = download(self._backend, path, target, self._copied.push)
            self._tasks.replace(self._copying(work), name="copy")

    async def _copying(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SlipwayError as error:
            self.failed.emit(error)
        finally:
            self._copied.clear()
            self.progress.end()

    def _show_copied(self, counts: list[int]) -> None:
        done = counts[-1]
        share = min(1.0, done / self._size) if self._size else None
        self.progress.set_share(share, figures.size(done))

    def _task_failed(self, name: str, error: BaseException) -> None:
        log.error("%s failed", name, exc_info=error)
        detail = f"{type(error).__name__}: {error}"
        self.failed.emit(SlipwayError("internal.failed", what=name, error=detail))

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.model.close_tasks()
