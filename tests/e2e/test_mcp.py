"""MCP servers in the real window: trusted, called after approval, seen in the inspector."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from desktop_app.core.agent import servers as servers_of
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.ui.widgets import Label, TrustDialog
from tests.helpers.mcp import children, declare, entry
from tests.helpers.program import Driver


def test_a_server_is_called_after_approval_and_ends_with_the_program(
    driver: Driver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers_of, "NEW_SECONDS", 60.0)  # however busy the machine is
    before = set(children())
    declare(folder / ".slipway", entry("plain", "plain.py"), entry("bad", "raw.py", "dies_at_once"))
    model = ScriptedModel(
        [[Call("mcp__plain__write_note", {"text": "rope"})], [Say("It is noted.")]],
        titles=[[Say("Notes")]],
    )
    driver.start(model)
    driver.window.workspaces.open_folder(str(folder))
    dialog = driver.dialog(TrustDialog)  # it came with programs to be run
    assert "dies_at_once" in " ".join(label.text() for label in dialog.findChildren(Label))
    dialog.accept()
    driver.until(lambda: driver.window.desk.current is not None)
    driver.until_shown()
    inspector = driver.window.inspector
    inspector.show_tab("tools")
    servers = inspector.tools.servers
    driver.until(lambda: [v.name for v in servers.servers] == ["plain", "bad"])
    assert set(children()) == before, "looking starts nothing"
    driver.type("note the rope")
    driver.until(lambda: driver.vm.activity == "parked", 60_000)
    card = driver.window.chat.approval
    driver.until(card.isVisible)
    assert "write_note of the MCP server plain" in card._values[0].text()
    driver.key(Qt.Key.Key_Y)
    driver.until_idle()
    tool = driver.tools()[-1]
    assert (tool.status, tool.output) == ("success", "kept: rope")
    driver.until(lambda: {v.name: v.state for v in servers.servers}["bad"] in ("waiting", "failed"))
    states = {v.name: v.state for v in servers.servers}
    assert states["plain"] == "ok"
    assert set(children()) != before
    driver.stop()
    driver.until(lambda: set(children()) == before)
