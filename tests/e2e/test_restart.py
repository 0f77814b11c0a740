"""Closing the program in the middle of things, and what the next start finds."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt

from desktop_app.core.models.scripted import Call, Say, ScriptedModel, Wait
from tests.helpers.program import Driver


def test_the_last_session_is_open_again(driver: Driver, folder: Path) -> None:
    model = ScriptedModel([[Say("In May.")]], titles=[[Say("Harbour")]])
    driver.start(model).open_folder(folder)
    driver.ask("When does it open?")
    key = driver.window.desk.current
    driver.stop()
    driver.start(ScriptedModel())
    driver.until_shown()
    assert driver.window.desk.current == key
    assert driver.asked() == ["When does it open?"]
    assert driver.said() == "In May."
    driver.until(lambda: driver.window.windowTitle().startswith("Harbour"))


def test_an_approval_waits_over_a_restart(driver: Driver, folder: Path) -> None:
    args = {"file_path": "kept.txt", "content": "kept"}
    model = ScriptedModel([[Call("Write", args)]])
    driver.start(model).open_folder(folder)
    key = driver.window.desk.current
    driver.ask("write it")
    assert driver.vm.activity == "parked"
    driver.stop()
    assert not (folder / "kept.txt").exists()
    driver.start(ScriptedModel([[Say("Written.")]], titles=[[Say("Kept")]]))
    driver.until_shown()
    driver.until(lambda: driver.state(key) == "parked")
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    assert (folder / "kept.txt").read_text() == "kept"
    assert driver.said() == "Written."


def test_closing_while_it_answers_keeps_the_text_and_offers_to_go_on(
    driver: Driver, folder: Path
) -> None:
    never = asyncio.Event()
    model = ScriptedModel([[Say("The first half, "), Wait(never)]])
    driver.start(model).open_folder(folder)
    key = driver.window.desk.current
    driver.type("tell me")
    driver.until(lambda: "first half" in driver.said())
    assert not never.is_set()
    driver.stop()
    assert not driver.program.service._tasks, "no task is left"
    driver.start(ScriptedModel([[Say("the second half.")]], titles=[[Say("Halves")]]))
    driver.until_shown()
    assert driver.state(key) in ("idle", "interrupted")
    assert "first half" in driver.said()
    card = next(c for c in driver.vm.items() if getattr(c, "code", "") == "run.interrupted")
    assert card.actions == ("continue",)
    driver.vm.retry()
    driver.until_idle()
    assert driver.said().split("\n")[-1] == "the second half."


def test_closing_while_a_command_runs_stops_it_in_order(driver: Driver, folder: Path) -> None:
    command = "echo began > began; sleep 60; echo ended > ended"
    model = ScriptedModel([[Call("Bash", {"command": command})]])
    driver.start(model).open_folder(folder)
    driver.ask("run it")
    driver.key(Qt.Key.Key_Y)
    driver.until(lambda: (folder / "began").exists())
    driver.stop()
    driver.start(ScriptedModel())
    driver.until_shown()
    assert driver.tools()[-1].status == "interrupted"
    assert not (folder / "ended").exists()


def test_what_is_said_before_the_session_is_open_is_sent_when_it_is(
    driver: Driver, folder: Path
) -> None:
    model = ScriptedModel([[Say("In May.")]], titles=[[Say("Harbour")]])
    driver.start(model).open_folder(folder)
    driver.ask("When does it open?")
    driver.stop()
    again = ScriptedModel([[Say("In October.")]])
    driver.start(again, settled=False)
    driver.until(lambda: driver.window.chat.vm is not None and driver.said() == "In May.")
    assert driver.vm.title == "Harbour"
    opened_before = driver.vm.conversation is not None
    driver.type("And when does it close?")
    driver.until(lambda: driver.said().endswith("In October."))
    assert not opened_before, "the history is there before the session is open"
    assert driver.asked() == ["When does it open?", "And when does it close?"]


def test_another_session_wanted_while_one_is_being_opened(driver: Driver, folder: Path) -> None:
    model = ScriptedModel([[Say("In May.")]], titles=[[Say("Harbour")]])
    driver.start(model).open_folder(folder)
    first = driver.window.desk.current
    driver.ask("When does it open?")
    second = driver.new_session()
    driver.run(driver.window.desk.drop(first))
    driver.window.open_session(first)
    driver.until(lambda: driver.window.chat.vm is not None and driver.said() == "In May.")
    assert driver.vm.conversation is None
    driver.open_session(second)
    driver.open_session(first)
    assert driver.vm.conversation is not None
    assert driver.said() == "In May."
