"""kill -9 of the program while a command runs, in the background or with the agent waiting for it:
nothing of it stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from desktop_app.core.messages import TextBlock, ToolResultBlock
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import REPO, end
from tests.helpers.sessions import Bench, collect

pytestmark = pytest.mark.crash


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(*pids: int) -> bool:
    deadline = time.monotonic() + 20
    while any(runs(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


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
    assert gone(*pids)
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


# One that may have changed something, with a stray that left its group; one that only reads: its
# beginning is not even in the journal, and it is planned anew when the person goes on.
@pytest.mark.parametrize(
    ("line", "sleeps", "fate"),
    [
        ("(setsid sleep 700 &); touch done; sleep 700 & wait", 2, "unknown"),
        ("sleep 30", 1, "not_started"),
    ],
)
async def test_one_that_the_agent_waits_for_is_ended_too(
    tmp_path: Path, line: str, sleeps: int, fate: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.command_child", str(tmp_path), line],
        cwd=REPO,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    found: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while len(found) < sleeps:
        assert time.monotonic() < deadline, "it never started"
        found = asleep(folder)
    child.send_signal(signal.SIGKILL)
    child.wait()
    end(child)
    pids = [process.pid for process in found]
    assert all(runs(pid) for pid in pids), "the kill leaves them behind"

    b = Bench(folder, ScriptedModel(), store=SqliteJournalStore(tmp_path / "journals"))
    c = await b.open()
    assert gone(*pids)
    assert c.recovered is not None
    assert [became for _, _, became in c.recovered.operations] == [fate]
    told = [m.text() for m in c.state.context] + [
        part.text
        for m in c.state.context
        for block in m.content
        if isinstance(block, ToolResultBlock) and not isinstance(block.output, str)
        for part in block.output
        if isinstance(part, TextBlock)
    ]
    assert any("What still ran of it was ended" in text for text in told) == (fate == "unknown")
    assert c.resumable
    await c.close()
    await b.close()


def asleep(folder: Path) -> list[psutil.Process]:
    """What sleeps in the folder now."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() == "sleep" and process.cwd() == str(folder):
                found.append(process)
    return found


async def test_what_a_finished_line_left_in_the_background_is_ended_with_the_next_start(
    tmp_path: Path,
) -> None:
    """``npm start &``: the line is over, its server is not. In order it would end with the
    workspace; a killed program's ends when the program starts again, whichever session is opened,
    and no other program's does."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.left_child", str(tmp_path)],
        cwd=REPO,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        server = int((tmp_path / "folder" / "child").read_text())
        os.kill(server, signal.SIGKILL)  # one that is started since, and was never noted
        written = tmp_path / "folder" / "child"
        deadline = time.monotonic() + 20
        while (now := written.read_text().strip()) in ("", str(server)):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        server = int(now)
        beside = await Slipway.open(paths(tmp_path / "home"))  # a second window
        await beside.close()
        assert runs(server), "the program that it belongs to lives"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        end(child)
    assert runs(server), "the kill leaves it behind"
    (noted,) = (tmp_path / "home" / "state" / "left-running").iterdir()
    with noted.open("a") as file:  # what must not matter: a cut line, a group that is another's now
        file.write(f'{{"group": {os.getpgrp()}, "mark": "not ours"}}\n{{"gro')
    service = await Slipway.open(paths(tmp_path / "home"))
    assert await asyncio.to_thread(gone, server)
    async with asyncio.timeout(20):
        while list(noted.parent.iterdir()):  # looked at once, and not by every start from now on
            await asyncio.sleep(0.02)
    await service.close()
