"""The rows of a proposed compaction as a tree: what becomes of what, a branch for each fate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from desktop_app.core.context.types import Breakdown, Choices, PreviewRow
from desktop_app.ui.chat import figures
from desktop_app.ui.i18n import tr, trc

from .words import FATES, fate_words, group_words, row_kind, row_text

Index = QModelIndex | QPersistentModelIndex
RowRole = Qt.ItemDataRole.UserRole + 1  # a PreviewRow
GroupRole = Qt.ItemDataRole.UserRole + 2  # a Group
ChosenRole = Qt.ItemDataRole.UserRole + 3  # "keep", "drop" or ""
WHAT, BECOMES, NOW, AFTER, PIN = range(5)
_FRONT = ("system", "tools", "mcp", "skills")


@dataclass(slots=True)
class Group:
    """Rows of one fate, and their sums."""

    key: str
    before: int = 0
    after: int = 0
    rows: list[PreviewRow] = field(default_factory=list[PreviewRow])


def groups_of(rows: Sequence[PreviewRow], before: Breakdown | None) -> list[Group]:
    """The front of the prompt, then what is kept, masked, summarised and left out; empty groups
    are left out."""
    parts = before.parts if before is not None else {}
    front = sum(parts.get(name, 0) for name in _FRONT)  # type: ignore[call-overload]
    made = [Group("front", front, front)]
    by_fate = {fate: Group(fate) for fate in FATES}
    for row in rows:
        if row.before or row.after:
            group = by_fate[row.fate]
            group.rows.append(row)
            group.before += row.before
            group.after += row.after
    return [g for g in (*made, *by_fate.values()) if g.before or g.after]


class PreviewModel(QAbstractItemModel):
    """Two levels: groups, rows. ``choices`` are drawn over what was proposed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.groups: list[Group] = []
        self.past = False  # it was done: "before" and "after", not "now" and "after"
        self._choices = Choices()

    def show_rows(self, rows: Sequence[PreviewRow], before: Breakdown) -> None:
        self.beginResetModel()
        self.groups = groups_of(rows, before)
        self.endResetModel()

    def show_plain(self, rows: Sequence[PreviewRow]) -> None:
        """Rows of what was done: the front of the prompt is not among them."""
        self.beginResetModel()
        self.groups = groups_of(rows, None)
        self.endResetModel()

    def set_choices(self, choices: Choices) -> None:
        """Draw what the person chose since."""
        self._choices = choices
        for place, group in enumerate(self.groups):
            if group.rows:
                parent = self.index(place, 0)
                last = self.index(len(group.rows) - 1, PIN, parent)
                self.dataChanged.emit(self.index(0, 0, parent), last)

    def find(self, ref: str) -> QModelIndex:
        """The row of a ref; invalid without one."""
        for place, group in enumerate(self.groups):
            for nth, row in enumerate(group.rows):
                if row.ref == ref:
                    return self.index(nth, 0, self.index(place, 0))
        return QModelIndex()

    # -- what Qt asks -------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        if not parent.isValid():
            inside = 0 <= row < len(self.groups) and 0 <= column <= PIN
            return self.createIndex(row, column, 0) if inside else QModelIndex()
        if parent.internalId() or not 0 <= column <= PIN:
            return QModelIndex()
        known = 0 <= row < len(self.groups[parent.row()].rows)
        return self.createIndex(row, column, parent.row() + 1) if known else QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        at = index.internalId() if index.isValid() else 0
        return self.createIndex(at - 1, 0, 0) if at else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if not parent.isValid():
            return len(self.groups)
        if parent.internalId() or parent.column() > 0:
            return 0
        return len(self.groups[parent.row()].rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return PIN + 1

    def row_at(self, index: Index) -> PreviewRow | None:
        at = index.internalId() if index.isValid() else 0
        return self.groups[at - 1].rows[index.row()] if at else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.row_at(index)
        if row is None:
            return self._group(self.groups[index.row()], index.column(), role)
        if role == RowRole:
            return row
        if role == ChosenRole:
            return self.chosen(row.ref)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return self._said(row)
        if role == Qt.ItemDataRole.DisplayRole:
            return (row_text(row), fate_words(row.fate), figures.tokens(row.before),
                    figures.tokens(row.after), "")[index.column()]  # fmt: skip
        return None

    def _group(self, group: Group, column: int, role: int) -> Any:
        if role == GroupRole:
            return group
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            words = (group_words(group.key), "", figures.tokens(group.before),
                     figures.tokens(group.after), "")  # fmt: skip
            return words[column]
        return None

    def chosen(self, ref: str) -> str:
        """What the person said of a row."""
        if ref in self._choices.keep:
            return "keep"
        return "drop" if ref in self._choices.drop else ""

    def _said(self, row: PreviewRow) -> str:
        parts = [
            f"{row_kind(row)}: {row_text(row)}",
            tr(
                "{fate}, {before} now, {after} after",
                fate=fate_words(row.fate),
                before=figures.tokens(row.before),
                after=figures.tokens(row.after),
            ),
        ]
        if (chosen := self.chosen(row.ref)) == "keep":
            parts.append(tr("You keep it as it is"))
        elif chosen:
            parts.append(tr("You leave it out"))
        return "\n".join(parts)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            now = trc("compaction", "Before") if self.past else tr("Now")
            return (tr("What"), tr("Becomes"), now, tr("After"), "")[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section in (NOW, AFTER):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        base = Qt.ItemFlag.ItemIsEnabled
        return base | Qt.ItemFlag.ItemIsSelectable if self.row_at(index) is not None else base
