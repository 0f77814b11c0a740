"""The table of a preview: rows under their fate, a pin on each, keys and a menu for the choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QTreeView, QWidget

from desktop_app.core.context.types import PreviewRow
from desktop_app.ui.chat import tool_words
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.menu import context_menu
from desktop_app.ui.widgets.painting import box, draw_icon, draw_text, hline

from .preview_model import (
    AFTER,
    BECOMES,
    NOW,
    PIN,
    WHAT,
    ChosenRole,
    GroupRole,
    PreviewModel,
    RowRole,
)
from .words import FATE_ICONS, row_kind

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight
_NARROW = 250  # below this the icon alone says what kind of thing a row is
_ICONS = {
    "user": "user",
    "assistant": "message-square",
    "thinking": "brain",
    "images": "image",
    "ledger": "list-checks",
}


def row_icon(row: PreviewRow) -> str:
    """The icon of a row: of its tool, else of who wrote it."""
    if row.category == "result":
        return tool_words.icon(row.label.partition(" ")[0])
    return _ICONS.get(row.category, "file-text")


class _Delegate(QStyledItemDelegate):
    def sizeHint(self, option: Any, index: Index) -> QSize:
        return QSize(theme().px(60), theme().size("group-row"))

    def paint(self, painter: QPainter, option: Any, index: Index) -> None:
        rect = QRectF(option.rect)
        painter.save()
        if (group := index.data(GroupRole)) is not None:
            self._group(painter, rect, index, group)
        elif (row := index.data(RowRole)) is not None:
            if option.state & QStyle.StateFlag.State_Selected:
                active = option.state & QStyle.StateFlag.State_Active
                token = "selection" if active else "selection-inactive"
                painter.fillRect(rect, theme().color(token))
            elif option.state & QStyle.StateFlag.State_MouseOver:
                painter.fillRect(rect, theme().color("hover"))
            self._row(painter, rect, index, row)
        painter.restore()

    def _group(self, painter: QPainter, rect: QRectF, index: Index, _group: Any) -> None:
        color = theme().color
        if index.column() == BECOMES:
            return  # the heading runs on under it
        if index.column() == WHAT and isinstance(tree := self.parent(), QTreeView):
            rect.setRight(rect.right() + tree.columnWidth(BECOMES))
        painter.fillRect(rect, color("sunken"))
        hline(painter, rect.x(), rect.right() + 1, rect.y(), color("border"))
        hline(painter, rect.x(), rect.right() + 1, rect.bottom(), color("border"))
        px = theme().px
        text = index.data()
        if index.column() == WHAT:
            room = rect.adjusted(px(16), 0, 0, 0)
            draw_text(painter, room, text, "small-strong", "muted")
        else:
            room = rect.adjusted(0, 0, -px(8), 0)
            draw_text(painter, room, text, "small", "muted", _RIGHT, figures=True)

    def _row(self, painter: QPainter, rect: QRectF, index: Index, row: PreviewRow) -> None:
        px, column = theme().px, index.column()
        if column == WHAT:
            spot = QRectF(rect.x() + px(16), rect.y(), px(16), rect.height())
            draw_icon(painter, spot, row_icon(row))
            start = px(40)
            if rect.width() >= px(_NARROW):
                kind = QRectF(rect.x() + start, rect.y(), px(92), rect.height())
                draw_text(painter, kind, row_kind(row), "body", "muted")
                start = px(136)
            draw_text(painter, rect.adjusted(start, 0, -px(8), 0), index.data())
        elif column == BECOMES:
            spot = QRectF(rect.x() + px(2), rect.y(), px(14), rect.height())
            draw_icon(painter, spot, FATE_ICONS[row.fate], "muted", 14)
            draw_text(painter, rect.adjusted(px(22), 0, 0, 0), index.data(), "small")
        elif column in (NOW, AFTER):
            token = "muted" if column == NOW else "text"
            room = rect.adjusted(0, 0, -px(8), 0)
            draw_text(painter, room, index.data(), "body", token, _RIGHT, figures=True)
        elif column == PIN and row.ref != "ledger":
            self._pin(painter, rect, index.data(ChosenRole))

    def _pin(self, painter: QPainter, rect: QRectF, chosen: str) -> None:
        side = theme().px(24)
        spot = QRectF(0, 0, side, side)
        spot.moveCenter(rect.center())
        if chosen:
            box(painter, spot, theme().radius("small"), theme().color("selection"))
        name = "archive" if chosen == "drop" else "pin"
        draw_icon(painter, spot, name, "accent-text" if chosen else "muted", 14)


class PreviewTree(Live, QTreeView):
    """``chosen(ref, what)``: the person wants a row kept ("keep"), left out ("drop"), or as it was
    proposed (""). ``sourceWanted(ref)``: look at it in the chat."""

    chosen = QtSignal(str, str)
    sourceWanted = QtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = PreviewModel(self)
        self.known: Callable[[str], bool] = lambda _ref: False  # whether the chat has a row of it
        self.live = True  # False: nothing can be chosen here
        self.setModel(self.rows)
        self.setItemDelegate(_Delegate(self))
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setProperty("ground", "surface")
        self.setProperty("ownGround", True)
        self.setUniformRowHeights(True)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setIndentation(0)
        self.setMouseTracking(True)
        self.setAllColumnsShowFocus(True)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.rows.modelReset.connect(self._fresh)
        self.retranslate()
        self.restyle()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("What becomes of each part of the context"))
        self.rows.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, PIN)
        self.viewport().update()

    def restyle(self) -> None:
        super().restyle()
        header, px = self.header(), theme().px
        header.setStretchLastSection(False)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(px(30))
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        widths = ((BECOMES, 116), (NOW, 72), (AFTER, 72), (PIN, 40))
        for column, width in widths:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, px(width))

    def set_live(self, live: bool) -> None:
        """False: it shows what was done, and nothing can be chosen."""
        self.live = live
        self.rows.past = not live
        self.setColumnHidden(PIN, not live)
        self.restyle()

    def _fresh(self) -> None:
        self.expandAll()

    # -- choosing -----------------------------------------------------------------------------

    def toggle(self, index: Index, what: str) -> None:
        """Choose, or take the choice back."""
        row = index.data(RowRole) if index.isValid() else None
        if self.live and isinstance(row, PreviewRow) and row.ref != "ledger":
            self.chosen.emit(row.ref, "" if self.rows.chosen(row.ref) == what else what)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.column() == PIN:
            self.toggle(index, "" if index.data(ChosenRole) == "drop" else "keep")
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_P):
            self.toggle(index, "keep")
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.toggle(index, "drop")
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            index, at = self.indexAt(event.pos()), event.globalPos()
        else:
            index = self.currentIndex()
            at = self.viewport().mapToGlobal(self.visualRect(index).center())
        row = index.data(RowRole) if index.isValid() else None
        if isinstance(row, PreviewRow):
            self._menu(index, row, at)

    def _menu(self, index: Index, row: PreviewRow, at: QPoint) -> None:
        menu = context_menu(self)
        chosen, own = self.rows.chosen(row.ref), row.ref == "ledger" or not self.live
        for what, words in (("keep", tr("Keep as it is")), ("drop", tr("Leave out"))):
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(chosen == what)
            action.setEnabled(not own)
            action.triggered.connect(lambda _=False, what=what: self.toggle(index, what))
        menu.addSeparator()
        look = menu.addAction(tr("Show in chat"))
        look.setEnabled(self.known(row.ref))
        look.triggered.connect(lambda: self.sourceWanted.emit(row.ref))
        menu.popup(at)

    def event(self, event: QEvent) -> bool:
        # Space and P are for the choice here, not for a menu's shortcut.
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() in (Qt.Key.Key_P, Qt.Key.Key_Space)
        ):
            event.accept()
            return True
        return super().event(event)
