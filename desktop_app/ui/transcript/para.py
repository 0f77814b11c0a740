"""One paragraph, laid out with QTextLayout: exact line heights, its own selection and chips.

Positions are indices of the Python string; Qt counts UTF-16, which differs after an emoji, so that
positions are translated at the border.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QTextCharFormat, QTextLayout, QTextLine, QTextOption

from .inline import CHIP, CODE, LINE, Styled, has_wide, to_markdown
from .items import Item, Paint, Zone
from .style import Style, box


def has_rtl(text: str) -> bool:
    """Whether Hebrew, Arabic or their kin occur."""
    return any("\u0590" <= ch <= "\u08ff" or "\ufb1d" <= ch <= "\ufefc" for ch in text)


def starts_rtl(text: str) -> bool:
    """Direction of a paragraph by its first strong letter."""
    for ch in text:
        if "\u0590" <= ch <= "\u08ff" or "\ufb1d" <= ch <= "\ufefc":
            return True
        if ch.isalpha():
            return False
    return False


def cursor_x(line: QTextLine, at: int, edge: QTextLine.Edge = QTextLine.Edge.Leading) -> float:
    """Where a position (UTF-16) stands in a line; the stubs hide that a pair comes back."""
    return cast(tuple[float, int], line.cursorToX(at, edge))[0]


class Utf16:
    """Positions in a Python string to positions in UTF-16 and back."""

    __slots__ = ("_astral", "_high")

    def __init__(self, text: str) -> None:
        self._astral = (
            [i for i, ch in enumerate(text) if ch > "\uffff"] if not text.isascii() else []
        )
        self._high = [at + n for n, at in enumerate(self._astral)]

    def to(self, index: int) -> int:
        return index + bisect_left(self._astral, index) if self._astral else index

    def back(self, index: int) -> int:
        return index - bisect_left(self._high, index) if self._high else index


_WRAP = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere


@dataclass(slots=True, eq=False)
class Para(Item):
    """Styled text of one paragraph. ``role`` is its font, ``token`` its colour."""

    styled: Styled = field(default_factory=lambda: Styled(""))
    role: str = "message"
    token: str = "text"
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft
    max_lines: int = 0
    layout: QTextLayout | None = field(default=None, init=False)
    lh: int = field(default=0, init=False)
    caret: bool = field(default=False, init=False)
    natural: float = field(default=0.0, init=False)
    _u: Utf16 = field(default_factory=lambda: Utf16(""), init=False)
    _bidi: bool = field(default=False, init=False)

    def key(self) -> tuple[object, ...]:
        """Two paragraphs with the same key look the same."""
        return (self.styled, self.role, self.token, self.w, self.align)

    def lay(self, width: int, style: Style) -> int:
        """Lay out to ``width``; returns the height."""
        text = self.styled.text
        self.text = text
        self.w = width
        self.lh = style.line(self.role, has_wide(text))
        self._u = Utf16(text)
        self._bidi = not text.isascii() and has_rtl(text)
        layout = QTextLayout(text, style.font(self.role))
        option = QTextOption(self.align)
        option.setWrapMode(_WRAP)
        if self._bidi:
            rtl = starts_rtl(text)
            option.setTextDirection(
                Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
            )
            if rtl and self.align == Qt.AlignmentFlag.AlignLeft:
                option.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
        layout.setTextOption(option)
        if self.styled.runs:
            layout.setFormats(self._formats(style))
        layout.setCacheEnabled(True)
        self._lines(layout, width, style)
        self.layout = layout
        return self.h

    def _formats(self, style: Style) -> list[QTextLayout.FormatRange]:
        out: list[QTextLayout.FormatRange] = []
        pad = style.px(4)
        to = self._u.to

        def add(start: int, end: int, fmt: QTextCharFormat) -> None:
            if end > start:
                made = QTextLayout.FormatRange()
                made.start, made.length, made.format = to(start), to(end) - to(start), fmt
                out.append(made)

        text = self.styled.text
        before: dict[int, int] = {}
        if self._bidi:
            pad = 0  # on which side the space falls is not certain there
        for run in self.styled.runs:
            if run.flags & (CODE | CHIP) and run.start:
                before[run.start - 1] = 0
        for run in self.styled.runs:
            end = run.start + run.length
            fmt = style.format(run.flags, self.role)
            if run.flags & (CODE | CHIP):
                add(run.start, end - 1, fmt)
                add(end - 1, end, style.spaced(run.flags, self.role, pad))
                before.pop(end - 1, None)
            elif end - 1 in before:
                add(run.start, end - 1, fmt)
                add(end - 1, end, style.spaced(run.flags, self.role, pad))
                del before[end - 1]
            else:
                add(run.start, end, fmt)
        for at in before:
            if text[at] != LINE:
                add(at, at + 1, style.spaced(0, self.role, pad))
        return out

    def _lines(self, layout: QTextLayout, width: int, style: Style) -> None:
        fm = style.fm(self.role)
        base = round((self.lh - fm.ascent() - fm.descent()) / 2 + fm.ascent())
        y, widest, n = 0, 0.0, 0
        indent = self._first_indent(style)
        layout.beginLayout()
        while True:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width - indent)
            line.setPosition(QPointF(indent, y + base - line.ascent()))
            widest = max(widest, line.naturalTextWidth() + indent)
            indent = 0
            y += self.lh
            n += 1
            if self.max_lines and n >= self.max_lines:
                break
        layout.endLayout()
        self.h = max(y, self.lh)
        self.natural = math.ceil(widest)

    def _first_indent(self, style: Style) -> int:
        """Code at the very beginning moves in, so that its box stands in the column and clear of a
        list's mark."""
        runs = self.styled.runs
        if self._bidi or not runs or runs[0].start or not runs[0].flags & (CODE | CHIP):
            return 0
        return style.px(4)

    # -- painting ---------------------------------------------------------------------------

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        layout = self.layout
        if layout is None:
            return
        x, y = ox + self.x, oy + self.y
        p = c.p
        self._backgrounds(c, ox, oy)
        p.setPen(c.style.color(self.token))
        layout.draw(p, QPointF(x, y), [], c.clip)
        if c.hover is not None and c.hover.kind == "link":
            self._underline(c, ox, oy)
        if self.caret:
            self._paint_caret(c, x, y)

    def _backgrounds(self, c: Paint, ox: float, oy: float) -> None:
        style, p = c.style, c.p
        pad = style.px(4)
        for run in self.styled.runs:
            if run.flags & (CODE | CHIP):
                for rect in self.rects(run.start, run.start + run.length):
                    # A line that goes on with code begins at the column's edge, its box too.
                    reach = min(pad, max(0, rect.x() - self.x))
                    rect = rect.translated(ox, oy)
                    inner = rect.adjusted(-reach, 0, 0, 0)
                    if self._bidi:
                        inner = rect.adjusted(-2, 0, 2, 0)
                    height = style.px(18)
                    top = inner.center().y() - height / 2
                    chip = QRectF(inner.x(), round(top), inner.width(), height)
                    box(p, chip, style.px(4), style.color("hover"))
        for start, end, current in c.hits:
            for rect in self.rects(start, end):
                spot = rect.translated(ox, oy)
                line = style.color("warning") if current else None
                box(p, spot.adjusted(-1, 1, 1, -1), style.px(2), style.color("find"), line)
        if c.selection is not None:
            color = style.color("text-selection")
            for rect in self.rects(*c.selection, whole_lines=True):
                p.fillRect(rect.translated(ox, oy), color)

    def _underline(self, c: Paint, ox: float, oy: float) -> None:
        hover = c.hover
        for zone in self.zones():
            if hover is None or zone.rect != hover.rect or zone.target != hover.target:
                continue
            for run in self.styled.runs:
                if run.href == zone.target:
                    for rect in self.rects(run.start, run.start + run.length):
                        y = oy + rect.bottom() - c.style.px(4)
                        c.p.fillRect(
                            QRectF(ox + rect.x(), round(y), rect.width(), 1),
                            c.style.color("accent-text"),
                        )

    def _paint_caret(self, c: Paint, x: float, y: float) -> None:
        cx, cy = self.end_point(c.style)
        rect = QRectF(round(x + cx), round(y + cy), c.style.px(7), c.style.px(15))
        box(c.p, rect, 1, c.style.color("accent-text"))

    def end_point(self, style: Style) -> tuple[float, float]:
        """Where the caret of a stream stands, relative to the item."""
        layout = self.layout
        top = (self.lh - style.px(15)) / 2
        if layout is None or not layout.lineCount() or not self.text:
            return 0.0, top
        n = layout.lineCount() - 1
        line = layout.lineAt(n)
        x = cursor_x(line, line.textStart() + line.textLength())
        if self._bidi and starts_rtl(self.text):
            return x - style.px(10), n * self.lh + top
        return x + style.px(3), n * self.lh + top

    # -- geometry ---------------------------------------------------------------------------

    def hit(self, x: float, y: float) -> int:
        layout = self.layout
        if layout is None or not layout.lineCount():
            return 0
        n = int((y - self.y) // self.lh)
        if n < 0:
            return 0
        if n >= layout.lineCount():
            return len(self.text or "")
        line = layout.lineAt(n)
        at = line.xToCursor(x - self.x)
        end = line.textStart() + line.textLength()
        if at >= end and n + 1 < layout.lineCount() and at > line.textStart():
            at = max(line.textStart(), end - 1)  # the position after a wrap is the next line's
        return self._u.back(at)

    def line_of(self, position: int) -> int:
        layout = self.layout
        if layout is None:
            return 0
        u = self._u.to(position)
        for n in range(layout.lineCount() - 1, -1, -1):
            if layout.lineAt(n).textStart() <= u:
                return n
        return 0

    def x_of(self, position: int) -> float:
        """Where the position stands, relative to the row."""
        layout = self.layout
        if layout is None or not layout.lineCount():
            return self.x
        line = layout.lineAt(self.line_of(position))
        return self.x + cursor_x(line, self._u.to(position))

    def rects(self, start: int, end: int, whole_lines: bool = False) -> list[QRectF]:
        layout = self.layout
        if layout is None or end <= start:
            return []
        a, b = self._u.to(start), self._u.to(end)
        out: list[QRectF] = []
        for n in range(layout.lineCount()):
            line = layout.lineAt(n)
            first, last = line.textStart(), line.textStart() + line.textLength()
            if last <= a or first >= b:
                continue
            top = self.y + n * self.lh
            for left, right in self._spans(line, max(a, first), min(b, last)):
                if whole_lines and b > last and not self._bidi:
                    right = max(right, left + 4)
                out.append(QRectF(self.x + left, top, right - left, self.lh))
        return out

    def _spans(self, line: QTextLine, a: int, b: int) -> list[tuple[float, float]]:
        """Horizontal pieces of positions ``a`` to ``b``; several only in mixed directions."""
        if not self._bidi:
            x0, x1 = cursor_x(line, a), cursor_x(line, b)
            return [(min(x0, x1), max(x0, x1))]
        pieces: list[tuple[float, float]] = []
        for at in range(a, b):
            x0 = cursor_x(line, at, QTextLine.Edge.Leading)
            x1 = cursor_x(line, at, QTextLine.Edge.Trailing)
            if x0 != x1:
                pieces.append((min(x0, x1), max(x0, x1)))
        pieces.sort()
        merged: list[tuple[float, float]] = []
        for left, right in pieces:
            if merged and left <= merged[-1][1] + 0.6:
                merged[-1] = (merged[-1][0], max(merged[-1][1], right))
            else:
                merged.append((left, right))
        return merged

    def zones(self) -> list[Zone]:
        out: list[Zone] = []
        for run in self.styled.runs:
            if run.href:
                label = self.styled.text[run.start : run.start + run.length]
                for rect in self.rects(run.start, run.start + run.length):
                    out.append(Zone(rect, "link", run.href, run.href, label, self))
        return out

    def plain(self, start: int, end: int) -> str:
        return self.styled.text[start:end].replace(LINE, "\n")

    def markdown(self, start: int, end: int) -> str:
        return to_markdown(self.styled, start, end)


def label(
    style: Style, text: str, role: str, token: str, width: int, *, max_lines: int = 0
) -> Para:
    """A paragraph without styles, laid out."""
    para = Para(styled=Styled(text.replace("\n", LINE)), role=role, token=token)
    para.max_lines = max_lines
    para.lay(max(1, width), style)
    return para
