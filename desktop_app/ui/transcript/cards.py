"""Compactions and notices."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt

from .buttons import Button, draw_icon, draw_text, elide
from .flow import Flow
from .items import Item, Paint
from .para import label
from .rowbox import RowBox, Section
from .rows import CompactionRow, NoticeRow
from .style import Style, box, hline


@dataclass(slots=True, eq=False)
class _Compaction(Item):
    """Icon, what happened, the bar of the two shares, the second line."""

    row: CompactionRow | None = None
    room: int = 0  # width for the words

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        row, style, p = self.row, c.style, c.p
        assert row is not None
        x, y = ox + self.x, oy + self.y
        line = style.color("border")
        hline(p, x, y, self.w, line)
        hline(p, x, y + self.h - 1, self.w, line)
        draw_icon(c, "fold-vertical", "muted", 16, x + style.px(4), y + (self.h - style.px(16)) / 2)
        left = x + style.px(32)
        top = y + (self.h - style.px(34 if row.detail else 18)) // 2
        title = elide(style, "strong", row.title, self.room - style.px(110))
        width = draw_text(p, style, left, top, style.px(18), title, "strong", "text")
        self._bar(c, left + width + style.px(10), top + style.px(18) / 2)
        if row.detail:
            text = elide(style, "caption", row.detail, self.room)
            draw_text(p, style, left, top + style.px(18), style.px(16), text, "caption", "faint")

    def _bar(self, c: Paint, x: float, mid: float) -> None:
        row, style = self.row, c.style
        assert row is not None
        track = QRectF(round(x), round(mid - style.px(3)), style.px(96), style.px(6))
        radius = style.px(3)
        box(c.p, track, radius, style.color("cat-free"))
        for share, token, alpha in ((row.before, "outline", 0.35), (row.after, "cat-ledger", 1.0)):
            width = track.width() * max(0.0, min(1.0, share))
            if width >= 1:
                part = QRectF(track.x(), track.y(), width, track.height())
                box(c.p, part, min(radius, width / 2), style.color(token, alpha))


def compaction_box(row: CompactionRow, width: int, style: Style) -> RowBox:
    made = RowBox(row.id, width, style)
    height = style.px(48)
    body = _Compaction(w=width, h=height, row=row)
    flow = Flow([body], height)
    right = width - style.px(2)
    for n, action in reversed(list(enumerate(row.actions))):
        button = Button(action=action, look="normal" if n == 0 else "ghost").fit(style)
        right -= button.w
        button.move(right, (height - button.h) // 2)
        right -= style.px(8)
        flow.items.append(button)
    body.room = right - style.px(32 + 8)
    made.sections.append(Section(height, 0, flow))
    return made


_TONES = {
    "info": ("info", "info"),
    "warning": ("triangle-alert", "warning"),
    "danger": ("circle-alert", "danger"),
    "success": ("circle-check", "success"),
}


@dataclass(slots=True, eq=False)
class _Notice(Item):
    """The card: its ground, its icon, its footer."""

    tone: str = "info"
    foot: int = 0

    def paint(self, c: Paint, ox: float, oy: float) -> None:
        style, p = c.style, c.p
        rect = QRectF(ox + self.x, oy + self.y, self.w, self.h)
        radius = style.px(8)
        box(p, rect, radius, style.color("raised"), None)
        if self.foot:
            p.save()
            foot = QRectF(rect.x(), rect.bottom() - self.foot, rect.width(), self.foot)
            p.setClipRect(foot, Qt.ClipOperation.IntersectClip)
            box(p, rect, radius, style.color("bg"), None)
            p.restore()
            hline(p, rect.x(), foot.y(), rect.width(), style.color("border"))
        box(p, rect, radius, None, style.color("border-strong"))
        name, token = _TONES[self.tone]
        draw_icon(c, name, token, 18, rect.x() + style.px(14), rect.y() + style.px(12))


def notice_box(row: NoticeRow, width: int, style: Style) -> RowBox:
    """What happened in strong words, why below; the first line of ``detail`` is the reason, what
    follows an empty line is said more quietly."""
    made = RowBox(row.id, width, style)
    card = _Notice(w=width, tone=row.tone)
    flow = Flow([card])
    left = style.px(14 + 18 + 10)
    inner = width - left - style.px(14)
    y = style.px(12)
    light = not row.detail and not row.actions
    title = label(style, row.title, "body" if light else "semibold", "text", inner)
    title.move(left, y)
    title.sep = "\n\n"
    flow.items.append(title)
    y += title.h
    reason, _, rest = row.detail.strip("\n").partition("\n\n")
    for text, role, token, gap in ((reason, "body", "text", 2), (rest, "small", "muted", 4)):
        if text:
            para = label(style, text, role, token, inner)
            y += style.px(gap)
            para.move(left, y)
            para.sep = "\n"
            flow.items.append(para)
            y += para.h
    y += style.px(12)
    if row.actions:
        card.foot = style.small_button + style.px(16)
        _buttons(row, flow, y, width, style)
        y += card.foot
    card.h = flow.h = y
    made.sections.append(Section(y, 0, flow))
    return made


def _buttons(row: NoticeRow, flow: Flow, y: int, width: int, style: Style) -> None:
    """The fix first, an alternative, details at the right."""
    left, right = style.px(14), width - style.px(14)
    for n, action in enumerate(row.actions):
        look = "primary" if n == 0 else "normal" if n == 1 else "ghost"
        button = Button(action=action, look=look).fit(style)
        if look == "ghost":
            right -= button.w
            button.move(right, y + style.px(8))
        else:
            button.move(left, y + style.px(8))
            left += button.w + style.px(8)
        flow.items.append(button)
