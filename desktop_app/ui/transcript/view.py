"""The virtual transcript: a list view with a geometry of its own.

Rows that were never seen have estimated heights; what comes into view is laid out, and the scroll
value follows so that what is read stays where it is. "Stick to the end" is a state, not a call.
A growing text costs the layout of its last block and the repaint of what changed.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme

from .fenwick import Heights
from .find import Finder
from .highlight import lexers
from .jump import JumpButton
from .keys import Keys
from .layout import Boxes, estimates
from .messages import MarkdownBox
from .model import GrownRole, TranscriptModel
from .mouse import Mouse
from .paint import paint
from .rowbox import RowBox
from .rows import HeaderRow, MarkdownRow, ToolRow
from .select import Selection
from .style import style

Index = QModelIndex | QPersistentModelIndex
_TURN_MS = 75


class TranscriptView(QListView):
    """Shows a ``TranscriptModel``.

    ``actionTriggered(row_id, action_id)`` a button of a row; ``linkActivated(url)`` a web or mail
    link, to be opened when the page has asked; ``rowExpanded(row_id, open)``; ``needOlder()`` the
    reader nears the first row and the model ``has_older``; ``needContent(row_id)`` a row was opened
    whose content is not loaded; ``findChanged(current, count, done)``; ``stickChanged(bool)``.
    """

    actionTriggered = Signal(str, str)
    linkActivated = Signal(str)
    rowExpanded = Signal(str, bool)
    needOlder = Signal()
    needContent = Signal(str)
    findChanged = Signal(int, int, bool)
    stickChanged = Signal(bool)

    # Qt calls virtual methods while it constructs the view.
    heights = Heights()
    _ready = False

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = model
        self.heights = Heights()
        self.boxes = Boxes()
        self.selection = Selection(model, self.boxes)
        self.finder = Finder(self)
        self.mouse = Mouse(self)
        self.keys = Keys(self)
        self.stick = True
        self.unread = 0
        self.spin = 0
        self.paints = 0
        self._busy = False
        self._asked = False
        self._held = (-1, 0)  # row and offset at the top when last settled
        self._last = 0
        self._serial = -1
        self._turning = QTimer(self, interval=_TURN_MS)
        self._turning.timeout.connect(self._turn)
        self._colouring = QTimer(self, interval=0, singleShot=True)
        self._colouring.timeout.connect(self.viewport().update)
        self.jump = JumpButton(self.viewport())
        self.jump.clicked.connect(self.jump_to_end)
        self._setup()
        self._ready = True
        self.setModel(model)
        self._reset()
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        theme().changed.connect(self._restyle)
        lexers.ready.connect(self._lexer_ready)

    def _setup(self) -> None:
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().installEventFilter(self)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumWidth(240)
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Conversation"))
        self.jump.retranslate()

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
        self._serial = theme().serial
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
        self.jump.place(self.stick, self.unread)
        self._mind()

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

    def _mind(self) -> None:
        """What follows from what is in view: older rows wanted, something turns."""
        if (
            not self._asked
            and self.rows.has_older
            and self.value() < self.viewport().height()
            and self.isVisible()
        ):
            self._asked = True
            QTimer.singleShot(0, self, self.needOlder.emit)
        turns = (
            not theme().reduced_motion
            and self.isVisible()
            and any(box.busy for _, box, _ in self.visible_rows())
        )
        if turns != self._turning.isActive():
            if turns:
                self._turning.start()
            else:
                self._turning.stop()

    def _turn(self) -> None:
        if not self.isVisible() or not self.isActiveWindow():
            return
        self.spin = (self.spin + 1) % 12
        for _, box, y in self.visible_rows():
            if box.busy:
                height = box.pad_top + style().tool_row
                self.viewport().update(QRect(0, y, self.viewport().width(), height))

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
        self.set_stick(bar.value() >= bar.maximum() - 2 and target >= bar.maximum())
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

    # -- the model --------------------------------------------------------------------------

    def reset(self) -> None:
        super().reset()
        if self._ready:
            self.selection.clear()
            self.finder.clear()
            self.stick = True
            self.unread = 0
            self._reset()
            self.settle()
            self.viewport().update()

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        super().rowsInserted(parent, start, end)
        if not self._ready:
            return
        count = len(self.heights)
        fresh = estimates(self.rows, start, end + 1, self.boxes.width)
        at, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        self.heights.insert(start, fresh)
        self._held = (-1, 0)
        if start < count:
            self._asked = False
            if not self.stick and start <= at:
                self._hold(self.top_pad() + self.heights.sum(at + end - start + 1) + offset)
        elif not self.stick:
            new = sum(
                1 for n in range(start, end + 1) if not isinstance(self.rows.row(n), HeaderRow)
            )
            self.unread += new
        self.settle()
        self.viewport().update()

    def _hold(self, value: int) -> None:
        self._busy = True
        self._range()
        self.verticalScrollBar().setValue(value)
        self._busy = False

    def rowsAboutToBeRemoved(self, parent: Index, start: int, end: int) -> None:
        super().rowsAboutToBeRemoved(parent, start, end)
        if not self._ready:
            return
        at, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        for number in range(start, end + 1):
            row = self.rows.built(number)
            if row is not None:
                self.boxes.drop(row.id)
        self.heights.remove(start, end)
        self._held = (-1, 0)
        if not self.stick and end < at:
            self._hold(self.top_pad() + self.heights.sum(at - (end - start + 1)) + offset)
        QTimer.singleShot(0, self, self._after_removal)

    def _after_removal(self) -> None:
        self.settle()
        self.viewport().update()

    def dataChanged(self, top: Index, bottom: Index, roles: Any = ()) -> None:
        if QAccessible.isActive():
            super().dataChanged(top, bottom, roles)
        if not self._ready or not top.isValid():
            return
        if top.row() == bottom.row() and GrownRole in roles and self._grown(top.row()):
            return
        for number in range(top.row(), bottom.row() + 1):
            self._changed(number)
        self.settle()
        self.viewport().update()

    def _changed(self, number: int) -> None:
        row = self.rows.row(number)
        box = self.boxes.peek(row.id)
        if isinstance(row, MarkdownRow) and isinstance(box, MarkdownBox):
            if len(row.text) > box.raw and self._prefix(row, box):
                box.extend(row.text[box.raw :])
            if self._prefix(row, box) and len(row.text) == box.raw:
                if (box.growing, box.stopped) != (row.growing, row.stopped):
                    box.set_growing(row.growing, row.stopped)
                box.stack()
                self._enter(number, box.height)
                return
        self.boxes.drop(row.id)
        if box is not None:
            # A row that is laid out again at once, so that nothing above it jumps.
            self._enter(number, self.boxes.get(self.rows, number).height)
        else:
            self._enter(number, estimates(self.rows, number, number + 1, self.boxes.width)[0])

    def _prefix(self, row: MarkdownRow, box: MarkdownBox) -> bool:
        """Whether the row's text begins with what the box has laid out."""
        return row.text.startswith(box.stream.text) or "\r" in row.text or "\0" in row.text

    def _grown(self, number: int) -> bool:
        """A text got longer: lay out and repaint only that. False when it was more than that."""
        row = self.rows.row(number)
        box = self.boxes.peek(row.id)
        if not isinstance(row, MarkdownRow) or not isinstance(box, MarkdownBox):
            return False
        if (box.growing, box.stopped) != (row.growing, row.stopped):
            return False
        changed_top, taller = box.extend(row.text[box.raw :])
        viewport = self.viewport()
        if not taller:
            y = self.row_top(number)
            rect = QRect(0, y + changed_top - 4, viewport.width(), box.height - changed_top + 8)
            viewport.update(rect)
            return True
        self._enter(number, box.height)
        self.settle()
        y = self.row_top(number) + changed_top - 4
        viewport.update(QRect(0, y, viewport.width(), max(0, viewport.height() - y)))
        return True

    def _enter(self, number: int, height: int) -> None:
        """A new height; what is in view stays when the row is above it."""
        at, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        self.heights.set(number, height)
        if number < at and not self.stick:
            self._hold(self.top_pad() + self.heights.sum(at) + offset)
        else:
            self._busy = True
            self._range()
            self._busy = False

    def toggle(self, row_id: str) -> None:
        """Open or close a row. What is above it stays where it is."""
        row = self.rows.get(row_id)
        if not isinstance(row, ToolRow | HeaderRow):
            return
        if self.stick and self.verticalScrollBar().maximum() > 0:
            self.set_stick(False)
        expanded = not row.expanded
        self.rows.set_expanded(row_id, expanded)
        bar = self.verticalScrollBar()
        if bar.value() >= bar.maximum() - 2:
            self.set_stick(True)
        self.rowExpanded.emit(row_id, expanded)
        if expanded and isinstance(row, ToolRow) and row.partial:
            self.needContent.emit(row_id)

    def relay(self, row_id: str) -> None:
        """A part of a row changed its height (wrap, show all)."""
        number = self.rows.index_of(row_id)
        box = self.boxes.peek(row_id)
        if number < 0 or box is None:
            return
        if self.stick and self.verticalScrollBar().maximum() > 0:
            self.set_stick(False)
        box.stack()
        self._enter(number, box.height)
        self.settle()
        self.viewport().update()

    # -- painting ---------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._serial != theme().serial:
            self._restyle()
        p = QPainter(self.viewport())
        if not paint(self, p, event.rect()):
            self._colouring.start()
        p.end()
        self.paints += 1

    def update_row(self, row_id: str) -> None:
        number = self.rows.index_of(row_id)
        if 0 <= number < len(self.heights):
            y, height = self.row_top(number), self.heights[number]
            self.viewport().update(QRect(0, y - 2, self.viewport().width(), height + 4))

    def _lexer_ready(self, _name: str) -> None:
        self.viewport().update()

    def _restyle(self) -> None:
        """Theme, font size or language changed: lay out anew, keep the place."""
        if not self._ready:
            return
        self.retranslate()
        self._relayout()

    def _relayout(self) -> None:
        at, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        share = offset / self.heights[at] if at < len(self.heights) and self.heights[at] else 0
        asked = self._asked
        self._reset()
        self._asked = asked
        if not self.stick and at < len(self.heights):
            height = self.box(at).height
            self._hold(self.top_pad() + self.heights.sum(at) + round(share * height))
        self.settle()
        self.viewport().update()

    # -- events -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._ready:
            return
        if self._column() != self.boxes.width:
            self._relayout()
        else:
            self.settle()
            self.viewport().update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.settle()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange and self._ready:
            self.retranslate()
        super().changeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of the viewport: only what has no handler of its own."""
        if self._ready and watched is self.viewport():
            if event.type() == QEvent.Type.Leave:
                self.mouse.leave()
            elif event.type() == QEvent.Type.ToolTip:
                return self.mouse.tooltip(event)
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouse.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.mouse.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.mouse.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mouse.double(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.mouse.wheel(event):
            super().wheelEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.mouse.context(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.keys.press(event):
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.keys.focus(event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # -- find -------------------------------------------------------------------------------

    def find(self, text: str) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Look for ``text`` everywhere; the number of hits found so far (``findChanged`` tells
        when there are more). "" ends the search."""
        return self.finder.find(text)

    def find_next(self) -> None:
        self.finder.step(1)

    def find_previous(self) -> None:
        self.finder.step(-1)

    def copy(self, markdown: bool = False) -> str:
        """Put the selection, or the current row, on the clipboard; returns the text."""
        return self.keys.copy(markdown)

    # -- what QAbstractItemView asks for ----------------------------------------------------

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)

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

    def clip(self) -> QRectF:
        return QRectF(self.viewport().rect())
