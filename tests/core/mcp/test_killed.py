"""The program is killed: its servers end by themselves, their input is gone."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.helpers.mcp import alive, until

CHILD = """
import asyncio, sys
from tests.helpers.mcp import Bench
from desktop_app.core.mcp.runner import Runner

async def main():
    bench = Bench(Runner())
    await bench.ok("raw.py", "plain", sys.argv[1])
    print("up", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.crash
async def test_servers_of_a_killed_program_end(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(notes), stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    assert await asyncio.wait_for(child.stdout.readline(), 60) == b"up\n"
    server = int(re.search(r"start (\d+)", notes.read_text())[1])  # type: ignore[index]
    assert alive(server)
    child.send_signal(signal.SIGKILL)
    await child.wait()
    await until(lambda: not alive(server))
