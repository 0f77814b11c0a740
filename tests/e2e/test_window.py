"""The window at its sizes: which areas it shows, and that its bar keeps its words."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.models.scripted import Delay, Say, ScriptedModel
from desktop_app.ui import i18n
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import TextPrompt
from tests.helpers.program import Driver


def test_areas_go_and_come_with_the_width(driver: Driver, folder: Path) -> None:
    window = driver.start().window
    driver.open_folder(folder)
    shown = lambda: (window.pane.isVisible(), window.inspector.isVisible())  # noqa: E731
    assert shown() == (True, True)
    window.resize(1000, 700)
    assert shown() == (True, False)
    window.resize(690, 700)
    assert shown() == (False, False)
    window.commands.run("view.sidebar")
    assert shown() == (True, False), "what was asked for is shown"
    window.commands.run("view.inspector")
    assert shown() == (False, True)
    assert window.width() == 690
    window.resize(1440, 900)
    assert shown() == (True, True)


def test_the_menus_keep_their_words(driver: Driver, folder: Path) -> None:
    window = driver.start().window
    driver.open_folder(folder)
    for language in ("zh_CN", "en"):
        i18n.set_language(language)
        for scale in (100, 200):
            theme().set_scale(scale)
            for width in (700, 1440):
                window.resize(width, 700)
                driver.app.processEvents()
                bar = window.top.menus
                last = bar.actionGeometry(bar.actions()[-1])
                assert bar.sizeHint().width() <= bar.width(), (language, scale, width)
                assert last.right() <= bar.width()
                assert window.top.field.geometry().left() >= bar.geometry().right()
    theme().set_scale(100)


def test_side_areas_keep_their_share_of_words(driver: Driver, folder: Path) -> None:
    window = driver.start().window
    driver.open_folder(folder)
    window.resize(3000, 900)
    before = window.pane.width()
    theme().set_scale(150)
    driver.until(lambda: abs(window.pane.width() - before * 1.5) <= 2)
    theme().set_scale(100)
    driver.until(lambda: abs(window.pane.width() - before) <= 2)


def test_filtering_keeps_the_open_session_marked(driver: Driver, folder: Path) -> None:
    window = driver.start().window
    driver.open_folder(folder)
    driver.ask("list the files")
    first = driver.window.desk.current
    driver.new_session()
    driver.ask("what can you do?")
    driver.until_idle()
    opened = window.desk.current
    pane = window.pane
    pane.filter_button.setChecked(True)
    QTest.keyClicks(pane.search, driver.session(first).title)
    driver.until(lambda: len(driver.tree()) == 2)
    QTest.keyClick(pane.search, Qt.Key.Key_Escape)
    driver.until(lambda: len(driver.tree()) == 3)
    assert pane.tree.current().key == opened
    QTest.keyClick(pane.search, Qt.Key.Key_Escape)
    assert not pane.search_row.isVisible()
    assert pane.tree.hasFocus()


def test_f2_renames_what_has_the_keyboard(driver: Driver, folder: Path) -> None:
    window = driver.start().window
    driver.open_folder(folder)
    window.activateWindow()
    driver.until(window.isActiveWindow)
    driver.until_shown()
    renames, ends = (window.commands._actions[f"session.{n}"] for n in ("rename", "stop"))
    assert (renames.isEnabled(), ends.isEnabled()) == (True, False), "as soon as it is open"
    window.chat.composer.setFocus()
    driver.until(window.chat.composer.edit.hasFocus)
    driver.until(window.commands.action("session.rename").isEnabled)
    QTest.keyClick(window.chat.composer.edit, Qt.Key.Key_F2)
    editor = window.chat.header.editor
    driver.until(editor.isVisible)
    editor.setText("Ropes")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    driver.until(lambda: driver.vm.title == "Ropes")
    tree = window.pane.tree
    tree.setFocus()
    driver.until(tree.hasFocus)
    tree.setCurrentIndex(tree.model().index(0, 0))
    QTest.keyClick(tree, Qt.Key.Key_F2)
    dialog = driver.dialog(TextPrompt)
    dialog.field.edit.setText("Harbour")
    QTest.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
    driver.until(lambda: driver.workspace("Harbour") is not None)


def test_the_key_that_stops_works_as_soon_as_something_runs(driver: Driver, folder: Path) -> None:
    model = ScriptedModel([[Delay(3600.0), Say("never")]])
    window = driver.start(model).window
    driver.open_folder(folder)
    driver.type("count to a million")
    driver.until(lambda: driver.vm.activity == "running")
    stop = window.commands._actions["session.stop"]
    assert stop.isEnabled()
    stop.trigger()
    driver.until(lambda: driver.vm.activity == "idle")
    assert not stop.isEnabled()
    words = [*driver.asked(), window.chat.composer.edit.toPlainText()]
    assert [w for w in words if w] == ["count to a million"], "saved, or back where it was written"
