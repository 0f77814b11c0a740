"""The virtual transcript: a list view with a geometry of its own (``geometry``).

Here is what the model, the theme and Qt's events do to it. A growing text
costs the layout of its last block and the repaint of what changed.
"""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
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
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme

from .expand import Expander
from .find import Finder
from .geometry import Geometry
from .highlight import lexers
from .keys import Keys
from .layout import estimates
from .marks import MarkedBar
from .messages import MarkdownBox
from .model import GrownRole, TranscriptModel
from .mouse import Mouse
from .paint import paint
from .rows import HeaderRow, MarkdownRow, ToolRow
from .select import Selection
from .style import style

Index = QModelIndex | QPersistentModelIndex
_DEAR, _REST = 0.006, 6
"""Seconds after which the layout of a growing block counts as dear, and how many times as long the
view then waits: a paragraph or table of 10,000 characters takes a sixth of the time, not all."""


class TranscriptView(Geometry):
    """Shows a ``TranscriptModel``.

    ``actionTriggered(row_id, action_id)`` a button of a row; ``linkActivated(url)`` a web or mail
    link, to be opened when the page has asked; ``rowExpanded(row_id, open)``; ``needOlder()`` the
    reader nears the first row and the model ``has_older``; ``needContent(row_id)`` a row was opened
    whose content is not loaded; ``findChanged(current, count, done)``; ``stickChanged(bool)``.
    """

    actionTriggered = Signal(str, str)
    linkActivated = Signal(str)
    rowExpanded = Signal(str, bool)
    needContent = Signal(str)
    findChanged = Signal(int, int, bool)

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.selection = Selection(model, self.boxes)
        self.finder = Finder(self)
        self.expander = Expander(self)
        self.mouse = Mouse(self)
        self.keys = Keys(self)
        self.paints = 0
        self._serial = -1
        self._turning.timeout.connect(self._turn)
        self._colouring = QTimer(self, interval=0, singleShot=True)
        self._colouring.timeout.connect(self.viewport().update)
        self._late = QTimer(self, singleShot=True)
        self._late.timeout.connect(self._catch_up)
        self._late_row = ""
        self._setup()
        self._ready = True
        self.setModel(model)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        theme().changed.connect(self._restyle)
        lexers.ready.connect(self._lexer_ready)

    def _setup(self) -> None:
        self.setVerticalScrollBar(MarkedBar(self))
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

    # -- the model --------------------------------------------------------------------------

    def reset(self) -> None:
        super().reset()
        if self._ready:
            self.selection.clear()
            self.finder.clear()
            self.stick = True
            self.unread = 0
            self._reset()
            if self.isVisible():
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
        self.settle_soon()

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
        if self._late.isActive():
            return True  # the layout of a very long block is under way once in a while only
        started = time.thread_time()
        changed_top, taller = box.extend(row.text[box.raw :])
        cost = time.thread_time() - started
        if cost > _DEAR:
            self._late_row = row.id
            self._late.start(round(cost * 1000 * _REST))
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

    def _catch_up(self) -> None:
        """Lay out what came while the view rested from a dear layout."""
        number = self.rows.index_of(self._late_row)
        row = self.rows.row(number) if number >= 0 else None
        box = self.boxes.peek(self._late_row)
        if (
            isinstance(row, MarkdownRow)
            and isinstance(box, MarkdownBox)
            and (len(row.text) > box.raw)
        ):
            self._grown(number)

    def toggle(self, row_id: str) -> None:
        """Open or close a row. What is above it stays where it is."""
        row = self.rows.get(row_id)
        if not isinstance(row, ToolRow | HeaderRow):
            return
        self._let_go()
        expanded = not row.expanded
        before = self.heights[self.rows.index_of(row_id)]
        self.rows.set_expanded(row_id, expanded)
        self._take_hold()
        self.expander.start(row_id, before)
        self.rowExpanded.emit(row_id, expanded)
        if expanded and isinstance(row, ToolRow) and row.partial:
            self.needContent.emit(row_id)

    def relay(self, row_id: str) -> None:
        """A part of a row changed its height (wrap, show all)."""
        number = self.rows.index_of(row_id)
        box = self.boxes.peek(row_id)
        if number < 0 or box is None:
            return
        self._let_go()
        box.stack()
        self._enter(number, box.height)
        self.settle()
        self._take_hold()
        self.viewport().update()

    def _let_go(self) -> None:
        """What the person opens grows downwards, not out of sight at the top."""
        if self.stick and self.verticalScrollBar().maximum() > 0:
            self.set_stick(False)

    def _take_hold(self) -> None:
        bar = self.verticalScrollBar()
        if bar.value() >= bar.maximum() - 2:
            self.set_stick(True)
            self.jump.place(True, 0)

    # -- painting ---------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._serial != theme().serial:
            self._restyle()
        p = QPainter(self.viewport())
        if not paint(self, p, event.rect()):
            self._colouring.start()
        p.end()
        self.paints += 1

    def mind(self) -> None:
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
        self._serial = theme().serial
        at, offset = self.heights.find(max(0, self.value() - self.top_pad()))
        share = offset / self.heights[at] if at < len(self.heights) and self.heights[at] else 0
        asked = self._asked
        self._reset()
        self._asked = asked
        if not self.stick and at < len(self.heights):
            height = self.box(at).height
            self._hold(self.top_pad() + self.heights.sum(at) + round(share * height))
        if self.isVisible():
            self.settle()
            self.viewport().update()

    # -- events -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._ready:
            return
        if self._column() != self.boxes.width:
            self._relayout()
        elif self.isVisible():
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

    def find_from(self, row_id: str) -> None:
        """Go to the first hit in a row, or after it."""
        self.finder.seek(row_id)

    def find_next(self) -> None:
        self.finder.step(1)

    def find_previous(self) -> None:
        self.finder.step(-1)

    def copy(self, markdown: bool = False) -> str:
        """Put the selection, or the current row, on the clipboard; returns the text."""
        return self.keys.copy(markdown)
