"""kill -9 of the program while a command runs in the background: nothing of it stays behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import REPO, end
from tests.helpers.sessions import Bench, collect

pytestmark = pytest.mark.crash


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_it_is_found_and_ended_and_its_end_is_told_as_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.command_child", str(tmp_path)],
        cwd=REPO,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    end(child)
    pids = [int((folder / name).read_text()) for name in ("child", "stray")]
    assert all(runs(pid) for pid in pids), "the kill leaves them behind"

    model = ScriptedModel([[Say("I looked.")], [Say("t")]])
    b = Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))
    c = await b.open()
    deadline = time.monotonic() + 5
    while any(runs(pid) for pid in pids):
        assert time.monotonic() < deadline
    command = c.commands.get("bg1")
    assert command is not None
    assert command.ended is not None
    assert (command.ended.why, command.ended.bytes) == ("lost", 3)
    assert await c.commands.text("bg1") == "up\n"
    await collect(c.send("what became of it?"))
    told = [m.text() for r in model.requests for m in r.messages]
    assert any("its outcome is unknown" in text for text in told)
    head = c.log.now.head
    await c.close()
    c = await b.open()
    assert c.log.now.head == head, "told once"
    await c.close()
    await b.close()
