"""What is secret stays out of the log; what a person pasted is warned of before it leaves."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from desktop_app.core import log as core_log
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.ui.widgets import ConfirmDialog
from tests.helpers.program import Driver
from tests.ui.conftest import LogGuard

KEY = "sk-" + "a1B2" * 10


def test_the_log_holds_no_key_and_no_word_of_a_chat(
    driver: Driver, folder: Path, home: Path, log_guard: LogGuard
) -> None:
    log_guard.expect("refused")
    model = ScriptedModel([[Say("I keep it to myself.")]], titles=[[Say("Quiet")]])
    driver.start(model).open_folder(folder)
    driver.ask(f"My pass phrase is heron-in-the-reeds and my key is {KEY}")
    managed = "a-managed-secret-of-ours"
    core_log.hide(managed)
    logging.getLogger("somewhere").warning("refused: Authorization: Bearer %s, %s", KEY, managed)
    driver.stop()
    logs = list((home / "state").iterdir())
    assert any(p.name == "slipway.log" for p in logs)
    for path in logs:
        data = path.read_bytes()
        assert KEY.encode() not in data
        assert managed.encode() not in data
        assert b"heron-in-the-reeds" not in data
    assert "refused: Authorization: •••" in (home / "state" / "slipway.log").read_text()
    for path in [home / "data", *(home / "data").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, f"others may read {path}"


def test_an_export_warns_and_says_where_it_went(
    driver: Driver, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.start(ScriptedModel([[Say("Noted.")]], titles=[[Say("Keys")]])).open_folder(folder)
    driver.ask(f"Remember {KEY}")
    work = driver.window.chat.work
    work.export()
    dialog = driver.dialog(ConfirmDialog)
    words = " ".join(
        label.text()
        for label in dialog.findChildren(object)
        if hasattr(label, "text") and callable(label.text)
    )
    assert "passwords or keys" in words
    dialog.reject()
    driver.until(lambda: not work.tasks)
    assert not [w for w in driver.app.topLevelWidgets() if isinstance(w, QFileDialog)]
    driver.run(work.export_to(str(tmp_path / "out.md")))
    assert KEY in (tmp_path / "out.md").read_text(), "what a person pasted stays in that chat"
    assert any("out.md" in t for t in driver.toasts())
    driver.run(work.export_to(str(tmp_path / "no" / "out.md")))
    driver.until(lambda: any("could not be written" in t for t in driver.toasts()))
