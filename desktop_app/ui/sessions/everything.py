"""Find in everything: a field over the window that looks through all sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from desktop_app.core.sessions.index import Hit
from desktop_app.core.tasks import Tasks
from desktop_app.ui.i18n import tr
from desktop_app.ui.palette.model import count_words
from desktop_app.ui.palette.overlay import Overlay
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.painting import draw_text
from desktop_app.ui.widgets.rows import Role, RowDelegate

from .hits import HitsModel, Index, Place

_WAIT_MS = 120  # after a key, before the index is asked
_WIDTH = 720

Search = Callable[[str], Awaitable[Sequence[Hit]]]


class _Delegate(RowDelegate):
    """Places on one line with what was found marked; heads name the session and where it is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, size="palette-row")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), theme().px(30)) if index.data(Role.HEADER) else size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if not index.data(Role.HEADER):
            super().paint(painter, option, index)
            return
        px = theme().px
        rect = QRectF(option.rect).adjusted(px(14), px(4), -px(14), 0)  # type: ignore[attr-defined]
        painter.save()
        note = index.data(Role.DETAIL) or ""
        room = QRectF(rect)
        if note:
            room.setLeft(rect.x() + rect.width() * 0.6)
            align = Qt.AlignmentFlag.AlignRight
            used = draw_text(painter, room, note, "caption", "faint", align)
            rect.setRight(rect.right() - used - px(12))
        draw_text(painter, rect, index.data() or "", "small-semibold", "muted")
        painter.restore()


class EverythingSearch(Overlay):
    """``chosen(hit, query)`` when a place was chosen. ``search`` asks the index; ``place`` says
    where a hit's session is, None for one that is not listed; ``failed(error)``."""

    chosen = Signal(object, str)
    failed = Signal(object)

    def __init__(
        self, window: QWidget, search: Search, place: Callable[[Hit], Place | None]
    ) -> None:
        self.model = HitsModel()
        self._search, self._place_of = search, place
        self._asked = ""
        self._tasks = Tasks(lambda _name, error: self.failed.emit(error))
        super().__init__(window, self.model, lambda: tr("open"), _WIDTH)
        self.model.setParent(self)
        self._timer = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._timer.timeout.connect(self._ask)
        self._nothing = self._empty_words
        self.list.setItemDelegate(_Delegate(self.list))
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        words = tr("Find in everything")
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self.list.setAccessibleName(tr("Places found"))

    def _empty_words(self) -> str:
        query = self.field.text().strip()
        if not query:
            return tr("Looks through the words of all sessions")
        return tr("Nothing found") if query == self._asked else ""

    def open(self, query: str = "") -> None:
        """Show it; without ``query`` what was typed last time is there again, selected."""
        super().open(query or self.field.text())

    def refresh(self) -> None:
        if self.field.text().strip():
            self._timer.start()
        else:
            self._ask()

    def _ask(self) -> None:
        self._timer.stop()
        query = self.field.text().strip()
        if query:
            self._tasks.replace(self._show(query), name="search")
            return
        self._tasks.cancel("search")
        self._asked = ""
        self.model.clear()
        self._count.set_source("")
        self.place()

    async def _show(self, query: str) -> None:
        hits = await self._search(query)
        self._asked = query
        found = self.model.fill(hits, self._place_of)
        self._count.set_source(count_words(found))
        self.select_row(self.next_row(-1, 1))
        self.place()
        self.update()

    def chosen_row(self, row: int) -> Any:
        hit = self.model.hit(row)
        if hit is None:
            return None
        return lambda: self.chosen.emit(hit, self._asked)

    async def close_tasks(self) -> None:
        self._timer.stop()
        await self._tasks.close()


def phrase(hit: Hit, query: str) -> str:
    """What to look for inside the session: the words as they were typed where they stand so,
    else the longest of them that was found."""
    typed = " ".join(query.split())
    if typed.casefold() in hit.line.casefold() or not hit.spans:
        return typed
    return max((hit.line[start:end] for start, end in hit.spans), key=len)
