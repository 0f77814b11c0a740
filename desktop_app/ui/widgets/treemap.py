"""The treemap: who uses the window, as areas.

A list view with a geometry of its own: so it has a selection, keys, tooltips and an accessible
name for each tile as every list does. What was measured is solid, what is estimated hatched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QSizePolicy, QToolTip, QWidget

from desktop_app.ui.theme import theme

from .base import Live
from .focus import KEYBOARD
from .painting import box, dpr_of, draw_text, hatch
from .squarify import Rect
from .tiles import Arrangement, Placed, Tile, neighbour

Index = QModelIndex | QPersistentModelIndex
TileRole = Qt.ItemDataRole.UserRole + 1
_GAP = 2  # between tiles
_EDGE = 3  # the line of the category's colour at the left
_LEAST = 110  # square pixels: below this a tile is drawn with the rest of its group
_NAME_FROM, _FIGURE_FROM = 62, 38  # widths from which a name, a figure is written
_LINES = 0.24  # opacity of the hatching under text
_ARROWS = {
    QAbstractItemView.CursorAction.MoveLeft: (-1, 0),
    QAbstractItemView.CursorAction.MoveRight: (1, 0),
    QAbstractItemView.CursorAction.MoveUp: (0, -1),
    QAbstractItemView.CursorAction.MoveDown: (0, 1),
}

Words = Callable[[Tile], str]


class _Tiles(QAbstractListModel):
    """The tiles as they lie, each with its words."""

    def __init__(self, words: Words, parent: QWidget) -> None:
        super().__init__(parent)
        self.placed: list[Placed] = []
        self._words = words

    def set_placed(self, placed: list[Placed]) -> None:
        old = [(p.tile.group, p.tile.key) for p in self.placed]
        if old == [(p.tile.group, p.tile.key) for p in placed]:
            self.placed = placed
            if placed:
                self.dataChanged.emit(self.index(0), self.index(len(placed) - 1))
            return
        self.beginResetModel()
        self.placed = placed
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.placed)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.placed):
            return None
        tile = self.placed[index.row()].tile
        if role == TileRole:
            return tile
        if role == Qt.ItemDataRole.DisplayRole:
            return tile.name
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return self._words(tile)
        return None


class Treemap(Live, QListView):
    """Shows ``Tile``s. ``words(tile)`` is a tile in words (tooltip, screen reader), ``figure`` its
    weight, ``name`` what is written on it.

    ``chosen(tile)`` when another tile is current (None: none), ``opened(tile)`` by Enter or a
    double click, ``left()`` by Backspace, ``menuWanted`` by a right click or the menu key.
    """

    chosen = Signal(object)
    opened = Signal(object)
    left = Signal()
    menuWanted = Signal(object, QPoint)  # a tile, and where on the screen

    def __init__(
        self,
        words: Words,
        figure: Words,
        name: Words,
        parent: QWidget | None = None,
        *,
        height: int = 225,
    ) -> None:
        super().__init__(parent)
        self._figure, self._name, self._tall = figure, name, height
        self._source: tuple[Tile, ...] = ()
        self._arrangement = Arrangement()
        self._rects: list[QRect] = []
        self._hovered = -1
        self.tiles = _Tiles(words, self)
        self.setModel(self.tiles)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setProperty("ground", "bg")
        self.viewport().setProperty("ground", "bg")
        self.setMouseTracking(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.selectionModel().currentChanged.connect(self._current_changed)

    # -- what is shown ----------------------------------------------------------------------

    def set_tiles(self, tiles: Sequence[Tile]) -> None:
        """Show these; what was chosen stays so while it is there."""
        if self._source != tuple(tiles):
            self._source = tuple(tiles)
            self._arrange()

    def reset_order(self) -> None:
        """Forget where tiles were: another session, another level."""
        self._arrangement = Arrangement()

    def current(self) -> Tile | None:
        index = self.currentIndex()
        return index.data(TileRole) if index.isValid() else None

    def choose(self, group: str, key: str) -> bool:
        """Make a tile current; whether there is one."""
        for row, placed in enumerate(self.tiles.placed):
            if (placed.tile.group, placed.tile.key) == (group, key):
                self.setCurrentIndex(self.tiles.index(row))
                return True
        return False

    def clear(self) -> None:
        """Choose none."""
        self.setCurrentIndex(QModelIndex())

    def _arrange(self) -> None:
        width, height = self.viewport().width(), self.viewport().height()
        least = _LEAST * theme().scale ** 2
        placed = self._arrangement.place(
            self._source, Rect(0, 0, float(width + _GAP), float(height + _GAP)), least
        )
        self._rects = [_whole(p.rect) for p in placed]
        before = self.current()
        blocked = self.blockSignals(True)  # an update chooses nothing
        self.tiles.set_placed(placed)
        kept = before is not None and self.choose(before.group, before.key)
        self.blockSignals(blocked)
        self._hovered = -1
        if before is not None and not kept:
            self.chosen.emit(None)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(theme().px(200), theme().px(self._tall))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def restyle(self) -> None:
        super().restyle()
        self._arrange()

    def retranslate(self) -> None:
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    # -- a geometry of its own ----------------------------------------------------------------

    def doItemsLayout(self) -> None:
        """Rows have no layout of the list's here."""

    def updateGeometries(self) -> None:
        """Nothing scrolls."""

    def scrollTo(self, index: Index, hint: Any = None) -> None:
        """Everything is in view."""

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return 0

    def visualRect(self, index: Index) -> QRect:
        row = index.row()
        return self._rects[row] if 0 <= row < len(self._rects) else QRect()

    def indexAt(self, point: QPoint) -> QModelIndex:
        for row, rect in enumerate(self._rects):
            # The gap belongs to the tile at its left or above: there is no dead line between.
            if rect.adjusted(0, 0, _GAP, _GAP).contains(point):
                return self.tiles.index(row)
        return QModelIndex()

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        region = QRegion()
        for index in selection.indexes():
            region = region.united(QRegion(self.visualRect(index)))
        return region

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        self.selectionModel().select(self.indexAt(rect.center()), command)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        count = len(self._rects)
        if not count:
            return QModelIndex()
        at = self.currentIndex().row()
        moves = QAbstractItemView.CursorAction
        if at < 0 or action == moves.MoveHome:
            return self.tiles.index(0)
        if action == moves.MoveEnd:
            return self.tiles.index(count - 1)
        if action in (moves.MoveNext, moves.MovePrevious):
            step = 1 if action == moves.MoveNext else -1
            return self.tiles.index(min(count - 1, max(0, at + step)))
        dx, dy = _ARROWS.get(action, (0, 0))
        rects = [p.rect for p in self.tiles.placed]
        return self.tiles.index(neighbour(rects, at, dx, dy) if dx or dy else at)

    # -- the person ---------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current() is not None:
            self.opened.emit(self.current())
        elif event.key() == Qt.Key.Key_Backspace:
            self.left.emit()
        elif event.text().isprintable() and event.text().strip():
            event.ignore()  # a letter is for the composer, not for a search among tiles
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        tile = self.indexAt(event.position().toPoint()).data(TileRole)
        if tile is not None and event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(tile)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            index, at = self.indexAt(event.pos()), event.globalPos()
        else:
            index = self.currentIndex()
            at = self.viewport().mapToGlobal(self.visualRect(index).center())
        if index.isValid():
            self.setCurrentIndex(index)
            self.menuWanted.emit(index.data(TileRole), at)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in KEYBOARD and not self.currentIndex().isValid() and self._rects:
            self.setCurrentIndex(self.tiles.index(0))
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.indexAt(event.pos())
            words = index.data(Qt.ItemDataRole.ToolTipRole) or ""
            QToolTip.showText(event.globalPos(), words, self, self.visualRect(index))
            return True
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._hover(self.indexAt(event.position().toPoint()).row())
        elif event.type() == QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def _hover(self, row: int) -> None:
        if row != self._hovered:
            for at in (row, self._hovered):
                if 0 <= at < len(self._rects):
                    self.viewport().update(self._rects[at])
            self._hovered = row

    def _current_changed(self, now: QModelIndex, _before: QModelIndex) -> None:
        self.viewport().update()
        if not self.signalsBlocked():
            self.chosen.emit(now.data(TileRole) if now.isValid() else None)

    # -- painting -------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        current = self.currentIndex().row()
        for row, rect in enumerate(self._rects):
            if rect.width() > 0 and rect.height() > 0 and event.rect().intersects(rect):
                self._paint(painter, self.tiles.placed[row].tile, QRectF(rect))
                if row == current:
                    radius = theme().radius("tile")
                    box(painter, QRectF(rect), radius, line=theme().color("focus"), width=2)
                elif row == self._hovered:
                    line = theme().color("outline")
                    box(painter, QRectF(rect), theme().radius("tile"), line=line)

    def _paint(self, painter: QPainter, tile: Tile, rect: QRectF) -> None:
        color, radius = theme().color, theme().radius("tile")
        line, soft = color(f"cat-{tile.group}"), color(f"cat-{tile.group}-soft")
        painter.save()
        shape = QPainterPath()
        shape.addRoundedRect(rect, radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        painter.fillRect(rect, soft)
        hatched = self._hatch(painter, tile, rect)
        if tile.group == "free":
            box(painter, rect, radius, line=color("border-strong"))
        else:
            edge = min(float(_EDGE), rect.width())
            painter.fillRect(QRectF(rect.x(), rect.y(), edge, rect.height()), line)
        self._write(painter, tile, rect, hatched)
        painter.restore()

    def _hatch(self, painter: QPainter, tile: Tile, rect: QRectF) -> bool:
        """Hatch the estimated part, at the right; whether words would stand on it."""
        share = 1.0 if tile.group == "reserve" else tile.estimated / tile.weight
        if share <= 0 or tile.group == "free":
            return False
        width = rect.width() * min(1.0, share)
        part = QRectF(rect.right() - width, rect.y(), width, rect.height())
        written = rect.width() >= theme().px(_FIGURE_FROM)
        lines = theme().color(f"cat-{tile.group}", _LINES if written else 1.0)
        painter.setBrushOrigin(rect.topLeft())
        painter.fillRect(part, hatch(lines, dpr_of(painter)))
        return share > 0.2

    def _write(self, painter: QPainter, tile: Tile, rect: QRectF, hatched: bool) -> None:
        px, tall = theme().px, theme().line("caption")
        if rect.width() < px(_FIGURE_FROM) or rect.height() < tall + 2:
            return
        room = rect.adjusted(px(8), px(4), -px(4), -px(2))
        token = "text" if hatched else "muted"
        figure = self._figure(tile)
        if rect.width() < px(_NAME_FROM) or rect.height() < 2 * tall + px(6):
            named = rect.width() >= px(_NAME_FROM)
            alone = QRectF(room.x(), rect.y(), room.width(), rect.height())
            text = self._name(tile) if named else figure
            draw_text(painter, alone, text, "caption", "text" if named else token)
            return
        line = QRectF(room.x(), room.y(), room.width(), tall)
        draw_text(painter, line, self._name(tile), "caption")
        line.translate(0, tall)
        draw_text(painter, line, figure, "caption", token, figures=True)


def _whole(rect: Rect) -> QRect:
    """A tile on whole pixels, with its gap taken off at the right and below."""
    left, top = round(rect.x), round(rect.y)
    right, bottom = round(rect.x + rect.w), round(rect.y + rect.h)
    return QRect(left, top, max(0, right - left - _GAP), max(0, bottom - top - _GAP))
