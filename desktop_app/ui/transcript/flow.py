"""One Markdown block turned into items: paragraphs, headings, lists, quotes, code, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from PySide6.QtCore import QRectF

from desktop_app.ui.i18n import tr

from .blocks import parser
from .codebox import CodeBox
from .inline import LINE, Styled, from_tokens, too_heavy
from .items import Item, Paint
from .para import Para, starts_rtl
from .pool import Pool
from .style import Style, box, hline
from .table import lay_table


@dataclass(slots=True)
class Flow:
    """Items of one block, stacked; ``h`` is their height. A growing block hands its former flow
    to the next build, which takes over what did not change."""

    items: list[Item] = field(default_factory=list)
    h: int = 0

    def changed_from(self, old: Flow) -> int:
        """The top of the first item that is not the same as in ``old``."""
        for new, was in zip(self.items, old.items, strict=False):
            if new is not was or isinstance(new, CodeBox):
                return new.y
        n = min(len(self.items), len(old.items))
        return self.items[n].y if n < len(self.items) else max(0, min(self.h, old.h) - 40)


@lru_cache(1)
def _markdown() -> MarkdownIt:
    """Blocks only: the inside of paragraphs is parsed by ``_styled``, which remembers."""
    md = parser()
    md.core.ruler.enableOnly(["normalize", "block"])
    return md


@lru_cache(1)
def _inline() -> MarkdownIt:
    return parser()


@lru_cache(2048)
def _styled(content: str, image: str) -> Styled:
    return from_tokens(_inline().parseInline(content)[0].children or (), image)


def styled_of(content: str, references: dict[str, Any]) -> Styled:
    """The text of a paragraph's source. Only sources that may refer to a definition depend on
    ``references``."""
    image = tr("Image: {alt}")
    if references and "[" in content:
        env = {"references": dict(references)}
        return from_tokens(_inline().parseInline(content, env)[0].children or (), image)
    return _styled(content, image)


@dataclass(slots=True, eq=False)
class _Mark(Item):
    """A list's bullet or number, or a task's box."""

    label: str = ""
    checked: bool | None = None
    lh: int = 22

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style, p = c.style, c.p
        x, y = ox + self.x, oy + self.y
        if self.checked is not None:
            side = style.px(14)
            rect = QRectF(x + self.w - side - style.px(6), y + (self.lh - side) // 2, side, side)
            fill, line = ("accent", "accent") if self.checked else ("raised", "outline")
            box(p, rect, style.px(4), style.color(fill), style.color(line))
            if self.checked:
                p.drawPixmap(
                    rect.adjusted(1.5, 1.5, -1.5, -1.5).topLeft(),
                    style.icon("check", "accent-fg", 11, c.dpr),
                )
            return
        p.setFont(style.font("message"))
        p.setPen(style.color("muted"))
        area = QRectF(x, y, self.w - style.px(6), self.lh)
        fm = style.fm("message")
        baseline = round((self.lh - fm.ascent() - fm.descent()) / 2 + fm.ascent())
        width = fm.horizontalAdvance(self.label)
        p.drawText(int(area.right() - width), int(y + baseline), self.label)


@dataclass(slots=True, eq=False)
class _Quote(Item):
    """The line at the side of a quote."""

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        rect = QRectF(ox + self.x, oy + self.y, c.style.px(3), self.h)
        box(c.p, rect, c.style.px(1.5), c.style.color("border-strong"))


@dataclass(slots=True, eq=False)
class _Rule(Item):
    def paint(self, c: Paint, ox: float, oy: float) -> None:
        color = c.style.color("border")
        hline(c.p, ox + self.x, oy + self.y + self.h // 2, self.w, color)


_HEADINGS = {"h1": ("h1", 8), "h2": ("h2", 6)}
_TASK = re.compile(r"\[([ xX])\] +")


class _Build:
    """A walk over the tokens of one block."""

    def __init__(
        self,
        tokens: Sequence[Token],
        style: Style,
        pool: Pool,
        growing: bool,
        references: dict[str, Any],
    ) -> None:
        self.references = references
        self.number = 0  # of the first item, when it is known better than by its source
        self.tokens = tokens
        self.style = style
        self.pool = pool
        self.growing = growing
        self.items: list[Item] = []
        self.y = 0
        self.gap = 0  # asked for by what came before
        self.token = "text"
        self.lead = ""
        self.depth = 0
        self.rtl_width = 0

    def space(self, gap: int) -> None:
        if self.items:
            self.y += max(gap, self.gap)
        self.gap = 0

    def put(self, item: Item, x: int, gap_before: int, gap_after: int) -> None:
        self.space(gap_before)
        item.move(x, self.y)
        item.sep = "\n" if self.depth else "\n\n"
        item.lead, self.lead = self.lead, ""
        self.items.append(item)
        self.y += item.h
        self.gap = gap_after

    def run(self, i: int, end: int, x: int, width: int, tight: bool = False) -> None:
        gap = self.style.px(4) if tight else self.style.para_gap
        while i < end:
            token = self.tokens[i]
            kind = token.type
            close = self.close(i) if token.nesting == 1 else i
            if kind == "heading_open":
                role, extra = _HEADINGS.get(token.tag, ("h3", 4))
                self.inline(self.tokens[i + 1], role, x, width, self.style.px(extra), gap)
            elif kind == "paragraph_open":
                self.inline(self.tokens[i + 1], "message", x, width, 0, gap)
            elif kind in ("bullet_list_open", "ordered_list_open"):
                self.list(i, close, x, width)
                self.gap = max(self.gap, gap)
            elif kind == "blockquote_open":
                self.quote(i, close, x, width)
                self.gap = gap
            elif kind in ("fence", "code_block"):
                text = token.content.removesuffix("\n")
                code = self.pool.code(token.info, text, width, self.style, self.growing)
                self.put(code, x, 0, gap)
            elif kind == "hr":
                self.put(_Rule(w=width, h=self.style.px(9)), x, 0, gap)
            elif kind == "table_open":
                self.table(i, close, x, width)
                self.gap = gap
            i = close + 1

    def close(self, i: int) -> int:
        level = self.tokens[i].level
        for j in range(i + 1, len(self.tokens)):
            if self.tokens[j].level == level and self.tokens[j].nesting == -1:
                return j
        return len(self.tokens) - 1

    def inline(self, token: Token, role: str, x: int, width: int, before: int, after: int) -> None:
        styled = styled_of(token.content, self.references)
        para = self.pool.para(styled, role, self.token, max(20, width), self.style)
        self.put(para, x, before + (self.gap if before else 0), after)

    def list(self, i: int, end: int, x: int, width: int) -> None:
        ordered = self.tokens[i].type == "ordered_list_open"
        number = int(self.tokens[i].attrGet("start") or 1) if ordered else 0
        if ordered and not self.depth and self.number:
            number, self.number = self.number, 0
        style = self.style
        last = number + sum(
            1
            for t in self.tokens[i:end]
            if t.type == "list_item_open" and t.level == self.tokens[i].level + 1
        )
        widest = style.fm("message").horizontalAdvance(f"{max(last, 10)}.") if ordered else 0
        indent = max(style.px(22), int(widest) + style.px(8))
        self.depth += 1
        j = i + 1
        while j < end:
            close = self.close(j)
            self.item(j, close, x, width, indent, f"{number}." if ordered else "")
            number += 1
            j = close + 1
        self.depth -= 1

    def item(self, i: int, end: int, x: int, width: int, indent: int, number: str) -> None:
        style = self.style
        first = self.tokens[i + 1] if i + 1 < end else None
        tight = first is None or first.hidden or first.type != "paragraph_open"
        inline = self.tokens[i + 2] if i + 2 < end else None
        text = inline.content if inline is not None and inline.type == "inline" else ""
        task = _TASK.match(text)
        bullet = "\u2022" if self.depth == 1 else "\u25e6"
        mark = _Mark(w=indent, h=0, label=number or bullet, lh=style.line("message"))
        if task and inline is not None:
            mark.checked = task[1] != " "
            inline.content = text[task.end() :]
        rtl = starts_rtl(text)
        self.space(0)
        mark.move(x + (width - indent if rtl else 0), self.y)
        if rtl:
            mark.w = style.px(18)
        at = len(self.items)
        self.items.append(mark)
        lead = "  " * (self.depth - 1) + (f"{number} " if number else "- ")
        self.lead = lead + (task[0] if task else "")
        gap, self.gap = self.gap, 0
        before = self.y
        self.run(i + 1, end, x if rtl else x + indent, width - indent, tight)
        self.lead = ""
        if self.y == before:
            self.y += style.line("message")
        following = next((it for it in self.items[at + 1 :] if isinstance(it, Para)), None)
        if following is not None and following.y < before + style.px(24):
            mark.lh = following.lh
            mark.move(mark.x, following.y)
        self.gap = max(self.gap, gap, style.px(4)) if tight else style.para_gap

    def quote(self, i: int, end: int, x: int, width: int) -> None:
        style = self.style
        indent = style.px(15)
        self.space(0)
        bar = _Quote(w=style.px(3), h=0)
        bar.move(x, self.y)
        self.items.append(bar)
        token, self.token = self.token, "muted"
        at = len(self.items)
        self.run(i + 1, end, x + indent, width - indent)
        for item in self.items[at:]:
            item.lead = "> " + item.lead
        self.token, self.gap = token, 0
        bar.h = self.y - bar.y

    def table(self, i: int, end: int, x: int, width: int) -> None:
        self.space(0)
        styled = partial(styled_of, references=self.references)
        tokens = self.tokens[i : end + 1]
        items, height = lay_table(tokens, styled, x, self.y, width, self.style, self.pool)
        self.items += items
        self.y += height


def build(
    source: str,
    width: int,
    style: Style,
    references: dict[str, Any],
    old: Flow | None = None,
    growing: bool = False,
    number: int = 0,
) -> Flow:
    """The flow of one block of Markdown; ``number`` when it is an item of an ordered list."""
    pool = Pool(old.items if old else ())
    if too_heavy(source):
        return plain_flow(source, width, style)
    tokens = _markdown().parse(source, {})
    walk = _Build(tokens, style, pool, growing, references)
    walk.number = number
    walk.run(0, len(tokens), 0, width)
    return Flow(walk.items, walk.y)


def plain_flow(text: str, width: int, style: Style, role: str = "message") -> Flow:
    """Text as it is, in pieces that lay out quickly."""
    items: list[Item] = []
    y = 0
    for at in range(0, len(text), 4000):
        piece = text[at : at + 4000].strip("\n").replace("\n", LINE)
        para = Para(styled=Styled(piece), role=role)
        para.lay(width, style)
        para.move(0, y)
        para.sep = "" if at else "\n\n"
        items.append(para)
        y += para.h
    return Flow(items, y)


def styled_flow(
    styled: Styled, width: int, style: Style, role: str, token: str, old: Flow | None = None
) -> Flow:
    """One paragraph."""
    para = Pool(old.items if old else ()).para(styled, role, token, width, style)
    para.move(0, 0)
    return Flow([para], para.h)
