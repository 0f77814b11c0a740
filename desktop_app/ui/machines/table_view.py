"""The table: one row a workspace, painted by hand, asking for the figures of what is seen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop_app.core.overview_row import OverviewRow
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import figures
from desktop_app.ui.widgets.badge import draw_state
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.charts import draw_mini_bar
from desktop_app.ui.widgets.painting import box, draw_icon, draw_text, hline, vline

from .columns import (
    BY_ID,
    COLUMNS,
    KIND_ICONS,
    NONE,
    SOON_SECONDS,
    cpu_share,
    seconds_left,
    state_of,
)
from .grouping import Group
from .table_model import Index, TableModel

_State = QStyle.StateFlag
_Action = QAbstractItemView.CursorAction
_RIGHT, _LEFT = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
_SEEN_MS = 150
_QUIET = ("kind", "engine", "mcp", "used")


class CellDelegate(QStyledItemDelegate):
    """Paints a cell from its row; the row's ground reaches from edge to edge."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(theme().px(COLUMNS[index.column()].width), theme().size("table-row"))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view: Table = option.widget  # type: ignore[attr-defined]
        row = view.rows.row_at(index.row())
        rect = QRectF(option.rect)  # type: ignore[attr-defined]
        if row is None:
            if (group := view.rows.group_at(index.row())) is not None:
                self._heading(painter, view, rect, group)
            return
        state = option.state  # type: ignore[attr-defined]
        column = COLUMNS[index.column()]
        painter.save()
        self._ground(painter, view, rect, index, state)
        px = theme().px
        inner = rect.adjusted(px(16) if index.column() == 0 else px(8), 0, -px(8), 0)
        if index.column() == len(COLUMNS) - 1:
            inner.adjust(0, 0, -px(4), 0)
        if column.id == "name":
            self._name(painter, inner, row)
        elif column.id == "state":
            self._state(painter, inner, row)
        elif column.id == "cpu":
            self._cpu(painter, inner, row)
        else:
            text = column.text(row)
            token = "faint" if text == NONE else "muted" if column.id in _QUIET else "text"
            if column.id == "left" and (seconds_left(row) or SOON_SECONDS) < SOON_SECONDS:
                token = "warning"
            side = _LEFT if column.left else _RIGHT
            draw_text(painter, inner, text, "body", token, side, figures=not column.left)
        painter.restore()

    def _heading(self, painter: QPainter, view: Table, rect: QRectF, group: Group) -> None:
        """A heading from edge to edge, whichever cell of it is painted."""
        px, color = theme().px, theme().color
        painter.save()
        painter.setClipRect(rect)
        painter.fillRect(rect, color("sunken"))
        hline(painter, rect.x(), rect.right() + 1, rect.y(), color("border"))
        hline(painter, rect.x(), rect.right() + 1, rect.bottom(), color("border"))
        left = view.columnViewportPosition(0)
        whole = QRectF(left + px(16), rect.y(), view.viewport().width() - px(24), rect.height())
        end = whole.x() + draw_text(painter, whole, group.title(), "small-strong", "muted")
        count = QRectF(end + px(8), rect.y(), px(80), rect.height())
        draw_text(painter, count, figures.count(group.count), "small", "faint")
        painter.restore()

    def _ground(
        self, painter: QPainter, view: Table, rect: QRectF, index: Index, state: _State
    ) -> None:
        fill = None
        if state & _State.State_Selected:
            fill = "selection" if view.isActiveWindow() else "selection-inactive"
        elif view.hovered == index.row():
            fill = "hover"
        if fill:
            painter.fillRect(rect, theme().color(fill))
        if view.keyboard and index.row() == view.currentIndex().row():
            whole = QRectF(0, rect.y(), view.viewport().width(), rect.height())
            painter.setClipRect(rect)
            box(painter, whole, 0, None, theme().color("focus"))

    def _name(self, painter: QPainter, rect: QRectF, row: OverviewRow) -> None:
        px = theme().px
        place = QRectF(rect.x(), rect.y(), px(16), rect.height())
        draw_icon(painter, place, KIND_ICONS.get(row.kind, "box"), "muted", 16)
        rect.setLeft(rect.x() + px(24))
        if row.waiting or row.running:
            mark = QRectF(rect.right() - px(10), rect.y(), px(10), rect.height())
            draw_state(painter, mark, "waiting" if row.waiting else "busy")
            rect.setRight(mark.x() - px(6))
        draw_text(painter, rect, row.name, "strong")

    def _state(self, painter: QPainter, rect: QRectF, row: OverviewRow) -> None:
        px = theme().px
        glyph, word = state_of(row)
        draw_state(painter, QRectF(rect.x(), rect.y(), px(10), rect.height()), glyph)
        rect.setLeft(rect.x() + px(16))
        draw_text(painter, rect, word)

    def _cpu(self, painter: QPainter, rect: QRectF, row: OverviewRow) -> None:
        px = theme().px
        share = cpu_share(row)
        text = COLUMNS[BY_ID["cpu"]].text(row)
        words = QRectF(rect.x(), rect.y(), px(38), rect.height())
        if share is None:
            draw_text(painter, words, text, "body", "faint", _RIGHT)
            return
        draw_text(painter, words, text, "body", "text", _RIGHT, figures=True)
        bar = QRectF(words.right() + px(6), rect.y(), px(32), rect.height())
        draw_mini_bar(painter, bar, share)


class Header(QHeaderView):
    """With a mark between columns."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        painter.save()
        super().paintSection(painter, rect, logicalIndex)
        painter.restore()
        if logicalIndex < self.count() - 1:
            tall = theme().px(14)
            top = rect.y() + (rect.height() - tall) / 2
            vline(painter, rect.right(), top, top + tall, theme().color("border-strong"))


class Table(Live, QTableView):
    """``seen(ids)`` follows what can be seen; ``chosen`` the current row; ``opened`` a double click
    or Enter; ``menuWanted(id, at)`` and ``removeWanted`` what a person asks of a row."""

    seen = Signal(list)
    chosen = Signal(str)
    opened = Signal(str)
    removeWanted = Signal(str)
    menuWanted = Signal(str, QPoint)

    def __init__(self, rows: TableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = rows
        self.hovered = -1
        self.keyboard = False
        self.setModel(rows)
        self.setItemDelegate(CellDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = Header(self)
        self.setHorizontalHeader(head)
        head.setSectionsMovable(False)
        head.setHighlightSections(False)
        head.setSortIndicatorClearable(True)
        head.setMinimumSectionSize(theme().px(48))
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self._seen_soon = QTimer(self, singleShot=True, interval=_SEEN_MS)
        self._seen_soon.timeout.connect(self._tell_seen)
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._seen_soon.start())
        rows.layoutChanged.connect(self._seen_soon.start)
        self.selectionModel().currentChanged.connect(lambda now, _old: self._chose(now))
        self.doubleClicked.connect(lambda index: self._open(index))
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme().size("table-row"))
        for place, column in enumerate(COLUMNS):
            self.setColumnWidth(place, theme().px(column.width))
        self._stretch()
        self.viewport().update()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Workspaces"))
        self.rows.retranslate()

    def _stretch(self) -> None:
        """Names take the room that is left; when it is short, columns scroll."""
        rest = sum(theme().px(column.width) for column in COLUMNS[1:])
        least = theme().px(COLUMNS[0].width)
        self.setColumnWidth(0, max(least, self.viewport().width() - rest))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stretch()
        self._seen_soon.start()

    def order(self) -> tuple[str, bool]:
        """The column that rows are sorted by, empty for the person's own order, and whether the
        smallest come first."""
        head = self.horizontalHeader()
        place = head.sortIndicatorSection()
        column = COLUMNS[place].id if 0 <= place < len(COLUMNS) else ""
        return column, head.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder

    def set_order(self, column: str, up: bool) -> None:
        """Sort; a column that is not there is the person's own order."""
        way = Qt.SortOrder.AscendingOrder if up else Qt.SortOrder.DescendingOrder
        self.horizontalHeader().setSortIndicator(BY_ID.get(column, -1), way)

    # -- what is seen ----------------------------------------------------------------------------

    def seen_ids(self) -> list[str]:
        """The workspaces whose rows can be seen now."""
        if not self.isVisible():
            return []
        first = self.rowAt(0)
        if first < 0:
            return []
        last = self.rowAt(self.viewport().height() - 1)
        last = self.rows.rowCount() - 1 if last < 0 else last
        found = [self.rows.row_at(place) for place in range(first, last + 1)]
        return [row.id for row in found if row is not None]

    def _tell_seen(self) -> None:
        self.seen.emit(self.seen_ids())

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self._seen_soon.start()

    def hideEvent(self, event) -> None:
        super().hideEvent(event)
        self._seen_soon.stop()
        self.seen.emit([])

    # -- mouse and keys --------------------------------------------------------------------------

    def current_id(self) -> str:
        row = self.rows.row_at(self.currentIndex().row())
        return row.id if row is not None else ""

    def choose(self, workspace_id: str) -> None:
        """Make a row the current one, if it is shown."""
        index = self.rows.find(workspace_id)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def _chose(self, index: Index) -> None:
        row = self.rows.row_at(index.row()) if index.isValid() else None
        self.chosen.emit(row.id if row is not None else "")
        self.viewport().update()

    def _open(self, index: Index) -> None:
        if (row := self.rows.row_at(index.row())) is not None:
            self.opened.emit(row.id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.rowAt(event.position().toPoint().y()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, place: int) -> None:
        if place == self.hovered:
            return
        before, self.hovered = self.hovered, place
        width = self.viewport().width()
        for one in (before, place):
            if one >= 0:
                self.viewport().update(0, self.rowViewportPosition(one), width, self.rowHeight(one))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.keyboard = False
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        row = self.rows.row_at(self.rowAt(event.pos().y()))
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            row = self.rows.row_at(self.currentIndex().row())
        if row is not None:
            self.choose(row.id)
            self.menuWanted.emit(row.id, event.globalPos())

    def moveCursor(
        self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Home and End are the first and the last row; a heading is never stopped at."""
        last = self.rows.rowCount() - 1
        if cursorAction == _Action.MoveHome:
            return self._row_from(0, 1)
        if cursorAction == _Action.MoveEnd:
            return self._row_from(last, -1)
        index = super().moveCursor(cursorAction, modifiers)
        if not index.isValid() or self.rows.row_at(index.row()) is not None:
            return index
        way = 1 if cursorAction == _Action.MovePageDown else -1
        found = self._row_from(index.row(), way)
        return found if found.isValid() else self._row_from(index.row(), -way)

    def _row_from(self, place: int, way: int) -> QModelIndex:
        """The first row at or after a place, in a direction; none where there is none."""
        column = max(0, self.currentIndex().column())
        while self.rows.group_at(place) is not None:
            place += way
        return self.rows.index(place, column)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        self.keyboard = True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        elif key == Qt.Key.Key_Delete and self.current_id():
            self.removeWanted.emit(self.current_id())
        else:
            super().keyPressEvent(event)
            self.viewport().update()

    def focusOutEvent(self, event) -> None:
        self.keyboard = False
        super().focusOutEvent(event)
        self.viewport().update()
