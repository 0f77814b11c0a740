"""The lines of code, tool output and differences: of equal height and laid out when they are seen.

Without wrapping a block of any length costs nothing but its line starts; with wrapping only lines
longer than the block need a layout to know their height. Very long lines are cut into pieces of
2,000 characters, which are lines of the picture only: what is copied has no break there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QTextLayout, QTextOption

from .diff import DiffLine
from .highlight import Highlighter, Span
from .items import Item
from .para import Utf16, cursor_x
from .style import Style

PIECE = 2_000
_LAYOUTS = 300
_WRAP = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
_NOWRAP = QTextOption.WrapMode.NoWrap


@dataclass(slots=True, eq=False)
class CodeLines(Item):
    """``look``: "block" has a frame and a head, "output" is a part of a tool card."""

    language: str = ""
    caption: str = ""
    look: Literal["block", "output"] = "block"
    growing: bool = False
    limit: int = 0  # lines shown before "Show all"; 0 is all
    diff: list[DiffLine] = field(default_factory=list)
    wrap: bool = False
    danger: bool = False
    opened: bool = False  # the person asked for all lines
    scroll_x: float = field(default=0.0, init=False)
    caret: bool = field(default=False, init=False)
    _starts: list[int] = field(default_factory=lambda: [0], init=False)
    _tops: list[int] | None = field(default=None, init=False)
    _layouts: OrderedDict[int, tuple[QTextLayout, Utf16]] = field(
        default_factory=OrderedDict, init=False
    )
    _coloured: dict[int, int] = field(default_factory=dict, init=False)
    _hl: Highlighter | None = field(default=None, init=False)
    _widest: int = field(default=0, init=False)
    _style: Style | None = field(default=None, init=False)

    # -- text -------------------------------------------------------------------------------

    def set_text(self, text: str) -> int:
        """New text; returns the first line that may look different. Growth is cheap."""
        old = self.text
        first = 0
        if old is not None and text.startswith(old):
            first = max(0, len(self._starts) - 1)
            at = self._starts[first]
            del self._starts[first:]
        else:
            at = 0
            self._starts = []
            self._widest = 0
            self._layouts.clear()
            self._coloured.clear()
        self.text = text
        self._layouts.pop(first, None)
        self._scan(at)
        if self.language:
            if self._hl is None or (self._hl.code and not text.startswith(self._hl.code)):
                self._hl = Highlighter(self.language, text, self.growing)
                self._coloured.clear()
            elif self.growing:
                self._hl.grow(text)
            else:
                self._hl.grow(text)
                self._hl.finish()
        return first

    def _scan(self, at: int) -> None:
        text, starts = self.text or "", self._starts
        size = len(text)
        while True:
            end = text.find("\n", at)
            end = size if end < 0 else end
            while end - at > PIECE and not self.diff:
                starts.append(at)
                self._widest = PIECE
                at += PIECE
            starts.append(at)
            columns = end - at
            if columns + columns > self._widest:
                line = text[at:end]
                if not line.isascii():
                    columns += sum(1 for ch in line if ch > "\u2e80")
                columns += 7 * line.count("\t")
                self._widest = max(self._widest, columns)
            if end >= size:
                break
            at = end + 1
        self._tops = None

    def line_count(self) -> int:
        return len(self._starts)

    def _shown(self) -> int:
        n = len(self._starts)
        short = self.limit and not self.opened and n > self.limit + 3
        return self.limit if short else n

    def _line(self, n: int) -> str:
        text = self.text or ""
        start = self._starts[n]
        end = self._starts[n + 1] if n + 1 < len(self._starts) else len(text)
        if end > start and n + 1 < len(self._starts) and text[end - 1] == "\n":
            end -= 1
        return text[start:end]

    # -- geometry ---------------------------------------------------------------------------

    def lay(self, width: int, style: Style) -> int:
        self._style = style
        if width != self.w:
            self.w = width
            self._tops = None
            if self.wrap:
                self._layouts.clear()
        self.h = self._head() + self._pad_y() * 2 + self._body() + self._foot()
        return self.h

    def style(self) -> Style:
        """The style it was laid out with."""
        assert self._style is not None
        return self._style

    def show_all(self) -> None:
        """Show every line. ``lay`` comes next."""
        self.opened = True
        self._tops = None

    def set_wrap(self, wrap: bool) -> None:
        """Break long lines, or let them run out of sight. ``lay`` comes next."""
        self.wrap = wrap
        self.scroll_x = 0.0
        self._tops = None
        self._layouts.clear()

    def _head(self) -> int:
        return self.style().px(28) if self.look == "block" else 0

    def _foot(self) -> int:
        return self.style().px(28) if self._shown() < len(self._starts) else 0

    def _pad_x(self) -> int:
        return 0 if self.diff else self.style().px(12)

    def _pad_y(self) -> int:
        return self.style().px(9 if self.look == "block" else 6 if self.diff else 8)

    def _lh(self) -> int:
        return self.style().line("mono") - (0 if self.look == "block" else self.style().px(1))

    def _gutter(self) -> int:
        return self.style().px(12 + 28 + 16) if self.diff else 0

    def _inner(self) -> int:
        return max(20, self.w - 2 * self._pad_x() - self._gutter())

    def _body(self) -> int:
        if not self.wrap:
            return self._shown() * self._lh()
        return self._tops_list()[self._shown()]

    def _tops_list(self) -> list[int]:
        """Top of each line (and the end), relative to the body, when lines are wrapped."""
        if self._tops is None:
            columns = max(4, int(self._inner() / max(1.0, self.style().mono_advance)))
            lh, y = self._lh(), 0
            tops: list[int] = []
            for n in range(self._shown()):
                tops.append(y)
                line = self._line(n)
                simple = len(line) <= columns and line.isascii() and "\t" not in line
                simple = simple or len(line) * 2 < columns
                y += lh if simple else lh * max(1, self._layout(n)[0].lineCount())
            tops.append(y)
            self._tops = tops
        return self._tops

    def _top(self, n: int) -> int:
        return self._tops_list()[n] if self.wrap else n * self._lh()

    def _line_at(self, y: float) -> int:
        if self.wrap:
            return max(0, min(self._shown() - 1, bisect_right(self._tops_list(), y) - 1))
        return max(0, min(self._shown() - 1, int(y // self._lh())))

    def _layout(self, n: int) -> tuple[QTextLayout, Utf16]:
        spans = self._spans(n)
        found = self._layouts.get(n)
        if found is not None and self._coloured.get(n, 0) == len(spans):
            self._layouts.move_to_end(n)
            return found
        style = self.style()
        line = self._line(n)
        u = Utf16(line)
        layout = QTextLayout(line, style.font("mono"))
        option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setWrapMode(_WRAP if self.wrap else _NOWRAP)
        option.setTabStopDistance(style.mono_advance * 4)
        layout.setTextOption(option)
        if spans:
            layout.setFormats(_ranges(spans, u, style))
        layout.setCacheEnabled(True)
        fm, lh = style.fm("mono"), self._lh()
        base = round((lh - fm.ascent() - fm.descent()) / 2 + fm.ascent())
        layout.beginLayout()
        y = 0
        while True:
            row = layout.createLine()
            if not row.isValid():
                break
            row.setLineWidth(self._inner() if self.wrap else 1e6)
            row.setPosition(QPointF(0, y + base - row.ascent()))
            y += lh
        layout.endLayout()
        self._layouts[n] = (layout, u)
        self._coloured[n] = len(spans)
        if len(self._layouts) > _LAYOUTS:
            old, _ = self._layouts.popitem(last=False)
            self._coloured.pop(old, None)
        return layout, u

    def _spans(self, n: int) -> list[Span]:
        if self._hl is None or n >= len(self._hl.lines):
            return []
        if self._widest >= PIECE and len(self._starts) != (self.text or "").count("\n") + 1:
            return []  # cut lines are not coloured
        return self._hl.lines[n]

    # -- colours ----------------------------------------------------------------------------

    def colour(self, top: float, bottom: float) -> bool:
        """Lex what is between ``top`` and ``bottom`` (relative to the item); True when done."""
        if self._hl is None:
            return True
        head = self._head() + self._pad_y()
        return self._hl.advance(self._line_at(bottom - head) + 1)

    # -- interaction ------------------------------------------------------------------------

    def overflow(self) -> float:
        """How much wider the longest line is than the block."""
        return max(0.0, self._widest * self.style().mono_advance - self._inner())

    def wheel(self, dx: int) -> bool:
        if self.wrap:
            return False
        was = self.scroll_x
        self.scroll_x = max(0.0, min(self.overflow(), self.scroll_x + dx))
        return self.scroll_x != was

    def hit(self, x: float, y: float) -> int:
        body = y - self.y - self._head() - self._pad_y()
        if body < 0:
            return 0
        if body >= self._body():
            return self._end()
        n = self._line_at(body)
        layout, u = self._layout(n)
        row = int((body - self._top(n)) // self._lh()) if self.wrap else 0
        row = max(0, min(layout.lineCount() - 1, row))
        left = self.x + self._pad_x() + self._gutter() - (0 if self.wrap else self.scroll_x)
        at = layout.lineAt(row).xToCursor(x - left) if layout.lineCount() else 0
        return self._starts[n] + u.back(at)

    def _end(self) -> int:
        """Where the part that is shown ends."""
        shown = self._shown()
        return self._starts[shown] if shown < len(self._starts) else len(self.text or "")

    def rects(self, start: int, end: int, whole_lines: bool = False) -> list[QRectF]:
        out: list[QRectF] = []
        end = min(end, self._end())
        if end <= start:
            return out
        top = self.y + self._head() + self._pad_y()
        left = self.x + self._pad_x() + self._gutter() - (0 if self.wrap else self.scroll_x)
        n = max(0, bisect_right(self._starts, start) - 1)
        while n < self._shown() and self._starts[n] < end:
            layout, u = self._layout(n)
            line = self._line(n)
            a = u.to(max(0, start - self._starts[n]))
            b = u.to(min(len(line), end - self._starts[n]))
            beyond = end > self._starts[n] + len(line)
            for k in range(layout.lineCount()):
                row = layout.lineAt(k)
                low, high = row.textStart(), row.textStart() + row.textLength()
                if high < a or low > b or (low == high and not (whole_lines and beyond)):
                    continue
                ends = cursor_x(row, max(a, low)), cursor_x(row, min(b, high))
                x0, x1 = min(ends), max(ends)  # from right to left in Hebrew and Arabic
                if whole_lines and beyond and k == layout.lineCount() - 1:
                    x1 += 5
                if x1 > x0:
                    y = top + self._top(n) + k * self._lh()
                    out.append(QRectF(left + x0, y, x1 - x0, self._lh()))
            n += 1
        return out

    def row_top(self, position: int) -> int:
        """Top of the line that holds the position, relative to the row."""
        n = max(0, bisect_right(self._starts, position) - 1)
        n = min(n, self._shown() - 1)
        return self.y + self._head() + self._pad_y() + self._top(n)

    def line_top(self, n: int) -> int:
        """Top of line ``n``, relative to the row."""
        return self.y + self._head() + self._pad_y() + self._top(min(n, self._shown() - 1))


def _ranges(spans: list[Span], u: Utf16, style: Style) -> list[QTextLayout.FormatRange]:
    out: list[QTextLayout.FormatRange] = []
    for start, length, role in spans:
        made = QTextLayout.FormatRange()
        made.start = u.to(start)
        made.length = u.to(start + length) - made.start
        made.format = style.code_format(role)
        out.append(made)
    return out
