"""The disk is full in the middle of a turn: it is told, nothing is run, and it goes on later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from desktop_app.core.agent.fold import Folder
from desktop_app.core.models.scripted import Call, Reached, Say, ScriptedModel, Wait
from tests.helpers.journals import largest_file
from tests.helpers.program import Driver
from tests.ui.conftest import LogGuard


@pytest.fixture(autouse=True)
def announced(log_guard: LogGuard) -> Iterator[None]:
    """A full disk is in the log (which may be unable to say so)."""
    yield
    log_guard.announced += ["could not be saved", "disk.full"]
    log_guard.seen += ["could not be saved disk.full"]


def replay(driver: Driver) -> dict:
    """The journal folded anew."""
    talk = driver.vm.conversation
    folder = Folder(talk.key.session_id)
    folder.replay(driver.run(talk.log.journal.read()))
    return folder.now.state.model_dump()


def test_while_it_answers(driver: Driver, folder: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(
        [[Say("A whole answer"), Wait(gate), Say(" to you.")], [Say("More.")]],
        titles=[[Say("Full")], [Say("Full")]],
    )
    driver.start(model).open_folder(folder)
    driver.type("one")
    driver.until(lambda: "A whole answer" in driver.said())
    with largest_file(1):
        gate.set()
        driver.until(lambda: not driver.vm.busy)
        assert "disk.full" in driver.cards()
        assert "A whole answer" in driver.said()
        # While it is full a new message comes back to where it was written.
        driver.ask("two")
        assert driver.window.chat.composer.text() == "two"
        assert driver.asked() == ["one"]
    driver.window.chat.composer.set_content("", [])
    driver.ask("two, again")
    assert driver.asked() == ["one", "two, again"]
    assert driver.said().replace("\n", "") == "A whole answer to you.More."
    state = driver.vm.conversation.state
    assert "to you." in state.context[1].text(), "the answer that did not fit was saved later"
    assert replay(driver) == state.model_dump()


def test_no_tool_starts_that_cannot_be_written_down(driver: Driver, folder: Path) -> None:
    model = ScriptedModel(
        [[Call("Bash", {"command": "echo once >> ran"})], [Say("Done.")]],
        titles=[[Say("Full")]],
    )
    driver.start(model).open_folder(folder)
    driver.ask("run it")
    with largest_file(1):
        driver.key(Qt.Key.Key_Y)
        driver.until(lambda: "disk.full" in driver.cards())
        driver.until(lambda: driver.vm.activity == "parked")
    assert not (folder / "ran").exists()
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    assert (folder / "ran").read_text() == "once\n"
    assert driver.said() == "Done."


def test_a_result_that_did_not_fit_is_saved_later_and_nothing_runs_twice(
    driver: Driver, folder: Path
) -> None:
    reached = asyncio.Event()
    command = "echo once >> ran; while [ ! -e go ]; do sleep 0.02; done; echo said"
    model = ScriptedModel(
        [[Reached(reached), Call("Bash", {"command": command})], [Say("Done.")]],
        titles=[[Say("Full")]],
    )
    driver.start(model).open_folder(folder)
    driver.ask("run it")
    driver.key(Qt.Key.Key_Y)
    driver.until(lambda: (folder / "ran").exists())
    driver.until(lambda: (folder / "ran").read_text() == "once\n")
    with largest_file(1):
        (folder / "go").touch()
        driver.until(lambda: "disk.full" in driver.cards())
        driver.until(lambda: not driver.vm.busy)
    driver.vm.retry()
    driver.until(lambda: driver.said() == "Done.")
    driver.until_idle()
    assert (folder / "ran").read_text() == "once\n"
    call = driver.tools()[0]
    assert "said" in driver.vm.conversation.state.context[1].tool_results()[0].text()
    assert (call.status, len(driver.tools())) == ("success", 1)
    assert replay(driver) == driver.vm.conversation.state.model_dump()
