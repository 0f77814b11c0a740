"""The scroll bar, with marks where hits of a search and compactions are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar

from .style import style

if TYPE_CHECKING:
    from .view import TranscriptView


class MarkedBar(QScrollBar):
    """Marks are drawn over the groove, one for each pixel at most."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(Qt.Orientation.Vertical, view)
        self._view = view

    def marks(self) -> list[tuple[int, str]]:
        """Height in the bar and colour of each mark; hits hide compactions."""
        view = self._view
        total = view.heights.total + view.top_pad()
        if not total or not len(view.heights):
            return []
        out: dict[int, str] = {}
        for token, ids in (("muted", view.rows.compactions), ("warning", view.finder.hits)):
            for row_id in ids:
                number = view.rows.index_of(row_id)
                if 0 <= number < len(view.heights):
                    top = view.top_pad() + view.heights.sum(number)
                    out[round(top / total * (self.height() - 2))] = token
        return sorted(out.items())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.maximum() <= self.minimum():
            return  # nothing to scroll: a handle over all of it would be one that cannot be moved
        super().paintEvent(event)
        now = style()
        found = self.marks()
        if not found:
            return
        p = QPainter(self)
        width = now.px(6)
        left = (self.width() - width) / 2
        for y, token in found:
            height = 2 if token == "warning" else 1
            p.fillRect(QRectF(left, y, width, height), now.color(token))
        p.end()
