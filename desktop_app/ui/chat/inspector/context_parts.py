"""Painted pieces of the context panel: the legend with figures."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.core.context.types import Breakdown
from desktop_app.ui.chat import figures
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.theme.tokens import CATEGORY_ORDER
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.painting import box, draw_text, fill_hatched
from desktop_app.ui.widgets.usage import category_name

_RIGHT = Qt.AlignmentFlag.AlignRight


def draw_swatch(painter: QPainter, rect: QRectF, category: str) -> None:
    """The colour of a category; the reserve is hatched, what is free has an outline."""
    color = theme().color
    if category == "reserve":
        fill_hatched(painter, rect, color("bg"), color("cat-reserve"))
    elif category == "free":
        box(painter, rect, theme().radius("swatch"), color("cat-free"), color("outline"))
    else:
        box(painter, rect, theme().radius("swatch"), color(f"cat-{category}"))


class Swatch(Live, QWidget):
    """A category's colour, beside a name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._category = "system"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_category(self, category: str) -> None:
        self._category = category
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme().px(10), theme().px(10))

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_swatch(QPainter(self), QRectF(self.rect()), self._category)


def legend(breakdown: Breakdown) -> list[tuple[str, int]]:
    """Categories with their tokens: what is used, in prompt order, then the reserve and the
    rest."""
    parts = breakdown.parts
    rows: list[tuple[str, int]] = [
        (name, parts.get(name, 0))  # type: ignore[call-overload]
        for name in CATEGORY_ORDER
        if parts.get(name, 0) > 0  # type: ignore[call-overload]
    ]
    limits = breakdown.limits
    rows.append(("reserve", limits.reserve))
    rows.append(("free", max(0, limits.window - breakdown.total - limits.reserve)))
    return rows


class Legend(Live, QWidget):
    """One line a category: swatch, name, tokens, share of the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, int]] = []
        self._window = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_breakdown(self, breakdown: Breakdown) -> None:
        rows = legend(breakdown)
        if len(rows) != len(self._rows):
            self.updateGeometry()
        self._rows, self._window = rows, breakdown.limits.window
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Used by category"))
        words = [f"{category_name(name)}: {figures.tokens(n)}" for name, n in self._rows]
        self.setAccessibleDescription(", ".join(words))

    def sizeHint(self) -> QSize:
        return QSize(theme().px(200), theme().size("legend-row") * len(self._rows))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px, tall = theme().px, theme().size("legend-row")
        side, width = px(10), float(self.width())
        for i, (name, n) in enumerate(self._rows):
            row = QRectF(0, i * tall, width, tall)
            swatch = QRectF(0, round(row.center().y() - side / 2), side, side)
            draw_swatch(painter, swatch, name)
            words = QRectF(px(18), row.y(), width - px(18) - px(96), tall)
            draw_text(painter, words, category_name(name))
            number = QRectF(width - px(96), row.y(), px(56), tall)
            draw_text(painter, number, figures.tokens(n), align=_RIGHT, figures=True)
            share = n / self._window if self._window else 0.0
            right = QRectF(width - px(38), row.y(), px(38), tall)
            text = figures.percent(share)
            draw_text(painter, right, text, "small", "faint", _RIGHT, figures=True)
