"""The keyboard: rows and their buttons, scrolling, copying, extending a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

from .codebox import CodeBox
from .items import Zone
from .rows import HeaderRow, MarkdownRow, Row, ToolRow
from .select import Point

if TYPE_CHECKING:
    from .view import TranscriptView

_TAB = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class Keys:
    """The current row and, in it, the button that has the keyboard."""

    def __init__(self, view: TranscriptView) -> None:
        self.view = view
        self.zone: Zone | None = None
        self.zone_row = ""
        self._visible = False

    # -- focus ------------------------------------------------------------------------------

    def focus(self, reason: Qt.FocusReason) -> None:
        self._visible = reason in _TAB
        view = self.view
        if self._visible and not view.currentIndex().isValid() and len(view.heights):
            view.setCurrentIndex(view.rows.index(len(view.heights) - 1))
        view.viewport().update()

    def by_mouse(self) -> None:
        self._visible = False
        self._set_zone(None, "")

    def shows(self, number: int) -> bool:
        """Whether row ``number`` is drawn as the current one."""
        view = self.view
        return self._visible and view.hasFocus() and view.currentIndex().row() == number

    def _set_zone(self, zone: Zone | None, row_id: str) -> None:
        was = self.zone_row
        self.zone, self.zone_row = zone, row_id
        for touched in {was, row_id}:
            if touched:
                self.view.update_row(touched)

    # -- keys -------------------------------------------------------------------------------

    def press(self, event: QKeyEvent) -> bool:
        """Whether the key was used."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy(False)
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
            return True
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        key = event.key()
        if event.modifiers() & (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        ) and key not in (Qt.Key.Key_Home, Qt.Key.Key_End):
            return False
        if shift and key in _EXTEND:
            return self._extend(key)
        handler = {
            Qt.Key.Key_Up: lambda: self._row(-1),
            Qt.Key.Key_Down: lambda: self._row(1),
            Qt.Key.Key_Left: lambda: self._button(-1),
            Qt.Key.Key_Right: lambda: self._button(1),
            Qt.Key.Key_PageUp: lambda: self._page(-1),
            Qt.Key.Key_PageDown: lambda: self._page(1),
            Qt.Key.Key_Home: lambda: self._end(0),
            Qt.Key.Key_End: lambda: self._end(-1),
            Qt.Key.Key_Return: self._enter,
            Qt.Key.Key_Enter: self._enter,
            Qt.Key.Key_Space: self._enter,
            Qt.Key.Key_Escape: self._escape,
        }.get(Qt.Key(key))
        return handler() if handler else False

    def _row(self, step: int) -> bool:
        """The next row; a row taller than the view is read through first."""
        view = self.view
        count = len(view.heights)
        if not count:
            return False
        self._visible = True
        self._set_zone(None, "")
        number = view.currentIndex().row()
        if number < 0:
            number = view.row_at(view.viewport().height() - 1)
            number = count - 1 if number < 0 else number
            step = 0
        else:
            y, visible = view.row_top(number), view.viewport().height()
            bottom = y + view.heights[number]
            rest = bottom - visible if step > 0 else -y
            if view.heights[number] > visible - 60 and rest > 24 and bottom > 0 and y < visible:
                bar = view.verticalScrollBar()
                bar.setValue(bar.value() + step * min(rest + 24, visible // 2))
                return True
        self._go(max(0, min(count - 1, number + step)))
        return True

    def _go(self, number: int) -> None:
        view = self.view
        view.setCurrentIndex(view.rows.index(number))
        view.scrollTo(view.rows.index(number))
        view.viewport().update()

    def _page(self, step: int) -> bool:
        bar = self.view.verticalScrollBar()
        bar.setValue(bar.value() + step * max(40, bar.pageStep() - 60))
        return True

    def _end(self, which: int) -> bool:
        view = self.view
        if which:
            view.jump_to_end()
            if len(view.heights) and self._visible:
                view.setCurrentIndex(view.rows.index(len(view.heights) - 1))
        else:
            view.verticalScrollBar().setValue(0)
            if len(view.heights) and self._visible:
                view.setCurrentIndex(view.rows.index(0))
        return True

    def _zones(self) -> list[Zone]:
        """Buttons of the current row, in reading order."""
        view = self.view
        number = view.currentIndex().row()
        if not 0 <= number < len(view.heights):
            return []
        box = view.boxes.get(view.rows, number)
        seen: set[tuple[str, str, int]] = set()
        out: list[Zone] = []
        for zone in box.zones(0, box.height):
            mark = (zone.kind, zone.target, id(zone.item))
            if zone.enabled and mark not in seen:
                seen.add(mark)
                out.append(zone)
        return out

    def _button(self, step: int) -> bool:
        zones = self._zones()
        if not zones:
            return False
        self._visible = True
        at = -1
        for i, zone in enumerate(zones):
            now = self.zone
            if now and (zone.kind, zone.target, zone.item) == (now.kind, now.target, now.item):
                at = i
        at = (0 if step > 0 else len(zones) - 1) if at < 0 else (at + step) % len(zones)
        row = self.view.rows.row(self.view.currentIndex().row())
        self._set_zone(zones[at], row.id)
        return True

    def _enter(self) -> bool:
        view = self.view
        number = view.currentIndex().row()
        if not 0 <= number < len(view.heights):
            return False
        row = view.rows.row(number)
        if self.zone is not None and self.zone_row == row.id:
            self.activate(self.zone, row.id)
            return True
        if isinstance(row, ToolRow) or (isinstance(row, HeaderRow) and row.thinking):
            view.toggle(row.id)
            return True
        zones = self._zones()
        if len(zones) == 1:
            self.activate(zones[0], row.id)
            return True
        return False

    def _escape(self) -> bool:
        view = self.view
        if self.zone is not None:
            self._set_zone(None, "")
            return True
        if not view.selection.empty():
            view.selection.clear()
            view.viewport().update()
            return True
        return False

    # -- what a button does -------------------------------------------------------------------

    def activate(self, zone: Zone, row_id: str) -> None:
        """Do what a click on the zone does."""
        view, item = self.view, zone.item
        if not zone.enabled:
            return
        if zone.kind == "action":
            if zone.target == "copy-row":
                QGuiApplication.clipboard().setText(self.message_text(row_id))
            view.actionTriggered.emit(row_id, zone.target)
        elif zone.kind == "link":
            view.linkActivated.emit(zone.target)
        elif zone.kind == "expand":
            view.toggle(row_id)
        elif isinstance(item, CodeBox):
            self._code(zone, item, row_id)

    def _code(self, zone: Zone, item: CodeBox, row_id: str) -> None:
        view = self.view
        if zone.kind == "copy-code":
            QGuiApplication.clipboard().setText(item.text or "")
            view.actionTriggered.emit(row_id, "copy-code")
            return
        if zone.kind == "wrap":
            item.set_wrap(not item.wrap)
        elif zone.kind == "show-all":
            item.show_all()
        before = item.h
        item.lay(item.w, item.style())
        self._grow(row_id, item, item.h - before)

    def _grow(self, row_id: str, item: CodeBox, delta: int) -> None:
        """An item got taller: what follows in its section moves."""
        view = self.view
        box = view.boxes.peek(row_id)
        for section in box.sections if box else ():
            flow = section.flow
            if flow is None or item not in flow.items:
                continue
            for other in flow.items:
                if other is not item and other.y >= item.y + item.h - delta:
                    other.move(other.x, other.y + delta)
                elif other is not item and other.y < item.y and other.y + other.h > item.y:
                    other.h += delta  # the line beside a quote
            flow.h += delta
            section.h = flow.h
        view.relay(row_id)

    # -- copying ------------------------------------------------------------------------------

    def message_text(self, row_id: str) -> str:
        """A person's words, or the whole answer that a header heads, as Markdown."""
        model = self.view.rows
        number = model.index_of(row_id)
        if number < 0:
            return ""
        row = model.row(number)
        if not isinstance(row, HeaderRow):
            return model.source_text(number)
        parts: list[str] = []
        for n in range(number + 1, model.rowCount()):
            follower: Row = model.row(n)
            if isinstance(follower, HeaderRow) or type(follower).__name__ == "UserRow":
                break
            if isinstance(follower, MarkdownRow):
                parts.append(follower.text.strip("\n"))
        return "\n\n".join(parts)

    def copy(self, markdown: bool) -> str:
        view = self.view
        if view.selection.empty():
            number = view.currentIndex().row()
            text = view.rows.source_text(number) if 0 <= number < len(view.heights) else ""
        else:
            text = view.selection.text(markdown)
        if text:
            QGuiApplication.clipboard().setText(text)
        return text

    def select_all(self) -> None:
        self.view.selection.select_all()
        self.view.viewport().update()

    # -- extending ------------------------------------------------------------------------------

    def _extend(self, key: int) -> bool:
        """Shift and an arrow move the end of the selection."""
        view = self.view
        head = view.selection.head
        if head is None or view.selection.anchor is None or view.selection.all:
            return False
        item = view.mouse.item(head)
        if item is None:
            return False
        length = len(item.text or "")
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = 1 if key == Qt.Key.Key_Right else -1
            position = head.position + step
            moved: Point | None = (
                Point(head.row_id, head.section, head.item, position)
                if 0 <= position <= length
                else self._neighbour(head, step)
            )
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            at = 0 if key == Qt.Key.Key_Home else length
            moved = Point(head.row_id, head.section, head.item, at)
        else:
            moved = self._vertical(head, 1 if key == Qt.Key.Key_Down else -1)
        if moved is not None:
            view.selection.set(view.selection.anchor, moved)
            self._reveal(moved)
            view.viewport().update()
        return True

    def _neighbour(self, head: Point, step: int) -> Point | None:
        """The text after or before the one that holds the head."""
        view = self.view
        number = view.rows.index_of(head.row_id)
        while 0 <= number < len(view.heights):
            row_id = view.rows.row(number).id
            texts = [
                (n, k, item)
                for n, k, _, item in view.boxes.get(view.rows, number).items()
                if item.text is not None
            ]
            if row_id == head.row_id:
                here = (head.section, head.item)
                texts = [t for t in texts if (t[:2] > here if step > 0 else t[:2] < here)]
            if texts:
                n, k, item = texts[0 if step > 0 else -1]
                return Point(row_id, n, k, 0 if step > 0 else len(item.text or ""))
            number += step
        return None

    def _vertical(self, head: Point, step: int) -> Point | None:
        view = self.view
        number = view.rows.index_of(head.row_id)
        found = view.boxes.get(view.rows, number).item(head.section, head.item)
        if found is None:
            return None
        section, item = found
        rects = item.rects(max(0, head.position - 1), max(1, head.position))
        if not rects:
            return self._neighbour(head, step)
        rect = rects[-1]
        x = rect.right() if head.position else rect.left()
        box = view.boxes.get(view.rows, number)
        y = view.row_top(number) + section.top + rect.center().y() + step * rect.height()
        point = view.mouse.point_at(QPointF(view.left() + box.x + x, y))
        return point if point != head else self._neighbour(head, step)

    def _reveal(self, point: Point) -> None:
        view = self.view
        number = view.rows.index_of(point.row_id)
        found = view.boxes.get(view.rows, number).item(point.section, point.item)
        if found is None:
            return
        section, item = found
        rects = item.rects(max(0, point.position - 1), max(1, point.position))
        if rects:
            view.show_range(number, int(section.top + rects[-1].top()), int(rects[-1].height()))


_EXTEND = (
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
)
