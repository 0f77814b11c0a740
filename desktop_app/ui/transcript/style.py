"""Fonts, line heights, formats and pixmaps of the transcript, taken from the theme in force.

One ``Style`` lives as long as the theme's serial; every layout made with it is thrown away with it.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QTextCharFormat

from desktop_app.ui.theme import icons, theme

from .inline import BOLD, CHIP, CODE, ITALIC, LINK, STRIKE

_CHINESE_LINES = {"message": 24, "body": 20, "thinking": 22}
_ROLES = {"thinking": ("body", 20)}
CODE_ROLES = {
    "k": "code-keyword",
    "s": "code-string",
    "n": "code-number",
    "c": "code-comment",
    "f": "code-function",
    "t": "code-type",
    "p": "code-punct",
}


class Style:
    """Everything a layout asks of the theme, computed once."""

    def __init__(self) -> None:
        self.theme = theme()
        self.serial = self.theme.serial
        self._fonts: dict[str, QFont] = {}
        self._metrics: dict[str, QFontMetricsF] = {}
        self._formats: dict[tuple[int, str], QTextCharFormat] = {}
        self._code_formats: dict[str, QTextCharFormat] = {}
        px = self.px
        self.gap = self.theme.size("message-gap")
        self.column = self.theme.size("column")
        self.tool_row = max(self.theme.size("tool-row"), round(self.fm("strong").height()) + 10)
        self.small_button = self.theme.size("small-button")
        self.edge = px(24)
        self.para_gap = px(10)
        self.mono_advance = self.fm("mono").horizontalAdvance("0")

    def px(self, n: float) -> int:
        return self.theme.px(n)

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        return self.theme.color(token, alpha)

    def font(self, role: str) -> QFont:
        font = self._fonts.get(role)
        if font is None:
            name = _ROLES[role][0] if role in _ROLES else role
            figures = role in ("caption", "small")
            font = self._fonts[role] = self.theme.font(name, figures=figures)
        return font

    def fm(self, role: str) -> QFontMetricsF:
        fm = self._metrics.get(role)
        if fm is None:
            fm = self._metrics[role] = QFontMetricsF(self.font(role))
        return fm

    def line(self, role: str, wide: bool = False) -> int:
        """Line height; ``wide`` for text with Chinese, which needs more air."""
        if wide and role in _CHINESE_LINES:
            return self.px(_CHINESE_LINES[role])
        if role in _ROLES:
            return self.px(_ROLES[role][1])
        return self.theme.line(role)

    def format(self, flags: int, role: str) -> QTextCharFormat:
        """The character format of a run of a paragraph of ``role``."""
        found = self._formats.get((flags, role))
        if found is None:
            found = self._formats[flags, role] = self._make_format(flags, role)
        return found

    def _make_format(self, flags: int, role: str) -> QTextCharFormat:
        font = QFont(self.font(role))
        if flags & CODE:
            weight = font.weight()
            size = font.pixelSize()
            font = QFont(self.font("mono-inline"))
            font.setPixelSize(max(1, round(size * 12.5 / 14)))
            font.setWeight(weight)
        if flags & BOLD:
            font.setWeight(QFont.Weight.DemiBold)
        if flags & ITALIC:
            font.setItalic(True)
        if flags & STRIKE:
            font.setStrikeOut(True)
        made = QTextCharFormat()
        made.setFont(font)
        if flags & LINK:
            made.setForeground(self.color("accent-text"))
        elif flags & CHIP:
            made.setForeground(self.color("muted"))
        return made

    def spaced(self, flags: int, role: str, space: float) -> QTextCharFormat:
        """The format with ``space`` pixels after each character: room beside inline code."""
        made = QTextCharFormat(self.format(flags, role))
        font = QFont(made.font())
        font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, space)
        made.setFont(font)
        return made

    def code_format(self, role: str) -> QTextCharFormat:
        found = self._code_formats.get(role)
        if found is None:
            found = QTextCharFormat()
            found.setForeground(self.color(CODE_ROLES[role]))
            self._code_formats[role] = found
        return found

    def icon(self, name: str, token: str, size: int, dpr: float) -> QPixmap:
        return icons.pixmap(name, token, self.px(size), dpr)


class _Current:
    style: Style | None = None


def style() -> Style:
    """The style of the theme in force."""
    current = _Current.style
    now = theme()
    if current is None or current.theme is not now or current.serial != now.serial:
        current = _Current.style = Style()
    return current


def box(
    p: QPainter,
    rect: QRectF,
    radius: float,
    fill: QColor | None = None,
    line: QColor | None = None,
) -> None:
    """A rectangle with round corners and a line of one whole device pixel inside its edge."""
    dpr = p.device().devicePixelRatioF() if p.device() else 1.0
    width = max(1, round(dpr)) / dpr
    p.save()
    p.setRenderHint(QPainter.RenderHint.Antialiasing, radius > 0)
    if line is not None:
        half = width / 2
        p.setPen(QPen(line, width))
        p.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
        p.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius - half, radius - half)
    elif fill is not None:
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(fill)
        p.drawRoundedRect(rect, radius, radius)
    p.restore()


def hline(p: QPainter, x: float, y: float, width: float, color: QColor) -> None:
    """A horizontal line of one whole device pixel."""
    dpr = p.device().devicePixelRatioF() if p.device() else 1.0
    p.fillRect(QRectF(x, y, width, max(1, round(dpr)) / dpr), color)
