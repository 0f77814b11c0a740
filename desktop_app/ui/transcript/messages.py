"""Rows of words: what the person wrote, who answers, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QRectF

from desktop_app.ui.i18n import tr

from .blocks import Block, BlockStream, code_of, normalise, verbatim
from .buttons import Badge, Button, draw_icon, draw_text
from .flow import Flow, build, plain_flow, styled_flow
from .hold import presentable
from .inline import from_verbatim, has_wide
from .items import Item, Paint, Zone
from .para import Para
from .pool import Pool
from .rowbox import RowBox, Section
from .rows import Action, HeaderRow, MarkdownRow, UserRow
from .style import Style, box


def estimate(text_length: int, lines: int, width: int, style: Style) -> int:
    """Height of so much text, roughly."""
    per_line = max(1.0, width / (style.fm("message").averageCharWidth() * 1.02))
    return int((lines + text_length / per_line + 0.5) * style.line("message"))


def section_estimate(source: str, kind: str, width: int, style: Style) -> int:
    if kind == "code":
        return (source.count("\n") + 1) * style.line("mono") + style.px(28 + 18)
    wide = 2 if has_wide(source) else 1
    return estimate(len(source) * wide, source.count("\n"), width, style)


# -- the answer -----------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class MarkdownBox(RowBox):
    """An answer. ``extend`` lays out only the growing block."""

    stream: BlockStream = field(default_factory=BlockStream)
    growing: bool = False
    stopped: bool = False
    raw: int = 0  # characters of the row's text that were taken in
    _carets: list[Item] = field(default_factory=list, init=False)

    def sync(self, first: int) -> None:
        """Bring the sections from block ``first`` on in line with the stream."""
        blocks = self.stream.blocks
        last = len(blocks) - 1
        old = self.sections[first:]
        del self.sections[first:]
        for n in range(first, len(blocks)):
            block = blocks[n]
            source = self.stream.text[block.start : block.end]
            gap, sep = self._gap(blocks[n - 1], block) if n else (0, "\n\n")
            growing = self.growing and n == last
            was = old[n - first].flow if n - first < len(old) else None
            height = section_estimate(source, block.kind, self.w, self.style)
            section = Section(height, gap, source=source, sep=sep)
            section.make = _Make(self, block, source, was, growing)
            if was is not None or self.growing:
                section.realise()
            self.sections.append(section)
        self._tail()

    def _gap(self, before: Block, block: Block) -> tuple[int, str]:
        """Space between two blocks, and what parts them when they are copied: the items of a
        list stand together unless a blank line is between them."""
        between = self.stream.text[before.end : block.start]
        if block.marker and before.marker == block.marker and between.count("\n") < 2:
            return self.style.px(4), "\n"
        return self.style.para_gap, "\n\n"

    def _tail(self) -> None:
        """What follows the text: the caret while it grows, "Stopped" when it was cut."""
        for item in self._carets:
            if hasattr(item, "caret"):
                item.caret = False  # type: ignore[attr-defined]
        self._carets.clear()
        if self.growing:
            section = self.sections[-1] if self.sections else None
            flow = section.flow if section else None
            item = (
                next((i for i in reversed(flow.items) if i.text is not None), None)
                if (flow)
                else None
            )
            if item is None:
                para = Para()
                para.lay(self.w, self.style)
                item = para
                gap = self.style.para_gap if self.sections else 0
                if section is not None and flow is not None and not flow.items:
                    section.flow, section.h = Flow([para], para.h), para.h
                else:
                    self.sections.append(Section(para.h, gap, Flow([para], para.h)))
            item.caret = True  # type: ignore[attr-defined]
            self._carets.append(item)
        elif self.stopped:
            note = _Stopped(w=self.w, h=self.style.px(18))
            self.sections.append(Section(note.h, self.style.px(6), Flow([note], note.h)))

    def extend(self, piece: str) -> tuple[int, bool]:
        """More text came. Returns the top of what changed (relative to the row) and whether the
        height changed."""
        before = self.height
        extra = len(self.sections) - len(self.stream.blocks)
        first = self.stream.append(piece)
        self.raw += len(piece)
        first = min(first, max(0, len(self.stream.blocks) - 1))
        old_flow = self.sections[first].flow if first < len(self.sections) else None
        if extra > 0:
            del self.sections[len(self.sections) - extra :]
        if first and first - 1 < len(self.sections) and first >= len(self.sections):
            # The block before was the growing one: it is shown in full now.
            first -= 1
            old_flow = self.sections[first].flow
        old_top = self.sections[first].top if first < len(self.sections) else self.height
        lines = self._code_lines(old_flow)
        self.sync(first)
        self.stack(first)
        flow = self.sections[first].flow if first < len(self.sections) else None
        y = old_top
        if flow is not None and old_flow is not None:
            y += self._changed(flow, old_flow, lines)
        return y, self.height != before

    def _code_lines(self, flow: Flow | None) -> int:
        if flow is not None and len(flow.items) == 1:
            count = getattr(flow.items[0], "line_count", None)
            return count() if count else -1
        return -1

    def _changed(self, flow: Flow, old: Flow, lines: int) -> int:
        if lines > 0 and len(flow.items) == 1 and flow.items[0] is old.items[0]:
            code = flow.items[0]
            return code.line_top(max(0, lines - 2))  # type: ignore[attr-defined]
        return flow.changed_from(old)

    def set_growing(self, growing: bool, stopped: bool) -> None:
        """The stream ended, or went on: the last block is laid out anew."""
        self.growing, self.stopped = growing, stopped
        keep = len(self.stream.blocks)
        del self.sections[keep:]
        self.sync(max(0, keep - 1))
        self.stack()


@dataclass(slots=True)
class _Make:
    """Lays out one block."""

    box: MarkdownBox
    block: Block
    source: str
    old: Flow | None
    growing: bool

    def __call__(self) -> Flow:
        box, block = self.box, self.block
        old, self.old = self.old, None
        if block.kind == "plain":
            return plain_flow(self.source, box.w, box.style)
        if block.kind == "code":
            code = Pool(old.items if old else ()).code(
                block.info, code_of(box.stream.text, block), box.w, box.style,
                self.growing and not block.closed,
            )  # fmt: skip
            code.move(0, 0)
            return Flow([code], code.h)
        source = presentable(self.source) if self.growing else self.source
        references = box.stream.references
        number = block.number if block.marker in (".", ")") else 0
        return build(source, box.w, box.style, references, old, self.growing, number)


@dataclass(slots=True, eq=False)
class _Stopped(Item):
    """A small mark that the answer was cut."""

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style = c.style
        y = oy + self.y
        draw_icon(c, "square", "faint", 12, ox + self.x, y + (self.h - style.px(12)) / 2)
        draw_text(
            c.p, style, ox + self.x + style.px(18), y, self.h, tr("Stopped"), "small", "faint"
        )


def markdown_box(row: MarkdownRow, width: int, style: Style) -> MarkdownBox:
    made = MarkdownBox(row.id, width, style)
    made.stream = BlockStream.of(row.text)
    made.raw = len(row.text)
    made.growing, made.stopped = row.growing, row.stopped
    made.sync(0)
    return made


# -- the person ------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Head(Item):
    """Name strong, the rest faint; at the right what the row's kind adds."""

    name: str = ""
    rest: tuple[str, ...] = ()
    badge: Badge | None = None
    toggle: str = ""
    expanded: bool = False
    buttons: tuple[Button, ...] = ()

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style, p = c.style, c.p
        x, y = ox + self.x, oy + self.y
        x += draw_text(p, style, x, y, self.h, self.name, "small-semibold", "text")
        for part in self.rest:
            x += style.px(8)
            x += draw_text(p, style, x, y, self.h, part, "small", "faint")
        if self.badge is not None:
            self.badge.paint(c, ox + self.x, oy + self.y)
        if self.toggle:
            self._paint_toggle(c, ox, oy)
        if c.row_hover or (c.focus is not None and c.focus.item in self.buttons):
            for button in self.buttons:
                button.paint(c, ox + self.x, oy + self.y)

    def _toggle_rect(self, style: Style) -> QRectF:
        width = style.fm("small").horizontalAdvance(self.toggle) + style.px(14 + 6)
        return QRectF(self.x + self.w - width, self.y, width, self.h)

    def _paint_toggle(self, c: Paint, ox: float, oy: float) -> None:
        style = c.style
        rect = self._toggle_rect(style).translated(ox, oy)
        hot = c.hover is not None and c.hover.kind == "expand"
        token = "text" if hot else "muted"
        draw_text(c.p, style, rect.x(), rect.y(), rect.height(), self.toggle, "small", token)
        name = "chevron-down" if self.expanded else "chevron-right"
        y = rect.center().y() - style.px(7)
        draw_icon(c, name, token, 14, rect.right() - style.px(14), y)

    def fit_buttons(self, style: Style, actions: tuple[Action, ...]) -> None:
        right = self.w
        if self.toggle:
            right = int(self._toggle_rect(style).x() - self.x) - style.px(8)
        elif self.badge is not None:
            right = self.badge.x - style.px(8)
        made: list[Button] = []
        for action in reversed(actions):
            button = Button(action=action, look="icon").fit(style)
            right -= button.w
            button.move(right, (self.h - button.h) // 2)
            made.append(button)
        self.buttons = tuple(reversed(made))

    def zones(self) -> list[Zone]:
        out: list[Zone] = []
        for button in self.buttons:
            for zone in button.zones():
                rect = zone.rect.translated(self.x, self.y)
                out.append(
                    Zone(
                        rect, "action", zone.target, zone.tooltip, zone.label, button, zone.enabled
                    )
                )
        return out


@dataclass(slots=True, eq=False)
class _HeaderHead(_Head):
    style: Style | None = None

    def zones(self) -> list[Zone]:
        out = _Head.zones(self)
        if self.toggle and self.style is not None:
            rect = self._toggle_rect(self.style)
            out.append(Zone(rect, "expand", "", "", self.toggle, self))
        return out


def copy_action() -> Action:
    return Action("copy-row", tr("Copy"), "copy")


def user_box(row: UserRow, width: int, style: Style) -> RowBox:
    pad = style.px(14)
    inner = width - 2 * pad
    made = RowBox(row.id, width, style, x=pad, inset_top=style.px(9), inset_bottom=style.px(11))
    head = _Head(w=inner, h=style.px(18), name=tr("You"), rest=(row.time,) if row.time else ())
    if row.badge:
        head.badge = Badge(label=row.badge, icon="pin").fit(style)
        head.badge.move(inner - head.badge.w, 0)
    head.fit_buttons(style, (copy_action(), *row.actions))
    made.sections.append(Section(head.h, 0, Flow([head], head.h)))
    text = normalise(row.text)
    for n, block in enumerate(verbatim(text)):
        source = text[block.start : block.end]
        gap = style.px(3) if n == 0 else style.para_gap
        height = section_estimate(source, block.kind, inner, style)
        section = Section(height, gap, source=source)
        section.make = _MakeUser(text, block, inner, style)
        made.sections.append(section)
    if row.attachments:
        flow = _attachments(row.attachments, inner, style)
        made.sections.append(Section(flow.h, style.px(8), flow))
    made.background = _user_background
    return made


@dataclass(slots=True)
class _MakeUser:
    text: str
    block: Block
    width: int
    style: Style

    def __call__(self) -> Flow:
        block, style = self.block, self.style
        if block.kind == "code":
            code = Pool().code(block.info, code_of(self.text, block), self.width, style, False)
            return Flow([code], code.h)
        source = self.text[block.start : block.end]
        return styled_flow(from_verbatim(source), self.width, style, "message", "text")


def _user_background(c: Paint, ox: float, oy: float, h: int) -> None:
    style = c.style
    # ox is the column's left edge.
    rect = QRectF(ox, oy, c.width, h)
    box(c.p, rect, style.px(8), style.color("sunken"), style.color("border"))


def _attachments(names: tuple[str, ...], width: int, style: Style) -> Flow:
    flow = Flow()
    x = y = 0
    for name in names:
        badge = Badge(label=name, icon="paperclip").fit(style)
        if x and x + badge.w > width:
            x, y = 0, y + badge.h + style.px(4)
        badge.move(x, y)
        flow.items.append(badge)
        x += badge.w + style.px(6)
        flow.h = y + badge.h
    return flow


# -- who answers -----------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Side(Item):
    """The line beside opened thinking."""

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        c.p.fillRect(QRectF(ox + self.x, oy + self.y, 1, self.h), c.style.color("border-strong"))


def header_box(row: HeaderRow, width: int, style: Style) -> RowBox:
    made = RowBox(row.id, width, style)
    rest = tuple(part for part in (row.detail, row.time) if part)
    label = row.thinking_label or (tr("Thinking") if row.thinking else "")
    head = _HeaderHead(w=width, h=style.px(20), name=row.name, rest=rest, style=style)
    head.toggle, head.expanded = label if row.thinking else "", row.expanded
    head.fit_buttons(style, (copy_action(), *row.actions))
    made.sections.append(Section(head.h, 0, Flow([head], head.h)))
    if row.expanded and row.thinking:
        made.sections.append(_thinking(normalise(row.thinking).strip("\n"), width, style))
    return made


def _thinking(text: str, width: int, style: Style) -> Section:
    indent = style.px(13)
    inner = width - indent
    height = estimate(len(text), text.count("\n"), inner, style)

    def make() -> Flow:
        side = _Side(w=1)
        flow = Flow([side])
        y = 0
        for block in verbatim(text):
            source = text[block.start : block.end]
            if block.kind == "code":
                item: Item = Pool().code(block.info, code_of(text, block), inner, style, False)
            else:
                para = Para(styled=from_verbatim(source), role="thinking", token="muted")
                para.lay(inner, style)
                item = para
            y += style.px(6) if y else 0
            item.move(indent, y)
            flow.items.append(item)
            y += item.h
        side.h = flow.h = y
        return flow

    return Section(height, style.px(6), None, make)
