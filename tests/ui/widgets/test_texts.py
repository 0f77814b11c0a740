"""Text that is written in a type of its own keeps it in either look and at every size."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop_app.ui.theme import Theme
from desktop_app.ui.widgets import Field
from desktop_app.ui.widgets.texts import MonoText, TypedLine


@pytest.fixture
def holder(qtbot: QtBot) -> QWidget:
    made = QWidget()
    QVBoxLayout(made)
    qtbot.addWidget(made)
    return made


def put(holder: QWidget, *texts: QWidget) -> None:
    layout = holder.layout()
    assert layout is not None
    for text in texts:
        layout.addWidget(text)
    holder.show()


def test_code_keeps_its_type_and_the_room_around_it(holder: QWidget, theme: Theme) -> None:
    text = MonoText("x", margin=10)
    text.setProperty("bare", True)
    text.setProperty("ground", "sunken")
    put(holder, text)
    for change in (lambda: theme.set_scheme("dark"), lambda: theme.set_scale(200)):
        change()
        assert text.font().families() == theme.font("mono").families()
        assert text.font().pixelSize() == theme.font("mono").pixelSize()
        assert text.document().documentMargin() == theme.px(10)


def test_a_line_keeps_its_type(holder: QWidget, theme: Theme) -> None:
    title, pattern, name = TypedLine(role="title"), Field("Pattern", role="mono"), Field("Name")
    put(holder, title, pattern, name)
    edits = {"title": title, "mono": pattern.edit, "body": name.edit}
    for change in (lambda: theme.set_scheme("dark"), lambda: theme.set_scale(200)):
        change()
        for role, edit in edits.items():
            wanted, font = theme.font(role), edit.font()
            assert (font.families(), font.pixelSize()) == (wanted.families(), wanted.pixelSize())
