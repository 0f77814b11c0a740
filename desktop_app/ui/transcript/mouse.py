"""The pointer: hover, clicks, selecting text, sideways scrolling, the context menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip

from . import menu
from .codebox import CodeBox
from .items import Item, Zone
from .rows import HeaderRow, UserRow
from .select import Point

if TYPE_CHECKING:
    from .view import TranscriptView


class Mouse:
    """State of the pointer over one view."""

    def __init__(self, view: TranscriptView) -> None:
        self.view = view
        self.zone: Zone | None = None
        self.row_id = ""  # of the zone, or under the pointer
        self.head_id = ""  # of the message under the pointer
        self.down = False
        self._press: tuple[Zone | None, QPoint] | None = None
        self._selecting = False
        self._unit: tuple[str, Point, Point] | None = None
        self._clicks = 0
        self._last = QPointF()
        self._drag = QTimer(view, interval=40)
        self._drag.timeout.connect(self._drag_on)

    # -- where ------------------------------------------------------------------------------

    def zone_at(self, pos: QPointF) -> tuple[Zone | None, str]:
        """The place to click at a point, and the row's id."""
        view = self.view
        number = view.row_at(pos.y())
        if number < 0:
            return None, ""
        row = view.rows.row(number)
        row_box = view.boxes.peek(row.id)
        if row_box is None:
            return None, row.id
        y = view.row_top(number)
        local = QPointF(pos.x() - view.left(), pos.y() - y)
        found: Zone | None = None
        for zone in row_box.zones(local.y() - 2, local.y() + 2):
            if zone.rect.contains(local):
                found = zone  # the last is the topmost
        return found, row.id

    def point_at(self, pos: QPointF) -> Point | None:
        """The position in the text nearest to a point of the viewport."""
        view = self.view
        count = len(view.heights)
        if not count:
            return None
        number = view.row_at(pos.y())
        if number < 0:
            number = 0 if pos.y() < view.top_pad() - view.value() else count - 1
        for step in range(0, 40):
            for n in {number - step, number + step}:
                if not 0 <= n < count:
                    continue
                row_box = view.boxes.get(view.rows, n)
                y = pos.y() - view.row_top(n)
                near = row_box.nearest(pos.x() - view.left(), y)
                if near is None:
                    continue
                if n != number:
                    return self._edge(n, at_end=n < number)
                return Point(view.rows.row(n).id, *near)
        return None

    def _edge(self, number: int, at_end: bool) -> Point | None:
        """The first or last position of a row's text."""
        found = [
            (n, k, item)
            for n, k, _, item in self.view.boxes.get(self.view.rows, number).items()
            if item.text is not None
        ]
        if not found:
            return None
        n, k, item = found[-1 if at_end else 0]
        row_id = self.view.rows.row(number).id
        return Point(row_id, n, k, len(item.text or "") if at_end else 0)

    def over_text(self, pos: QPointF) -> bool:
        view = self.view
        number = view.row_at(pos.y())
        if number < 0:
            return False
        row_box = view.boxes.peek(view.rows.row(number).id)
        if row_box is None:
            return False
        x, y = pos.x() - view.left() - row_box.x, pos.y() - view.row_top(number)
        for _, section in row_box.visible(y - 1, y + 1):
            for item in section.flow.items if section.flow else ():
                if (
                    item.text is not None
                    and item.x <= x <= item.x + item.w
                    and section.top + item.y <= y <= section.top + item.y + item.h
                ):
                    return True
        return False

    # -- hover ------------------------------------------------------------------------------

    def leave(self) -> None:
        self._hover(None, "", "")
        self.view.viewport().unsetCursor()

    def _hover(self, zone: Zone | None, row_id: str, head_id: str) -> None:
        view = self.view
        same = (
            self.zone is not None
            and zone is not None
            and (self.zone.item, self.zone.kind, self.zone.rect, self.zone.target)
            == (zone.item, zone.kind, zone.rect, zone.target)
        ) or (zone is None and self.zone is None)
        if same and head_id == self.head_id and row_id == self.row_id:
            return
        was = (self.row_id, self.head_id, self.zone)
        self.zone, self.row_id, self.head_id = zone, row_id, head_id
        if not same:
            for touched in {was[0], row_id}:
                view.update_row(touched)
        if head_id != was[1]:
            for touched in {was[1], head_id}:
                view.update_row(touched)

    def _head_of(self, row_id: str) -> str:
        """The row that heads the message of a row."""
        view = self.view
        number = view.rows.index_of(row_id) if row_id else -1
        for n in range(number, max(-1, number - 60), -1):
            row = view.rows.row(n)
            if isinstance(row, HeaderRow | UserRow):
                return row.id
        return ""

    def tooltip(self, event: QEvent) -> bool:
        if not isinstance(event, QHelpEvent):
            return False
        zone, _ = self.zone_at(QPointF(event.pos()))
        if zone is not None and zone.tooltip:
            QToolTip.showText(event.globalPos(), zone.tooltip, self.view.viewport())
        else:
            QToolTip.hideText()
        return True

    # -- buttons ----------------------------------------------------------------------------

    def press(self, event: QMouseEvent) -> None:
        view = self.view
        view.keys.by_mouse()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        pos = event.position()
        zone, row_id = self.zone_at(pos)
        self._press = (zone, pos.toPoint())
        self.down = True
        if zone is not None and zone.kind != "link":
            self._hover(zone, row_id, self._head_of(row_id))
            view.update_row(row_id)
            return
        self._last = pos
        again = self._clicks == 2 and self._near(event)
        point = self.point_at(pos)
        if point is None:
            return
        if again:
            self._clicks = 0
            self._select_unit("paragraph", point)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and view.selection.anchor:
            view.selection.set(view.selection.anchor, point)
            self._unit = None
        else:
            view.selection.set(point, point)
            self._unit = None
        self._selecting = True
        view.viewport().update()

    def _near(self, event: QMouseEvent) -> bool:
        limit = QApplication.doubleClickInterval()
        return (
            event.timestamp() - self._clicked_at < limit
            and (event.position() - self._clicked_pos).manhattanLength() < 6
        )

    _clicked_at = 0
    _clicked_pos = QPointF()

    def double(self, event: QMouseEvent) -> None:
        pos = event.position()
        zone, _ = self.zone_at(pos)
        if event.button() != Qt.MouseButton.LeftButton or (zone and zone.kind != "link"):
            self.press(event)
            return
        point = self.point_at(pos)
        if point is None:
            return
        self._clicks, self._clicked_at, self._clicked_pos = 2, event.timestamp(), pos
        self._select_unit("word", point)
        self._selecting = True
        self.view.viewport().update()

    def _select_unit(self, unit: str, point: Point) -> None:
        selection = self.view.selection
        start, end = self._unit_at(unit, point)
        self._unit = (unit, start, end)
        selection.set(start, end)

    def _unit_at(self, unit: str, point: Point) -> tuple[Point, Point]:
        view = self.view
        item = self.item(point)
        text = item.text if item is not None and item.text else ""
        return (view.selection.word if unit == "word" else view.selection.paragraph)(point, text)

    def item(self, point: Point) -> Item | None:
        view = self.view
        number = view.rows.index_of(point.row_id)
        if number < 0:
            return None
        found = view.boxes.get(view.rows, number).item(point.section, point.item)
        return found[1] if found else None

    def move(self, event: QMouseEvent) -> None:
        view, pos = self.view, event.position()
        if self._selecting and event.buttons() & Qt.MouseButton.LeftButton:
            self._last = pos
            self._extend(pos)
            outside = not 0 <= pos.y() < view.viewport().height()
            if outside != self._drag.isActive():
                (self._drag.start if outside else self._drag.stop)()
            return
        zone, row_id = self.zone_at(pos)
        self._hover(zone, row_id, self._head_of(row_id))
        if zone is not None:
            shape = Qt.CursorShape.PointingHandCursor
        elif self.over_text(pos):
            shape = Qt.CursorShape.IBeamCursor
        else:
            shape = Qt.CursorShape.ArrowCursor
        if view.viewport().cursor().shape() != shape:
            view.viewport().setCursor(shape)

    def _extend(self, pos: QPointF) -> None:
        view = self.view
        point = self.point_at(pos)
        anchor = view.selection.anchor
        if point is None or anchor is None:
            return
        if self._unit is None:
            view.selection.set(anchor, point)
        else:
            unit, first, last = self._unit
            start, end = self._unit_at(unit, point)
            number = view.rows.index_of
            before = (number(start.row_id), *start.place()) < (
                number(first.row_id), *first.place()
            )  # fmt: skip
            view.selection.set(*((last, start) if before else (first, end)))
        if view.stick and not view.selection.empty():
            view.set_stick(False)  # what is being selected must not run away
        view.viewport().update()

    def _drag_on(self) -> None:
        """Scroll on while the pointer is held outside."""
        view = self.view
        y, height = self._last.y(), view.viewport().height()
        over = y if y < 0 else y - height
        bar = view.verticalScrollBar()
        bar.setValue(bar.value() + int(max(-60, min(60, over))))
        self._extend(QPointF(self._last.x(), max(0.0, min(height - 1.0, y))))

    def release(self, event: QMouseEvent) -> None:
        view = self.view
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self.down = False
        self._drag.stop()
        press, self._press = self._press, None
        self._selecting = False
        if press is None:
            return
        zone, row_id = self.zone_at(event.position())
        moved = (event.position().toPoint() - press[1]).manhattanLength() > 4
        was = press[0]
        same = (
            zone is not None and was is not None
            and (zone.kind, zone.target, zone.item) == (was.kind, was.target, was.item)
        )  # fmt: skip
        if zone is not None and same and not (zone.kind == "link" and moved):
            view.keys.activate(zone, row_id)
        view.update_row(row_id)

    # -- wheel and menu ---------------------------------------------------------------------

    def wheel(self, event: QWheelEvent) -> bool:
        """Sideways over code."""
        delta = event.pixelDelta().x() or event.angleDelta().x() / 2
        if not delta and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            delta = event.angleDelta().y() / 2
        if not delta or (
            abs(delta) < abs(event.angleDelta().y() / 2) * 0.8
            and not (event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        ):
            return False
        item = self.code_at(event.position())
        if item is None:
            return False
        if item.wheel(-int(delta)):
            self.view.viewport().update()
        event.accept()
        return True

    def code_at(self, pos: QPointF) -> CodeBox | None:
        """The code block at a point."""
        view = self.view
        number = view.row_at(pos.y())
        if number < 0:
            return None
        row_box = view.boxes.peek(view.rows.row(number).id)
        y = pos.y() - view.row_top(number)
        for _, section in row_box.visible(y - 1, y + 1) if row_box else ():
            for item in section.flow.items if section.flow else ():
                top = section.top + item.y
                if isinstance(item, CodeBox) and top <= y <= top + item.h:
                    return item
        return None

    def context(self, event: QContextMenuEvent) -> None:
        view = self.view
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = view.currentIndex()
            rect: QRect = view.visualRect(index)
            pos = QPoint(max(0, rect.left()) + 16, max(0, min(rect.top() + 16, view.height() - 40)))
            number = index.row()
        else:
            pos = event.pos()
            number = view.row_at(pos.y())
        made = menu.build(view, number, QPointF(pos))
        if made is not None:
            made.popup(view.viewport().mapToGlobal(pos))
