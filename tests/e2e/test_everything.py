"""Find in everything, the trash, help and what is remembered, in the whole program."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.ui.help.about import AboutDialog
from desktop_app.ui.help.page import HelpPage
from desktop_app.ui.help.shortcuts import ShortcutsDialog
from desktop_app.ui.sessions.trash import TrashDialog
from desktop_app.ui.widgets import ConfirmDialog
from tests.helpers.program import Driver


def talkative(*answers: str) -> ScriptedModel:
    return ScriptedModel(
        [[Say(words)] for words in answers], titles=[[Say(f"Talk {n}")] for n in range(3)]
    )


def test_words_of_another_session_are_found_and_shown_at_their_place(
    driver: Driver, folder: Path
) -> None:
    long = "\n\n".join(f"Paragraph {n} about nothing much." for n in range(60))
    driver.start(talkative(f"The barnacle is here.\n\n{long}", "Second talk.")).open_folder(folder)
    driver.ask("first")
    first = driver.window.desk.current
    driver.new_session()
    driver.ask("second")
    driver.until(lambda: not driver.vm.busy)
    window = driver.window
    window.commands.run("view.everything")
    search = window.dialogs.search
    assert search.isVisible()
    QTest.keyClicks(search.field, "barnacle")
    driver.until(lambda: search.model.rowCount() == 2)
    hit = search.model.hit(1)
    assert hit is not None
    assert hit.key == first
    assert "barnacle" in hit.line
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    driver.until(lambda: window.desk.current == first)
    driver.until(lambda: window.chat.view is not None and window.chat.view.finder.current == 0)
    assert window.chat.find_bar.field.text() == "barnacle"
    assert not search.isVisible()


def test_words_far_back_are_fetched_before_they_are_shown(driver: Driver, folder: Path) -> None:
    turns = 70  # more records than are fetched at first
    answers = ["The barnacle is here.", *(f"Answer {n}." for n in range(turns))]
    driver.start(talkative(*answers)).open_folder(folder)
    first = driver.window.desk.current
    for n in range(turns + 1):
        driver.ask(f"question {n}")
    driver.stop()
    driver.start()
    driver.open_session(first)
    assert not driver.vm.at_start
    window = driver.window
    window.dialogs.find_everywhere()
    search = window.dialogs.search
    QTest.keyClicks(search.field, "barnacle")
    driver.until(lambda: search.model.rowCount() == 2)
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    driver.until(lambda: window.chat.view.finder.current == 0)
    assert driver.vm.at_start


def test_the_trash_gives_back_and_removes_for_good(driver: Driver, folder: Path) -> None:
    driver.start(talkative("One.", "Two.", "Three.")).open_folder(folder)
    keys = [driver.window.desk.current]
    driver.ask("first")
    for words in ("second", "third"):
        keys.append(driver.new_session())
        driver.ask(words)
    window = driver.window
    window.commands.run("session.trash")
    driver.until(lambda: driver.session(keys[2]) is None)
    driver.until(lambda: window.desk.current in keys[:2] and window.chat.vm is not None)
    assert window.pages.currentWidget() is window.chat, "its neighbour takes its place"
    window.workspaces.trash_session(driver.session(keys[1]))
    driver.until(lambda: driver.session(keys[1]) is None)

    window.commands.run("view.trash")
    dialog = driver.dialog(TrashDialog)
    driver.until(lambda: len(dialog.model.sessions) == 2)
    row = [s.key for s in dialog.model.sessions].index(keys[1])
    dialog.list.setCurrentIndex(dialog.model.index(row, 0))
    QTest.mouseClick(dialog.restore, Qt.MouseButton.LeftButton)
    driver.until(lambda: driver.session(keys[1]) is not None)
    driver.until(lambda: len(dialog.model.sessions) == 1)
    QTest.mouseClick(dialog.remove, Qt.MouseButton.LeftButton)
    sure = driver.dialog(ConfirmDialog)
    assert sure.cancel.hasFocus(), "the safe choice"
    QTest.mouseClick(sure.go, Qt.MouseButton.LeftButton)
    driver.until(lambda: not dialog.model.sessions)
    assert dialog.stack.currentWidget() is dialog.empty
    journals = driver.service.store
    assert keys[2] not in driver.run(journals.keys())
    assert keys[0] in driver.run(journals.keys())
    assert driver.run(driver.service.search("third")) == []
    dialog.accept()
    driver.until(lambda: not dialog.isVisible())


def test_help_lists_every_key_and_says_what_runs(driver: Driver, folder: Path) -> None:
    driver.start().open_folder(folder)
    window = driver.window
    QTest.keyClick(window, Qt.Key.Key_F1)
    dialog = driver.dialog(ShortcutsDialog)
    shown = {text for _, text, _ in dialog._rows}
    for command in window.commands:
        key = window.commands.key(command.id)
        if key:
            assert any(key.casefold() in text for text in shown), command.id
    dialog.filter("palette shift")
    visible = [text for holder, text, _ in dialog._rows if not holder.isHidden()]
    assert visible == ["command palette ctrl+k ctrl+shift+p"]
    dialog.filter("nothing of the sort")
    assert not dialog.nothing.isHidden()
    dialog.accept()
    driver.until(lambda: not dialog.isVisible())
    window.commands.run("help.offloads")
    page = driver.dialog(HelpPage)
    assert "class S3Offloader:" in page.model.source_text(0)
    assert page.view.verticalScrollBar().value() <= page.view.top_pad()  # its beginning
    assert not page.view.jump.isVisible()
    page.accept()
    driver.until(lambda: not page.isVisible())
    window.commands.run("help.about")
    about = driver.dialog(AboutDialog)
    about.copy()
    text = QGuiApplication.clipboard().text()
    assert text.startswith("Slipway ")
    assert str(driver.service.paths.log) in text
    about.accept()
    driver.until(lambda: not about.isVisible())


def test_recent_commands_outlive_the_program(driver: Driver, folder: Path) -> None:
    driver.start().open_folder(folder)
    driver.window.commands.run("view.sidebar")
    path = driver.program.settings.path
    driver.stop()
    assert json.loads(path.read_text())["recent_commands"][0] == "view.sidebar"
    driver.start()
    assert driver.window.commands.recent[0] == "view.sidebar"


def test_first_steps_say_what_this_computer_has(driver: Driver, folder: Path) -> None:
    driver.start().open_folder(folder)
    driver.window.commands.run("help.start")
    welcome = driver.window.welcome
    assert driver.window.pages.currentWidget() is welcome
    driver.until(welcome._checks.isVisible)
    assert welcome._checks.body.count() == 7, "four lines and what parts them"
