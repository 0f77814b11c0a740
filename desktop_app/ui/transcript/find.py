"""Search in a transcript: over the texts of all rows, seen or not, without laying them out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from .rowtext import searchable

if TYPE_CHECKING:
    from .view import TranscriptView

_MARKS = str.maketrans("", "", "*`~")
_SLICE = 0.010


@lru_cache(128)
def occurrences(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Where ``query`` (folded) occurs, upper and lower case alike, without overlap."""
    folded = text.lower()
    if len(folded) != len(text):
        folded = text  # a letter that changes its length would shift what follows
    out: list[tuple[int, int]] = []
    at = folded.find(query)
    while at >= 0:
        out.append((at, at + len(query)))
        at = folded.find(query, at + len(query))
    return tuple(out)


class Finder:
    """One search: counts rows in slices, knows the current hit."""

    def __init__(self, view: TranscriptView) -> None:
        self.view = view
        self.query = ""
        self.hits: dict[str, int] = {}  # row id to number of hits
        self.count = 0
        self.current = -1
        self.done = True
        self._next = -1  # row to be looked through next, going up
        self._seek = ""  # row whose first hit is to be shown once it was looked through
        self._at: tuple[str, int, int, int] | None = None
        self._timer = QTimer(view, interval=0, singleShot=True)
        self._timer.timeout.connect(self._slice)

    def clear(self) -> None:
        self._timer.stop()
        self.query, self.hits, self.count, self.current = "", {}, 0, -1
        self.done, self._at, self._seek = True, None, ""

    def find(self, text: str) -> int:
        """Start anew, from the newest row up; the first slice is done at once."""
        self.clear()
        self.query = text.lower().translate(_MARKS)
        if self.query:
            self.done = False
            self._next = self.view.rows.rowCount() - 1
            self._slice()
        else:
            self.view.verticalScrollBar().update()
            self.view.findChanged.emit(0, 0, True)
        self.view.viewport().update()
        return self.count

    def _slice(self) -> None:
        model, until = self.view.rows, time.perf_counter() + _SLICE
        self._next = min(self._next, model.rowCount() - 1)
        while self._next >= 0 and time.perf_counter() < until:
            row = model.row(self._next)
            n = searchable(row).lower().translate(_MARKS).count(self.query)
            if n:
                self.hits[row.id] = n
                self.count += n
                if self.current >= 0:
                    self.current += n  # hits are numbered from the top
            self._next -= 1
        self.done = self._next < 0
        if not self.done:
            self._timer.start()
        self._tell()
        if self._seek:
            self.seek(self._seek)

    def seek(self, row_id: str) -> None:
        """Go to the first hit in row ``row_id``, or the next one after it."""
        number = self.view.rows.index_of(row_id)
        self._seek = row_id
        if self._next >= number >= 0:
            return  # not looked through yet
        self._seek = ""
        rows = self._rows()
        before = sum(n for row, _, n in rows if row < number)
        if rows:
            self.current = before % self.count
            self.step(0)

    def _tell(self) -> None:
        self.view.verticalScrollBar().update()
        self.view.findChanged.emit(self.current + 1, self.count, self.done)

    def _rows(self) -> list[tuple[int, str, int]]:
        """(number, row id, hits) from the top."""
        index_of = self.view.rows.index_of
        return sorted((index_of(row_id), row_id, n) for row_id, n in self.hits.items())

    def step(self, by: int) -> None:
        """Go to the next or the previous hit, round the end."""
        if not self.count:
            return
        rows = self._rows()
        if self.current < 0:
            self.current = self._nearest(rows, by)
        else:
            self.current = (self.current + by) % self.count
        at = self.current
        for number, row_id, n in rows:
            if at < n:
                self._show(number, row_id, at)
                break
            at -= n
        self._tell()
        self.view.viewport().update()

    def _nearest(self, rows: list[tuple[int, str, int]], by: int) -> int:
        """The first hit from what is in view."""
        view = self.view
        first, _ = view.heights.find(max(0, view.value() - view.top_pad()))
        at = 0
        for number, _, n in rows:
            if number >= first:
                return at if by > 0 else (at - 1) % self.count
            at += n
        return 0 if by > 0 else self.count - 1

    def _show(self, number: int, row_id: str, nth: int) -> None:
        """Bring the ``nth`` hit of a row into view, opening the row when it is inside."""
        view = self.view
        spots = self._spots(number)
        if not spots and hasattr(view.rows.row(number), "expanded"):
            view.toggle(row_id)
            spots = self._spots(number)
        if not spots:
            self._at = None
            view.show_range(number, 0, 40)
            return
        n, k, start, end = spots[min(nth, len(spots) - 1)]
        self._at = (row_id, n, k, start)
        box = view.boxes.get(view.rows, number)
        found = box.item(n, k)
        if found is None:
            return
        section, item = found
        view.show_range(number, 0, 0, force=False)
        rects = item.rects(start, end)
        if rects:
            top = int(section.top + rects[0].top())
            view.show_range(number, top, int(rects[0].height()), 60)

    def _spots(self, number: int) -> list[tuple[int, int, int, int]]:
        """(section, item, start, end) of all hits in a row as it is laid out."""
        box = self.view.boxes.get(self.view.rows, number)
        return [
            (n, k, start, end)
            for n, k, _, item in box.items()
            if item.text
            for start, end in occurrences(item.text, self.query)
        ]

    def hits_in(self, row_id: str, n: int, k: int, text: str) -> Sequence[tuple[int, int, bool]]:
        """Hits in one text, for painting."""
        if not self.query:
            return ()
        at = self._at if self._at is not None and self._at[:3] == (row_id, n, k) else None
        return [
            (start, end, at is not None and at[3] == start)
            for start, end in occurrences(text, self.query)
        ]
