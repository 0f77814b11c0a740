"""Painting the rows that touch a rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

from .codebox import CodeBox
from .items import Paint
from .rowbox import RowBox
from .rows import HeaderRow, ToolRow, UserRow
from .style import box, style

if TYPE_CHECKING:
    from .view import TranscriptView


def paint(view: TranscriptView, p: QPainter, clip: QRect) -> bool:
    """Paint what is in ``clip``; False when some code is not coloured yet."""
    now = style()
    p.fillRect(clip, now.color("surface"))
    if not len(view.heights):
        return True
    context = Paint(p, now, QRectF(clip), view.devicePixelRatioF())
    context.width = view.boxes.width
    context.spin = view.spin
    context.pressed = view.mouse.down
    done = True
    start = clip.top() + view.value() - view.top_pad()
    number, offset = view.heights.find(max(0, start))
    y = view.top_pad() - view.value() + view.heights.sum(number)
    del offset
    while number < len(view.heights) and y <= clip.bottom():
        row_box = view.boxes.get(view.rows, number)
        done = _row(view, context, number, row_box, y) and done
        if view.heights.set(number, row_box.height):
            view.settle_soon()  # something was painted that had not been laid out before
        y += view.heights[number]
        number += 1
    return done


def _row(view: TranscriptView, c: Paint, number: int, row_box: RowBox, y: int) -> bool:
    left = view.left()
    top, bottom = c.clip.top() - y - 4, c.clip.bottom() - y + 4
    row = view.rows.row(number)
    c.hover = view.mouse.zone if view.mouse.row_id == row.id else None
    c.focus = view.keys.zone if view.keys.zone_row == row.id else None
    focused = view.keys.shows(number)
    c.row_hover = isinstance(row, HeaderRow | UserRow) and (view.mouse.head_id == row.id or focused)
    if row_box.background is not None:
        row_box.background(c, left, y + row_box.pad_top, row_box.height - row_box.pad_top)
    done = True
    row_box.ensure(top, bottom)
    if row_box.shown is not None:
        c.p.save()
        c.p.setClipRect(QRectF(0, y, view.width(), row_box.height))
    for n, section in row_box.visible(top, bottom):
        flow = section.flow
        assert flow is not None
        oy = y + section.top
        for k, item in enumerate(flow.items):
            if oy + item.y > c.clip.bottom() + 4 or oy + item.y + item.h < c.clip.top() - 4:
                continue
            c.selection, c.hits = None, ()
            if item.text:
                c.selection = view.selection.part(number, n, k, len(item.text))
                c.hits = view.finder.hits_in(row.id, n, k, item.text)
            if isinstance(item, CodeBox):
                at = oy + item.y
                done = item.colour(c.clip.top() - at, c.clip.bottom() - at) and done
            item.paint(c, left + row_box.x, oy)
    if row_box.foreground is not None:
        row_box.foreground(c, left, y + row_box.pad_top, row_box.height - row_box.pad_top)
    if row_box.shown is not None:
        c.p.restore()
    if focused:
        _focus(c, isinstance(row, ToolRow), row_box, left, y)
    return done


def _focus(c: Paint, joined: bool, row_box: RowBox, left: int, y: int) -> None:
    """The outline of the current row: inside a joined card, else a little around the row."""
    rect = QRectF(left, y + row_box.pad_top, c.width, row_box.height - row_box.pad_top)
    rect = rect.adjusted(2, 2, -2, -2) if joined else rect.adjusted(-8, -4, 8, 4)
    box(c.p, rect, c.style.px(6 if joined else 8), None, c.style.color("focus"))
