"""The other process in tests of commands that outlive their program. Usage: ROOT [LINE]

Starts one in the background that writes its process ids to ``folder/child`` and ``folder/stray``
and prints a line, says ``ready`` once the line is in the session's file, and waits to be killed.
With LINE the agent waits for that one instead; ``ready`` is said as it starts.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from desktop_app.core.events import ToolStarted
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import Bench, collect

LINE = "(setsid sleep 700 & echo $! > stray); sleep 700 & echo $! > child; echo up; wait"


async def wait_for_it(root: Path, line: str) -> None:
    model = ScriptedModel([[Call("Bash", {"command": line})]])
    bench = Bench(root / "folder", model, store=SqliteJournalStore(root / "journals"))
    talk = await bench.open(mode="bypass", model="scripted")
    started = asyncio.Event()
    talk.listen(lambda event: started.set() if isinstance(event, ToolStarted) else None)
    turn = bench.tasks.start(collect(talk.send("start it")), name="turn")
    await started.wait()
    os.write(1, b"ready\n")
    await turn


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
    folder = Path(sys.argv[1])
    asyncio.run(wait_for_it(folder, sys.argv[2]) if len(sys.argv) > 2 else work(folder))
