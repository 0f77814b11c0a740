"""The working folder as a tree, listed through the backend when a folder is opened."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import Backend, FileInfo
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import figures
from desktop_app.ui.widgets.rows import Role

Index = QModelIndex | QPersistentModelIndex
InfoRole = Qt.ItemDataRole.UserRole + 1
PathRole = Qt.ItemDataRole.UserRole + 2
log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Node:
    """One entry. ``state``: children not asked for, being read, there, or could not be read."""

    info: FileInfo | None
    path: str  # relative to the root, "" for the root
    parent: Node | None = None
    row: int = 0
    children: list[Node] = field(default_factory=list["Node"])
    state: str = "unknown"  # unknown, reading, read, failed


def in_order(infos: list[FileInfo]) -> list[FileInfo]:
    """Folders first, then by name without case, as people read them."""
    return sorted(infos, key=lambda i: (i.kind != "dir", i.name.casefold(), i.name))


class FilesModel(QAbstractItemModel):
    """Lazy: a folder is read when the view asks for more of it. ``set_touched`` marks what the
    agent changed in this session. ``failed(path, code, params)``."""

    failed = Signal(str, str, dict)
    loaded = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._backend: Backend | None = None
        self._root = Node(None, "")
        self._touched: dict[str, str] = {}
        self._tasks = Tasks(self._task_failed)

    # -- what it shows ----------------------------------------------------------------------

    def set_backend(self, backend: Backend | None) -> None:
        """Show another folder; nothing is read before a view asks."""
        self._tasks.cancel("refresh")
        self.beginResetModel()
        self._backend = backend
        self._root = Node(None, "")
        if backend is None:
            self._root.state = "read"
        self.endResetModel()

    def set_touched(self, touched: dict[str, str]) -> None:
        """Paths (as the model of the agent wrote them) to the tool that changed them."""
        cwd = self._backend.cwd.rstrip("/") + "/" if self._backend is not None else ""
        made: dict[str, str] = {}
        for path, tool in touched.items():
            name = path.removeprefix(cwd) if cwd else path
            made[name.removeprefix("./")] = tool
        if made != self._touched:
            self._touched = made
            self._marks_changed(self._root)

    def _marks_changed(self, node: Node) -> None:
        if node.children:
            top, bottom = node.children[0], node.children[-1]
            self.dataChanged.emit(self._index(top), self._index(bottom))
            for child in node.children:
                if child.children:
                    self._marks_changed(child)

    def refresh(self) -> None:
        """Read every folder that is open in the model again; what did not change stays."""
        if self._backend is not None:
            self._tasks.replace(self._refresh(self._backend), name="refresh")

    async def _refresh(self, backend: Backend) -> None:
        folders = [self._root]
        while folders:
            node = folders.pop()
            if node.state != "read":
                continue
            try:
                infos = await self._list(backend, node)
            except SlipwayError:
                continue  # gone meanwhile: its parent shows it
            self._merge(node, infos)
            folders += [c for c in node.children if c.state == "read"]

    async def close_tasks(self) -> None:
        await self._tasks.close()

    def _task_failed(self, name: str, error: BaseException) -> None:
        log.error("files task %s failed", name, exc_info=error)

    # -- reading ----------------------------------------------------------------------------

    async def _list(self, backend: Backend, node: Node) -> list[FileInfo]:
        path = f"{backend.cwd.rstrip('/')}/{node.path}".rstrip("/") or "/"
        found: list[FileInfo] = []
        async for batch in backend.scandir(path):
            found += batch
        if len(found) > 2000:
            return await asyncio.to_thread(in_order, found)
        return in_order(found)

    async def _load(self, backend: Backend, node: Node) -> None:
        try:
            infos = await self._list(backend, node)
        except SlipwayError as error:
            node.state = "failed"
            self.failed.emit(node.path, error.code, error.params)
            return
        if backend is not self._backend:
            return
        node.state = "read"
        if infos:
            self.beginInsertRows(self._index(node), 0, len(infos) - 1)
            node.children = [self._node(info, node, row) for row, info in enumerate(infos)]
            self.endInsertRows()
        self.loaded.emit(node.path)

    def _node(self, info: FileInfo, parent: Node, row: int) -> Node:
        path = f"{parent.path}/{info.name}" if parent.path else info.name
        state = "unknown" if info.kind == "dir" else "read"
        return Node(info, path, parent, row, state=state)

    def _merge(self, node: Node, infos: list[FileInfo]) -> None:
        """Bring a folder up to date: remove, then insert, each run of rows at once."""
        fresh = {info.name: info for info in infos}
        for row in range(len(node.children) - 1, -1, -1):
            child = node.children[row]
            now = fresh.get(child.info.name) if child.info else None
            if now is None or child.info is None or now.kind != child.info.kind:
                self.beginRemoveRows(self._index(node), row, row)
                del node.children[row]
                self._number(node, row)
                self.endRemoveRows()
            elif now != child.info:
                child.info = now
                self.dataChanged.emit(self._index(child), self._index(child))
        known = {c.info.name for c in node.children if c.info}
        for row, info in enumerate(infos):
            if info.name not in known:
                self.beginInsertRows(self._index(node), row, row)
                node.children.insert(row, self._node(info, node, row))
                self._number(node, row)
                self.endInsertRows()

    def _number(self, node: Node, start: int) -> None:
        for row in range(start, len(node.children)):
            node.children[row].row = row

    # -- as an item model -------------------------------------------------------------------

    def _at(self, index: Index) -> Node:
        return index.internalPointer() if index.isValid() else self._root

    def _index(self, node: Node) -> QModelIndex:
        if node.parent is None:
            return QModelIndex()
        return self.createIndex(node.row, 0, node)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        node = self._at(parent)
        if column != 0 or not 0 <= row < len(node.children):
            return QModelIndex()
        return self.createIndex(row, 0, node.children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        node = self._at(index)
        return self._index(node.parent) if node.parent is not None else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._at(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        node = self._at(parent)
        if node.info is not None and node.info.kind != "dir":
            return False
        return bool(node.children) or node.state in ("unknown", "reading")

    def canFetchMore(self, parent: Index) -> bool:
        node = self._at(parent)
        return node.state == "unknown" and self._backend is not None

    def fetchMore(self, parent: Index) -> None:
        node = self._at(parent)
        if node.state == "unknown" and self._backend is not None:
            node.state = "reading"
            self._tasks.start(self._load(self._backend, node), name=f"list {node.path}")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node = self._at(index)
        info = node.info
        if info is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return info.name
            case Qt.ItemDataRole.ToolTipRole:
                size = "" if info.kind == "dir" else f"  {figures.size(info.size)}"
                return f"{node.path}{size}"
            case Role.ICON:
                return {"dir": "folder", "link": "file-symlink", "special": "file-x"}.get(
                    info.kind, "file"
                )
            case Role.BADGE:
                return self._badge(node)
            case _:
                pass
        if role == InfoRole:
            return info
        return node.path if role == PathRole else None

    def _badge(self, node: Node) -> tuple[str, str, str | None] | None:
        tool = self._touched.get(node.path)
        if tool is not None:
            return (tr("written") if tool == "Write" else tr("changed"), "accent", None)
        if node.info is not None and node.info.kind == "dir":
            inside = f"{node.path}/"
            if node.state != "read" and any(p.startswith(inside) for p in self._touched):
                return (tr("changed"), "accent", None)
        return None
