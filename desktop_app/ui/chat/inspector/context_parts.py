"""Painted pieces of the context panel: the legend with figures, the list of the biggest items."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyledItemDelegate, QToolTip, QWidget

from desktop_app.core.context.pricing import LABEL
from desktop_app.core.context.types import Breakdown, Item
from desktop_app.ui.chat import figures, tool_words
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.theme.tokens import CATEGORY_ORDER
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.gauge import category_name
from desktop_app.ui.widgets.painting import box, draw_text, fill_hatched

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight
ItemRole = Qt.ItemDataRole.UserRole + 1
_SPOKEN = ("assistant", "user", "thinking", "ledger")  # categories whose items begin as sentences


def draw_swatch(painter: QPainter, rect: QRectF, category: str) -> None:
    """The colour of a category; the reserve is hatched, what is free has an outline."""
    color = theme().color
    if category == "reserve":
        fill_hatched(painter, rect, color("bg"), color("cat-reserve"))
    elif category == "free":
        box(painter, rect, theme().radius("swatch"), color("cat-free"), color("outline"))
    else:
        box(painter, rect, theme().radius("swatch"), color(f"cat-{category}"))


def legend(breakdown: Breakdown) -> list[tuple[str, int]]:
    """Categories with their tokens: what is used, in prompt order, then the reserve and the
    rest."""
    parts = breakdown.parts
    rows: list[tuple[str, int]] = [
        (name, parts.get(name, 0))  # type: ignore[call-overload]
        for name in CATEGORY_ORDER
        if parts.get(name, 0) > 0  # type: ignore[call-overload]
    ]
    limits = breakdown.limits
    rows.append(("reserve", limits.reserve))
    rows.append(("free", max(0, limits.window - breakdown.total - limits.reserve)))
    return rows


class Legend(Live, QWidget):
    """One line a category: swatch, name, tokens, share of the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, int]] = []
        self._window = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_breakdown(self, breakdown: Breakdown) -> None:
        rows = legend(breakdown)
        if len(rows) != len(self._rows):
            self.updateGeometry()
        self._rows, self._window = rows, breakdown.limits.window
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Used by category"))
        words = [f"{category_name(name)}: {figures.tokens(n)}" for name, n in self._rows]
        self.setAccessibleDescription(", ".join(words))

    def sizeHint(self) -> QSize:
        return QSize(theme().px(200), theme().size("legend-row") * len(self._rows))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px, tall = theme().px, theme().size("legend-row")
        side, width = px(10), float(self.width())
        for i, (name, n) in enumerate(self._rows):
            row = QRectF(0, i * tall, width, tall)
            swatch = QRectF(0, round(row.center().y() - side / 2), side, side)
            draw_swatch(painter, swatch, name)
            words = QRectF(px(18), row.y(), width - px(18) - px(96), tall)
            draw_text(painter, words, category_name(name))
            number = QRectF(width - px(96), row.y(), px(56), tall)
            draw_text(painter, number, figures.tokens(n), align=_RIGHT, figures=True)
            share = n / self._window if self._window else 0.0
            right = QRectF(width - px(38), row.y(), px(38), tall)
            text = figures.percent(share)
            draw_text(painter, right, text, "small", "faint", _RIGHT, figures=True)


class ItemsModel(QAbstractListModel):
    """The biggest things in the window, largest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[Item] = []
        self._total = 0

    def set_breakdown(self, breakdown: Breakdown, limit: int = 20) -> None:
        items = sorted(breakdown.items, key=lambda item: (-item.tokens, item.ref))[:limit]
        self._total = breakdown.total
        if [i.ref for i in items] == [i.ref for i in self._items]:
            self._items = items
            if items:
                self.dataChanged.emit(self.index(0), self.index(len(items) - 1))
            return
        self.beginResetModel()
        self._items = items
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._items):
            return None
        item = self._items[index.row()]
        if role == ItemRole:
            return item
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return item_words(item)
        return None

    def share(self, item: Item) -> float:
        """Of what is used."""
        return item.tokens / self._total if self._total else 0.0

    def row_of(self, ref: str) -> int:
        return next((i for i, item in enumerate(self._items) if item.ref == ref), -1)


def item_name(item: Item) -> str:
    """An item's name on one line: the first words of a text without its Markdown, a call by the
    tool's name in the window; tools themselves by their own names, as in the list of tools."""
    label = next((line for line in item.label.splitlines() if line.strip()), "")
    label = tool_words.one_line(label, 120)
    if len(item.label) >= LABEL and item.category in _SPOKEN and item.label.endswith(label):
        label += "…"  # the core keeps the first words only
    if item.category == "system":
        return {"system": tr("System prompt"), "instructions": tr("Instructions")}.get(
            label, label or category_name("system")
        )
    if item.category == "ledger":
        names = {
            "pinned": tr("Task and constraints"),
            "summary": tr("Summary"),
            "tasks": tr("Tasks"),
        }
        return names.get(label, label or category_name("ledger"))
    if item.category in ("assistant", "result"):
        tool, _, rest = label.partition(" ")
        if tool in tool_words.ICONS:
            return f"{tool_words.title(tool)} {rest}".rstrip()
    if item.category in _SPOKEN:
        label = label.strip("#*_`> -").replace("**", "").replace("`", "")
    return label or category_name(item.category)


def item_words(item: Item) -> str:
    """An item in words, for screen readers and search."""
    return f"{item_name(item)}, {figures.tokens(item.tokens)}"


class ItemDelegate(QStyledItemDelegate):
    """Swatch, name, tokens; estimated ones hatched."""

    def sizeHint(self, option: Any, index: Index) -> QSize:
        return QSize(theme().px(80), theme().px(24))

    def paint(self, painter: QPainter, option: Any, index: Index) -> None:
        item = index.data(ItemRole)
        rect = QRectF(option.rect)
        px = theme().px
        state = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            active = state & QStyle.StateFlag.State_Active
            token = "selection" if active else "selection-inactive"
            box(painter, rect, theme().radius("button"), theme().color(token))
        elif state & QStyle.StateFlag.State_MouseOver:
            box(painter, rect, theme().radius("button"), theme().color("hover"))
        side = px(10)
        swatch = QRectF(rect.x() + px(6), round(rect.center().y() - side / 2), side, side)
        if item.measured:
            draw_swatch(painter, swatch, item.category)
        else:
            color = theme().color
            token = f"cat-{item.category}"
            fill_hatched(painter, swatch, color(f"{token}-soft"), color(token))
        words = QRectF(rect.x() + px(24), rect.y(), rect.width() - px(24) - px(58), rect.height())
        mode = Qt.TextElideMode
        elide = mode.ElideRight if item.category in _SPOKEN else mode.ElideMiddle
        draw_text(painter, words, item_name(item), "small", elide=elide)
        number = QRectF(rect.right() - px(56), rect.y(), px(50), rect.height())
        text = figures.tokens(item.tokens)
        draw_text(painter, number, text, "small", "muted", _RIGHT, figures=True)
        painter.restore()

    def helpEvent(self, event: QHelpEvent, view: Any, option: Any, index: Index) -> bool:
        if event.type() == QEvent.Type.ToolTip and index.isValid():
            item = index.data(ItemRole)
            how = tr("measured") if item.measured else tr("estimated")
            tokens = figures.tokens(item.tokens)
            words = f"{item_name(item)}\n{category_name(item.category)} · {tokens} · {how}"
            QToolTip.showText(event.globalPos(), words, view)
            return True
        return super().helpEvent(event, view, option, index)
