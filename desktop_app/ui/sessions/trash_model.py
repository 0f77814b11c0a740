"""The trash without a widget: what is in it, taking out, removing for good."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from desktop_app.core.catalog import SessionSummary
from desktop_app.core.errors import SlipwayError
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.tasks import Tasks
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.rows import Role

Index = QModelIndex | QPersistentModelIndex


class TrashModel(QAbstractListModel):
    """Sessions in the trash. ``where(session)`` gives (workspace, when) in words. ``changed`` when
    the list came, ``failed(error)``, ``purged(key)`` for each session that is gone."""

    changed = Signal()
    failed = Signal(object)
    purged = Signal(object)

    def __init__(
        self,
        service: Slipway,
        where: Callable[[SessionSummary], tuple[str, str]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._where = where
        self.sessions: list[SessionSummary] = []
        self._tasks = Tasks(lambda _name, error: self.failed.emit(error))

    def load(self) -> None:
        self._tasks.replace(self._load(), name="trash")

    async def _load(self) -> None:
        found = await self._service.trash()
        self.beginResetModel()
        self.sessions = found
        self.endResetModel()
        self.changed.emit()

    def restore(self, keys: Sequence[SessionKey]) -> None:
        """Back into their workspaces."""
        self._each(keys, self._service.restore_session)

    def purge(self, keys: Sequence[SessionKey]) -> None:
        """Remove for good; the person has been asked."""
        self._each(keys, self._purge)

    async def _purge(self, key: SessionKey) -> None:
        await self._service.purge_session(key)
        self.purged.emit(key)

    def _each(
        self, keys: Sequence[SessionKey], do: Callable[[SessionKey], Coroutine[Any, Any, None]]
    ) -> None:
        self._tasks.start(self._all(list(keys), do), name="empty the trash")

    async def _all(
        self, keys: list[SessionKey], do: Callable[[SessionKey], Coroutine[Any, Any, None]]
    ) -> None:
        for key in keys:
            try:
                await do(key)
            except SlipwayError as error:
                self.failed.emit(error)
        await self._load()

    async def close(self) -> None:
        await self._tasks.close()

    # -- rows -------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.sessions)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.sessions):
            return None
        session = self.sessions[index.row()]
        title = session.title or tr("New session")
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return title
        if role == Role.ICON:
            return "message-square"
        workspace, when = self._where(session)
        workspace = workspace or tr("A workspace that is not listed")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (title, workspace, when) if part)
        table: dict[int, Any] = {Role.DETAIL: workspace, Role.TIME: when}
        return table.get(role)
