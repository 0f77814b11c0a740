"""Tables in messages: columns as wide as they need, narrowed fairly when they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token
from PySide6.QtCore import Qt

from .inline import CODE, Styled
from .items import Item, Paint
from .pool import Pool
from .style import Style, hline

_ALIGN = {
    "text-align:right": Qt.AlignmentFlag.AlignRight,
    "text-align:center": Qt.AlignmentFlag.AlignHCenter,
}


@dataclass(slots=True, eq=False)
class _Lines(Item):
    """The lines between rows."""

    ys: list[int] = field(default_factory=list)

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        for n, y in enumerate(self.ys):
            token = "border-strong" if n == 0 else "border"
            hline(c.p, ox + self.x, oy + self.y + y, self.w, c.style.color(token))


def lay_table(
    tokens: Sequence[Token],
    styled: Callable[[str], Styled],
    x: int,
    y: int,
    width: int,
    style: Style,
    pool: Pool,
) -> tuple[list[Item], int]:
    """Items of a table at (x, y) and its height."""
    rows, aligns = _cells(tokens, styled)
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return [], 0
    widths = _widths(rows, columns, width, style)
    pad, least = style.px(8), style.px(28)
    items: list[Item] = []
    lines = _Lines(w=min(width, sum(widths)))
    top = 0
    for n, row in enumerate(rows):
        role, token = ("small-strong", "muted") if n == 0 else ("body", "text")
        left, height, made = 0, least, []
        for k, cell in enumerate(row):
            align = aligns[k] if k < len(aligns) else Qt.AlignmentFlag.AlignLeft
            inner = max(8, widths[k] - pad - (0 if k == 0 else pad))
            para = pool.para(cell, role, token, inner, style, align)
            para.move(x + left + (0 if k == 0 else pad), 0)
            para.sep = "\t" if k else ("\n" if n else "\n\n")
            para.lead = ""
            made.append(para)
            height = max(height, para.h + style.px(10))
            left += widths[k]
        for para in made:
            para.move(para.x, y + top + (height - para.h) // 2)
        items += made
        top += height
        lines.ys.append(top - 1)
    lines.h = top
    lines.move(x, y)
    return [lines, *items], top


def _cells(
    tokens: Sequence[Token], styled: Callable[[str], Styled]
) -> tuple[list[list[Styled]], list[Any]]:
    rows: list[list[Styled]] = []
    aligns: list[Any] = []
    for i, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            if len(rows) == 1:
                found = _ALIGN.get(str(token.attrGet("style") or ""))
                aligns.append(found or Qt.AlignmentFlag.AlignLeft)
            rows[-1].append(styled(tokens[i + 1].content))
    return rows, aligns


def _widths(rows: list[list[Styled]], columns: int, width: int, style: Style) -> list[int]:
    """Natural widths where they fit; else no column is narrower than its longest word, and the
    wide ones share what is left."""
    natural = [0.0] * columns
    head, body = [0.0] * columns, [0.0] * columns  # the longest words
    for n, row in enumerate(rows):
        fm = style.fm("small-strong" if n == 0 else "body")
        for k, cell in enumerate(row):
            codes = sum(run.length for run in cell.runs if run.flags & CODE)
            size = fm.horizontalAdvance(cell.text) * (1.08 if cell.runs else 1.0) + codes * 1.5
            size += style.px(8) * sum(1 for run in cell.runs if run.flags & CODE)
            natural[k] = max(natural[k], size)
            word = fm.horizontalAdvance(_word(cell.text)) * (1.08 if cell.runs else 1.0)
            longest = body if n else head
            longest[k] = max(longest[k], word + codes * 1.5)
    pads = [style.px(8) if k == 0 else style.px(16) for k in range(columns)]
    want = [int(n) + 2 + pad for n, pad in zip(natural, pads, strict=True)]
    if sum(want) <= width:
        return _spread(want, width, style)
    least = [style.px(40)] * columns
    for words in (list(map(max, head, body)), body):  # else those of the head are broken first
        whole = [min(int(w) + 2 + pad, width // 2) for w, pad in zip(words, pads, strict=True)]
        if sum(whole) <= width:
            least = whole
            break
    return _shared([min(a, b) for a, b in zip(least, want, strict=True)], want, width)


def _word(text: str) -> str:
    """The longest part that is not broken over lines; between Chinese characters lines break."""
    word = max(text.split(), key=len, default="")
    return word[:2] if any(char >= "\u2e80" for char in word) else word


def _shared(least: list[int], want: list[int], width: int) -> list[int]:
    """``least`` for each column, and of what is left equal shares up to what it wants."""
    fair, left = list(least), width - sum(least)
    needy = [k for k in range(len(want)) if want[k] > fair[k]]
    while needy and left >= len(needy):
        share = left // len(needy)
        for k in needy:
            more = min(share, want[k] - fair[k])
            fair[k] += more
            left -= more
        needy = [k for k in needy if want[k] > fair[k]]
    return fair


def _spread(want: list[int], width: int, style: Style) -> list[int]:
    """A small table keeps its size; one that nearly fills the column fills it."""
    rest = width - sum(want)
    extra = min(style.px(28), rest // len(want))
    return [w + extra for w in want]
