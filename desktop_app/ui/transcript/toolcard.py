"""Tool calls: rows of one joined card, which open to arguments, differences and output."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath, QPen, QPolygonF

from desktop_app.ui.i18n import tr

from .buttons import Button, draw_icon, draw_text, elide
from .codebox import CodeBox
from .diff import parse_diff
from .flow import Flow
from .highlight import language_of
from .items import Item, Paint, Zone
from .rowbox import Painter, RowBox, Section
from .rows import ToolRow
from .style import Style, box, hline
from .terminal import terminal, visible

LINES = 12
"""Lines of output shown before "Show all"."""


def status_word(status: str) -> str:
    """The state in words, for eyes and ears."""
    words = {
        "arguments": tr("Preparing"),
        "waiting": tr("Waiting for you"),
        "running": tr("Running"),
        "success": tr("Done"),
        "error": tr("Failed"),
        "denied": tr("Denied"),
        "interrupted": tr("Stopped"),
        "cut": tr("Not run"),
        "unknown": tr("Outcome unknown"),
    }
    return words[status]


_ICONS = {
    "success": ("check", "success"),
    "error": ("x", "danger"),
    "denied": ("ban", "danger"),
    "interrupted": ("square", "faint"),
    "cut": ("square", "faint"),
    "unknown": ("triangle-alert", "warning"),
}
BUSY = ("arguments", "running")


@dataclass(slots=True, eq=False)
class ToolHead(Item):
    """The line of a call: icon, name, argument, remark, state, chevron."""

    row: ToolRow | None = None
    joined: bool = False

    def zones(self) -> list[Zone]:
        row = self.row
        assert row is not None
        rect = QRectF(self.x, self.y, self.w, self.h)
        label = tr("Hide details") if row.expanded else tr("Show details")
        return [Zone(rect, "expand", "", "", label, self)]

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        row, style, p = self.row, c.style, c.p
        assert row is not None
        x, y = ox + self.x, oy + self.y
        hot = c.hover is not None and c.hover.item is self
        mid = y + self.h / 2
        if hot:
            fill = style.color("pressed" if c.pressed else "hover")
            box(p, QRectF(x + 3, y + 3, self.w - 6, self.h - 5), style.px(5), fill)
        left = x + style.px(10)
        draw_icon(c, row.icon, "text" if hot else "muted", 16, left, mid - style.px(8))
        left += style.px(16 + 8)
        right = self._paint_right(c, x, y, mid, hot)
        name = elide(style, "semibold", row.name, max(style.px(60), (right - left) * 0.5))
        left += draw_text(p, style, left, y, self.h, name, "semibold", "text") + style.px(8)
        if row.summary:
            line = visible(row.summary.replace("\n", " \u23ce ")[:600])
            text = elide(style, "mono", line, right - style.px(12) - left, middle=True)
            draw_text(p, style, left, y, self.h, text, "mono", "muted")

    def _paint_right(self, c: Paint, x: float, y: float, mid: float, hot: bool) -> float:
        """Remark, state and chevron; returns where they begin."""
        row, style = self.row, c.style
        assert row is not None
        right = x + self.w - style.px(10)
        token = "text" if hot else "muted"
        chevron = "chevron-down" if row.expanded else "chevron-right"
        draw_icon(c, chevron, token, 14, right - style.px(14), mid - style.px(7))
        right -= style.px(14 + 10)
        self._paint_state(c, right - style.px(14), mid)
        right -= style.px(14 + 8)
        word = status_word(row.status)
        parts = [row.note] if row.note else []
        if row.status != "success" or not parts:
            parts.append(word)
        failed = row.status in ("error", "denied")
        token = "danger" if failed else "warning" if row.status == "waiting" else "faint"
        text = elide(style, "small", " \u00b7 ".join(parts), self.w * 0.45)
        width = style.fm("small").horizontalAdvance(text)
        self._paint_note(c, right - width, y, text, token)
        return right - width

    def _paint_note(self, c: Paint, x: float, y: float, text: str, token: str) -> None:
        """Counts of a difference ("+3 −1") in their colours, else the text."""
        row, style = self.row, c.style
        assert row is not None
        if not (row.diff and text[:1] == "+"):
            draw_text(c.p, style, x, y, self.h, text, "small", token)
            return
        for part in text.split(" "):
            colour = {"+": "success", "-": "danger", "\u2212": "danger"}.get(part[:1], token)
            x += draw_text(c.p, style, x, y, self.h, part, "small", colour)
            x += style.fm("small").horizontalAdvance(" ")

    def _paint_state(self, c: Paint, x: float, mid: float) -> None:
        row, style, p = self.row, c.style, c.p
        assert row is not None
        if row.status in _ICONS:
            name, token = _ICONS[row.status]
            draw_icon(c, name, token, 14, x, mid - style.px(7))
            return
        p.save()
        p.setRenderHint(p.RenderHint.Antialiasing)
        size = style.px(10)
        rect = QRectF(x + style.px(2), mid - size / 2, size, size)
        if row.status == "waiting":
            center = rect.center()
            half = size / 2
            diamond = [
                QPointF(center.x(), center.y() - half),
                QPointF(center.x() + half, center.y()),
                QPointF(center.x(), center.y() + half),
                QPointF(center.x() - half, center.y()),
            ]
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(style.color("warning"))
            p.drawPolygon(QPolygonF(diamond))
        else:
            inner = rect.adjusted(0.75, 0.75, -0.75, -0.75)
            p.setPen(QPen(style.color("accent-text", 0.3), 1.5))
            p.drawEllipse(inner)
            p.setPen(QPen(style.color("accent-text"), 1.5))
            p.drawArc(inner, (90 - c.spin * 30) * 16, -90 * 16)
        p.restore()


def tool_box(
    row: ToolRow, width: int, style: Style, first: bool, last: bool, old: RowBox | None
) -> RowBox:
    """``first`` and ``last`` of its joined card; ``old`` is the box to take code blocks from."""
    made = RowBox(row.id, width, style)
    made.busy = row.status in BUSY
    head = ToolHead(w=width, h=style.tool_row, row=row, joined=not first)
    made.sections.append(Section(head.h, 0, Flow([head], head.h)))
    if row.expanded:
        flow = _content(row, width, style, _old_codes(old))
        if flow.items:
            made.sections.append(Section(flow.h, 0, flow))
    if row.offload or row.actions:
        flow = _footer(row, width, style)
        made.sections.append(Section(flow.h, 0, flow))
    made.inset_bottom = 1 if last else 0
    made.background = _background(first, last)
    if last and len(made.sections) > 1:
        made.foreground = _corners
    return made


def _old_codes(old: RowBox | None) -> dict[str, CodeBox]:
    found: dict[str, CodeBox] = {}
    for section in old.sections if old else ():
        for item in section.flow.items if section.flow else ():
            if isinstance(item, CodeBox):
                found[item.caption] = item
    return found


def _content(row: ToolRow, width: int, style: Style, old: dict[str, CodeBox]) -> Flow:
    flow = Flow()

    def code(key: str, text: str, language: str, limit: int) -> CodeBox:
        box_ = old.get(key) or CodeBox(language=language, caption=key, look="output")
        box_.language = language
        box_.limit = limit
        box_.wrap = box_.wrap if key in old else key != "diff"
        box_.set_text(text)
        box_.lay(width - 2, style)
        return box_

    def put(item: Item, x: int) -> None:
        item.move(x, flow.h)
        item.sep = "\n"
        flow.items.append(item)
        flow.h += item.h

    titled = sum(1 for part in (row.arguments, row.diff, row.output) if part) > 1
    if row.arguments and not row.diff:
        if titled:
            put(_Title(w=width, h=style.px(26), label=tr("Arguments")), 0)
        if not titled:
            put(_Gap(w=width, h=1, line=True), 0)
        put(code("arguments", row.arguments.rstrip("\n"), "json", LINES), 1)
    if row.diff:
        text, lines = parse_diff(row.diff)
        kept = old.get("diff")
        diff = kept if kept is not None and len(kept.diff) == len(lines) else None
        diff = diff or CodeBox(caption="diff", look="output", limit=2 * LINES)
        diff.language = language_of(row.summary)
        diff.diff = lines
        diff.set_text(text)
        diff.lay(width - 2, style)
        put(_Gap(w=width, h=1, line=True), 0)
        put(diff, 1)
    if row.output:
        if titled:
            put(_Title(w=width, h=style.px(26), label=tr("Output")), 0)
        else:
            put(_Gap(w=width, h=1, line=True), 0)
        text = row.output.rstrip("\n")
        running = row.status in BUSY
        if running and text.count("\n") >= LINES:
            text = "\n".join(text.rsplit("\n", LINES)[1:])
        text = terminal(text)
        out = code("output", text, "", 0 if running else LINES)
        out.danger = row.status == "error"
        out.caret = running
        put(out, 1)
    if not flow.items:
        text = _nothing(row)
        put(_Title(w=width, h=style.px(32), label=text), 0)
    return flow


def _nothing(row: ToolRow) -> str:
    if row.partial:
        return tr("Loading…")
    return tr("No output yet") if row.status in BUSY else tr("No output")


@dataclass(slots=True, eq=False)
class _Title(Item):
    """A caption over a part of the opened call."""

    label: str = ""

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style = c.style
        x, y = ox + self.x, oy + self.y
        c.p.fillRect(QRectF(x + 1, y, self.w - 2, self.h), style.color("sunken"))
        hline(c.p, x + 1, y, self.w - 2, style.color("border"))
        top = style.px(4) if self.h < style.px(30) else 0
        x += style.px(13)
        draw_text(c.p, style, x, y + top, self.h - top, self.label, "caption", "faint")


@dataclass(slots=True, eq=False)
class _Gap(Item):
    line: bool = False

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        if self.line:
            hline(c.p, ox + self.x + 1, oy + self.y, self.w - 2, c.style.color("border"))


@dataclass(slots=True, eq=False)
class _Foot(Item):
    """The line under a call: what was offloaded."""

    label: str = ""

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style = c.style
        x, y = ox + self.x, oy + self.y
        c.p.fillRect(QRectF(x + 1, y, self.w - 2, self.h), style.color("sunken"))
        hline(c.p, x + 1, y, self.w - 2, style.color("border"))
        left = x + style.px(10)
        if self.label:
            draw_icon(c, "archive", "muted", 14, left + 1, y + (self.h - style.px(14)) / 2)
            left += style.px(16 + 8)
            draw_text(c.p, style, left, y, self.h, self.label, "small", "muted")


def _footer(row: ToolRow, width: int, style: Style) -> Flow:
    height = style.px(30)
    foot = _Foot(w=width, h=height, label=row.offload)
    flow = Flow([foot], height)
    right = width - style.px(12)
    for action in reversed(row.actions):
        button = Button(action=action, look="link").fit(style)
        right -= button.w
        button.move(right, (height - button.h) // 2)
        right -= style.px(14)
        flow.items.append(button)
    return flow


def _background(first: bool, last: bool) -> Painter:
    def paint(c: Paint, ox: float, oy: float, h: int) -> None:
        style, p = c.style, c.p
        reach = style.px(20)
        rect = QRectF(ox, oy - (0 if first else reach), c.width, h)
        rect.setBottom(oy + h + (0 if last else reach))
        p.save()
        p.setClipRect(QRectF(ox, oy, c.width, h), Qt.ClipOperation.IntersectClip)
        box(p, rect, style.px(8), None, style.color("border"))
        if not first:
            hline(p, ox + 1, oy, c.width - 2, style.color("border"))
        p.restore()

    return paint


def _corners(c: Paint, ox: float, oy: float, h: int) -> None:
    """Round the lower corners of a fill that reaches the card's end."""
    style, p = c.style, c.p
    r = style.px(8)
    rect = QRectF(ox, oy, c.width, h)
    notch = QPainterPath()
    notch.addRect(QRectF(rect.x(), rect.bottom() - r, rect.width(), r))
    inside = QPainterPath()
    inside.addRoundedRect(rect, r, r)
    p.save()
    p.setRenderHint(p.RenderHint.Antialiasing)
    p.fillPath(notch.subtracted(inside), style.color("surface"))
    p.setClipRect(QRectF(ox, rect.bottom() - r, c.width, r), Qt.ClipOperation.IntersectClip)
    box(p, rect.adjusted(0, -2 * r, 0, 0), r, None, style.color("border"))
    p.restore()
