"""The palette by keyboard, and the registry behind it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMainWindow, QMenu

from desktop_app.ui import i18n
from desktop_app.ui.commands import SEPARATOR, Command, CommandError, Commands
from desktop_app.ui.i18n import tr
from desktop_app.ui.palette import Entry, Palette
from desktop_app.ui.palette.fuzzy import match


@pytest.fixture
def window(qtbot):
    main = QMainWindow()
    main.resize(1000, 700)
    main.setCentralWidget(QLineEdit())
    qtbot.addWidget(main)
    main.show()
    qtbot.waitExposed(main)
    main.activateWindow()
    return main


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def commands(window, ran) -> Commands:
    registry = Commands(window)
    titles = {
        "context.compact": ("Compact now", "Ctrl+Shift+K"),
        "context.preview": ("Preview compaction", None),
        "session.new": ("New session", "Ctrl+N"),
        "view.dark": ("Dark theme", None),
    }
    for name, (title, key) in titles.items():
        registry.add(Command(name, title, lambda n=name: ran.append(n), key, "archive", "Context"))
    return registry


@pytest.fixture
def palette(window, commands) -> Palette:
    return Palette(window, commands)


def titles(palette: Palette) -> list[str]:
    rows = range(palette.model.rowCount())
    return [e.title for row in rows if (e := palette.model.entry(row)) is not None]


def type_in(palette: Palette, text: str) -> None:
    palette.open()
    QTest.keyClicks(palette.field, text)


def test_typing_then_enter_runs_the_best_and_gives_focus_back(palette, window, ran, qtbot):
    window.centralWidget().setFocus()
    type_in(palette, "comp")
    assert titles(palette) == ["Compact now", "Preview compaction"]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: ran == ["context.compact"])
    assert not palette.isVisible()
    assert window.centralWidget().hasFocus()


def test_arrows_choose_and_wrap_over_heads(palette, ran, qtbot, commands):
    commands.run("view.dark")
    ran.clear()
    palette.open()
    assert palette.model.entry(palette.list.currentIndex().row()).id == "view.dark", "recent first"
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.model.entry(palette.list.currentIndex().row()).id == "session.new"
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: ran == ["context.compact"])


def test_escape_and_a_click_elsewhere_close(palette, window, qtbot):
    palette.open()
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    palette.open()
    at = window.rect().bottomLeft() + QPoint(5, -5)
    QTest.mouseClick(window.childAt(at), Qt.MouseButton.LeftButton)
    assert not palette.isVisible()
    assert window.childAt(at) is window.centralWidget()


def test_click_runs(palette, ran, qtbot):
    palette.open("dark")
    rect = palette.list.visualRect(palette.model.index(0, 0))
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    qtbot.waitUntil(lambda: ran == ["view.dark"])


def test_only_what_makes_sense_is_offered(window, qtbot):
    able = False
    registry = Commands(window)
    registry.add(Command("a.b", "Rename", lambda: None, when=lambda: able))
    palette = Palette(window, registry)
    palette.open()
    assert titles(palette) == []
    palette.dismiss()
    able = True
    palette.open()
    assert titles(palette) == ["Rename"]
    palette.dismiss()


def test_sources_come_in_groups_after_the_commands(palette):
    opened: list[str] = []
    palette.add_source(
        "Sessions",
        lambda _q: [
            Entry("s1", "Company names", lambda: opened.append("s1"), "archive · 40 d"),
            Entry("s2", "Fix login", lambda: None),
        ],
    )
    palette.open("comp")
    assert titles(palette) == ["Compact now", "Preview compaction", "Company names"]
    heads = [
        palette.model.index(row, 0).data()
        for row in range(palette.model.rowCount())
        if palette.model.entry(row) is None
    ]
    assert heads == ["Sessions"]
    palette.dismiss()


def test_found_by_id_when_the_title_is_in_another_language(window):
    registry = Commands(window)
    registry.add(Command("session.new", lambda: tr("Cancel"), lambda: None))
    palette = Palette(window, registry)
    i18n.set_language("zh_CN")
    palette.open("session")
    assert titles(palette) == ["取消"]
    palette.dismiss()


def test_opens_within_a_frame_budget_with_many_entries(window, qtbot):
    registry = Commands(window)
    for i in range(150):
        registry.add(Command(f"group.c{i}", f"Command number {i}", lambda: None, icon="archive"))
    palette = Palette(window, registry)
    many = [Entry(f"s{i}", f"Session about topic {i}", lambda: None) for i in range(500)]
    palette.add_source("Sessions", lambda _q: many)
    palette.open()
    palette.grab()
    palette.dismiss()
    best = 1.0
    for query in ("", "top", "num"):
        start = time.thread_time()
        palette.open(query)
        palette.grab()
        best = min(best, time.thread_time() - start)
        palette.dismiss()
    assert best < 0.05


def test_a_taken_key_or_id_is_an_error(window):
    registry = Commands(window)
    registry.add(Command("a", "A", lambda: None, "Ctrl+K"))
    with pytest.raises(CommandError, match="Ctrl\\+K belongs to a"):
        registry.add(Command("b", "B", lambda: None, "ctrl+k"))
    with pytest.raises(CommandError, match="twice"):
        registry.add(Command("a", "A", lambda: None))


def test_the_persons_own_key_replaces_ours_and_a_clash_is_reported(window):
    registry = Commands(window, {"b": "Ctrl+K", "c": "Ctrl+K", "d": ""})
    registry.add(Command("b", "B", lambda: None, "Ctrl+B"))
    registry.add(Command("c", "C", lambda: None, "Ctrl+C"))
    registry.add(Command("d", "D", lambda: None, "Ctrl+D"))
    assert [registry.key(n) for n in "bcd"] == ["Ctrl+K", "Ctrl+C", ""]
    assert registry.clashes == [("Ctrl+K", "b", "c")]


def test_shortcut_runs_and_a_senseless_one_does_not(window, ran, qtbot):
    able = False
    registry = Commands(window)
    registry.add(Command("x", "X", lambda: ran.append("x"), "Ctrl+J", when=lambda: able))
    QTest.keyClick(window.centralWidget(), Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert ran == []
    assert registry.run("x") is False
    able = True
    registry.refresh()
    QTest.keyClick(window.centralWidget(), Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert ran == ["x"]


def test_menus_ask_when_they_open_and_follow_the_language(window, qtbot):
    on = False
    registry = Commands(window)
    registry.add(
        Command("x", lambda: tr("Cancel"), lambda: None, "Ctrl+J", checked=lambda: on),
        Command("y", "Y", lambda: None, when=lambda: on),
    )
    registry.menu_bar(window.menuBar(), [(lambda: tr("Files"), ["x", SEPARATOR, "y"])])
    menu = window.menuBar().actions()[0].menu()
    assert isinstance(menu, QMenu)
    on = True
    menu.aboutToShow.emit()
    assert [a.isEnabled() for a in menu.actions() if not a.isSeparator()] == [True, True]
    assert registry.action("x").isChecked()
    i18n.set_language("zh_CN")
    assert menu.title() == "文件"
    assert registry.action("x").text() == "取消"
    assert "Ctrl+J" in registry.action("x").toolTip()


@pytest.mark.parametrize(
    ("query", "name", "hits"),
    [
        ("comp", "Compact now", ((0, 4),)),
        ("comp", "Preview compaction", ((8, 4),)),
        ("ns", "New session", ((0, 1), (4, 1))),
        ("now com", "Compact now", ((0, 3), (8, 3))),
        ("会话", "新建会话", ((2, 2),)),
        ("xyz", "Compact now", None),
        ("z", "a b c", None),
    ],
)
def test_fuzzy(query, name, hits):
    found = match(query, name)
    assert (found.hits if found else None) == hits


def test_start_of_a_word_beats_the_middle():
    start, word, middle = (match("comp", n) for n in ("Compact", "Do compact", "Encompass"))
    assert start.score > word.score > middle.score


@given(st.text(max_size=12), st.text(max_size=30))
def test_hits_always_lie_in_the_name_and_do_not_overlap(query, name):
    found = match(query, name)
    if found is not None:
        end = 0
        for start, length in found.hits:
            assert start >= end
            assert length > 0
            end = start + length
        assert end <= len(name)
