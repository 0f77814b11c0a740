"""MCP servers in the real window: trusted, called after approval, seen in the inspector."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.agent import servers as servers_of
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.ui.settings.certificate_dialog import CertificateDialog
from desktop_app.ui.widgets import Label, TrustDialog
from tests.helpers.mcp import children, declare, entry
from tests.helpers.program import Driver
from tests.helpers.providers import Server
from tests.helpers.proxies import certificate


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


def test_a_servers_certificate_is_trusted_for_its_host(
    driver: Driver, folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers_of, "NEW_SECONDS", 60.0)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    _, tls = certificate(tmp_path, "localhost")
    with Server(tls=tls) as server:
        url = f"https://localhost:{server.port}/mcp"
        config = {"type": "http_mcp", "transport": "streamable_http", "url": url}
        far = {"name": "far", "is_stateful": True, "mcp_config": config}
        declare(folder / ".slipway", far)
        driver.start(ScriptedModel([[Say("Hello.")]], titles=[[Say("Greeting")]]))
        driver.window.workspaces.open_folder(str(folder))
        driver.dialog(TrustDialog).accept()
        driver.until(lambda: driver.window.desk.current is not None)
        driver.until_shown()
        driver.window.inspector.show_tab("tools")
        driver.ask("hello", 90_000)
        servers = driver.window.inspector.tools.servers
        driver.until(lambda: bool(servers.cards) and not servers.cards[0].trust_button.isHidden())
        assert not server.asked
        servers.cards[0].trust_button.click()
        dialog = driver.dialog(CertificateDialog)
        assert dialog.one.at == f"localhost:{server.port}"
        QTest.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
        driver.until(lambda: bool(server.asked), 60_000)
        kept = json.loads((home / "config" / "settings.json").read_text())
        assert kept["trusted_certificates"][dialog.one.at]["sha256"] == dialog.one.mark
        driver.stop()
