"""The process that test_outbox_crash kills: says, commits and delivers without end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from desktop_app.core.messages import Msg, TextBlock
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.outbox import Outbox

KEY = SessionKey("u", "a", "s1")


async def main(data: Path, folder: Path, until: int) -> None:
    store = SqliteJournalStore(data)
    try:
        journal = await store.open(KEY)
    except KeyError:
        journal = await store.create(KEY, {})
    workspace = LocalWorkspace(folder, id="w")
    await workspace.initialize()
    outbox = Outbox(journal, workspace)
    await outbox.load()
    promised = await journal.read(kinds=["offload"])
    number = sum(record.body()["count"] for record in promised)
    while number < until:
        msgs = [
            Msg(
                id=f"m{n}",
                name="u",
                role="user",
                content=[TextBlock(id=f"b{n}", text=f"{n} " + "x" * 3000)],
            )
            for n in range(number, number + 1 + number % 5)
        ]
        staged = await outbox.stage_messages("s1", msgs)
        outbox.add(await journal.append(staged.records))
        number += len(msgs)
        print(number, flush=True)
        await outbox.deliver()
    assert await outbox.deliver()
    print("done", number, flush=True)
    await workspace.close()
    await journal.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
