"""Rows of lists and trees: one delegate paints them all.

An item gives its parts by role (``Role``); every part but the name may be missing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop_app.ui.theme import theme

from .badge import badge_width, draw_badge, draw_state
from .painting import box, draw_icon, draw_text, text_width

_State = QStyle.StateFlag
_NAME = 56  # a name's room before anything beside it is shown
Index = QModelIndex | QPersistentModelIndex


class Role(IntEnum):
    """What a row asks its item for. ``DisplayRole`` is the name."""

    ICON = Qt.ItemDataRole.UserRole + 100  # a Lucide name
    ICON_TOKEN = Qt.ItemDataRole.UserRole + 101  # its colour, "muted" when missing
    STRONG = Qt.ItemDataRole.UserRole + 102  # bool: workspaces, servers
    DETAIL = Qt.ItemDataRole.UserRole + 103  # second line; or beside the name in a low row
    TIME = Qt.ItemDataRole.UserRole + 104  # at the right: time, figure
    STATE = Qt.ItemDataRole.UserRole + 105  # a StateName, after the time
    STATE_LEFT = Qt.ItemDataRole.UserRole + 106  # a StateName, in the place of the icon
    BADGE = Qt.ItemDataRole.UserRole + 107  # (text, tone, glyph or None)
    HEADER = Qt.ItemDataRole.UserRole + 108  # bool: the head of a group
    HITS = Qt.ItemDataRole.UserRole + 109  # places of the name to mark: list of (start, length)


class RowDelegate(QStyledItemDelegate):
    """Paints rows. ``two_line`` rows show the detail below the name. Full-width tables have no
    radius and no outer margin: ``flat``."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        two_line: bool = False,
        size: str = "",
        flat: bool = False,
    ) -> None:
        super().__init__(parent)
        self._two_line = two_line
        self._size = size or ("two-line-row" if two_line else "tree-workspace")
        self._flat = flat

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(theme().px(80), theme().size(self._size))

    def _ground(self, painter: QPainter, option: Any, rect: QRectF) -> None:
        state = option.state
        fill = None
        if state & _State.State_Selected:
            active = state & _State.State_Active and state & _State.State_Enabled
            fill = "selection" if active else "selection-inactive"
        elif state & _State.State_MouseOver:
            fill = "hover"
        radius = 0 if self._flat else theme().radius("button")
        if fill and not getattr(option.widget, "paints_ground", False):
            box(painter, rect, radius, theme().color(fill))
        if state & _State.State_HasFocus and state & _State.State_KeyboardFocusChange:
            box(painter, rect, radius, None, theme().color("focus"))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view: Any = option
        px = theme().px
        rect = QRectF(view.rect)
        if not self._flat:
            # The row's ground reaches across the view; its content keeps the tree's indent.
            left = px(6) if view.rect.x() < px(6) else 0
            rect.adjust(left, 0, -px(6), 0)
        painter.save()
        if index.data(Role.HEADER):
            head = rect.adjusted(px(8), 0, -px(8), 0)
            draw_text(painter, head, index.data() or "", "small-semibold", "muted")
            painter.restore()
            return
        self._ground(painter, view, rect)
        pad = px(16) if self._flat else px(8)
        inner = rect.adjusted(pad, 0, -pad, 0)
        left = self._left(painter, inner, index)
        inner.setLeft(left)
        right = self._right(painter, inner, index)
        inner.setRight(right)
        self._words(painter, inner, index, bool(view.state & _State.State_Enabled))
        painter.restore()

    def _left(self, painter: QPainter, inner: QRectF, index: Index) -> float:
        px = theme().px
        state = index.data(Role.STATE_LEFT)
        glyph = index.data(Role.ICON)
        if not state and not glyph:
            return inner.x()
        side = px(16)
        rect = QRectF(inner.x(), inner.y(), side, inner.height())
        if self._two_line:
            rect.setHeight(theme().line("strong"))
            rect.moveTop(inner.y() + self._top(inner))
        if state:
            draw_state(painter, rect, state)
        else:
            draw_icon(painter, rect, glyph, index.data(Role.ICON_TOKEN) or "muted", 16)
        return inner.x() + side + px(8)

    def _top(self, inner: QRectF) -> float:
        words = theme().line("strong") + theme().line("caption")
        return max(0.0, round((inner.height() - words) / 2))

    def _right(self, painter: QPainter, inner: QRectF, index: Index) -> float:
        px = theme().px
        right = inner.right()
        line = QRectF(inner)
        if self._two_line:
            line = QRectF(inner.x(), inner.y() + self._top(inner), 0, theme().line("strong"))
        if state := index.data(Role.STATE):
            side = px(10)
            draw_state(painter, QRectF(right - side, line.y(), side, line.height()), state)
            right -= side + px(6)
        if time := index.data(Role.TIME):
            width = text_width(time, "caption", figures=True)
            if right - width - inner.x() < px(_NAME):
                return right  # too narrow for both: the name comes first
            rect = QRectF(right - width, line.y(), width + 1, line.height())
            draw_text(painter, rect, time, "caption", "faint", figures=True)
            right -= width + px(8)
        if badge := index.data(Role.BADGE):
            text, tone, glyph = badge
            width, height = badge_width(text, glyph), theme().size("badge")
            y = round(line.center().y() - height / 2)
            draw_badge(painter, QRectF(right - width, y, width, height), text, tone, glyph)
            right -= width + px(8)
        return right

    def _words(self, painter: QPainter, inner: QRectF, index: Index, enabled: bool) -> None:
        name = index.data(Qt.ItemDataRole.DisplayRole) or ""
        role = "strong" if index.data(Role.STRONG) else "body"
        token = "text" if enabled else "disabled"
        detail = index.data(Role.DETAIL)
        if self._two_line:
            line = QRectF(inner)
            line.setTop(inner.y() + self._top(inner))
            line.setHeight(theme().line("strong"))
            draw_marked(painter, line, name, index.data(Role.HITS), "strong", token)
            if detail:
                line.translate(0, line.height())
                line.setHeight(theme().line("caption"))
                draw_text(painter, line, detail, "caption", "muted")
            return
        used = draw_marked(painter, inner, name, index.data(Role.HITS), role, token)
        if detail:
            rest = QRectF(inner)
            rest.setLeft(inner.x() + used + theme().px(8))
            if rest.width() > theme().px(20):
                draw_text(painter, rest, detail, "small", "faint")


def draw_marked(
    painter: QPainter,
    rect: QRectF,
    text: str,
    hits: list[tuple[int, int]] | None,
    role: str = "body",
    token: str = "text",
) -> float:
    """A line of text whose ``hits`` are accent and 600; returns the width drawn."""
    if not hits:
        return draw_text(painter, rect, text, role, token)
    x, at = rect.x(), 0
    pieces: list[tuple[str, bool]] = []
    for start, length in hits:
        pieces += [(text[at:start], False), (text[start : start + length], True)]
        at = start + length
    pieces.append((text[at:], False))
    for piece, marked in pieces:
        room = QRectF(x, rect.y(), rect.right() - x, rect.height())
        if piece and room.width() > 4:
            style = ("semibold", "accent-text") if marked else (role, token)
            x += draw_text(painter, room, piece, *style)
    return x - rect.x()


class RowList(QListView):
    """A list whose rows have two lines, lit under the pointer, never edited in place; ``ground``
    where it lies on another one than its palette's."""

    def __init__(self, model: QAbstractItemModel, ground: str = "") -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(RowDelegate(self, two_line=True))
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        if ground:
            self.setProperty("ground", ground)
            self.viewport().setProperty("ground", ground)
