"""Folders that cannot be used, or stop to be usable while they are open."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.workspaces import local_files
from desktop_app.ui.widgets import ConfirmDialog
from tests.helpers.program import Driver


def test_a_folder_that_is_moved_away_and_comes_back(driver: Driver, folder: Path) -> None:
    model = ScriptedModel(
        [
            [Call("Read", {"file_path": "notes.md"})],
            [Say("It cannot be read.")],
            [Call("Read", {"file_path": "notes.md"})],
            [Say("The harbour opens in May.")],
        ],
        titles=[[Say("Notes")]],
    )
    driver.start(model).open_folder(folder)
    away = folder.with_name("elsewhere")
    folder.rename(away)
    driver.ask("Read the notes")
    driver.until_idle()
    assert driver.tools()[0].status == "error"
    # The tool met it, so the list and the composer know at once.
    driver.until(lambda: driver.note("Field notes") == "not found")
    driver.until(lambda: "cannot be found" in driver.why_disabled())
    assert str(folder) in driver.why_disabled()
    window = driver.window
    window.areas.open("files")
    driver.until(lambda: not window.inspector.files.tree.isVisible())
    window.workspaces.new_session(driver.workspace("Field notes").info.id)
    driver.until(lambda: any("not there" in t for t in driver.toasts()))

    away.rename(folder)
    window.workspaces.set_active(True)  # the person comes back to the window
    driver.until(lambda: driver.why_disabled() == "")
    driver.until(lambda: driver.note("Field notes") == "1 session")
    driver.ask("Read the notes")
    driver.until_idle()
    assert driver.said().endswith("The harbour opens in May.")
    assert driver.tools()[1].status == "success"


def test_a_draft_survives_the_folder_going_and_coming(driver: Driver, folder: Path) -> None:
    driver.start(ScriptedModel()).open_folder(folder)
    window = driver.window
    window.chat.composer.edit.insertPlainText("half a thought")
    folder.rename(folder.with_name("gone"))
    window.workspaces.look()
    driver.until(lambda: driver.why_disabled() != "")
    folder.with_name("gone").rename(folder)
    window.workspaces.look()
    driver.until(lambda: driver.why_disabled() == "")
    assert window.chat.composer.text() == "half a thought"


def test_the_folder_is_gone_when_the_program_starts(driver: Driver, folder: Path) -> None:
    driver.start(ScriptedModel([[Say("Yes.")]], titles=[[Say("Talk")]])).open_folder(folder)
    driver.ask("Is it?")
    driver.stop()
    folder.rename(folder.with_name("gone"))
    driver.start(ScriptedModel())
    driver.until_shown()
    assert driver.said() == "Yes.", "the session is ours: it can be read without its folder"
    assert "cannot be found" in driver.why_disabled()
    assert driver.note("Field notes") == "not found"


def test_paths_that_are_no_folder(driver: Driver, tmp_path: Path) -> None:
    driver.start()
    window = driver.window
    window.workspaces.open_folder(str(tmp_path / "nowhere"))
    driver.until(lambda: any("not there" in t for t in driver.toasts()))
    file = tmp_path / "file.txt"
    file.write_text("x")
    window.workspaces.open_folder(str(file))
    driver.until(lambda: any(str(file) in t for t in driver.toasts()))
    assert driver.window.workspaces.workspaces == []


def test_a_folder_without_access(
    driver: Driver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = local_files.access

    def access(path: str) -> tuple[bool, bool]:
        return (False, False) if str(folder) in str(path) else real(path)

    driver.start()
    monkeypatch.setattr(local_files, "access", access)
    driver.window.workspaces.open_folder(str(folder))
    driver.until(lambda: any("cannot be read" in t for t in driver.toasts()))
    assert driver.window.workspaces.workspaces == []
    monkeypatch.setattr(local_files, "access", real)
    driver.open_folder(folder)
    monkeypatch.setattr(local_files, "access", access)
    driver.window.workspaces.look()
    driver.until(lambda: driver.note("Field notes") == "no access")
    driver.until(lambda: "may not read" in driver.why_disabled())


def test_a_read_only_folder_is_read_and_a_write_says_why(
    driver: Driver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a read-only disk: reading goes, every write is refused by the system."""
    real_access, real_open = local_files.access, os.open

    def access(path: str) -> tuple[bool, bool]:
        readable, writable = real_access(path)
        return readable, writable and str(folder) not in str(path)

    def open_(path, flags, *args, **kwargs):  # type: ignore[no-untyped-def]
        if str(folder) in str(path) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system", str(path))
        return real_open(path, flags, *args, **kwargs)

    monkeypatch.setattr(local_files, "access", access)
    monkeypatch.setattr(os, "open", open_)
    model = ScriptedModel(
        [
            [Call("Read", {"file_path": "notes.md"})],
            [Call("Write", {"file_path": "new.txt", "content": "x"})],
            [Say("It is read-only.")],
        ],
        titles=[[Say("Read-only")]],
    )
    driver.start(model).open_folder(folder)
    driver.until(lambda: driver.note("Field notes") == "read-only")
    driver.ask("Read, then write")
    driver.until(lambda: driver.vm.activity == "parked")
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    read, write = driver.tools()
    assert read.status == "success"
    assert write.status == "error"
    assert "read-only" in write.output.lower()
    assert driver.said() == "It is read-only."


def chosen(driver: Driver, path: Path) -> None:
    """What the system's dialog gives back."""
    driver.until(lambda: driver.window.findChild(QFileDialog) is not None)
    dialog = driver.window.findChild(QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.done(0)


def test_a_folder_that_was_moved_is_found_again_from_the_composer(
    driver: Driver, folder: Path
) -> None:
    big = "\n".join(f"line {n}" for n in range(60_000))
    model = ScriptedModel(
        [
            [Call("Read", {"file_path": "big.txt"})],
            [Say("It is long.")],
            [Call("Read", {"file_path": "notes.md"})],
            [Say("The harbour opens in May.")],
        ],
        titles=[[Say("Notes")]],
    )
    (folder / "big.txt").write_text(big)
    driver.start(model).open_folder(folder)
    driver.ask("Read the big file")
    driver.until_idle()
    driver.until(lambda: any((folder / ".slipway" / "sessions").rglob("tool_result-*")))
    driver.window.chat.composer.edit.insertPlainText("and then")
    moved = folder.with_name("archive")
    folder.rename(moved)
    driver.window.workspaces.look()
    driver.until(lambda: driver.why_disabled() != "")
    way = driver.window.chat.composer.way
    driver.until(lambda: way.isVisible() and way.text() == "Say where it is…")
    way.click()
    chosen(driver, moved)
    driver.until(lambda: driver.why_disabled() == "" and driver.window.chat.vm is not None)
    driver.until_shown()
    assert driver.window.chat.composer.text() == "and then", "the draft came along"
    driver.window.chat.composer.edit.clear()
    driver.ask("Read the notes")
    driver.until_idle()
    assert driver.said().endswith("The harbour opens in May.")
    info = driver.workspace("Field notes").info
    assert (info.folder, info.trusted, info.state) == (str(moved), True, "ready")
    driver.stop()
    driver.start(ScriptedModel())
    driver.until_shown()
    assert driver.why_disabled() == ""


def test_another_folder_is_taken_for_the_moved_one_only_when_the_person_says_so(
    driver: Driver, folder: Path
) -> None:
    driver.start(ScriptedModel([[Say("Yes.")]], titles=[[Say("Talk")]])).open_folder(folder)
    driver.ask("Is it?")
    driver.until_idle()
    folder.rename(folder.with_name("gone"))
    other = folder.with_name("other")
    (other / ".slipway").mkdir(parents=True)
    one = {"name": "s", "mcp_config": {"type": "stdio_mcp", "command": "tool"}}
    declared = {"version": 2, "mcps": {"": {"": [one]}}}
    (other / ".slipway" / ".mcp").write_text(json.dumps(declared))
    window = driver.window
    window.workspaces.look()
    driver.until(lambda: driver.note("Field notes") == "not found")
    name = driver.workspace("Field notes").info.id
    window.pane.folders.locate(name)
    chosen(driver, other)
    dialog = driver.dialog(ConfirmDialog)
    assert str(other) in dialog.text.text()
    dialog.cancel.click()
    driver.until(lambda: driver.note("Field notes") == "not found")
    window.pane.folders.locate(name)
    chosen(driver, other)
    driver.dialog(ConfirmDialog).go.click()
    driver.until(lambda: driver.workspace("Field notes").info.state == "ready")
    driver.until_shown()
    assert driver.said() == "Yes."
    assert not driver.workspace("Field notes").info.trusted, "nobody has seen its skills yet"
