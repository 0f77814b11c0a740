"""A workspace of another program: trust, its sessions to be read, going on from one."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.ui.widgets import TrustDialog
from tests.helpers.program import Driver


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_restricted_then_trusted_and_nothing_of_it_is_touched(
    driver: Driver, foreign: Path
) -> None:
    before = bytes_of(foreign)
    driver.start(ScriptedModel())
    window = driver.window
    window.workspaces.open_folder(str(foreign))
    dialog = driver.dialog(TrustDialog)
    dialog.reject()
    driver.until(lambda: driver.note("agentscope") == "restricted")
    assert not driver.workspace("agentscope").info.trusted
    workspace = driver.workspace("agentscope")
    window.pane.folders.review_trust(workspace)
    dialog = driver.dialog(TrustDialog)
    dialog.accept()
    driver.until(lambda: driver.workspace("agentscope").info.trusted)
    driver.until(lambda: driver.note("agentscope") == "1 session")
    assert driver.note("session-abc") == "read-only"
    driver.stop()
    assert bytes_of(foreign) == before


def test_its_session_is_read_and_goes_on_in_a_new_one(driver: Driver, foreign: Path) -> None:
    model = ScriptedModel([[Say("It goes on here.")]], titles=[[Say("Going on")]])
    driver.start(model)
    window = driver.window
    window.workspaces.open_folder(str(foreign))
    driver.dialog(TrustDialog).accept()
    driver.until(lambda: window.desk.current is not None)
    driver.until_shown()
    foreign_session = next(s for s in driver.workspace("agentscope").sessions if s.foreign)
    driver.open_session(foreign_session.key)
    assert driver.asked()[0].startswith("看这张图 describe")
    assert "I will run a tool" in driver.said()
    call = driver.tools()[0]
    assert (call.name, call.status) == ("Bash", "success")
    assert "a.txt" in call.output
    assert "another program" in driver.why_disabled().lower()
    for tab in ("files", "tools", "compactions", "context"):
        window.areas.open(tab)
    shown = window.inspector.context
    assert "Another program wrote this session" in shown._empty.text.text()
    assert shown._empty.isVisibleTo(window)
    assert not window.chat_status.gauge.isVisibleTo(window), "there is no window to fill"
    assert not window.chat.header.agent.isVisibleTo(window), "an id is no name"
    assert driver.vm.voice.agent == "Assistant"
    rows = [i.id for i in driver.vm.items()]

    composer = window.chat.composer
    assert composer.way.text() == "Continue in a new session"
    QTest.mouseClick(composer.way, Qt.MouseButton.LeftButton)
    driver.until(lambda: window.desk.current != foreign_session.key)
    driver.until_shown()
    assert driver.vm.writable
    assert [i.id for i in driver.vm.items() if i.id[0] != "x"] == rows, (
        "the same history, in a session of ours"
    )
    assert driver.why_disabled() == ""
    driver.ask("And now?")
    assert driver.said().endswith("It goes on here.")
    sent = model.requests[0].messages
    assert any("I will run a tool" in m.text() for m in sent), "the model knows what was said"


def test_one_that_a_service_may_be_using_is_read_until_the_person_opens_it_anyway(
    driver: Driver, foreign: Path
) -> None:
    os.utime(foreign / ".mcp")
    before = bytes_of(foreign)
    driver.start(ScriptedModel([[Say("Hello.")]], titles=[[Say("Greeting")]]))
    window = driver.window
    window.workspaces.open_folder(str(foreign))
    driver.dialog(TrustDialog).accept()
    driver.until(lambda: driver.note("agentscope") == "in use")
    driver.until(lambda: window.desk.current is not None)
    driver.until(lambda: "not by Slipway" in driver.why_disabled())
    composer = window.chat.composer
    assert composer.way.text() == "Open anyway"
    assert bytes_of(foreign) == before
    QTest.mouseClick(composer.way, Qt.MouseButton.LeftButton)
    driver.until(lambda: driver.why_disabled() == "")
    driver.until_shown()
    driver.ask("Hello?")
    assert driver.said().endswith("Hello.")
