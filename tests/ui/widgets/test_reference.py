"""What is painted by hand looks as it did: wordless widgets against reference pictures.

Words are left out, so that the pictures hold for every font. After a wanted change draw them anew:
``python -m tests.ui.widgets.test_reference`` (and look at them).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from desktop_app.ui.theme import install, theme
from desktop_app.ui.widgets import (
    Check,
    ContextGauge,
    MiniBar,
    ProgressBar,
    Radio,
    Ring,
    Sparkline,
    Switch,
    Usage,
)
from desktop_app.ui.widgets.badge import STATE_TOKENS, draw_state
from desktop_app.ui.widgets.focus import FocusRing
from desktop_app.ui.widgets.mark import AppMark

PICTURES = Path(__file__).parent / "pictures"
NEAR = 24  # a channel may differ by so much: antialiasing differs between processors
SHARE = 0.002  # and so many of the pixels by more


class States(QWidget):
    """All state glyphs in a row."""

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        for place, name in enumerate(STATE_TOKENS):
            draw_state(painter, QRectF(place * 18, 0, 16, 16), name, step=0)


def usage(share: float) -> Usage:
    parts = {"system": 3, "tools": 6, "mcp": 12, "ledger": 8, "user": 2, "result": 40, "images": 4}
    scale = share * 1000 / sum(parts.values())
    amounts = {name: round(n * scale) for name, n in parts.items()}
    return Usage(1000, amounts, 40, 80, 620, 810)


def sheet() -> QWidget:
    page = QWidget()
    page.setProperty("ground", "surface")
    page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    grid = QGridLayout(page)
    for place, thick in enumerate((10, 8, 6)):
        bar = ContextGauge(thick=thick, width=260, ground="surface")
        bar.set_usage(usage(0.5))
        grid.addWidget(bar, place, 0, 1, 5)
    for place, (share, side) in enumerate(((0.4, 18), (0.7, 18), (0.9, 18), (0.4, 28))):
        ring = Ring(side=side)
        ring.set_usage(usage(share))
        grid.addWidget(ring, 3, place)
    for row, kind in enumerate((Switch, Check, Radio), 4):
        for place, (on, enabled) in enumerate(
            ((False, True), (True, True), (False, False), (True, False))
        ):
            toggle = kind(name="x")
            if isinstance(toggle, Radio):
                toggle.setAutoExclusive(False)
            toggle.setChecked(on)
            toggle.setEnabled(enabled)
            grid.addWidget(toggle, row, place)
    states = States()
    states.setFixedSize(150, 16)
    grid.addWidget(states, 7, 0, 1, 5)
    line = Sparkline("x")
    line.set_values([3, 4, 6, 8, 2, 3, 5])
    grid.addWidget(line, 8, 0, 1, 4)
    bar = MiniBar("x", context=True)
    bar.set_share(0.7)
    grid.addWidget(bar, 8, 4)
    done, busy = ProgressBar(), ProgressBar()
    done.set_share(0.6)
    grid.addWidget(done, 9, 0, 1, 3)
    grid.addWidget(busy, 9, 3, 1, 2)
    mark = AppMark()
    grid.addWidget(mark, 3, 4, 3, 1)
    page.setFixedSize(300, 300)
    page.ensurePolished()
    grid.activate()
    FocusRing(mark, theme().radius("card"))
    return page


def draw() -> QImage:
    page = sheet()
    image = page.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    page.deleteLater()
    return image


def difference(one: QImage, other: QImage) -> float:
    """The share of pixels that differ visibly."""
    if one.size() != other.size():
        return 1.0
    a, b = bytes(one.constBits()), bytes(other.constBits())
    off = {i // 4 for i, (x, y) in enumerate(zip(a, b, strict=True)) if abs(x - y) > NEAR}
    return len(off) / (one.width() * one.height())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_painted_widgets_look_as_they_did(scheme, theme, qtbot, shot):
    theme.set_scheme(scheme)
    page = sheet()
    qtbot.addWidget(page)
    picture = QImage(str(PICTURES / f"{scheme}.png")).convertToFormat(QImage.Format.Format_RGB32)
    assert not picture.isNull()
    image = page.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    off = difference(image, picture)
    if off > SHARE:
        shot(page, f"reference-{scheme}")
    assert off <= SHARE, f"{off:.2%} of the picture changed; see build/shots"


def test_a_change_would_be_seen(theme, qtbot):
    """The tolerance is far below the smallest widget."""
    page = sheet()
    qtbot.addWidget(page)
    before = page.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    page.findChildren(Check)[0].setChecked(True)
    after = page.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    assert difference(before, after) > SHARE


def main() -> None:
    app = QApplication.instance() or QApplication([])
    PICTURES.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        install(app, scheme)  # pyright: ignore
        theme().reduced_motion = True
        draw().save(str(PICTURES / f"{scheme}.png"))


if __name__ == "__main__":
    main()
