"""Selected text across rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .layout import Boxes
from .model import TranscriptModel
from .rows import HeaderRow, MarkdownRow, UserRow


@dataclass(frozen=True, slots=True)
class Point:
    """A position in a text of a row: which section, which item, how far in."""

    row_id: str
    section: int
    item: int
    position: int

    def place(self) -> tuple[int, int, int]:
        return (self.section, self.item, self.position)


_WORD = re.compile(r"[\w'’]+|\s+|[^\w\s]+")


class Selection:
    """From ``anchor`` to ``head``; empty when they are the same or not set."""

    def __init__(self, model: TranscriptModel, boxes: Boxes) -> None:
        self.model = model
        self.boxes = boxes
        self.anchor: Point | None = None
        self.head: Point | None = None
        self.all = False

    def clear(self) -> None:
        self.anchor = self.head = None
        self.all = False

    def empty(self) -> bool:
        return not self.all and (self.anchor is None or self.anchor == self.head)

    def set(self, anchor: Point, head: Point) -> None:
        self.all = False
        self.anchor, self.head = anchor, head

    def select_all(self) -> None:
        self.all = True

    def _ends(self) -> tuple[int, Point, int, Point] | None:
        """Row number and point of the start and of the end."""
        a, b = self.anchor, self.head
        if a is None or b is None or a == b:
            return None
        na, nb = self.model.index_of(a.row_id), self.model.index_of(b.row_id)
        if na < 0 or nb < 0:
            return None
        if (na, *a.place()) <= (nb, *b.place()):
            return na, a, nb, b
        return nb, b, na, a

    def rows(self) -> range:
        """Numbers of the rows it touches."""
        if self.all:
            return range(self.model.rowCount())
        ends = self._ends()
        return range(ends[0], ends[2] + 1) if ends else range(0)

    def part(self, number: int, section: int, item: int, length: int) -> tuple[int, int] | None:
        """The selected part of one text of a row, if any."""
        if self.all:
            return (0, length) if length else None
        ends = self._ends()
        if ends is None or not ends[0] <= number <= ends[2]:
            return None
        first, a, last, b = ends
        start, end = 0, length
        if number == first:
            if (section, item) < (a.section, a.item):
                return None
            if (section, item) == (a.section, a.item):
                start = a.position
        if number == last:
            if (section, item) > (b.section, b.item):
                return None
            if (section, item) == (b.section, b.item):
                end = min(end, b.position)
        return (start, end) if end > start else None

    def text(self, markdown: bool = False) -> str:
        """The selected text, plain or as Markdown."""
        rows = self.rows()
        out: list[str] = []
        for number in rows:
            row = self.model.row(number)
            inner = self.all or rows.start < number < rows.stop - 1
            if inner and (markdown or isinstance(row, UserRow)):
                piece = self.model.source_text(number)
                if not isinstance(row, MarkdownRow | UserRow | HeaderRow):
                    piece = self._row(number, markdown) or piece
            else:
                piece = self._row(number, markdown)
            if piece.strip():
                out.append(piece.strip("\n"))
        return "\n\n".join(out)

    def _row(self, number: int, markdown: bool) -> str:
        box = self.boxes.get(self.model, number)
        out: list[str] = []
        done = -1
        for n, k, section, item in box.items():
            if item.text is None:
                continue
            part = self.part(number, n, k, len(item.text))
            if part is None:
                continue
            if markdown and section.source and self._covers(number, n, section.flow.items):  # type: ignore[union-attr]
                if done != n:
                    out.append((section.sep if out else "") + section.source)
                    done = n
                continue
            whole = part[0] == 0
            text = item.markdown(*part) if markdown else item.plain(*part)
            sep = item.sep if done == n else section.sep
            out.append((sep if out else "") + (item.lead if whole else "") + text)
            done = n
        return "".join(out)

    def _covers(self, number: int, section: int, items: list) -> bool:  # type: ignore[type-arg]
        """Whether a block is selected from its first to its last letter."""
        for k, item in enumerate(items):
            if item.text:
                part = self.part(number, section, k, len(item.text))
                if part != (0, len(item.text)):
                    return False
        return True

    # -- words and paragraphs ----------------------------------------------------------------

    def word(self, point: Point, text: str) -> tuple[Point, Point]:
        """The word at a point."""
        at = min(point.position, max(0, len(text) - 1))
        for found in _WORD.finditer(text, max(0, at - 200)):
            if found.start() <= at < found.end():
                return self._pair(point, found.start(), found.end())
        return self._pair(point, at, at)

    def paragraph(self, point: Point, text: str) -> tuple[Point, Point]:
        """The line of code, or the whole paragraph."""
        start = text.rfind("\n", 0, point.position) + 1
        end = text.find("\n", point.position)
        return self._pair(point, start, len(text) if end < 0 else end)

    def _pair(self, point: Point, start: int, end: int) -> tuple[Point, Point]:
        def at(position: int) -> Point:
            return Point(point.row_id, point.section, point.item, position)

        return at(start), at(end)
