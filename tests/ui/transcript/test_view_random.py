"""Anything may happen in any order: the geometry stays true."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop_app.ui.transcript import (
    HeaderRow,
    MarkdownRow,
    NoticeRow,
    Row,
    ToolRow,
    TranscriptModel,
    TranscriptView,
    UserRow,
    highlight,
)
from tests.ui.transcript.samples import DIFF, EN, LIST, PY, TABLE, ZH, History

PIECES = ["word ", "**bo", "ld**", "\n\n", "- item\n", "```py\n", PY, "\n```\n", TABLE, "[a](http",
          "://x.y)", "\n# head\n", "> q\n", ZH, EN, LIST, "| a ", "🙂"]  # fmt: skip


def new_row(rnd: random.Random, n: int) -> Row:
    name = f"r{n}"
    return rnd.choice([
        lambda: UserRow(name, "1", rnd.choice([EN, ZH, "x"])),
        lambda: HeaderRow(name, "A", "m", "2", rnd.choice(["", EN])),
        lambda: MarkdownRow(name, rnd.choice([EN, LIST, TABLE, ""]), rnd.random() < 0.4),
        lambda: ToolRow(name, "Edit", "file-pen", "a.py", rnd.choice(["running", "success"]),
                        diff=rnd.choice(["", DIFF]), output=rnd.choice(["", "x\n" * 40])),
        lambda: NoticeRow(name, "warning", "title", "detail"),
    ])()  # fmt: skip


class Actor:
    def __init__(self, view: TranscriptView, rnd: random.Random) -> None:
        self.view, self.rnd, self.made = view, rnd, 0

    def some(self) -> Row | None:
        count = self.view.rows.rowCount()
        return self.view.rows.row(self.rnd.randrange(count)) if count else None

    def append(self) -> None:
        self.made += 1
        self.view.rows.append(new_row(self.rnd, self.made))

    def grow(self) -> None:
        row = self.some()
        if isinstance(row, MarkdownRow | ToolRow | HeaderRow | UserRow):
            self.view.rows.extend_text(row.id, self.rnd.choice(PIECES))

    def grow_last(self) -> None:
        self.made += 1
        name = f"g{self.made}"
        self.view.rows.append(MarkdownRow(name, "", True))
        for _ in range(self.rnd.randrange(12)):
            self.view.rows.extend_text(name, self.rnd.choice(PIECES))
        row = self.view.rows.get(name)
        row.growing = False
        self.view.rows.update(row)

    def remove(self) -> None:
        row = self.some()
        if row is not None:
            self.view.rows.remove(row.id)

    def insert(self) -> None:
        self.made += 1
        at = self.rnd.randint(0, self.view.rows.rowCount())
        self.view.rows.insert(at, new_row(self.rnd, self.made))

    def prepend(self) -> None:
        self.made += 3
        self.view.rows.prepend([new_row(self.rnd, self.made - k) for k in range(3)])

    def toggle(self) -> None:
        row = self.some()
        if row is not None:
            self.view.toggle(row.id)

    def scroll(self) -> None:
        bar = self.view.verticalScrollBar()
        bar.setValue(bar.value() + self.rnd.choice([-900, -90, -20, 30, 300, 10_000, -10_000]))

    def resize(self) -> None:
        self.view.resize(self.rnd.choice([420, 640, 900]), self.rnd.choice([300, 500]))

    def click(self) -> None:
        port = self.view.viewport()
        spot = QPoint(self.rnd.randrange(port.width()), self.rnd.randrange(port.height()))
        QTest.mouseMove(port, spot)
        QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=spot)

    def key(self) -> None:
        keys = [Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Return,
                Qt.Key.Key_PageUp, Qt.Key.Key_End, Qt.Key.Key_Home]  # fmt: skip
        QTest.keyClick(self.view, self.rnd.choice(keys))

    def select(self) -> None:
        self.view.selection.select_all()
        self.view.copy(self.rnd.random() < 0.5)

    def find(self) -> None:
        self.view.find(self.rnd.choice(["word", "return", "", "的"]))
        self.view.find_next()

    def jump(self) -> None:
        self.view.jump_to_end()


@pytest.mark.parametrize("seed", range(12))
def test_the_geometry_stays_true(qtbot, seed: int) -> None:
    highlight.load("python")
    rnd = random.Random(seed)
    model = TranscriptModel()
    model.set_rows([], History(rnd.choice([0, 5, 60]), seed))
    view = TranscriptView(model)
    model.setParent(view)
    qtbot.addWidget(view)
    view.resize(700, 400)
    view.show()
    actor = Actor(view, rnd)
    acts = [actor.append, actor.grow, actor.grow_last, actor.remove, actor.insert, actor.prepend,
            actor.toggle, actor.scroll, actor.scroll, actor.resize, actor.click, actor.key,
            actor.select, actor.find, actor.jump]  # fmt: skip
    for _ in range(70):
        rnd.choice(acts)()
        QApplication.processEvents()
        check(view)


def check(view: TranscriptView) -> None:
    assert len(view.heights) == view.rows.rowCount()
    assert view.heights.total == sum(view.heights.values)
    bar = view.verticalScrollBar()
    assert 0 <= bar.value() <= bar.maximum()
    if view.stick:
        assert bar.value() == bar.maximum()
    for number, box, y in view.visible_rows():
        assert view.heights[number] == box.height
        assert view.row_top(number) == y
        for section in box.sections:
            bottom = section.top + section.h
            assert bottom <= box.height
