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

from desktop_app.core.overview_row import OverviewRow
from desktop_app.ui.i18n import tr, trn

from .columns import COLUMNS, describe_row
from .grouping import GROUPS, Group, by_group, group_key

Index = QModelIndex | QPersistentModelIndex
RowRole = Qt.ItemDataRole.UserRole + 1
_ITEM = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class TableModel(QAbstractTableModel):
    """``put`` takes rows that changed, in any number, and tells views only of the cells that look
    different. ``counted`` follows changes of how many there are of each kind. A place is that of a
    row or of a group's heading, which can be neither chosen nor walked to."""

    counted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._every: dict[str, OverviewRow] = {}
        self._shown: list[OverviewRow | Group] = []
        self._places: dict[str, int] = {}
        self._column, self._up = -1, True  # -1: the person's own order
        self._kind = self._group = self._text = self._by = ""

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
                moved = moved or not self._in_order(place) or self._other_group(old, row)
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
        shown = self._shown[place] if 0 <= place < len(self._shown) else None
        return shown if isinstance(shown, OverviewRow) else None

    def group_at(self, place: int) -> Group | None:
        """The heading that stands there."""
        shown = self._shown[place] if 0 <= place < len(self._shown) else None
        return shown if isinstance(shown, Group) else None

    def first(self) -> OverviewRow | None:
        """The topmost row."""
        return next((one for one in self._shown if isinstance(one, OverviewRow)), None)

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

    @property
    def grouped(self) -> str:
        return self._by

    def group(self, by: str) -> None:
        """Rows of one ``kind``, ``state`` or ``engine`` under a heading each; empty: none."""
        if by != self._by:
            self._by = by
            self._arrange()

    def _other_group(self, old: OverviewRow, row: OverviewRow) -> bool:
        return bool(self._by) and group_key(self._by, old) != group_key(self._by, row)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._up = column, order == Qt.SortOrder.AscendingOrder
        self._arrange()

    def _in_order(self, place: int) -> bool:
        """Whether a row still stands between its neighbours."""
        if self._column < 0:
            return True
        key = COLUMNS[self._column].key
        shown = self._shown
        first, end = place, place + 1
        if place and isinstance(shown[place - 1], OverviewRow):
            first -= 1
        if end < len(shown) and isinstance(shown[end], OverviewRow):
            end += 1
        near = [key(one) for one in shown[first:end] if isinstance(one, OverviewRow)]
        pairs = list(pairwise(near))
        return all(a <= b for a, b in pairs) if self._up else all(a >= b for a, b in pairs)

    def _arrange(self) -> None:
        """Filter and sort; rows that stay keep their persistent indexes, so selection stays."""
        rows = [row for row in self._every.values() if self._wanted(row)]
        if self._column >= 0:
            rows.sort(key=COLUMNS[self._column].key, reverse=not self._up)
        shown = by_group(self._by, rows)
        if [one.id for one in shown] == [one.id for one in self._shown]:
            headings = [place for place, one in enumerate(shown) if isinstance(one, Group)]
            self._shown = shown
            for place in headings:  # how many are below it
                self.dataChanged.emit(self.index(place, 0), self.index(place, len(COLUMNS) - 1))
            return
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        ids = [self._shown[index.row()].id for index in kept]
        self._shown = shown
        self._places = {one.id: place for place, one in enumerate(shown)}
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

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row_at(index.row()) if index.isValid() else None
        return _ITEM if row is not None else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return self._heading(index, role)
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

    def _heading(self, index: Index, role: int) -> Any:
        group = self.group_at(index.row()) if index.isValid() else None
        if group is None or index.column():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return group.title()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return trn("{group}, {n} workspace", "{group}, {n} workspaces", group.count,
                       group=group.title())  # fmt: skip
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
