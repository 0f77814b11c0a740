"""The other process in tests of background commands that outlive their program. Usage: ROOT

Starts one in the background that writes its process ids to ``folder/pids`` and prints a line, says
``ready`` once the line is in the session's file, and waits to be killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import Bench, collect

LINE = "(setsid sleep 700 & echo $! > stray); sleep 700 & echo $! > child; echo up; wait"


async def work(root: Path) -> None:
    model = ScriptedModel(
        [[Call("Bash", {"command": LINE, "run_in_background": True})], [Say("It runs.")]],
    )
    bench = Bench(root / "folder", model, store=SqliteJournalStore(root / "journals"))
    talk = await bench.open(mode="bypass", model="scripted")
    await collect(talk.send("start it"))
    command = talk.commands.get("bg1")
    assert command is not None
    while (root / "folder" / command.path).read_text() != "up\n":
        await asyncio.sleep(0.01)
    os.write(1, b"ready\n")
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
