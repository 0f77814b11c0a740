"""The program in the test of what a finished line left running. Usage: HOME

Its agent runs a line that starts a server in the background and ends; ``ready`` is said when the
line's result is in the journal. Then it waits to be killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from tests.helpers.sessions import collect

# As "npm start &": it prints nowhere, and what it starts later is in its group too.
SERVER = "sh -c 'while :; do sleep 700 & echo $! > {n}; wait; done' >/dev/null 2>&1 &"


async def work(home: Path) -> None:
    service = await Slipway.open(paths(home / "home"))
    model = ScriptedModel(
        [[Call("Bash", {"command": SERVER.format(n="child")})], [Say("It serves.")]],
        titles=[[Say("t")]],
    )
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    (home / "folder").mkdir()
    place = await service.add_folder(str(home / "folder"), trusted=True)
    talk = await service.conversation(await service.new_session(place.id))
    await talk.set_mode("bypass")
    await collect(talk.send("serve it"))
    os.write(1, b"ready\n")
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
