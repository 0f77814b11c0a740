"""The rows of one transcript as an item model.

A long history costs nothing to open: rows of a ``RowSource`` are built when they are asked for and
forgotten again when many others were. Everything the page changes is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from .rows import CompactionRow, HeaderRow, MarkdownRow, Row, ToolRow, UserRow
from .rowtext import size_hint, source, spoken

RowRole = Qt.ItemDataRole.UserRole + 1
IdRole = Qt.ItemDataRole.UserRole + 2
GrownRole = Qt.ItemDataRole.UserRole + 3
"""Role named by ``dataChanged`` when a text only got longer."""

_KEEP = 400
Index = QModelIndex | QPersistentModelIndex


class RowSource(Protocol):
    """Older rows that exist elsewhere, oldest first. They do not change while in use."""

    @property
    def count(self) -> int: ...

    def row(self, i: int) -> Row:
        """Build row ``i``. Its id must be the same each time."""
        ...

    def hint(self, i: int) -> int:
        """Characters of its text, roughly; called for every row at opening, so it must be cheap."""
        ...


class TranscriptModel(QAbstractListModel):
    """Rows by number and by id. Ids of rows that were never built are unknown to ``index_of``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row | None] = []  # None: to be built from the source
        self._index: dict[str, int] = {}  # id to number + _origin
        self._origin = 0  # grows with what is put in front
        self._source: RowSource | None = None
        self._source_at = 0  # number of the source's first row
        self._built: OrderedDict[int, Row] = OrderedDict()  # by index in the source
        self.has_older = False
        self.compactions: dict[str, None] = {}
        """Ids of the compactions among the rows that were handed in, for marks."""

    # -- as an item model -------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(self.row(index.row()))
        if role == RowRole:
            return self.row(index.row())
        if role == IdRole:
            return self.row(index.row()).id
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        never = Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | never

    # -- reading ----------------------------------------------------------------------------

    def row(self, number: int) -> Row:
        """Row ``number``; IndexError when there is none."""
        row = self._rows[number]
        return row if row is not None else self._build(number)

    def built(self, number: int) -> Row | None:
        """Row ``number`` if it need not be built."""
        row = self._rows[number]
        return row if row is not None else self._built.get(number - self._source_at)

    def _build(self, number: int) -> Row:
        at = number - self._source_at
        row = self._built.get(at)
        if row is None:
            assert self._source is not None
            row = self._built[at] = self._source.row(at)
            self._index[row.id] = number + self._origin
            if len(self._built) > _KEEP:
                _, old = self._built.popitem(last=False)
                # The id stays known: the row can be built again at its number.
                del old
        else:
            self._built.move_to_end(at)
        return row

    def hint(self, number: int) -> int:
        """Characters of row ``number``, roughly, without building it."""
        row = self.built(number)
        if row is not None:
            return size_hint(row)
        assert self._source is not None
        return self._source.hint(number - self._source_at)

    def index_of(self, row_id: str) -> int:
        """Number of the row; -1 when unknown."""
        found = self._index.get(row_id)
        return -1 if found is None else found - self._origin

    def get(self, row_id: str) -> Row | None:
        number = self.index_of(row_id)
        return self.row(number) if number >= 0 else None

    def source_text(self, number: int) -> str:
        return source(self.row(number))

    # -- changing ---------------------------------------------------------------------------

    def clear(self) -> None:
        self.set_rows(())

    def set_rows(self, rows: Sequence[Row], source: RowSource | None = None) -> None:
        """Replace everything: what is in ``source`` first, then ``rows``."""
        self.beginResetModel()
        self._source, self._source_at = source, 0
        self._built.clear()
        count = source.count if source else 0
        self._rows = [*([None] * count), *rows]
        self._origin = 0
        self._index = {row.id: count + i for i, row in enumerate(rows)}
        self.compactions = {}
        self._note(rows)
        self.has_older = False
        self.endResetModel()

    def append(self, row: Row) -> None:
        self.extend((row,))

    def extend(self, rows: Sequence[Row]) -> None:
        """Add rows at the end."""
        if not rows:
            return
        at = len(self._rows)
        self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
        for n, row in enumerate(rows):
            self._index[row.id] = at + n + self._origin
        self._rows += rows
        self._note(rows)
        self.endInsertRows()

    def _note(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if isinstance(row, CompactionRow):
                self.compactions[row.id] = None

    def insert(self, number: int, row: Row) -> None:
        """Put a row before row ``number``."""
        if number >= len(self._rows):
            self.append(row)
            return
        self.beginInsertRows(QModelIndex(), number, number)
        self._shift(number, 1)
        self._rows.insert(number, row)
        self._index[row.id] = number + self._origin
        self._note((row,))
        self.endInsertRows()

    def prepend(self, rows: Sequence[Row], has_older: bool = False) -> None:
        """Put a batch of older rows in front."""
        self.has_older = has_older
        if not rows:
            return
        self.beginInsertRows(QModelIndex(), 0, len(rows) - 1)
        self._rows[:0] = rows
        self._source_at += len(rows)
        self._origin -= len(rows)
        for n, row in enumerate(rows):
            self._index[row.id] = n + self._origin
        self._note(rows)
        self.endInsertRows()

    def update(self, row: Row) -> None:
        """Replace the row of the same id. KeyError when there is none."""
        number = self.index_of(row.id)
        if number < 0:
            raise KeyError(row.id)
        old = self._rows[number]
        self._rows[number] = row
        grown = (
            isinstance(old, MarkdownRow)
            and isinstance(row, MarkdownRow)
            and row.text.startswith(old.text)
            and (row.growing, row.stopped) == (old.growing, old.stopped)
        )
        self._changed(number, grown)

    def extend_text(self, row_id: str, text: str) -> None:
        """Append to what grows in a row: an answer's text, a tool's output, thinking."""
        number = self.index_of(row_id)
        if number < 0:
            raise KeyError(row_id)
        row = self._own(number)
        if isinstance(row, MarkdownRow | UserRow):
            row.text += text
        elif isinstance(row, ToolRow):
            row.output += text
        elif isinstance(row, HeaderRow):
            row.thinking += text
        else:
            raise TypeError(type(row).__name__)
        self._changed(number, isinstance(row, MarkdownRow))

    def set_expanded(self, row_id: str, expanded: bool) -> None:
        """Open or close a row that can be opened."""
        number = self.index_of(row_id)
        row = self._own(number) if number >= 0 else None
        if isinstance(row, ToolRow | HeaderRow) and row.expanded != expanded:
            row.expanded = expanded
            self._changed(number, False)

    def _own(self, number: int) -> Row:
        """The row, kept from now on because it differs from its source."""
        row = self._rows[number]
        if row is None:
            row = self._rows[number] = replace(self._build(number))
        return row

    def remove(self, row_id: str) -> None:
        """Take a row away. KeyError when there is none."""
        number = self.index_of(row_id)
        if number < 0:
            raise KeyError(row_id)
        self.beginRemoveRows(QModelIndex(), number, number)
        del self._index[row_id]
        self.compactions.pop(row_id, None)
        self._forget_source(number)
        del self._rows[number]
        self._shift(number, -1)
        self.endRemoveRows()

    def truncate(self, number: int) -> None:
        """Take away row ``number`` and all after it."""
        last = len(self._rows) - 1
        if number > last:
            return
        self.beginRemoveRows(QModelIndex(), number, last)
        for i in range(number, last + 1):
            row = self.built(i)
            if row is not None:
                self._index.pop(row.id, None)
                self.compactions.pop(row.id, None)
        del self._rows[number:]
        self.endRemoveRows()

    def _forget_source(self, number: int) -> None:
        """Rows of the source keep their numbers only while none between them is taken away."""
        if self._source is None or not 0 <= number - self._source_at < self._source.count:
            return
        for i in range(number + 1, min(len(self._rows), self._source_at + self._source.count)):
            if self._rows[i] is None:
                self._rows[i] = self._build(i)

    def _shift(self, number: int, by: int) -> None:
        """Row ``number`` and those after it move by ``by``; unbuilt ones among them are built
        first when the source cannot follow."""
        if by > 0:
            if self._source is not None and number <= self._source_at:
                self._source_at += by
            else:
                self._forget_source(number - 1)
        elif self._source is not None and number < self._source_at:
            self._source_at += by
        edge = number + self._origin
        for row_id, at in self._index.items():
            if at >= edge:
                self._index[row_id] = at + by

    def _changed(self, number: int, grown: bool) -> None:
        index = self.index(number)
        roles = [GrownRole, Qt.ItemDataRole.DisplayRole] if grown else []
        self.dataChanged.emit(index, index, roles)
