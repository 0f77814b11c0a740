"""The tree of workspaces and their sessions as a Qt item model."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, TypeVar

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Role

from .when import short_ago

Index = QModelIndex | QPersistentModelIndex

KIND_ICONS = {"local": "folder", "docker": "container", "e2b": "cloud"}
ItemRole = Qt.ItemDataRole.UserRole + 1  # WorkspaceSummary or SessionSummary

_WORKSPACE_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_SESSION_FLAGS = _WORKSPACE_FLAGS | Qt.ItemFlag.ItemNeverHasChildren

_STATE_GLYPH = {
    "ready": "",
    "missing": "failed",
    "unreadable": "failed",
    "readonly": "idle",
    "stopped": "idle",
    "paused": "paused",
    "starting": "busy",
    "error": "failed",
}
_SESSION_GLYPH = {
    "idle": "",
    "running": "busy",
    "parked": "waiting",
    "interrupted": "warning",
    "readonly": "",
    "elsewhere": "idle",
}


def workspace_note(ws: WorkspaceSummary) -> str:
    """The caption of a workspace's row: what is wrong with it, or how many sessions it has."""
    match ws.info.state:
        case "missing":
            return tr("not found")
        case "unreadable":
            return tr("no access")
        case "readonly":
            return tr("in use") if "code" in ws.info.params else tr("read-only")
        case "starting":
            return tr("starting")
        case "stopped":
            return tr("stopped")
        case "paused":
            return tr("paused")
        case "error":
            return tr("error")
        case _:
            pass
    if not ws.info.trusted:
        return tr("restricted")
    return trn("{n} session", "{n} sessions", len(ws.sessions)) if ws.sessions else ""


def session_note(session: SessionSummary) -> str:
    """The caption of a session's row."""
    match session.state:
        case "running":
            return tr("now")
        case "parked":
            return tr("approval")
        case "readonly":
            return tr("read-only")
        case "elsewhere":
            return tr("open elsewhere")
        case _:
            return short_ago(session.updated_us)


T = TypeVar("T")


def _run(ids: Sequence[T], first: int, known: Container[T]) -> int:
    """The end of the run of unknown ids that begins at ``first``."""
    end = first + 1
    while end < len(ids) and ids[end] not in known:
        end += 1
    return end


class WorkspaceTreeModel(QAbstractItemModel):
    """Two levels. ``replace`` keeps persistent indexes of what is still there, so that selection
    and expansion survive every refresh."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[WorkspaceSummary] = []
        self._uids: dict[str, int] = {}  # workspace id -> number in its sessions' indexes
        self._ids: list[str] = []
        self._places: dict[str, int] | None = {}  # workspace id -> row; None: to be made anew

    def _uid(self, workspace_id: str) -> int:
        if workspace_id not in self._uids:
            self._ids.append(workspace_id)
            self._uids[workspace_id] = len(self._ids)
        return self._uids[workspace_id]

    def _row_of(self, uid: int) -> int:
        if self._places is None:
            self._places = {ws.info.id: row for row, ws in enumerate(self._rows)}
        return self._places.get(self._ids[uid - 1], -1)

    def replace(self, rows: list[WorkspaceSummary]) -> None:
        """Show ``rows``; only what came, went, moved or changed is told to views."""
        self._sync_top([r.info.id for r in rows], {r.info.id: r for r in rows})
        for row, new in enumerate(rows):
            old = self._rows[row]
            if old is not new and old != new:
                self._sync_sessions(row, new)

    def _sync_top(self, ids: list[str], new: dict[str, WorkspaceSummary]) -> None:
        root = QModelIndex()
        for row in range(len(self._rows) - 1, -1, -1):
            if self._rows[row].info.id not in new:
                self.beginRemoveRows(root, row, row)
                del self._rows[row]
                self._places = None
                self.endRemoveRows()
        have = [w.info.id for w in self._rows]
        known = set(have)
        row = 0
        while row < len(ids):
            if ids[row] not in known:  # with all that come beside it, sessions included
                end = _run(ids, row, known)
                self.beginInsertRows(root, row, end - 1)
                self._rows[row:row] = [new[key] for key in ids[row:end]]
                have[row:row] = ids[row:end]
                self._places = None
                self.endInsertRows()
                row = end
                continue
            if have[row] != ids[row]:  # everything before is in its place: it comes from below
                old = have.index(ids[row], row)
                self.beginMoveRows(root, old, old, root, row)
                self._rows.insert(row, self._rows.pop(old))
                have.insert(row, have.pop(old))
                self._places = None
                self.endMoveRows()
            row += 1

    def _sync_sessions(self, row: int, new: WorkspaceSummary) -> None:
        parent = self.index(row, 0)
        current = list(self._rows[row].sessions)
        ids = [s.key for s in new.sessions]
        wanted = set(ids)

        def put() -> None:
            self._rows[row] = WorkspaceSummary(new.info, tuple(current))

        for i in range(len(current) - 1, -1, -1):
            if current[i].key not in wanted:
                self.beginRemoveRows(parent, i, i)
                del current[i]
                put()
                self.endRemoveRows()
        have = [s.key for s in current]
        known = set(have)
        i = 0
        while i < len(ids):
            if ids[i] not in known:
                end = _run(ids, i, known)
                self.beginInsertRows(parent, i, end - 1)
                current[i:i] = new.sessions[i:end]
                have[i:i] = ids[i:end]
                put()
                self.endInsertRows()
                i = end
                continue
            if have[i] != ids[i]:
                old = have.index(ids[i], i)
                self.beginMoveRows(parent, old, old, parent, i)
                current.insert(i, current.pop(old))
                have.insert(i, have.pop(old))
                put()
                self.endMoveRows()
            if current[i] != new.sessions[i]:
                current[i] = new.sessions[i]
                put()
                index = self.index(i, 0, parent)
                self.dataChanged.emit(index, index)
            i += 1
        put()
        self.dataChanged.emit(parent, parent)

    def retranslate(self) -> None:
        """Words changed: every caption is asked for again."""
        for row in range(len(self._rows)):
            parent = self.index(row, 0)
            self.dataChanged.emit(parent, parent)
            if count := self.rowCount(parent):
                self.dataChanged.emit(self.index(0, 0, parent), self.index(count - 1, 0, parent))

    def find(self, session_id: str) -> QModelIndex:
        """The index of a session, invalid when it is not here."""
        for row, ws in enumerate(self._rows):
            for i, session in enumerate(ws.sessions):
                if session.key.session_id == session_id:
                    return self.index(i, 0, self.index(row, 0))
        return QModelIndex()

    def find_workspace(self, workspace_id: str) -> QModelIndex:
        for row, ws in enumerate(self._rows):
            if ws.info.id == workspace_id:
                return self.index(row, 0)
        return QModelIndex()

    # -- QAbstractItemModel: internalId is 0 for a workspace, the workspace's number below it ------
    # (a number, not a row, so that a persistent index survives when workspaces move)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        if column or row < 0:
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, 0, 0) if row < len(self._rows) else QModelIndex()
        if parent.internalId() or parent.row() >= len(self._rows):
            return QModelIndex()
        if row >= len(self._rows[parent.row()].sessions):
            return QModelIndex()
        return self.createIndex(row, 0, self._uid(self._rows[parent.row()].info.id))

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 # type: ignore[override]
        if not index.isValid() or not index.internalId():
            return QModelIndex()
        row = self._row_of(index.internalId())
        return self.createIndex(row, 0, 0) if row >= 0 else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if not parent.isValid():
            return len(self._rows)
        if parent.internalId() or parent.row() >= len(self._rows):
            return 0
        return len(self._rows[parent.row()].sessions)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if not index.internalId():
            return self._workspace_data(self._rows[index.row()], role)
        row = self._row_of(index.internalId())
        if row < 0 or index.row() >= len(self._rows[row].sessions):
            return None
        return self._session_data(self._rows[row].sessions[index.row()], role)

    def _workspace_data(self, ws: WorkspaceSummary, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return ws.info.name
        if role == ItemRole:
            return ws
        if role == Role.TIME:
            return workspace_note(ws)
        if role == Role.ICON:
            return KIND_ICONS.get(ws.info.backend, "folder")
        if role == Role.STRONG:
            return True
        if role == Role.STATE:
            busy = any(s.state == "parked" for s in ws.sessions)
            return _STATE_GLYPH[ws.info.state] or ("waiting" if busy else "")
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(t for t in (ws.info.folder, workspace_note(ws)) if t)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(t for t in (tr("Workspace"), ws.info.name, workspace_note(ws)) if t)
        return None

    def _session_data(self, session: SessionSummary, role: int) -> Any:
        title = session.title or tr("New session")
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return title
        if role == ItemRole:
            return session
        if role == Role.TIME:
            return session_note(session)
        if role == Role.STATE_LEFT:
            # "none" keeps the place, so that titles stand in one line
            return _SESSION_GLYPH[session.state] or (None if session.pinned else "none")
        if role == Role.ICON:
            return "pin" if session.pinned else None
        if role == Qt.ItemDataRole.ToolTipRole:
            also = {
                "interrupted": tr("interrupted"),
                "elsewhere": tr("Another window or program is at work in it."),
            }.get(session.state)
            return f"{title}\n{also}" if also else title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(t for t in (tr("Session"), title, session_note(session)) if t)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _SESSION_FLAGS if index.internalId() else _WORKSPACE_FLAGS
