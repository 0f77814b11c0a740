"""Which families are used, by platform; the first that exists wins, the rest fill in glyphs.

The system's own font is kept where it is worth having; bare X11 systems offer DejaVu Sans, for
which Inter stands in when installed. Chinese families are named, Simplified first, so that the
same code point does not get a Japanese shape.
"""

from __future__ import annotations

import sys

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo

_POOR = ("DejaVu Sans", "Bitstream Vera Sans", "Sans Serif", "sans-serif", "Sans", "")
if sys.platform == "darwin":
    _CJK = ("PingFang SC", "Hiragino Sans GB")
    _MONO = ("JetBrains Mono", "SF Mono", "Menlo")
elif sys.platform == "win32":
    _CJK = ("Microsoft YaHei UI", "Microsoft YaHei")
    _MONO = ("JetBrains Mono", "Cascadia Mono", "Consolas")
else:
    _CJK = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei")
    _MONO = ("JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono", "Liberation Mono")


def ui_families() -> list[str]:
    """Families of the interface."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    family = QFontInfo(system).family()
    known = set(QFontDatabase.families())
    first = ["Inter"] if family in _POOR and "Inter" in known else []
    return [*first, family, *(name for name in _CJK if name in known)]


def mono_families() -> list[str]:
    """Families of code, commands, paths and ids."""
    known = set(QFontDatabase.families())
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    mine = [name for name in _MONO if name in known]
    return [*mine, system, *(name for name in _CJK if name in known)]


def system_scale() -> float:
    """How much larger than our 13 px the person's system font is; small differences (10 pt at
    96 dpi is 13.3 px) count as none."""
    pixels = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).pixelSize()
    return 1.0 if pixels < 15 else min(2.0, round(pixels / 13, 2))


def make(families: list[str], size: float, weight: int, *, mono: bool, figures: bool) -> QFont:
    """A font of ``size`` pixels. ``figures``: all digits equally wide, for columns and gauges."""
    font = QFont()
    font.setFamilies(families)
    font.setPixelSize(max(1, round(size)))
    font.setWeight(QFont.Weight(weight))
    if mono:
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFixedPitch(True)
        for tag in ("liga", "calt"):
            font.setFeature(QFont.Tag(tag), 0)
    elif figures:
        font.setFeature(QFont.Tag("tnum"), 1)
    return font
