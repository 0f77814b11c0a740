"""Where rows stand, what is laid out, and the scroll value: the geometry of the view.

Rows that were never seen have estimated heights; what comes into view is laid out, and the scroll
value follows so that what is read stays where it is. "Stick to the end" is a state, not a call.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    QTimer,
    Signal,
)
from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from .fenwick import Heights
from .jump import JumpButton
from .layout import Boxes, estimates
from .model import TranscriptModel
from .rowbox import RowBox
from .style import style

Index = QModelIndex | QPersistentModelIndex
_TURN_MS = 75


class Geometry(QListView):
    """Heights, the settling of what is in view, and scrolling."""

    needOlder = Signal()
    stickChanged = Signal(bool)

    # Qt calls virtual methods while it constructs the view.
    heights = Heights()
    _ready = False

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = model
        self.heights = Heights()
        self.boxes = Boxes(self._box_changed)
        self.stick = True
        self.unread = 0
        self.spin = 0
        self._busy = False
        self._asked = False
        self._held = (-1, 0)  # row and offset at the top when last settled
        self._last = 0
        self._soon = QTimer(self, interval=0, singleShot=True)
        self._soon.timeout.connect(self._settle_now)
        self._turning = QTimer(self, interval=_TURN_MS)
        self.jump = JumpButton(self.viewport())
        self.grows = True  # False: a text that is read, whose end is nothing to go back to
        self.jump.clicked.connect(self.jump_to_end)

    # -- geometry ---------------------------------------------------------------------------

    def _column(self) -> int:
        now = style()
        return max(120, min(now.column, self.viewport().width() - 2 * now.edge))

    def left(self) -> int:
        """Left edge of the column in the viewport."""
        return (self.viewport().width() - self.boxes.width) // 2

    def top_pad(self) -> int:
        return style().px(18)

    def value(self) -> int:
        return self.verticalScrollBar().value()

    def row_top(self, number: int) -> int:
        """Top of row ``number`` in the viewport."""
        return self.top_pad() + self.heights.sum(number) - self.value()

    def box(self, number: int) -> RowBox:
        """Row ``number`` laid out; its height is entered."""
        box = self.boxes.get(self.rows, number)
        self.heights.set(number, box.height)
        return box

    def _reset(self) -> None:
        """All is new: heights are estimates again."""
        self.boxes.clear()
        self.boxes.width = self._column()
        self._held = (-1, 0)
        self.heights = Heights(estimates(self.rows, 0, self.rows.rowCount(), self.boxes.width))
        self._asked = False
        self._range()

    def _range(self) -> None:
        bar = self.verticalScrollBar()
        visible = self.viewport().height()
        total = self.heights.total + self.top_pad() + style().px(20)
        bar.setPageStep(visible)
        bar.setSingleStep(style().line("message"))
        bar.setRange(0, max(0, total - visible))

    def settle(self) -> None:
        """Lay out what is in view and put the scroll value where it belongs."""
        if self._busy or not self._ready:
            return
        self._busy = True
        try:
            if len(self.heights):
                for _ in range(4):
                    if not (self._settle_end() if self.stick else self._settle_at()):
                        break
            else:
                self._range()
        finally:
            self._busy = False
        self._held = self.heights.find(max(0, self.value() - self.top_pad()))
        self._last = self.value()
        self.jump.place(self.stick or not self.grows, self.unread)
        self.mind()

    def settle_soon(self) -> None:
        """Settle when what is going on now is over."""
        if not self._soon.isActive():
            self._soon.start()

    def _settle_now(self) -> None:
        self.settle()
        self.viewport().update()

    def _settle_end(self) -> bool:
        visible = self.viewport().height()
        number, filled = len(self.heights) - 1, style().px(20)
        while number >= 0 and filled < visible:
            box = self.boxes.get(self.rows, number)
            for _ in range(8):
                before = box.height
                box.ensure(max(0, before - (visible - filled)), before)
                if box.height == before:
                    break
            self.heights.set(number, box.height)
            filled += box.height
            number -= 1
        self._range()
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        return False

    def _settle_at(self) -> bool:
        """True when the value had to be cut, or space came free above, and it must be done again.

        What was at the top before keeps its distance to the new top: rows above it that turn out
        taller or lower than estimated move the value, not the reader.
        """
        bar, visible = self.verticalScrollBar(), self.viewport().height()
        first, offset = self.heights.find(max(0, bar.value() - self.top_pad()))
        lead = min(0, bar.value() - self.top_pad())  # negative: the space above the first row
        first = min(first, len(self.heights) - 1)
        held, hold = self._held
        if not first <= held <= first + 60:
            held, hold = first, 0
        y, number = -offset - lead, first
        while number < len(self.heights) and y < visible:
            box = self.boxes.get(self.rows, number)
            delta = self.heights.set(number, box.height)
            if number < held or (number == first and offset):
                offset += delta
                y -= delta
            known = hold if number == held else box.height if number < held else 0
            moved = box.ensure(-y, visible - y, known)
            offset += moved
            y -= moved
            self.heights.set(number, box.height)
            y += box.height
            number += 1
        wanted = self.top_pad() + self.heights.sum(first) + offset + lead
        self._range()
        bar.setValue(wanted)
        return bar.value() != wanted or (offset < 0 and first > 0)

    def mind(self) -> None:
        """What follows from what is in view; the view says."""

    def visible_rows(self) -> list[tuple[int, RowBox, int]]:
        """(number, box, top in the viewport) of the laid-out rows in view."""
        out: list[tuple[int, RowBox, int]] = []
        if not len(self.heights):
            return out
        number, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        y = -offset + max(0, self.top_pad() - self.value())
        visible = self.viewport().height()
        while number < len(self.heights) and y < visible:
            row = self.rows.built(number)
            box = self.boxes.peek(row.id) if row else None
            if box is not None:
                out.append((number, box, y))
            y += self.heights[number]
            number += 1
        return out

    def _enter(self, number: int, height: int) -> None:
        """A new height; what is in view stays when the row is above it."""
        at, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        self.heights.set(number, height)
        if number < at and not self.stick:
            self._hold(self.top_pad() + self.heights.sum(at) + offset)
        else:
            self._hold(None)

    def _hold(self, value: int | None) -> None:
        """Set range and value without settling."""
        busy, self._busy = self._busy, True
        self._range()
        bar = self.verticalScrollBar()
        if self.stick:
            bar.setValue(bar.maximum())
        elif value is not None:
            bar.setValue(value)
        self._busy = busy

    def _box_changed(self, row_id: str, height: int) -> None:
        """A row was laid out because something in it was asked for."""
        number = self.rows.index_of(row_id)
        if 0 <= number < len(self.heights):
            self._enter(number, height)
            self.settle_soon()

    # -- scrolling --------------------------------------------------------------------------

    def _scrolled(self, value: int) -> None:
        if self._busy:
            return
        if abs(value - self._last) > self.viewport().height():
            self._held = (-1, 0)  # a jump: nothing that was in view is in view now
        self.set_stick(value >= self.verticalScrollBar().maximum() - 2)
        self.settle()

    def set_stick(self, stick: bool) -> None:
        """Follow the end, or stay where the reader is."""
        if stick == self.stick:
            return
        self.stick = stick
        if stick:
            self.unread = 0
        self.stickChanged.emit(stick)

    def jump_to_end(self) -> None:
        """Go to the newest row and follow it."""
        self.set_stick(True)
        self.settle()
        self.viewport().update()

    def scroll_to_row(self, row_id: str, offset: int = 0, margin: int = 24) -> bool:
        """Bring a row (``offset`` pixels into it) near the top; False when unknown."""
        number = self.rows.index_of(row_id)
        if number < 0:
            return False
        self.show_range(number, offset, 0, margin, force=True)
        return True

    def show_range(
        self, number: int, offset: int, height: int, margin: int = 24, *, force: bool = False
    ) -> None:
        """Scroll as little as needed to see that part of a row."""
        self.box(number)
        self._range()
        y = self.row_top(number) + offset
        visible = self.viewport().height()
        if not force and y >= margin and y + height <= visible - margin:
            return
        near = 0 if force else visible // 3
        self._held = (-1, 0)
        self._busy = True
        target = self.top_pad() + self.heights.sum(number) + offset - margin - near
        self.verticalScrollBar().setValue(target)
        self._busy = False
        bar = self.verticalScrollBar()
        # Where everything fits the end is in view, whatever was asked for.
        fits = bar.maximum() <= 0
        self.set_stick(fits or (bar.value() >= bar.maximum() - 2 and target >= bar.maximum()))
        self.settle()
        self.viewport().update()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        viewport = self.viewport()
        blit = (
            self._ready
            and abs(dy) < viewport.height() // 2
            and not self.jump.isVisible()
            and self.devicePixelRatioF() in (1.0, 2.0, 3.0)
        )
        if blit:
            viewport.scroll(0, dy, viewport.rect())
        else:
            viewport.update()

    # -- what QAbstractItemView asks for ----------------------------------------------------

    def doItemsLayout(self) -> None:
        """Never: the geometry is ours."""

    def updateGeometries(self) -> None:
        if self._ready:
            self._range()

    def sizeHint(self) -> QSize:
        return QSize(style().column + 2 * style().edge, 600)

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def visualRect(self, index: Index) -> QRect:
        if not index.isValid() or index.row() >= len(self.heights):
            return QRect()
        y, height = self.row_top(index.row()), self.heights[index.row()]
        row = self.rows.built(index.row())
        box = self.boxes.peek(row.id) if row else None
        pad = box.pad_top if box else 0
        return QRect(self.left(), y + pad, self.boxes.width, height - pad)

    def indexAt(self, point: QPoint) -> QModelIndex:
        number = self.row_at(point.y())
        return self.rows.index(number) if number >= 0 else QModelIndex()

    def row_at(self, y: float) -> int:
        """Number of the row at a height of the viewport; -1 when there is none."""
        at = int(y) + self.value() - self.top_pad()
        if at < 0:
            return -1
        number, _ = self.heights.find(at)
        return number if number < len(self.heights) else -1

    def scrollTo(
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        if not self._ready or not index.isValid() or index.row() >= len(self.heights):
            return
        height = self.box(index.row()).height
        top = hint == QAbstractItemView.ScrollHint.PositionAtTop
        visible = self.viewport().height()
        self.show_range(index.row(), 0, min(height, visible - 48), force=top)

    def moveCursor(self, action: Any, modifiers: Any) -> QModelIndex:
        return self.currentIndex()

    def isIndexHidden(self, index: Index) -> bool:
        return False

    def setSelection(self, rect: QRect, flags: Any) -> None:
        """Rows are not selected; text is."""

    def visualRegionForSelection(self, selection: Any) -> QRegion:
        return QRegion()
