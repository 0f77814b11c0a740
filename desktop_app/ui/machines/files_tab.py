"""The files of a workspace: tree, viewer; files and whole folders copied either way."""

from __future__ import annotations

import asyncio
import contextlib
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
from desktop_app.core.workspaces.transfer import (
    download,
    free_name,
    upload,
    upload_tree,
    weigh,
)
from desktop_app.ui.bridge import Coalescer, confirm
from desktop_app.ui.errors import describe
from desktop_app.ui.files.browser import FileBrowser
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import icon, theme
from desktop_app.ui.widgets import Act, Button, EmptyState, Menu, ProgressLine, figures
from desktop_app.ui.widgets.base import Live, follow

from .files_drop import FileDrops

log = logging.getLogger(__name__)


class FilesTab(Live, QWidget):
    """``bind`` shows a workspace's folder; None says that its machine must be started first.
    ``copied(path, left_out)`` a folder or file is on this computer, without what could not be
    brought; ``uploaded(name, left_out)`` a folder is in the workspace."""

    startWanted = Signal()
    uploaded = Signal(str, list)
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
        self.drops = FileDrops(self, self.browser)
        self.drops.dropped.connect(lambda paths, folder: self.upload(paths, folder))
        self._add_acts()
        self.progress = ProgressLine()
        follow(self.progress, setContentsMargins=(16, 4, 16, 4))
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
        head = self.browser.head
        follow(head, setContentsMargins=(12, 6, 12, 6), setSpacing=8)
        self.up = Button(lambda: tr("Upload…"), glyph="upload", small=True)
        self.down = Button(lambda: tr("Download…"), glyph="download", small=True)
        self.again = Button(lambda: tr("Refresh"), glyph="refresh-cw", small=True)
        menu = Menu(parent=self.up)
        menu.addAction(icon("file"), "", self._choose_files)
        menu.addAction(icon("folder"), "", self._choose_folder)
        self.up.setMenu(menu)
        self.down.clicked.connect(self._choose_download)
        self.again.clicked.connect(self.model.refresh)
        for button in (self.again, self.up, self.down):
            head.addWidget(button)
        self.retranslate()

    def retranslate(self) -> None:
        if (menu := self.up.menu()) is not None:
            for action, words in zip(menu.actions(), (tr("Files…"), tr("A folder…")), strict=True):
                action.setText(words)
        self._may_drop()

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
        self._may_drop()

    def _may_drop(self) -> None:
        busy = tr("One copy at a time: this one first") if self.copying else ""
        asleep = tr("Its files can be seen while it runs") if self._workspace is None else ""
        self.drops.why_not = asleep or busy

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

    def _choose_files(self) -> None:
        self._choose(tr("Upload files"), QFileDialog.FileMode.ExistingFiles)

    def _choose_folder(self) -> None:
        self._choose(tr("Upload a folder"), QFileDialog.FileMode.Directory)

    def _choose(self, title: str, mode: QFileDialog.FileMode) -> None:
        dialog = QFileDialog(self.window(), title)
        dialog.setFileMode(mode)
        if mode == QFileDialog.FileMode.Directory:
            dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.filesSelected.connect(lambda paths: self.upload([Path(p) for p in paths]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def upload(self, sources: list[Path], folder: str | None = None) -> None:
        """Copy files and folders of this computer into a folder of it, the chosen one for None."""
        if self._workspace is not None and not self.copying and sources:
            into = self.folder() if folder is None else folder
            self._copy(self._upload(self._workspace, sources, into))

    def _copy(self, work: Coroutine[Any, Any, None]) -> None:
        self.copying = True
        self._chosen()
        self._tasks.replace(self._copying(work), name="copy")

    async def _upload(self, workspace: LocalWorkspace, sources: list[Path], folder: str) -> None:
        try:
            for place, source in enumerate(sources, 1):
                path = self.browser.absolute(posixpath.join(folder, source.name))
                self._begin(source.name, place, len(sources))
                if await asyncio.to_thread(source.is_dir):
                    await self._upload_folder(workspace, source, path)
                else:
                    await self._upload_file(workspace, source, path)
        finally:
            self.model.refresh()  # also what came before it failed or was stopped

    def _begin(self, name: str, place: int, of: int) -> None:
        self._counts.clear()
        self._size = 0
        if of == 1:
            self.progress.begin(lambda: tr("Uploading {name}", name=name))
        else:
            self.progress.begin(
                lambda: tr("Uploading {name}, {n} of {all}", name=name, n=place, all=of)
            )

    async def _upload_file(self, workspace: LocalWorkspace, source: Path, path: str) -> None:
        backend = workspace.get_backend()
        with contextlib.suppress(OSError):  # the upload says why
            self._size = (await asyncio.to_thread(source.stat)).st_size
        try:
            await upload(backend, source, path, self._count)
        except WorkspaceError as error:
            if error.code != "file.exists":
                raise
            if await self._replace(source.name):
                await upload(backend, source, path, self._count, replace=True)

    async def _upload_folder(self, workspace: LocalWorkspace, source: Path, path: str) -> None:
        """Whole, or not at all; never over one that is there."""
        free = await free_name(workspace.get_backend(), path)
        if free != path and not await self._keep_both(source.name, posixpath.basename(free)):
            return
        self._size = (await weigh(source)).bytes
        moved = await upload_tree(workspace, source, free, self._count_tree)
        self.uploaded.emit(posixpath.basename(free), moved.left_out)

    async def _keep_both(self, name: str, free: str) -> bool:
        return await confirm(
            self.window(),
            title=tr("Keep both folders?"),
            text=tr(
                "“{name}” is there already and stays as it is. The folder from this computer is "
                "uploaded as “{free}”.",
                name=name,
                free=free,
            ),
            action=tr("Keep both"),
        )

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
        moved = await workspace.download(path, target, tell=self._count_tree)
        self.copied.emit(str(target), moved.left_out)

    # -- how far it is ---------------------------------------------------------------------------

    def _count(self, done: int) -> None:
        self._counts.push((done, 0))

    def _count_tree(self, moved: Moved) -> None:
        self._counts.push((moved.bytes, moved.files))

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
