"""Code, tool output and differences: lines of equal height that are laid out when they are seen.

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

from desktop_app.ui.i18n import tr, trn

from .highlight import Highlighter, Span
from .items import Item, Paint, Zone
from .para import Utf16, cursor_x
from .style import Style, box, hline

PIECE = 2_000
_LAYOUTS = 300
_WRAP = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
_NOWRAP = QTextOption.WrapMode.NoWrap


@dataclass(slots=True)
class DiffLine:
    """Number, sign ("+", "-", " ", "@") of one line of a difference; its text is in the box."""

    number: str
    sign: str


@dataclass(slots=True, eq=False)
class CodeBox(Item):
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

    # -- painting ---------------------------------------------------------------------------

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style, p = c.style, c.p
        self._style = style
        x, y = ox + self.x, oy + self.y
        whole = QRectF(x, y, self.w, self.h)
        if self.look == "block":
            box(p, whole, style.px(8), style.color("sunken"), style.color("border"))
            self._paint_head(c, x, y)
        else:
            p.fillRect(whole, style.color("sunken"))
        top = y + self._head() + self._pad_y()
        body = self._body()
        edge = 1 if self.look == "block" else 0
        clip = QRectF(x + edge, top - 2, self.w - 2 * edge, body + 4).intersected(c.clip)
        if not clip.isEmpty():
            p.save()
            p.setClipRect(clip, Qt.ClipOperation.IntersectClip)
            self._paint_lines(c, x, top, clip)
            p.restore()
        if self._foot():
            self._paint_foot(c, x, y)
        if not self.wrap and self.overflow() > 0:
            self._paint_bar(c, x, y)

    def _paint_lines(self, c: Paint, x: float, top: float, clip: QRectF) -> None:
        first, last = self._line_at(clip.top() - top), self._line_at(clip.bottom() - top)
        p, style = c.p, c.style
        left = x + self._pad_x() + self._gutter() - (0 if self.wrap else self.scroll_x)
        for n in range(first, last + 1):
            if n < len(self.diff):
                self._paint_diff_back(c, n, x, top + self._top(n))
        self._marks(c, x - self.x, top - self._head() - self._pad_y() - self.y, first, last)
        for n in range(first, last + 1):
            layout, _ = self._layout(n)
            at = top + self._top(n)
            p.setPen(style.color("danger" if self.danger else "text"))
            if n < len(self.diff) and self.diff[n].sign == "@":
                p.setPen(style.color("faint"))
            layout.draw(p, QPointF(left, at), [], clip)
        for n in range(first, min(last + 1, len(self.diff))):
            self._paint_gutter(c, n, x, top + self._top(n))
        if self.caret and last == self._shown() - 1:
            row = self._layout(last)[0]
            line = row.lineAt(row.lineCount() - 1)
            cx = cursor_x(line, line.textStart() + line.textLength())
            cy = top + self._top(last) + (row.lineCount() - 1) * self._lh()
            cy += (self._lh() - style.px(15)) / 2
            rect = QRectF(round(left + cx + style.px(3)), round(cy), style.px(7), style.px(15))
            box(p, rect, 1, style.color("accent-text"))

    def _paint_diff_back(self, c: Paint, n: int, x: float, y: float) -> None:
        sign = self.diff[n].sign
        token = {"+": "added", "-": "removed"}.get(sign)
        bottom = self._top(n + 1) if n + 1 < self._shown() else self._body()
        if token:
            rect = QRectF(x, y, self.w, bottom - self._top(n))
            c.p.fillRect(rect, c.style.color(token))

    def _paint_gutter(self, c: Paint, n: int, x: float, y: float) -> None:
        p, style = c.p, c.style
        line = self.diff[n]
        token = {"+": "added", "-": "removed"}.get(line.sign, "sunken")
        p.fillRect(QRectF(x, y, self._gutter() - 2, self._lh()), style.color(token))
        p.setFont(style.font("mono"))
        p.setPen(style.color("faint"))
        number = QRectF(x + style.px(4), y, style.px(28), self._lh())
        p.drawText(number, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, line.number)
        if line.sign in "+-":
            p.setPen(style.color("success" if line.sign == "+" else "danger"))
            spot = QRectF(x + style.px(36), y, style.px(16), self._lh())
            sign = "+" if line.sign == "+" else "\u2212"
            p.drawText(spot, Qt.AlignmentFlag.AlignCenter, sign)

    def _marks(self, c: Paint, ox: float, oy: float, first: int, last: int) -> None:
        low = self._starts[first]
        high = self._starts[last + 1] if last + 1 < len(self._starts) else len(self.text or "")
        for start, end, current in c.hits:
            if end > low and start < high:
                for rect in self.rects(start, end):
                    line = c.style.color("warning") if current else None
                    spot = rect.translated(ox, oy).adjusted(-1, 1, 1, -1)
                    box(c.p, spot, c.style.px(2), c.style.color("find"), line)
        if c.selection is not None:
            a, b = max(low, c.selection[0]), min(high, c.selection[1])
            color = c.style.color("text-selection")
            for rect in self.rects(a, b, whole_lines=True):
                c.p.fillRect(rect.translated(ox, oy), color)

    def _paint_head(self, c: Paint, x: float, y: float) -> None:
        style, p = c.style, c.p
        height = self._head()
        hline(p, x + 1, y + height - 1, self.w - 2, style.color("border"))
        p.setFont(style.font("caption"))
        p.setPen(style.color("faint"))
        area = QRectF(x + self._pad_x(), y, self.w - style.px(80), height - 1)
        text = style.fm("caption").elidedText(
            self.caption or tr("text"), Qt.TextElideMode.ElideMiddle, area.width()
        )
        p.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        for zone in self._head_zones():
            rect = zone.rect.translated(x - self.x, y - self.y)
            hot = c.hover is not None and c.hover.kind == zone.kind and c.hover.item is self
            focus = c.focus is not None and c.focus.kind == zone.kind and c.focus.item is self
            if hot:
                box(p, rect, style.px(5), style.color("pressed" if c.pressed else "hover"))
            if focus:
                box(p, rect, style.px(5), None, style.color("focus"))
            name = {"copy-code": "copy", "wrap": "text-wrap"}[zone.kind]
            token = "accent-text" if zone.kind == "wrap" and self.wrap else "muted"
            icon = style.icon(name, "text" if hot and token == "muted" else token, 14, c.dpr)
            size = style.px(14)
            p.drawPixmap(QPointF(rect.center().x() - size / 2, rect.center().y() - size / 2), icon)

    def _paint_foot(self, c: Paint, x: float, y: float) -> None:
        style, p = c.style, c.p
        hot = c.hover is not None and c.hover.kind == "show-all" and c.hover.item is self
        area = QRectF(x, y + self.h - self._foot(), self.w, self._foot())
        p.fillRect(area, style.color("hover" if hot else "sunken"))
        hline(p, x, area.y(), self.w, style.color("border"))
        p.setFont(style.font("small"))
        p.setPen(style.color("accent-text"))
        p.drawText(
            area.adjusted(style.px(12), 0, -style.px(12), 0),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            self._show_all(),
        )

    def _show_all(self) -> str:
        n = len(self._starts)
        return trn("Show {n} line", "Show all {n} lines", n)

    def _paint_bar(self, c: Paint, x: float, y: float) -> None:
        """A thin bar that shows how far the code is scrolled sideways."""
        style = c.style
        track = self.w - 2 * style.px(8)
        inner = self._inner()
        length = max(style.px(24), track * inner / (inner + self.overflow()))
        at = x + style.px(8) + (track - length) * self.scroll_x / self.overflow()
        foot = self._foot()
        rect = QRectF(round(at), y + self.h - foot - style.px(6), length, style.px(3))
        box(c.p, rect, style.px(1.5), style.color("border-strong"))

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

    def _head_zones(self) -> list[Zone]:
        if self.look != "block":
            return []
        s = self.style()
        side, edge = s.px(24), s.px(4)
        y = self.y + (self._head() - side) / 2
        copy = QRectF(self.x + self.w - edge - side, y, side, side)
        wrap = copy.translated(-side, 0)
        words = tr("Do not wrap lines") if self.wrap else tr("Wrap long lines")
        return [
            Zone(wrap, "wrap", "", words, words, self),
            Zone(copy, "copy-code", "", tr("Copy code"), tr("Copy code"), self),
        ]

    def zones(self) -> list[Zone]:
        out = self._head_zones()
        if self._foot():
            rect = QRectF(self.x, self.y + self.h - self._foot(), self.w, self._foot())
            out.append(Zone(rect, "show-all", "", "", self._show_all(), self))
        return out

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

    def markdown(self, start: int, end: int) -> str:
        code = (self.text or "")[start:end]
        if self.look != "block" or (start > 0 or end < len(self.text or "")):
            return code
        fence = "```"
        while fence in code:
            fence += "`"
        return f"{fence}{self.language}\n{code}\n{fence}"


def _ranges(spans: list[Span], u: Utf16, style: Style) -> list[QTextLayout.FormatRange]:
    out: list[QTextLayout.FormatRange] = []
    for start, length, role in spans:
        made = QTextLayout.FormatRange()
        made.start = u.to(start)
        made.length = u.to(start + length) - made.start
        made.format = style.code_format(role)
        out.append(made)
    return out


def parse_diff(diff: str) -> tuple[str, list[DiffLine]]:
    """The text of a unified difference and what stands before each line. File heads are left
    out; a hunk after the first is announced by a line of its own."""
    texts: list[str] = []
    lines: list[DiffLine] = []
    old = new = 0
    seen = False
    for line in diff.split("\n"):
        if line.startswith("@@"):
            numbers = line.split("@@")[1].split() if line.count("@@") > 1 else []
            try:
                old = int(numbers[0].lstrip("-").split(",")[0])
                new = int(numbers[1].lstrip("+").split(",")[0])
            except (IndexError, ValueError):
                old = new = 1
            if seen:
                texts.append("\u22ef")
                lines.append(DiffLine("", "@"))
            seen = True
        elif not seen or line.startswith("\\"):
            continue
        elif line.startswith("+"):
            texts.append(line[1:])
            lines.append(DiffLine(str(new), "+"))
            new += 1
        elif line.startswith("-"):
            texts.append(line[1:])
            lines.append(DiffLine(str(old), "-"))
            old += 1
        elif line.startswith(" ") or not line:
            texts.append(line[1:])
            lines.append(DiffLine(str(new), " "))
            old += 1
            new += 1
    while lines and not texts[-1] and lines[-1].sign == " ":
        texts.pop()
        lines.pop()
    return "\n".join(texts), lines
