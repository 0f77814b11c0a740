"""What the palette lists: groups of entries, best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.rows import Role

from .fuzzy import Match, match

KEYS = Qt.ItemDataRole.UserRole + 200
ENTRY = Qt.ItemDataRole.UserRole + 201
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Entry:
    """A thing to choose: a command, a session, a file. ``words`` are searched but not shown."""

    id: str
    title: str
    run: Callable[[], object]
    detail: str = ""
    icon: str | None = None
    keys: str = ""
    words: str = ""


Source = Callable[[str], Sequence[Entry]]
"""Gives entries for a query, quickly (from memory). What comes later calls the palette's
``refresh``. Entries are ranked and filtered by the palette."""


@dataclass(frozen=True, slots=True)
class _Row:
    title: str
    entry: Entry | None = None
    hits: tuple[tuple[int, int], ...] = ()


def rank(query: str, entries: Sequence[Entry], limit: int) -> list[tuple[Entry, Match]]:
    """The entries that fit, best first; a fit in the title counts before one in other words."""
    found: list[tuple[Entry, Match]] = []
    for entry in entries:
        fit = match(query, entry.title)
        if fit is None:
            other = match(query, f"{entry.title} {entry.detail} {entry.words}")
            fit = Match(other.score / 4, ()) if other else None
        if fit is not None:
            found.append((entry, fit))
    if query.strip():
        found.sort(key=lambda pair: -pair[1].score)
    return found[:limit]


class PaletteModel(QAbstractListModel):
    """Rows: headers of groups (not selectable) and entries."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self.found = 0

    def fill(
        self, query: str, groups: Sequence[tuple[str, Sequence[Entry]]], limit: int = 50
    ) -> None:
        """Show what fits ``query`` in ``groups`` (title and entries; the first title is left out
        while something is typed, its best hit is what Enter runs)."""
        self.beginResetModel()
        self._rows = []
        self.found = 0
        for title, entries in groups:
            ranked = rank(query, entries, limit)
            if not ranked:
                continue
            if title and (self._rows or not query.strip()):
                self._rows.append(_Row(title))
            self._rows += [_Row(e.title, e, fit.hits) for e, fit in ranked]
            self.found += len(ranked)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        if not index.isValid() or self._rows[index.row()].entry is None:
            return flag.NoItemFlags
        return flag.ItemIsEnabled | flag.ItemIsSelectable

    def entry(self, row: int) -> Entry | None:
        return self._rows[row].entry if 0 <= row < len(self._rows) else None

    def next(self, row: int, step: int) -> int:
        """The next entry from ``row`` on, around the ends; -1 when there is none."""
        count = len(self._rows)
        for _ in range(count):
            row = (row + step) % count
            if self._rows[row].entry is not None:
                return row
        return -1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        entry = row.entry
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if entry is None:
            return True if role == Role.HEADER else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(filter(None, (entry.title, entry.detail, entry.keys)))
        table: dict[int, Any] = {
            Role.ICON: entry.icon,
            Role.DETAIL: entry.detail,
            Role.HITS: list(row.hits),
            KEYS: entry.keys,
            ENTRY: entry,
        }
        return table.get(role)


def count_words(n: int) -> str:
    return tr("{n} found", n=n) if n else tr("Nothing found")
