"""A block of code, or the output of a tool: its frame, head, lines and what can be clicked."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt

from desktop_app.ui.i18n import tr, trn

from .codelines import CodeLines
from .items import Paint, Zone
from .para import cursor_x
from .style import box, hline


@dataclass(slots=True, eq=False)
class CodeBox(CodeLines):
    """Paints itself; see ``CodeLines`` for what it holds."""

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

    # -- interaction ---

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

    def markdown(self, start: int, end: int) -> str:
        code = (self.text or "")[start:end]
        if self.look != "block" or (start > 0 or end < len(self.text or "")):
            return code
        fence = "```"
        while fence in code:
            fence += "`"
        return f"{fence}{self.language}\n{code}\n{fence}"
