"""The panel of MCP servers over real servers: states, switches, adding, removing."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.models.network import DIRECT, Network, Route
from desktop_app.core.models.trusted import trusted_of
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.ui import i18n
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.settings.certificate_dialog import CertificateDialog
from desktop_app.ui.tools.add_server import AddServerDialog
from desktop_app.ui.tools.mcp_panel import McpPanel
from desktop_app.ui.tools.server_card import ServerCard
from desktop_app.ui.widgets import ConfirmDialog, Label
from tests.helpers.mcp import QUICK, command, declare, entry, free_port
from tests.helpers.providers import Server
from tests.helpers.proxies import certificate


class Stage:
    """A panel over the servers of one folder."""

    def __init__(self, folder: Path, run: Any, qtbot: QtBot, trusted: bool = True) -> None:
        self.root = folder / ".slipway"
        self.run, self.qtbot = run, qtbot
        self.runner = Runner()
        self.workspace = LocalWorkspace(folder, id="w", trusted=trusted)
        run(self.workspace.initialize())
        self.panel = McpPanel()
        qtbot.addWidget(self.panel)
        self.panel.resize(320, 900)

    def up(self, **sources: Any) -> McpManager:
        async def made() -> McpManager:
            return McpManager(self.workspace, self.runner, "a", "s", QUICK)

        self.manager = self.run(made())
        self.panel.bind(ChatSources(mcp=self.manager, count=len, **sources))
        self.run(self.manager.start(), 20_000)
        return self.manager

    def up_by(self, network: Network) -> None:
        """As ``up``, by the way that the network settings name; ``self.network`` may change."""
        self.network = network

        async def route(url: str) -> Route:
            return self.network.route(url)

        async def made() -> McpManager:
            return McpManager(self.workspace, self.runner, "a", "s", QUICK, route=route)

        self.manager = self.run(made())
        self.panel.bind(ChatSources(mcp=self.manager, count=len))
        self.run(self.manager.start(), 20_000)

    def card(self, name: str) -> ServerCard:
        return next(c for c in self.panel.cards if c.view is not None and c.view.name == name)

    def until(self, done: Callable[[], bool], ms: int = 20_000) -> None:
        self.qtbot.waitUntil(done, timeout=ms)

    def states(self) -> dict[str, str]:
        return {view.name: view.state for view in self.panel.servers}

    def close(self) -> None:
        self.run(self.panel.close_tasks())
        self.run(self.manager.close(), 15_000)
        self.run(self.runner.close(), 15_000)
        self.run(self.workspace.close())


@pytest.fixture
def stage(tmp_path: Path, run: Any, qtbot: QtBot) -> Iterator[Stage]:
    made = Stage(tmp_path, run, qtbot)
    yield made
    made.close()


def test_each_server_says_how_it_is_and_why(stage: Stage) -> None:
    declare(
        stage.root,
        entry("good", "raw.py", "bad_items"),
        entry("broken", "raw.py", "dies_at_once"),
        entry("off", "raw.py", "plain", disabled=True),
        {"name": "no config"},
    )
    stage.up()
    stage.until(lambda: stage.states().get("broken") == "failed")
    stage.until(lambda: stage.states().get("good") == "ok")
    good, broken, off = (stage.card(name) for name in ("good", "broken", "off"))
    assert good.state.text() == "Connected, 4 tools"
    assert broken.state.text() == "Failed"
    assert "cannot read the token" in broken.reason.text()
    assert off.state.text() == "Switched off"
    assert not off.switch.isChecked()
    bad = stage.card("no config")
    assert bad.switch.isHidden()
    assert bad.state.text() == "Cannot be used"
    broken.output_button.click()
    assert "cannot read the token" in broken.output.text()
    good.tools_button.click()
    assert [row.name.text() for row in good._rows] == ["good", "odd_hints", "bare", "refs"]
    assert "It requires ghost without describing it" in good._rows[3].toolTip()
    assert "requires" not in good._rows[0].toolTip()
    assert "its schema is missing" in good.bad.text()
    i18n.set_language("zh_CN")
    stage.until(lambda: good.state.text() == "已连接，4 个工具")
    i18n.set_language("en")


def test_a_whole_line_in_place_of_the_program_is_split_by_a_press(stage: Stage) -> None:
    line = shlex.join(command("raw.py", "plain"))
    declare(
        stage.root,
        {"name": "line", "mcp_config": {"type": "stdio_mcp", "command": line}},
    )
    stage.up()
    stage.until(lambda: stage.states() == {"line": "failed"})
    card = stage.card("line")
    stage.until(lambda: not card.split_button.isHidden())
    assert f"“{command('raw.py')[0]}” is meant" in card.reason.text()
    card.split_button.click()
    stage.until(lambda: stage.states() == {"line": "ok"})
    assert card.split_button.isHidden()


def test_switches_reach_the_file_and_the_servers(stage: Stage) -> None:
    path = declare(stage.root, entry("raw", "raw.py", "plain"))
    manager = stage.up()
    stage.until(lambda: stage.states() == {"raw": "ok"})
    card = stage.card("raw")
    card.tools_button.click()
    die = next(row for row in card._rows if row.name.text() == "die")
    die.switch.click()
    stage.until(lambda: "mcp__raw__die" not in [t.name for t in manager.tools()])
    stage.until(lambda: not die.switch.isChecked())
    card.switch.click()
    stage.until(lambda: stage.states() == {"raw": "off"})
    declared = json.loads(path.read_text())["mcps"][""][""][0]
    assert (declared["disabled"], declared["disable_tools"]) == (True, ["die"])
    card.switch.click()
    stage.until(lambda: stage.states() == {"raw": "ok"})


def test_a_file_that_changed_under_us_is_told(stage: Stage) -> None:
    path = declare(stage.root, entry("raw", "raw.py", "plain"))
    stage.up()
    stage.until(lambda: stage.states() == {"raw": "ok"})
    path.write_text("{")
    stage.card("raw").switch.click()
    stage.until(lambda: not stage.panel.error.isHidden())
    assert "was not changed" in stage.panel.error.text()
    assert path.read_text() == "{"


def _dialog(kind: type) -> Any:
    return next((w for w in QApplication.topLevelWidgets() if isinstance(w, kind)), None)


def test_adding_and_removing(stage: Stage) -> None:
    stage.panel.show()
    stage.up()
    stage.until(lambda: not stage.panel.empty.isHidden())
    stage.panel.add()
    stage.until(lambda: _dialog(AddServerDialog) is not None)
    dialog: AddServerDialog = _dialog(AddServerDialog)
    dialog.what.edit.setText(shlex.join(command("raw.py", "plain")))
    assert dialog.name.text() == "raw"
    assert "Would run" in dialog.note.text()
    dialog.hidden.edit.setText("TOKEN=very secret")
    assert dialog.hidden.edit.echoMode() == QLineEdit.EchoMode.Password
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    stage.until(lambda: stage.states() == {"raw": "ok"})
    entry_made = json.loads((stage.root / ".mcp").read_text())["mcps"][""][""][0]
    assert entry_made["mcp_config"]["env"] == {"TOKEN": "very secret"}
    assert (stage.root / ".gitignore").exists()
    card = stage.card("raw")
    shown = " ".join(label.text() for label in (card.where, card.state, card.reason))
    assert "secret" not in shown
    card.remove_button.click()
    stage.until(lambda: _dialog(ConfirmDialog) is not None)
    _dialog(ConfirmDialog).accept()
    stage.until(lambda: stage.panel.servers == [])
    assert json.loads((stage.root / ".mcp").read_text())["mcps"][""][""] == []


def test_a_server_that_was_added_comes_into_view(stage: Stage) -> None:
    declare(stage.root, *(entry(f"s{n}", "raw.py", "plain", disabled=True) for n in range(8)))
    stage.panel.resize(320, 400)
    stage.panel.show()
    stage.up()
    stage.until(lambda: len(stage.panel.cards) == 8)
    stage.panel.add()
    stage.until(lambda: _dialog(AddServerDialog) is not None)
    dialog: AddServerDialog = _dialog(AddServerDialog)
    dialog.what.edit.setText(shlex.join(command("raw.py", "plain")))
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    stage.until(lambda: stage.states().get("raw") == "ok")
    card, area = stage.card("raw"), stage.panel.area

    def seen() -> bool:
        top = card.mapTo(area.viewport(), QPoint(0, 0)).y()
        return top >= 0 and top + card.height() <= area.viewport().height()

    stage.until(seen)
    area.verticalScrollBar().setValue(0)
    stage.panel.refresh()
    stage.until(lambda: not stage.panel._added)
    assert area.verticalScrollBar().value() == 0, "afterwards the person's place is theirs"


def test_the_dialog_takes_the_height_that_a_long_command_needs(qtbot: QtBot) -> None:
    dialog = AddServerDialog(None)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.what.edit.setText("node " + "a-long-option " * 12)
    two_lines = dialog.note.fontMetrics().height() * 2
    qtbot.waitUntil(lambda: dialog.note.height() >= two_lines)
    qtbot.waitUntil(lambda: dialog.pairs.geometry().bottom() + 8 <= _below(dialog).top())


def _below(dialog: AddServerDialog) -> QRect:
    """Where the label below the variables is."""
    label = next(w for w in dialog.findChildren(Label) if w.text() == "A secret")
    return label.geometry()


def test_what_cannot_be_added_is_said_in_the_dialog(qtbot: QtBot) -> None:
    dialog = AddServerDialog(None, ["taken"])
    qtbot.addWidget(dialog)
    assert not dialog.ok.isEnabled()
    dialog.what.edit.setText("https://docs.example.org/mcp?key=1")
    assert dialog.name.text() == "docs-example-org"
    dialog.name.edit.setText("taken")
    dialog._accept()
    assert dialog.result() == 0
    assert dialog.name._reason.text() == "This name is taken."
    dialog.name.edit.setText("bad name")
    dialog._accept()
    assert "Letters" in dialog.name._reason.text()
    dialog.name.edit.setText("docs")
    dialog.pairs.setPlainText("Authorization: Bearer x\nnonsense")
    dialog._accept()
    assert "NAME=value" in dialog.hidden._reason.text()
    dialog.pairs.setPlainText("Authorization: Bearer x")
    dialog._accept()
    assert dialog.result() == 1
    made = dialog.server()
    assert made.headers == {"Authorization": "Bearer x"}
    assert made.url == "https://docs.example.org/mcp?key=1"
    assert dialog.scope() == "workspace"


def test_signing_in_and_out(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        """The browser: it follows the page back to us, in a thread of its own."""
        opened.append(url.toString())
        threading.Thread(target=urlopen, args=(url.toString(),), daemon=True).start()
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    port = free_port()
    config = {"type": "http_mcp", "url": f"http://127.0.0.1:{port}/mcp"}
    declare(stage.root, {"name": "guarded", "is_stateful": True, "mcp_config": config})
    guarded = subprocess.Popen(command("guarded.py", str(port), str(tmp_path / "notes")))
    try:
        stage.until(lambda: _answers(port))
        stage.up()
        stage.until(lambda: stage.states() == {"guarded": "failed"})
        card = stage.card("guarded")
        assert "wants you to sign in" in card.reason.text()
        assert opened == []
        card.sign_in_button.click()
        stage.until(lambda: stage.states() == {"guarded": "ok"})
        assert len(opened) == 1
        assert "until the program ends" in card.signed.text()
        assert card.sign_in_button.isHidden()
        card.sign_out_button.click()
        stage.until(lambda: not card.sign_in_button.isHidden())
        assert card.signed.isHidden()
    finally:
        guarded.kill()
        guarded.wait()


def _answers(port: int) -> bool:
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def test_a_session_that_is_only_read_changes_nothing(stage: Stage) -> None:
    declare(stage.root, entry("raw", "raw.py", "plain"))
    stage.up(writable=False)
    stage.until(lambda: stage.states() == {"raw": "ok"})
    card = stage.card("raw")
    assert not card.switch.isEnabled()
    assert card.remove_button.isHidden()
    assert not stage.panel.add_button.isEnabled()


def test_a_certificate_is_looked_at_and_trusted_for_its_host(
    stage: Stage, qtbot: QtBot, tmp_path: Path
) -> None:
    _, tls = certificate(tmp_path, "localhost")
    with Server(tls=tls) as server:
        url = f"https://localhost:{server.port}/mcp"
        config = {"type": "http_mcp", "transport": "streamable_http", "url": url}
        declare(stage.root, {"name": "far", "is_stateful": True, "mcp_config": config})
        stage.up_by(Network(DIRECT))
        stage.until(lambda: bool(stage.panel.cards) and bool(stage.card("far").reason.text()))
        card = stage.card("far")
        stage.until(lambda: not card.trust_button.isHidden())
        assert "The connection is not safe" in card.reason.text()
        assert "SHA-256" not in card.reason.text(), "the dialog shows it, where it has room"
        with qtbot.waitSignal(stage.panel.trustWanted) as asked:
            card.trust_button.click()
        code, params, then = asked.args or []
        dialog = CertificateDialog(None, params, changed=code.endswith("_changed"))
        qtbot.addWidget(dialog)
        assert dialog.one.at == f"localhost:{server.port}"
        assert dialog.one.mark == params["seen"]["mark"]
        stage.network = Network(DIRECT, trusted=tuple(trusted_of(dialog.value({}))))
        then()
        stage.until(lambda: bool(server.asked))
        stage.until(lambda: card.trust_button.isHidden())
        assert "not safe" not in card.reason.text()
