"""The files of a workspace: tree, viewer; files and whole folders copied either way."""

from __future__ import annotations

import asyncio
import logging
import posixpath
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError, WorkspaceError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.remote.tree_tar import Moved
from desktop_app.core.workspaces.transfer import download, upload
from desktop_app.ui.bridge import Coalescer, confirm
from desktop_app.ui.errors import describe
from desktop_app.ui.files.browser import FileBrowser
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Act, Button, EmptyState, ProgressLine, figures

log = logging.getLogger(__name__)


class FilesTab(QWidget):
    """``bind`` shows a workspace's folder; None says that its machine must be started first.
    ``copied(path, left_out)`` a folder or file is on this computer, without what could not be
    brought."""

    startWanted = Signal()
    failed = Signal(object)  # SlipwayError
    copied = Signal(str, list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: LocalWorkspace | None = None
        self._size = 0
        self.copying = False  # one copy at a time: another would end it
        self._tasks = Tasks(self._task_failed)
        self._counts: Coalescer[tuple[int, int]] = Coalescer(self, self._show_copied, 100)
        self._build()

    # -- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        px = theme().px
        self.browser = FileBrowser(Qt.Orientation.Horizontal, "surface")
        self.model, self.tree, self.text = (
            *(self.browser.model, self.browser.tree),
            self.browser.text,
        )
        self.browser.split.setSizes([px(360), px(800)])
        self.browser.chosen.connect(self._chosen)
        self.browser.unreadable.connect(self._unreadable)
        self._add_acts()
        self.progress = ProgressLine()
        self.progress.setContentsMargins(px(16), px(4), px(16), px(4))
        self.progress.cancelled.connect(self._cancel)
        self._body = QWidget()
        inner = QVBoxLayout(self._body)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.progress)
        inner.addWidget(self.browser, 1)
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

    def _add_acts(self) -> None:
        px = theme().px
        head = self.browser.head
        head.setContentsMargins(px(12), px(6), px(12), px(6))
        head.setSpacing(px(8))
        self.up = Button(lambda: tr("Upload…"), glyph="upload", small=True)
        self.down = Button(lambda: tr("Download…"), glyph="download", small=True)
        self.again = Button(lambda: tr("Refresh"), glyph="refresh-cw", small=True)
        self.up.clicked.connect(self._choose_upload)
        self.down.clicked.connect(self._choose_download)
        self.again.clicked.connect(self.model.refresh)
        for button in (self.again, self.up, self.down):
            head.addWidget(button)

    # -- what it shows ---------------------------------------------------------------------------

    def bind(self, workspace: LocalWorkspace | None) -> None:
        """Show its folder; the same one again changes nothing."""
        self._body.setVisible(workspace is not None)
        self.stopped.setVisible(workspace is None)
        if workspace is self._workspace:
            return
        self._workspace = workspace
        self._cancel()
        self.browser.bind(workspace.get_backend() if workspace is not None else None)
        self.browser.say(tr("Choose a file to look into it."))
        self._chosen()

    def _chosen(self) -> None:
        info = self.browser.info
        self.up.setEnabled(not self.copying)
        self.down.setEnabled(not self.copying and info is not None and info.kind != "special")

    def _unreadable(self, code: str, params: dict[str, Any]) -> None:
        words = describe(code, params)
        self.browser.say(f"{words.title}: {words.reason}" if words.reason else words.title)

    def folder(self) -> str:
        """The folder that is chosen, or that of the chosen file; relative, empty for the top."""
        info = self.browser.info
        if info is not None and info.kind == "dir":
            return self.browser.path
        return posixpath.dirname(self.browser.path)

    # -- to the workspace ------------------------------------------------------------------------

    def _choose_upload(self) -> None:
        dialog = QFileDialog(self.window(), tr("Upload files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda paths: self.upload([Path(p) for p in paths]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def upload(self, sources: list[Path]) -> None:
        """Copy files of this computer into the chosen folder."""
        if self._workspace is not None and not self.copying:
            self._copy(self._upload(self._workspace, sources, self.folder()))

    def _copy(self, work: Coroutine[Any, Any, None]) -> None:
        self.copying = True
        self._chosen()
        self._tasks.replace(self._copying(work), name="copy")

    async def _upload(self, workspace: LocalWorkspace, sources: list[Path], folder: str) -> None:
        backend = workspace.get_backend()
        for source in sources:
            path = self.browser.absolute(posixpath.join(folder, source.name))
            self._size = (await asyncio.to_thread(source.stat)).st_size
            name = source.name
            self.progress.begin(lambda name=name: tr("Uploading {name}", name=name))
            try:
                await upload(backend, source, path, self._count)
            except WorkspaceError as error:
                if error.code != "file.exists":
                    raise
                if await self._replace(name):
                    await upload(backend, source, path, self._count, replace=True)
        self.model.refresh()

    async def _replace(self, name: str) -> bool:
        return await confirm(
            self.window(),
            title=tr("Replace {name}?", name=name),
            text=tr("A file of that name is there already. Its content would be lost."),
            action=tr("Replace"),
            danger=True,
        )

    # -- to this computer ------------------------------------------------------------------------

    def _choose_download(self) -> None:
        dialog = QFileDialog(self.window(), tr("Save as"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(posixpath.basename(self.browser.path))
        dialog.fileSelected.connect(lambda path: self.download(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def download(self, target: Path) -> None:
        """Copy the chosen file or folder to this computer: whole, or not at all. A folder is never
        put over one that is there."""
        info, workspace = self.browser.info, self._workspace
        if workspace is None or info is None or self.copying:
            return
        name = posixpath.basename(self.browser.path)
        self.progress.begin(lambda: tr("Downloading {name}", name=name))
        path = self.browser.absolute(self.browser.path)
        if info.kind == "dir":
            self._size = 0  # nobody knows before it is over
            work = self._download_folder(workspace, path, target)
        else:
            self._size = info.size
            work = self._download_file(workspace, path, target)
        self._copy(work)

    async def _download_file(self, workspace: LocalWorkspace, path: str, target: Path) -> None:
        await download(workspace.get_backend(), path, target, self._count)
        self.copied.emit(str(target), [])

    async def _download_folder(self, workspace: LocalWorkspace, path: str, target: Path) -> None:
        def tell(moved: Moved) -> None:
            self._counts.push((moved.bytes, moved.files))

        moved = await workspace.download(path, target, tell=tell)
        self.copied.emit(str(target), moved.left_out)

    # -- how far it is ---------------------------------------------------------------------------

    def _count(self, done: int) -> None:
        self._counts.push((done, 0))

    def _cancel(self) -> None:
        self._tasks.cancel("copy")
        self.copying = False  # one that had not begun cannot say so itself
        self._chosen()

    async def _copying(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SlipwayError as error:
            self.failed.emit(error)
        finally:
            self.copying = False
            self._chosen()
            self._counts.clear()
            self.progress.end()

    def _show_copied(self, counts: list[tuple[int, int]]) -> None:
        done, files = counts[-1]
        share = min(1.0, done / self._size) if self._size else None
        said = figures.size(done)
        if files:
            said = trn("{size}, {n} file", "{size}, {n} files", files, size=said)
        self.progress.set_share(share, said)

    def _task_failed(self, name: str, error: BaseException) -> None:
        log.error("%s failed", name, exc_info=error)
        detail = f"{type(error).__name__}: {error}"
        self.failed.emit(SlipwayError("internal.failed", what=name, error=detail))

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.browser.close_tasks()
