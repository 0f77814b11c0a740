"""Surfaces: a card, an empty state with an action, an error card with a reason and a fix, a
banner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.theme import theme

from .base import Live, Text, follow
from .buttons import Button, IconButton, Variant
from .labels import Label
from .painting import box, draw_icon, hline

Tone = Literal["info", "warning", "danger", "success"]
TONE_ICONS: dict[str, str] = {
    "info": "info",
    "warning": "triangle-alert",
    "danger": "circle-x",
    "success": "circle-check",
}


@dataclass(frozen=True, slots=True)
class Act:
    """A button of a card: ``id`` comes back in the card's ``action`` signal."""

    id: str
    text: Text
    glyph: str | None = None
    variant: Variant | None = None  # None: by place, the first is primary
    keys: str = ""


class Glyph(Live, QWidget):
    """An icon as a widget: says nothing, is only seen."""

    def __init__(
        self, name: str, token: str = "muted", size: int = 16, parent: QWidget | None = None
    ):
        super().__init__(parent)
        self._name, self._token, self._size = name, token, size
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_glyph(self, name: str, token: str = "muted") -> None:
        self._name, self._token = name, token
        self.update()

    def sizeHint(self) -> QSize:
        side = theme().px(self._size)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_icon(QPainter(self), QRectF(self.rect()), self._name, self._token, self._size)


class Line(Live, QFrame):
    """A line between areas."""

    def __init__(self, parent: QWidget | None = None, *, vertical: bool = False) -> None:
        super().__init__(parent)
        if vertical:
            self.setFixedWidth(1)
        else:
            self.setFixedHeight(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), theme().color("border"))


class Card(Live, QFrame):
    """``raised`` with a line around, radius 8. ``chosen`` draws the accent line of a choice."""

    def __init__(self, parent: QWidget | None = None, *, fill: str = "raised") -> None:
        super().__init__(parent)
        self._fill = fill
        self._chosen = False
        self.body = QVBoxLayout(self)
        follow(self.body, setContentsMargins=(12, 12, 12, 12), setSpacing=8)

    def set_chosen(self, chosen: bool) -> None:
        self._chosen = chosen
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        fill, line, width = self._fill, "border", 1
        if self._chosen:
            fill, line, width = "accent-soft", "accent-text", 2
        color = theme().color
        rect = QRectF(self.rect())
        box(QPainter(self), rect, theme().radius("card"), color(fill), color(line), width)


class EmptyState(Live, QWidget):
    """Centred: an icon, what is not here, why, and what to do about it."""

    action = Signal(str)

    def __init__(
        self,
        glyph: str,
        title: Text,
        text: Text = "",
        acts: Sequence[Act] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        px = theme().px
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(16, 16, 16, 16), setSpacing=0)
        column.addStretch(1)
        middle = Qt.AlignmentFlag.AlignHCenter
        column.addWidget(Glyph(glyph, "faint", 32), 0, middle)
        column.addSpacing(px(12))
        self.title = Label(title, role="title", wrap=True)
        self.text = Label(text, tone="muted", wrap=True)
        for label in (self.title, self.text):
            label.setAlignment(middle)
            follow(label, setFixedWidth="empty-max")
            column.addWidget(label, 0, middle)
            column.addSpacing(px(4))
        column.addSpacing(px(10))
        row = QHBoxLayout()
        follow(row, setSpacing=8)
        row.addStretch(1)
        for place, act in enumerate(acts):
            button = _button(act, "primary" if place == 0 else "normal", small=False)
            button.clicked.connect(lambda _=False, name=act.id: self.action.emit(name))
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)


def _button(act: Act, variant: Variant, *, small: bool) -> Button:
    return Button(
        act.text, variant=act.variant or variant, glyph=act.glyph, small=small, keys=act.keys
    )


class NoticeCard(Live, QFrame):
    """What happened, why, what is safe; the fix first in the footer, an alternative, and at the
    right what is rarely wanted (acts of variant "ghost"). ``log`` lines are shown in mono."""

    action = Signal(str)

    def __init__(
        self,
        tone: Tone,
        title: Text,
        reason: Text = "",
        detail: Text = "",
        acts: Sequence[Act] = (),
        parent: QWidget | None = None,
        *,
        log: str = "",
        glyph: str | None = None,
    ) -> None:
        super().__init__(parent)
        self._foot: QWidget | None = None
        self._log: QWidget | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        head = QHBoxLayout()
        follow(head, setContentsMargins=(14, 12, 14, 12), setSpacing=10)
        icon = Glyph(glyph or TONE_ICONS[tone], tone, 18)
        head.addWidget(icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        follow(words, setSpacing=3)
        self.title = Label(title, role="semibold", wrap=True)
        words.addWidget(self.title)
        self.reason = Label(reason, wrap=True, select=True)
        words.addWidget(self.reason)
        self.detail = Label(detail, role="small", tone="muted", wrap=True, select=True)
        words.addWidget(self.detail)
        for label in (self.reason, self.detail):
            label.setVisible(bool(label.text()))
        head.addLayout(words, 1)
        column.addLayout(head)
        if log:
            self._log = self._strip(column, Label(log, role="mono", wrap=True, select=True))
        if acts:
            self._add_footer(column, acts)
        self.setAccessibleName(self.title.text())
        self.setAccessibleDescription(self.reason.text())

    def _strip(self, column: QVBoxLayout, label: Label) -> QWidget:
        holder = QWidget()
        inner = QHBoxLayout(holder)
        follow(inner, setContentsMargins=(14, 8, 14, 8))
        inner.addWidget(label)
        column.addWidget(holder)
        return holder

    def _add_footer(self, column: QVBoxLayout, acts: Sequence[Act]) -> None:
        self._foot = QWidget()
        row = QHBoxLayout(self._foot)
        follow(row, setContentsMargins=(14, 8, 14, 8), setSpacing=8)
        plain = [act for act in acts if act.variant != "ghost"]
        for place, act in enumerate(plain):
            row.addWidget(self._wire(act, "primary" if place == 0 else "normal"))
        row.addStretch(1)
        for act in acts:
            if act.variant == "ghost":
                row.addWidget(self._wire(act, "ghost"))
        column.addWidget(self._foot)

    def _wire(self, act: Act, variant: Variant) -> Button:
        button = _button(act, variant, small=True)
        button.clicked.connect(lambda _=False, name=act.id: self.action.emit(name))
        return button

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        rect = QRectF(self.rect())
        radius = theme().radius("card")
        box(painter, rect, radius, color("raised"))
        path = QPainterPath()
        path.addRoundedRect(rect, radius, radius)
        painter.setClipPath(path)
        for part, fill in ((self._log, "sunken"), (self._foot, "bg")):
            if part is not None:
                painter.fillRect(part.geometry(), color(fill))
                hline(painter, 0, self.width(), part.y(), color("border"))
        painter.setClipping(False)
        box(painter, rect, radius, None, color("border-strong"))


def paint_asking(card: QWidget, head: QWidget) -> None:
    """The ground of a card that asks the person something, ``head`` being its uppermost part; from
    its ``paintEvent``."""
    painter = QPainter(card)
    color = theme().color
    rect = QRectF(card.rect())
    radius = theme().radius("card")
    box(painter, rect, radius, color("raised"))
    path = QPainterPath()
    path.addRoundedRect(rect, radius, radius)
    painter.setClipPath(path)
    top = QRectF(head.geometry()).adjusted(0, -1, 0, 0)
    painter.fillRect(top, color("warning-soft"))
    hline(painter, 0, card.width(), top.bottom() - 1, color("border"))
    painter.setClipping(False)
    box(painter, rect, radius, None, color("warning"), 2 if card.hasFocus() else 1)


class Banner(Live, QWidget):
    """A sentence over a page with one action: 34 high, soft fill, a line below."""

    action = Signal()
    closed = Signal()

    def __init__(
        self,
        tone: Tone,
        text: Text,
        act: Text = "",
        parent: QWidget | None = None,
        *,
        closable: bool = False,
    ) -> None:
        super().__init__(parent)
        self._tone = tone
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(12, 0, 8, 1))
        follow(row, setSpacing=8)
        row.addWidget(Glyph(TONE_ICONS[tone], tone, 16))
        self.label = Label(text)
        row.addWidget(self.label, 1)
        if act:
            button = Button(act, variant="link")
            button.clicked.connect(self.action)
            row.addWidget(button)
        if closable:
            close = IconButton("x", lambda: i18n.tr("Close"), small=True)
            close.clicked.connect(self.closed)
            row.addWidget(close)
        self.restyle()

    def restyle(self) -> None:
        self.setFixedHeight(theme().size("banner"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color(f"{self._tone}-soft"))
        hline(painter, 0, self.width(), self.height() - 1, theme().color("border"))
