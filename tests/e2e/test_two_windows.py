"""One session in two windows: one writes, the other shows it live and may take over."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.errors import SessionError
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import NewRecord, SessionKey
from tests.helpers.program import Driver
from tests.helpers.sessions import collect


async def other_window(home: Path, model: ScriptedModel) -> Slipway:
    """The program a second time, without its window."""
    service = await Slipway.open(paths(home))
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    return service


async def talk(service: Slipway, key: SessionKey, text: str) -> SessionConversation:
    conversation = await service.conversation(key)
    assert isinstance(conversation, SessionConversation)
    await collect(conversation.send(text))
    return conversation


def test_the_second_is_read_only_and_live_and_takes_over(
    driver: Driver, folder: Path, home: Path
) -> None:
    model = ScriptedModel(
        [
            [Say("First answer.")],
            [Call("Read", {"file_path": "notes.md"})],
            [Say("Second answer.")],
            [Call("Write", {"file_path": "a.txt", "content": "a"})],
        ],
        titles=[[Say("Shared")]],
    )
    run = driver.run
    first = run(other_window(home, model))
    info = run(first.add_folder(str(folder), trusted=True))
    key = run(first.new_session(info.id))
    theirs = run(talk(first, key, "one"))

    driver.start(ScriptedModel([[Say("From the new writer.")]]))
    driver.open_session(key)
    assert driver.said() == "First answer."
    assert "another window" in driver.why_disabled().lower()
    assert not driver.vm.writable
    run(collect(theirs.send("two")))
    driver.until(lambda: "Second answer." in driver.said())
    assert driver.asked() == ["one", "two"]
    assert [t.status for t in driver.tools()] == ["success"]
    # What waits there is not ours to answer.
    run(collect(theirs.send("three")))
    driver.until(lambda: len(driver.tools()) == 2)
    assert not driver.window.chat.approval.isVisible()
    assert not driver.window.chat.composer.stop.isVisible()
    run(theirs.set_title("Named there"))
    driver.until(lambda: driver.window.windowTitle().startswith("Named there"))
    assert driver.vm.conversation.state.model_dump() == theirs.state.model_dump()

    composer = driver.window.chat.composer
    assert composer.way.text() == "Take over"
    QTest.mouseClick(composer.way, Qt.MouseButton.LeftButton)
    driver.until(lambda: driver.window.chat.vm is not None and driver.vm.writable)
    driver.until_shown()
    assert driver.why_disabled() == ""
    driver.until(lambda: driver.window.chat.approval.isVisible())
    with pytest.raises(SessionError, match=r"journal\.fenced"):
        run(theirs.log.append(NewRecord("title", {"title": "x", "by": "person"})))
    assert not theirs.writable
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    assert (folder / "a.txt").read_text() == "a"
    assert driver.said().endswith("From the new writer.")
    run(first.close())


def test_a_window_that_lost_its_session_says_so_and_takes_it_back(
    driver: Driver, folder: Path, home: Path
) -> None:
    model = ScriptedModel([[Say("Mine.")], [Say("Again mine.")]], titles=[[Say("Mine")]])
    driver.start(model).open_folder(folder)
    driver.ask("one")
    key = driver.window.desk.current
    other = driver.run(other_window(home, ScriptedModel([[Say("Theirs.")]])))
    driver.run(other.take_over(key))
    driver.run(talk(other, key, "from there"))
    driver.ask("two")
    driver.until(lambda: "another window took" in driver.why_disabled().lower())
    assert driver.window.chat.composer.text() == "two", "what could not be sent is not lost"
    QTest.mouseClick(driver.window.chat.composer.way, Qt.MouseButton.LeftButton)
    driver.until(lambda: driver.window.chat.vm is not None and driver.vm.writable)
    driver.until_shown()
    assert driver.asked() == ["one", "from there"]
    assert driver.window.chat.composer.text() == "two"
    driver.window.chat.composer.set_content("", [])
    driver.ask("three")
    assert driver.said().endswith("Again mine.")
    driver.run(other.close())
