"""The treemap: areas in proportion, an order that stays, tiles that are found and drawn apart."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from desktop_app.ui.theme import Theme
from desktop_app.ui.widgets.squarify import Rect, squarify
from desktop_app.ui.widgets.tiles import ALL, REST, Arrangement, Tile, neighbour, steady
from desktop_app.ui.widgets.treemap import TileRole, Treemap

AREA = Rect(0, 0, 290, 225)


def area(rect: Rect) -> float:
    return rect.w * rect.h


@pytest.mark.parametrize("seed", range(20))
def test_rectangles_fill_the_area_in_proportion_and_never_overlap(seed: int) -> None:
    rand = random.Random(seed)
    weights = sorted((rand.expovariate(0.01) for _ in range(rand.randint(1, 60))), reverse=True)
    made = squarify(weights, AREA)
    whole = sum(weights)
    for rect, weight in zip(made, weights, strict=True):
        assert area(rect) == pytest.approx(area(AREA) * weight / whole, rel=1e-6)
        assert -1e-6 <= rect.x <= AREA.w - rect.w + 1e-6
        assert -1e-6 <= rect.y <= AREA.h - rect.h + 1e-6
    for i, a in enumerate(made):
        for b in made[i + 1 :]:
            wide = min(a.x + a.w, b.x + b.w) - max(a.x, b.x)
            high = min(a.y + a.h, b.y + b.h) - max(a.y, b.y)
            assert wide < 1e-6 or high < 1e-6


def test_nothing_has_no_room() -> None:
    assert squarify([], AREA) == []
    assert squarify([0, -3], AREA) == [Rect(0, 0, 0, 0)] * 2
    assert area(squarify([0, 5, 0], AREA)[1]) == pytest.approx(area(AREA))
    assert squarify([1, 2], Rect(0, 0, 0, 10)) == [Rect(0, 0, 0, 0)] * 2


def test_a_tile_moves_only_when_it_is_clearly_larger() -> None:
    order = steady([], {"a": 100, "b": 90, "c": 50})
    assert order == ["a", "b", "c"]
    assert steady(order, {"a": 100, "b": 105, "c": 50}) == ["a", "b", "c"]
    assert steady(order, {"a": 100, "b": 115, "c": 50}) == ["b", "a", "c"]
    assert steady(order, {"a": 100, "c": 50, "new": 60}) == ["a", "new", "c"]


def test_small_tiles_of_a_group_are_one() -> None:
    many = [Tile(f"k{i}", "result", "x", 1) for i in range(50)]
    placed = Arrangement().place([Tile("big", "result", "x", 1000), *many], AREA, 110)
    found = {p.tile.key: p.tile for p in placed}
    assert set(found) == {"big", REST}
    assert (found[REST].weight, found[REST].count) == (50, 50)
    alone = Arrangement().place([Tile("big", "user", "x", 9000), *many], AREA, 400)
    assert [p.tile.key for p in alone if p.tile.group == "result"] == [ALL]
    assert sum(area(p.rect) for p in placed) == pytest.approx(area(AREA))


def test_arrow_keys_go_to_the_tile_that_lies_there() -> None:
    rects = [Rect(0, 0, 50, 100), Rect(50, 0, 50, 40), Rect(50, 40, 50, 60)]
    assert neighbour(rects, 0, 1, 0) == 2  # beside its middle
    assert neighbour(rects, 1, 0, 1) == 2
    assert neighbour(rects, 2, -1, 0) == 0
    assert neighbour(rects, 0, -1, 0) == 0


@pytest.fixture
def treemap(qtbot: QtBot) -> Treemap:
    made = Treemap(lambda t: f"{t.name}, {t.weight:g}", lambda t: f"{t.weight:g}", lambda t: t.name)
    qtbot.addWidget(made)
    made.resize(290, 225)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


TILES = [
    Tile("a", "result", "Read a.csv", 500),
    Tile("b", "result", "Grep x", 300, 300),
    Tile("c", "user", "Do it", 200),
]


def test_keys_choose_open_and_leave(
    treemap: Treemap, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    treemap.set_tiles(TILES)
    qtmodeltester.check(treemap.tiles)
    chosen: list[Tile | None] = []
    treemap.chosen.connect(chosen.append)
    opened: list[Tile] = []
    treemap.opened.connect(opened.append)
    treemap.clearFocus()
    treemap.setFocus(Qt.FocusReason.TabFocusReason)
    assert chosen[-1] == TILES[0]
    qtbot.keyClick(treemap, Qt.Key.Key_Down)
    qtbot.keyClick(treemap, Qt.Key.Key_Right)
    assert chosen[-1] is not None
    assert chosen[-1] != TILES[0]
    qtbot.keyClick(treemap, Qt.Key.Key_Home)
    qtbot.keyClick(treemap, Qt.Key.Key_Return)
    assert opened == [TILES[0]]
    with qtbot.waitSignal(treemap.left, timeout=500):
        qtbot.keyClick(treemap, Qt.Key.Key_Backspace)


def test_every_tile_has_a_name_for_screen_readers_and_a_tooltip(treemap: Treemap) -> None:
    treemap.set_tiles(TILES)
    said = [
        treemap.tiles.index(row).data(Qt.ItemDataRole.AccessibleTextRole)
        for row in range(treemap.tiles.rowCount())
    ]
    assert said == ["Read a.csv, 500", "Grep x, 300", "Do it, 200"]
    face = QAccessible.queryAccessibleInterface(treemap)
    assert face is not None
    assert face.childCount() >= 3


def test_a_menu_is_asked_for_by_mouse_and_by_key(treemap: Treemap) -> None:
    treemap.set_tiles(TILES)
    wanted: list[Tile] = []
    treemap.menuWanted.connect(lambda tile, at: wanted.append(tile))
    spot = treemap.visualRect(treemap.tiles.index(2)).center()
    where = treemap.viewport().mapToGlobal(spot)
    QApplication.sendEvent(
        treemap.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot, where)
    )
    treemap.choose("result", "b")
    QApplication.sendEvent(
        treemap.viewport(),
        QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0)),
    )
    assert wanted == [TILES[2], TILES[1]]


def test_an_update_keeps_what_is_chosen_and_where_things_are(treemap: Treemap) -> None:
    treemap.set_tiles(TILES)
    treemap.choose("result", "b")
    before = treemap.visualRect(treemap.currentIndex())
    chosen: list[Tile | None] = []
    treemap.chosen.connect(chosen.append)
    treemap.set_tiles([TILES[0], Tile("b", "result", "Grep x", 310, 310), TILES[2]])
    now = treemap.currentIndex().data(TileRole)
    assert (now.key, now.weight) == ("b", 310)
    assert chosen == []  # nothing was chosen by the update
    moved = treemap.visualRect(treemap.currentIndex())
    assert abs(moved.x() - before.x()) < 8
    assert abs(moved.y() - before.y()) < 8
    treemap.set_tiles([TILES[0]])
    assert chosen == [None]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_estimated_is_hatched_and_what_is_measured_is_not(
    treemap: Treemap, theme: Theme, scheme: str
) -> None:
    theme.set_scheme(scheme)  # type: ignore[arg-type]
    treemap.set_tiles([Tile("a", "result", "", 500), Tile("b", "result", "", 400, 400)])
    image = treemap.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)

    def colours(row: int) -> int:
        rect = treemap.visualRect(treemap.tiles.index(row))
        scale = image.width() / treemap.viewport().width()
        y = int((rect.bottom() - 12) * scale)
        return len(
            {
                image.pixel(x, y)
                for x in range(int((rect.left() + 10) * scale), int((rect.right() - 10) * scale))
            }
        )

    assert colours(0) == 1
    assert colours(1) > 2
