"""The main job in the real window: folders, sessions, turns, approvals, what lies around."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.models.scripted import Call, Reached, Say, ScriptedModel, Wait
from desktop_app.ui import i18n
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import ConfirmDialog, TextPrompt
from tests.helpers.program import Driver

WRITE = {"file_path": "hello.txt", "content": "Hello\n"}


def writing(*contents: str) -> ScriptedModel:
    turns: list[list] = []
    for n, content in enumerate(contents):
        args = {"file_path": f"file{n}.txt", "content": content}
        turns += [[Say(f"I will write file{n}. "), Call("Write", args)], [Say(f"Turn {n} ended.")]]
    return ScriptedModel(turns, titles=[[Say("A title")]])


def test_first_run_open_a_folder_ask_the_guide_approve_and_the_file_is_there(
    driver: Driver, folder: Path
) -> None:
    driver.start()
    window = driver.window
    assert window.pages.currentWidget() is window.welcome
    assert not window.pane.isVisible(), "an empty list beside the first steps says nothing"
    driver.open_folder(folder)
    assert window.pages.currentWidget() is window.chat
    assert driver.workspace("Field notes").info.state == "ready"
    driver.ask('Write a file hello.txt that says "Hello"')
    assert driver.vm.activity == "parked", driver.said()
    assert not (folder / "hello.txt").exists(), "nothing is written before the person says so"
    assert window.chat.approval.isVisible()
    driver.until(lambda: ("  " + driver.vm.title, "approval") in driver.tree())
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    assert "Hello" in (folder / "hello.txt").read_text()
    assert driver.tools()[-1].status == "success"
    assert not window.chat.approval.isVisible()
    assert (folder / "notes.md").read_text().startswith("# Notes")


def test_keys_of_the_approval_card(driver: Driver, folder: Path) -> None:
    model = ScriptedModel(
        [
            [Call("Write", {"file_path": "no.txt", "content": "no"})],
            [Say("Declined, then.")],
            [Call("Bash", {"command": "echo one > edited.txt"})],
            [Say("Edited.")],
            [Call("Write", {"file_path": "a.txt", "content": "a"})],
            [Say("First.")],
            [Call("Write", {"file_path": "a.txt", "content": "b"})],
            [Say("Second.")],
        ],
        titles=[[Say("Keys")]],
    )
    driver.start(model).open_folder(folder)
    driver.ask("one")
    driver.key(Qt.Key.Key_N)
    driver.until_idle()
    assert driver.tools()[-1].status == "denied"
    assert not (folder / "no.txt").exists()

    driver.ask("two")
    driver.key(Qt.Key.Key_E)
    card = driver.window.chat.approval
    assert card.editor.isVisible()
    assert card.editor.fields[0].toPlainText() == "echo one > edited.txt"
    card.editor.fields[0].setPlainText("echo two > edited.txt")
    QTest.mouseClick(card.run, Qt.MouseButton.LeftButton)
    driver.until_idle()
    assert (folder / "edited.txt").read_text() == "two\n"
    assert "echo two" in str(driver.tools()[-1].args)

    driver.ask("three")
    driver.key(Qt.Key.Key_A)
    driver.until_idle()
    assert (folder / "a.txt").read_text() == "a"
    driver.ask("four")
    driver.until_idle()
    assert (folder / "a.txt").read_text() == "b", "always means that it is not asked again"
    assert driver.said().endswith("Second.")


def test_a_message_is_queued_while_one_runs_and_stop_keeps_what_was_said(
    driver: Driver, folder: Path
) -> None:
    gate, reached, never = asyncio.Event(), asyncio.Event(), asyncio.Event()
    model = ScriptedModel(
        [
            [Say("Beginning. "), Reached(reached), Wait(gate), Say("Done.")],
            [Say("To the queued one.")],
            [Say("Half of"), Wait(never), Say(" it")],
            [Say(" the rest.")],
        ],
        titles=[[Say("Queue")]],
    )
    driver.start(model).open_folder(folder)
    driver.type("first")
    driver.until(lambda: "Beginning." in driver.said())
    driver.type("second")
    assert driver.vm.queued.text == "second"
    assert driver.window.chat.composer.queue.isVisible()
    gate.set()
    driver.until(lambda: "To the queued one." in driver.said())
    driver.until_idle()
    assert driver.asked() == ["first", "second"]

    driver.type("third")
    driver.until(lambda: "Half of" in driver.said())
    QTest.keyClick(driver.window.chat.composer.edit, Qt.Key.Key_Escape)
    driver.until_idle()
    assert "Half of" in driver.said()
    assert "run.interrupted" in driver.cards()
    driver.vm.retry()
    driver.until(lambda: "the rest." in driver.said())
    driver.until_idle()
    assert "run.interrupted" not in driver.cards(), "it went on: the card is no longer true"


def test_a_run_goes_on_while_another_session_is_shown(driver: Driver, folder: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(
        [[Say("Working "), Wait(gate), Say("and done.")], [Say("Quick.")]],
        titles=[[Say("Long one")]],
    )
    driver.start(model).open_folder(folder)
    first = driver.window.desk.current
    driver.type("long")
    driver.until(lambda: "Working" in driver.said())
    driver.until(lambda: driver.state(first) == "running")
    assert "now" in [note for _, note in driver.tree()]
    second = driver.new_session()
    assert second != first
    driver.ask("quick")
    assert driver.said() == "Quick."
    gate.set()
    driver.until(lambda: driver.state(first) == "idle")
    driver.open_session(first)
    assert driver.said().split() == ["Working", "and", "done."]


def test_rename_pin_trash_and_undo(driver: Driver, folder: Path) -> None:
    driver.start(ScriptedModel([[Say("Yes.")]], titles=[[Say("Talk")]])).open_folder(folder)
    window, key = driver.window, driver.window.desk.current
    driver.ask("Is it?")
    window.pane.rename(driver.session(key))
    dialog = driver.dialog(TextPrompt)
    dialog.field.edit.setText("Renamed")
    dialog.accept()
    driver.until(lambda: driver.session(key).title == "Renamed")
    assert driver.vm.title == "Renamed"
    assert "Renamed" in window.windowTitle()
    window.workspaces.pin_session(key, True)
    driver.until(lambda: driver.session(key).pinned)
    window.pane.remove(driver.session(key))
    driver.until(lambda: driver.session(key) is None)
    driver.until(lambda: window.chat.vm is None)
    toast = window.toasts.toasts()[-1]
    QTest.mouseClick(toast.button, Qt.MouseButton.LeftButton)
    driver.until(lambda: driver.session(key) is not None)
    driver.until_shown()
    assert driver.said() == "Yes."
    assert driver.session(key).title == "Renamed"
    assert driver.session(key).pinned


def test_a_forgotten_workspace_comes_back_with_its_sessions(driver: Driver, folder: Path) -> None:
    driver.start(ScriptedModel([[Say("Noted.")]], titles=[[Say("Talk")]])).open_folder(folder)
    window, key = driver.window, driver.window.desk.current
    driver.ask("Remember the harbour")
    driver.until(lambda: driver.session(key).title == "Talk")
    window.pane.remove(driver.workspace("Field notes"))
    driver.dialog(ConfirmDialog).accept()
    driver.until(lambda: driver.workspace("Field notes") is None)
    driver.until(lambda: window.chat.vm is None)
    assert window.pages.currentWidget() is window.welcome
    assert (folder / "notes.md").exists()
    driver.open_folder(folder)
    assert driver.window.desk.current == key
    assert driver.said() == "Noted."


def test_the_language_and_the_colours_change_while_it_runs(driver: Driver, folder: Path) -> None:
    driver.start(writing("x")).open_folder(folder)
    driver.ask("go")
    window = driver.window
    window.settingChosen.emit("language", "zh_CN")
    driver.until(lambda: window.chat.approval.allow.text() == "允许一次")
    driver.until(lambda: "待批准" in [note for _, note in driver.tree()])
    assert i18n.language() == "zh_CN"
    window.settingChosen.emit("scheme", "dark")
    driver.until(lambda: theme().scheme == "dark")
    window.settingChosen.emit("scheme", "light")
    window.settingChosen.emit("language", "en")
    driver.until(lambda: window.chat.approval.allow.text() == "Allow once")
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    assert (Path(folder) / "file0.txt").read_text() == "x"


def test_the_palette_opens_a_session_and_find_counts(driver: Driver, folder: Path) -> None:
    model = ScriptedModel(
        [[Say("The harbour opens. A harbour is calm.")], [Say("Sails.")]],
        titles=[[Say("Harbour")], [Say("Sails")]],
    )
    driver.start(model).open_folder(folder)
    first = driver.window.desk.current
    driver.ask("When?")
    driver.new_session()
    driver.ask("What?")
    driver.until(lambda: driver.session(first).title == "Harbour")
    window = driver.window
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    box = window.palette_box
    driver.until(lambda: box.isVisible())
    QTest.keyClicks(box.field, "harbo")
    QTest.keyClick(box.field, Qt.Key.Key_Return)
    driver.until(lambda: window.desk.current == first)
    driver.until_shown()
    assert not box.isVisible()
    window.chat.open_find()
    QTest.keyClicks(window.chat.find_bar.field, "harbour")
    driver.until(lambda: "2" in window.chat.find_bar.field._count)
    QTest.keyClick(window.chat.find_bar.field, Qt.Key.Key_Escape)  # empties it
    QTest.keyClick(window.chat.find_bar.field, Qt.Key.Key_Escape)
    driver.until(lambda: not window.chat.find_bar.isVisible())


def test_inspector_shows_what_is_there(driver: Driver, folder: Path) -> None:
    driver.start(writing("x")).open_folder(folder)
    driver.ask("go")
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    window = driver.window
    for tab in ("context", "files", "tools", "compactions"):
        window.areas.open(tab)
        assert window.inspector.tab() == tab
    window.areas.open("files")
    files = window.inspector.files.model
    names = lambda: {  # noqa: E731
        files.data(files.index(r, 0), Qt.ItemDataRole.DisplayRole) for r in range(files.rowCount())
    }
    driver.until(lambda: {"notes.md", "prices.csv", "todo.txt", "file0.txt"} <= names())
    breakdown = driver.vm.breakdown
    assert breakdown is not None
    assert breakdown.total == sum(breakdown.parts.values()) > 0


def test_quitting_asks_while_a_session_is_at_work(driver: Driver, folder: Path) -> None:
    """A key pressed by mistake must not end an hour's work."""
    gate = asyncio.Event()
    model = ScriptedModel([[Say("It begins. "), Wait(gate), Say("It ends.")]])
    driver.start(model).open_folder(folder)
    driver.type("work")
    driver.until(lambda: "It begins." in driver.said())
    driver.window.close()
    question = driver.dialog(ConfirmDialog)
    assert question.windowTitle() == "Quit and stop what is running?"
    question.reject()
    driver.until(lambda: not question.isVisible())
    assert not driver.program.closing.is_set()
    assert driver.vm.activity == "running"
    gate.set()
    driver.until_idle()
    assert driver.said().endswith("It ends.")
    driver.window.close()
    assert driver.program.closing.is_set(), "nothing is asked when nothing runs"
