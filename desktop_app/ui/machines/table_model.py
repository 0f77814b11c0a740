"""The rows of the table: filtered, sorted, kept fresh without moving what did not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from desktop_app.core.overview import OverviewRow
from desktop_app.ui.i18n import tr

from .columns import COLUMNS, describe_row

Index = QModelIndex | QPersistentModelIndex
RowRole = Qt.ItemDataRole.UserRole + 1
GROUPS: dict[str, tuple[str, ...]] = {
    "running": ("ready", "readonly", "starting"),
    "stopped": ("stopped", "paused"),
    "trouble": ("missing", "unreadable", "error"),
}


class TableModel(QAbstractTableModel):
    """``put`` takes rows that changed, in any number, and tells views only of the cells that look
    different. ``counted`` follows changes of how many there are of each kind."""

    counted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._every: dict[str, OverviewRow] = {}
        self._shown: list[OverviewRow] = []
        self._places: dict[str, int] = {}
        self._column, self._up = -1, True  # -1: the person's own order
        self._kind = self._group = self._text = ""

    # -- what there is ---------------------------------------------------------------------------

    def replace(self, rows: Iterable[OverviewRow]) -> None:
        """All of them anew, in the person's order."""
        self._every = {row.id: row for row in rows}
        self._arrange()
        self.counted.emit()

    def put(self, rows: Iterable[OverviewRow], gone: Iterable[str] = ()) -> None:
        """Rows that changed or came, and ids that went."""
        moved = False
        changed: list[int] = []
        for row in rows:
            old = self._every.get(row.id)
            self._every[row.id] = row
            place = self._places.get(row.id)
            if old is None or (place is not None) != self._wanted(row):
                moved = True
            elif place is not None:
                self._shown[place] = row
                changed.append(place)
                moved = moved or not self._in_order(place)
        for workspace_id in gone:
            moved = self._every.pop(workspace_id, None) is not None or moved
        if moved:
            self._arrange()
            self.counted.emit()
        last = len(COLUMNS) - 1
        for place in changed:
            if place < len(self._shown):
                self.dataChanged.emit(self.index(place, 0), self.index(place, last))

    def kinds(self) -> Counter[str]:
        return Counter(row.kind for row in self._every.values())

    def rows(self) -> list[OverviewRow]:
        """All of them, also those that the filter hides."""
        return list(self._every.values())

    def row_at(self, place: int) -> OverviewRow | None:
        return self._shown[place] if 0 <= place < len(self._shown) else None

    def find(self, workspace_id: str) -> QModelIndex:
        place = self._places.get(workspace_id)
        return QModelIndex() if place is None else self.index(place, 0)

    def row(self, workspace_id: str) -> OverviewRow | None:
        return self._every.get(workspace_id)

    # -- filter and order ------------------------------------------------------------------------

    def filter(self, *, kind: str = "", group: str = "", text: str = "") -> None:
        """Show only those of a kind, of a group of states, with a text in name, id or folder;
        empty for all."""
        wanted = (kind, group, text.strip().casefold())
        if wanted != (self._kind, self._group, self._text):
            self._kind, self._group, self._text = wanted
            self._arrange()

    @property
    def filtered(self) -> bool:
        return bool(self._kind or self._group or self._text)

    def _wanted(self, row: OverviewRow) -> bool:
        if self._kind and row.kind != self._kind:
            return False
        if self._group and row.state not in GROUPS[self._group]:
            return False
        text = self._text
        return not text or text in f"{row.name}\n{row.id}\n{row.folder}\n{row.engine}".casefold()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._up = column, order == Qt.SortOrder.AscendingOrder
        self._arrange()

    def _in_order(self, place: int) -> bool:
        """Whether a row still stands between its neighbours."""
        if self._column < 0:
            return True
        key = COLUMNS[self._column].key
        near = [key(one) for one in self._shown[max(0, place - 1) : place + 2]]
        pairs = list(pairwise(near))
        return all(a <= b for a, b in pairs) if self._up else all(a >= b for a, b in pairs)

    def _arrange(self) -> None:
        """Filter and sort; rows that stay keep their persistent indexes, so selection stays."""
        rows = [row for row in self._every.values() if self._wanted(row)]
        if self._column >= 0:
            rows.sort(key=COLUMNS[self._column].key, reverse=not self._up)
        if [row.id for row in rows] == [row.id for row in self._shown]:
            self._shown = rows
            return
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        ids = [self._shown[index.row()].id for index in kept]
        self._shown = rows
        self._places = {row.id: place for place, row in enumerate(rows)}
        self.changePersistentIndexList(
            kept,
            [
                self.index(self._places[one], index.column())
                if one in self._places
                else QModelIndex()
                for one, index in zip(ids, kept, strict=True)
            ],
        )
        self.layoutChanged.emit()

    def retranslate(self) -> None:
        """Words and times are asked for anew."""
        if self._shown:
            last = self.index(len(self._shown) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)

    # -- as an item model ------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[index.column()].text(row)
        if role == RowRole:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(t for t in (describe_row(row), row.folder) if t)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if index.column() == 0:
                return describe_row(row)
            column = COLUMNS[index.column()]
            return f"{tr(column.title)}: {column.text(row)}"
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(column.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.tip) if column.tip else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if column.left else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None
