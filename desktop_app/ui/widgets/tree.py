"""A tree whose rows reach from edge to edge and whose chevrons look as everywhere."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF
from PySide6.QtGui import QCursor, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QTreeView, QWidget

from desktop_app.ui.theme import theme

from .painting import box, draw_icon

Index = QModelIndex | QPersistentModelIndex


class Tree(QTreeView):
    """Paints each row's ground itself, across the indent; the style's own selection is off.

    The selected row shows which thing the window is about, so it keeps its colour while another
    part of the window has the focus."""

    paints_ground = True  # the delegate leaves it to us

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ownGround", True)  # the sheet paints no selection below the chevrons
        self.setHeaderHidden(True)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setMouseTracking(True)

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: Index) -> None:
        fill = None
        if self.selectionModel().isSelected(index):  # type: ignore[arg-type]
            fill = "selection" if self.isActiveWindow() else "selection-inactive"
        elif self.underMouse():
            under = self.indexAt(self.viewport().mapFromGlobal(QCursor.pos()))
            fill = "hover" if under == index else None
        if fill:
            row = QRectF(self.visualRect(index))  # type: ignore[arg-type]
            edge = theme().px(6)
            row.setLeft(edge)
            row.setRight(self.viewport().width() - edge)
            box(painter, row, theme().radius("button"), theme().color(fill))
        super().drawRow(painter, options, index)

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        if not self.model().hasChildren(index):
            return
        side = self.indentation()
        place = QRectF(rect.right() - side + 1, rect.y(), side, rect.height())
        opened = self.isExpanded(index)  # type: ignore[arg-type]
        draw_icon(painter, place, "chevron-down" if opened else "chevron-right", "faint", 14)
