"""Which rows stand where: the cache of laid-out rows and the gaps between them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from .cards import compaction_box, notice_box
from .messages import MarkdownBox, header_box, markdown_box, user_box
from .model import TranscriptModel
from .rowbox import RowBox
from .rows import CompactionRow, HeaderRow, MarkdownRow, NoticeRow, Row, ToolRow, UserRow
from .style import Style, style
from .toolcard import tool_box

KEEP = 160
"""Laid-out rows kept; more than any screen shows."""


class Boxes:
    """Laid-out rows by id, the least used forgotten first."""

    def __init__(self, notify: Callable[[str, int], None]) -> None:
        self.width = 0
        self._notify = notify
        self._boxes: OrderedDict[str, RowBox] = OrderedDict()
        self._stale: dict[str, RowBox] = {}  # to take parts from

    def clear(self) -> None:
        self._boxes.clear()
        self._stale.clear()

    def peek(self, row_id: str) -> RowBox | None:
        return self._boxes.get(row_id)

    def drop(self, row_id: str) -> None:
        """The row changed: lay it out anew, taking over what still fits."""
        box = self._boxes.pop(row_id, None)
        if box is not None:
            self._stale[row_id] = box
            if len(self._stale) > 8:
                del self._stale[next(iter(self._stale))]

    def get(self, model: TranscriptModel, number: int) -> RowBox:
        """The box of row ``number``, made if need be."""
        row = model.row(number)
        now = style()
        before = model.row(number - 1) if number else None
        after = (
            model.row(number + 1)
            if (isinstance(row, ToolRow) and number + 1 < model.rowCount())
            else None
        )
        key = (type(before), isinstance(after, ToolRow))
        box = self._boxes.get(row.id)
        if box is not None and box.style is now and box.w_column == self.width:
            if box.key == key:
                self._boxes.move_to_end(row.id)
                return box
            self._stale[row.id] = box
        old = self._stale.pop(row.id, None)
        box = self._make(row, now, before, after, old)
        box.key, box.w_column, box.notify = key, self.width, self._notify
        box.pad_top = gap(before, row, now)
        box.stack()
        self._boxes[row.id] = box
        self._boxes.move_to_end(row.id)
        while len(self._boxes) > KEEP:
            self._boxes.popitem(last=False)
        return box

    def _make(
        self, row: Row, now: Style, before: Row | None, after: Row | None, old: RowBox | None
    ) -> RowBox:
        width = self.width
        match row:
            case MarkdownRow():
                return markdown_box(row, width, now)
            case UserRow():
                return user_box(row, width, now)
            case HeaderRow():
                return header_box(row, width, now)
            case ToolRow():
                first = not isinstance(before, ToolRow)
                if old is not None and (old.w != width or old.style is not now):
                    old = None
                return tool_box(row, width, now, first, not isinstance(after, ToolRow), old)
            case CompactionRow():
                return compaction_box(row, width, now)
            case NoticeRow():
                return notice_box(row, width, now)


def gap(before: Row | None, row: Row, now: Style) -> int:
    """Space above a row, by what stands there."""
    if before is None:
        return 0
    if isinstance(row, ToolRow) and isinstance(before, ToolRow):
        return 0
    if isinstance(before, HeaderRow):
        return now.px(12 if before.expanded and before.thinking else 6)
    if isinstance(row, UserRow | HeaderRow | CompactionRow):
        return now.gap
    return now.px(12)


_NEAR, _SAMPLE = 300, 240


def estimates(model: TranscriptModel, first: int, last: int, width: int) -> list[int]:
    """Heights of rows ``first`` to ``last`` (excluded) that were not laid out, roughly. Of very
    many, the last are estimated each; the others get the mean of a sample, so that opening a
    session does not depend on its length."""
    now = style()
    per_char = now.line("message") * now.fm("message").averageCharWidth() * 1.25 / max(1, width)
    base = now.line("message") + now.gap
    near = max(first, last - _NEAR)
    far: list[int] = []
    if near - first > _SAMPLE:
        count = near - first
        # Steps of the golden ratio: questions and answers alternate, so no even steps.
        picked = [first + int(count * (n * 0.6180339887 % 1.0)) for n in range(_SAMPLE)]
        mean = sum(base + int(model.hint(n) * per_char) for n in picked) // _SAMPLE
        far = [mean] * count
        first = near
    return far + [base + int(model.hint(n) * per_char) for n in range(first, last)]


__all__ = ["Boxes", "MarkdownBox", "estimates", "gap"]
