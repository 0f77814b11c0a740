"""Sizes that follow the font size, and buttons that give way."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop_app.ui.theme import Theme
from desktop_app.ui.widgets import Button
from desktop_app.ui.widgets.base import follow


def test_sizes_follow_the_font_size(qtbot: QtBot, theme: Theme) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    follow(widget, setFixedWidth=28, setMinimumHeight="field")
    assert widget.width() == 28
    theme.set_scale(200)
    assert widget.width() == 56
    assert widget.minimumHeight() == theme.size("field")


def test_room_in_a_layout_follows_too(qtbot: QtBot, theme: Theme) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    row = QHBoxLayout(holder)
    follow(row, setSpacing=8, setContentsMargins=(1, 2, 3, 4))
    theme.set_scale(200)
    around = row.contentsMargins()
    assert (around.left(), around.top(), around.right(), around.bottom()) == (2, 4, 6, 8)
    assert row.spacing() == 16


def test_a_button_that_shrinks_gives_way_down_to_its_icon(qtbot: QtBot, theme: Theme) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    row = QHBoxLayout(holder)
    button = Button("Guide, offline, no AI", glyph="cpu")
    button.set_shrinks()
    stiff = Button("Stays whole")
    row.addWidget(button)
    row.addWidget(stiff)
    holder.show()
    holder.resize(800, 40)
    qtbot.waitUntil(lambda: button.width() == button.sizeHint().width())
    assert [kind for kind, _ in button._fitted()] == ["icon", "text"]
    holder.resize(holder.minimumSizeHint().width(), 40)
    qtbot.waitUntil(lambda: button.width() == button.minimumSizeHint().width())
    assert stiff.width() == stiff.sizeHint().width()
    assert [kind for kind, _ in button._fitted()] == ["icon"]
