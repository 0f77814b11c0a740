"""A workspace's files through the backend contract: the tree, and a look into the chosen one."""

from __future__ import annotations

import logging
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSplitter,
    QStackedLayout,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import Backend, FileInfo
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import figures
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.rows import RowDelegate
from desktop_app.ui.widgets.texts import MonoText
from desktop_app.ui.widgets.tree import Tree

from .model import FilesModel, InfoRole, PathRole
from .preview import preview_text, read_start

log = logging.getLogger(__name__)


class FileBrowser(Live, QWidget):
    """``chosen`` when ``path`` (relative, with "/") and ``info`` are another's; ``unreadable(code,
    params)`` when the folder itself cannot be listed. ``head`` is the row above the preview: pages
    add what can be done there."""

    chosen = Signal()
    unreadable = Signal(str, dict)

    def __init__(self, way: Qt.Orientation, ground: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = ""
        self.info: FileInfo | None = None
        self._backend: Backend | None = None
        self._tasks = Tasks(self._failed)
        self.model = FilesModel(self)
        self.model.failed.connect(self._listing_failed)
        self._build_tree(ground)
        self.preview = QWidget()
        column = QVBoxLayout(self.preview)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._build_head())
        column.addWidget(self._build_body(), 1)
        self.split = QSplitter(way)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.tree)
        self.split.addWidget(self.preview)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.split, 1)
        self.restyle()
        self.retranslate()

    def _build_tree(self, ground: str) -> None:
        self.tree = Tree()
        self.tree.setModel(self.model)
        self.tree.setUniformRowHeights(True)
        self.tree.setItemDelegate(RowDelegate(self.tree, size="tree-session"))
        self.tree.setIndentation(theme().px(16))
        self.tree.setProperty("ground", ground)
        self.tree.viewport().setProperty("ground", ground)
        self.tree.setMouseTracking(True)
        self.tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.selectionModel().currentChanged.connect(lambda now, _old: self._choose(now))

    def _build_head(self) -> QHBoxLayout:
        self.head = QHBoxLayout()
        follow(self.head, setContentsMargins=(16, 4, 8, 4), setSpacing=2)
        self.name = ElidedLabel("", role="strong", mode=Qt.TextElideMode.ElideMiddle)
        self.size_label = Label("", role="caption", tone="faint")
        self.head.addWidget(self.name, 1)
        self.head.addWidget(self.size_label)
        return self.head

    def _build_body(self) -> QWidget:
        """The beginning of the file, or a note in its place."""
        self.text = MonoText(margin=14)
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(MonoText.LineWrapMode.NoWrap)
        self.text.setProperty("bare", True)
        self.text.setProperty("ground", "sunken")
        self.note = Label("", role="small", tone="muted", wrap=True)
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.note)
        self._stack.addWidget(self.text)
        return holder

    def retranslate(self) -> None:
        self.tree.setAccessibleName(tr("Files of the workspace"))
        self.text.setAccessibleName(tr("Preview"))

    # -- what it shows ---------------------------------------------------------------------------

    def bind(self, backend: Backend | None) -> bool:
        """Show this folder; False when it is shown already."""
        if backend is self._backend:
            return False
        self._backend, self.info, self.path = backend, None, ""
        self._tasks.cancel("preview")
        self.name.set_source("")
        self.size_label.set_source("")
        self.model.set_backend(backend)
        return True

    def absolute(self, path: str) -> str:
        """A path of the tree as the backend has it."""
        cwd = self._backend.cwd if self._backend is not None else ""
        return f"{cwd.rstrip('/')}/{path}".rstrip("/") or "/"

    def say(self, words: str) -> None:
        """A note in the place of a file's content."""
        self.note.set_source(words)
        self._stack.setCurrentWidget(self.note)
        self.preview.show()

    def _choose(self, index: QModelIndex) -> None:
        info: FileInfo | None = index.data(InfoRole) if index.isValid() else None
        self.info = info
        self.path = str(index.data(PathRole)) if info is not None else ""
        self._tasks.cancel("preview")
        if info is not None:
            self.name.set_source(self.path)
            self.size_label.set_source("" if info.kind == "dir" else figures.size(info.size))
            self._look_into(info)
        self.chosen.emit()

    def _look_into(self, info: FileInfo) -> None:
        if info.kind == "dir":
            self.say(tr("A folder"))
        elif info.kind == "special":
            self.say(tr("A special file (device, pipe or socket); it is never opened"))
        elif self._backend is not None:
            self.preview.show()
            self._tasks.replace(self._load(self._backend, info), name="preview")

    async def _load(self, backend: Backend, info: FileInfo) -> None:
        try:
            data = await read_start(backend, self.absolute(self.path), info.size)
        except SlipwayError as error:
            words = describe(error.code, error.params)
            self.say(words.reason or words.title)
            return
        text = preview_text(data, info.size)
        if text is None:
            self.say(tr("A binary file of {size}", size=figures.size(info.size)))
        elif not data:
            self.say(tr("An empty file"))
        else:
            self.text.setPlainText(text)
            self._stack.setCurrentWidget(self.text)

    def _listing_failed(self, path: str, code: str, params: dict[str, Any]) -> None:
        if not path:
            self.unreadable.emit(code, params)
            return
        words = describe(code, params)
        self.say(words.reason or words.title)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("files task %s failed", name, exc_info=error)

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.model.close_tasks()
