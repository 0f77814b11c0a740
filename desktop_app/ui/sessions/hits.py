"""What a search in everything found, as rows: a head for each session, its places below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_app.core.sessions.index import Hit
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.rows import Role

Index = QModelIndex | QPersistentModelIndex
HIT = Qt.ItemDataRole.UserRole + 220
_ICONS = {"user": "user", "assistant": "message-square", "tool": "terminal", "title": "text-cursor"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session is, in words: its workspace and how long ago it was used."""

    workspace: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    note: str = ""
    hit: Hit | None = None


def said_by(role: str) -> str:
    """Who said what was found."""
    match role:
        case "user":
            return tr("You")
        case "tool":
            return tr("Tool result")
        case "title":
            return tr("Title")
        case _:
            return tr("Assistant")


class HitsModel(QAbstractListModel):
    """``fill`` takes the hits as the index gives them: those of a session follow each other."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []

    def fill(self, hits: Sequence[Hit], place: Callable[[Hit], Place | None]) -> int:
        """Show ``hits``; those whose place is None are left out. Returns how many are shown."""
        self.beginResetModel()
        self._rows = []
        shown, last = 0, None
        for hit in hits:
            found = place(hit)
            if found is None:
                continue
            if hit.key != last:
                last = hit.key
                note = " · ".join(part for part in (found.workspace, found.when) if part)
                self._rows.append(_Row(hit.title or tr("New session"), note))
            self._rows.append(_Row(hit.line, hit=hit))
            shown += 1
        self.endResetModel()
        return shown

    def clear(self) -> None:
        self.beginResetModel()
        self._rows = []
        self.endResetModel()

    def hit(self, row: int) -> Hit | None:
        return self._rows[row].hit if 0 <= row < len(self._rows) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        if not index.isValid() or self._rows[index.row()].hit is None:
            return flag.NoItemFlags
        return flag.ItemIsEnabled | flag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text
        hit = row.hit
        if hit is None:
            head: dict[int, Any] = {Role.HEADER: True, Role.DETAIL: row.note}
            return head.get(role)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{hit.title}, {said_by(hit.role)}: {row.text}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return said_by(hit.role)
        table: dict[int, Any] = {
            Role.ICON: _ICONS.get(hit.role, "message-square"),
            Role.HITS: [(start, end - start) for start, end in hit.spans],
            HIT: hit,
        }
        return table.get(role)
