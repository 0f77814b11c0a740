"""Key caps: what to press, drawn as the keys themselves."""

from __future__ import annotations

import sys

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.theme import theme

from .base import Live
from .painting import box, draw_text, text_width

_GAP = 2
_SIGNS = {"Return": "Enter", "Up": "↑", "Down": "↓", "Left": "←", "Right": "→"}


def keys_of(sequence: str | QKeySequence) -> list[str]:
    """The keys of the first chord in the platform's words: ``["Ctrl", "Shift", "F"]``."""
    sequence = QKeySequence(sequence)
    if sys.platform == "darwin":
        text = sequence.toString(QKeySequence.SequenceFormat.NativeText).split(", ")[0]
        signs = "⌃⌥⇧⌘"
        head = [c for c in text if c in signs]
        return [*head, text.lstrip(signs)] if text else []
    # Portable: what is printed on the keys is English everywhere but in Qt's translations.
    text = sequence.toString(QKeySequence.SequenceFormat.PortableText).split(", ")[0]
    parts = text.split("+") if not text.endswith("+") else [*text[:-2].split("+"), "+"]
    return [_SIGNS.get(part, part) for part in parts if part]


def spoken(sequence: str | QKeySequence) -> str:
    """For tooltips and accessible texts: ``Ctrl+Shift+F``."""
    joint = "" if sys.platform == "darwin" else "+"
    return joint.join(keys_of(sequence))


def caps_width(keys: list[str]) -> int:
    """Width of the caps of ``keys`` side by side."""
    return sum(_cap_width(key) for key in keys) + _GAP * max(0, len(keys) - 1)


def _cap_width(key: str) -> int:
    return max(theme().size("key-cap"), text_width(key, "key") + theme().px(8))


def draw_caps(painter: QPainter, x: float, middle: float, keys: list[str], on: str = "") -> None:
    """Caps from ``x`` on, centred at ``middle``. ``on``: "accent" on a primary button,
    "disabled" for a control that is off."""
    height = theme().size("key-cap")
    for key in keys:
        rect = QRectF(x, round(middle - height / 2), _cap_width(key), height)
        if on == "accent":
            box(painter, rect, theme().radius("badge"), line=theme().color("accent-fg", 0.4))
            token = "accent-fg"
        else:
            box(
                painter,
                rect,
                theme().radius("badge"),
                theme().color("sunken"),
                theme().color("border" if on else "border-strong"),
            )
            token = "disabled" if on else "muted"
        draw_text(painter, rect, key, "key", token, Qt.AlignmentFlag.AlignHCenter)
        x += rect.width() + _GAP


class KeyHint(Live, QWidget):
    """The keys of a shortcut, as caps."""

    def __init__(self, sequence: str | QKeySequence, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_sequence(sequence)

    def set_sequence(self, sequence: str | QKeySequence) -> None:
        self._keys = keys_of(sequence)
        self.setAccessibleName(spoken(sequence))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(caps_width(self._keys), theme().size("key-cap"))

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_caps(QPainter(self), 0, self.height() / 2, self._keys)
