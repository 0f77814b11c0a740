"""Processes end before the loop that waits for them: asyncio would be told of their end on a closed
loop, and nobody would know what became of them."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from tests.helpers.mcp import QUICK, Bench, alive, declare, entry, until


def _pid(notes: Path) -> int:
    return int(notes.read_text().split()[1])  # "start PID"


def _all_ended(notes: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The server is gone, and asyncio was told so while its loop was open."""
    assert not alive(_pid(notes))
    waiting = [t for t in threading.enumerate() if t.name.startswith("asyncio-waitpid")]
    for thread in waiting:
        thread.join(5)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []


async def test_a_closed_runner_has_ended_its_servers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes = tmp_path / "notes"
    bench = Bench(Runner())
    await bench.ok("raw.py", "late", str(notes))
    await bench.runner.close()
    _all_ended(notes, caplog)


async def test_stopping_cut_short_ends_the_server_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes = tmp_path / "notes"
    bench = Bench(Runner())
    connection = await bench.ok("raw.py", "late", str(notes))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(connection.stop(), 0.1)
    await bench.runner.close()
    _all_ended(notes, caplog)


async def test_a_server_stopped_while_it_starts_is_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes = tmp_path / "notes"
    bench = Bench(Runner())
    bench.connect("raw.py", "mute", str(notes))
    await until(lambda: notes.exists() and notes.read_text().endswith("\n"))
    await bench.runner.close()
    _all_ended(notes, caplog)


async def test_closing_waits_for_servers_that_were_just_switched_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes = tmp_path / "notes"
    workspace = LocalWorkspace(tmp_path, id="w", trusted=True)
    await workspace.initialize()
    declare(tmp_path / ".slipway", entry("late", "raw.py", "late", str(notes)))
    runner = Runner()
    manager = McpManager(workspace, runner, "a", "s", QUICK)
    await manager.start()
    await until(lambda: bool(manager.tools()))
    await manager.set_enabled("late", False)
    await manager.close()
    assert not alive(_pid(notes))
    await runner.close()
    _all_ended(notes, caplog)
    await workspace.close()
