"""The other process in tests of journals. Usage: ROOT hold | race | write SEED [KILL_AT]

hold: opens for writing, says whether it writes, appends one record for each line it is given and
says its number or the code of the error. write: appends, keeps drafts and stores blobs until it is
killed, and says after each acknowledgement what is durable; with KILL_AT it kills itself before
that operation on the disk.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import KEY, Disk, said


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


async def hold(store: SqliteJournalStore) -> None:
    journal = await store.open(KEY)
    say("writer" if journal.info.writable else f"reader {journal.info.why}")
    while text := sys.stdin.readline():
        try:
            (record,) = await journal.append([said(text.strip())])
            say(str(record.seq))
        except SessionError as error:
            say(error.code)
    await journal.close()


async def race(store: SqliteJournalStore) -> None:
    sys.stdin.readline()
    await hold(store)


async def write(store: SqliteJournalStore, seed: int) -> None:
    rng = random.Random(seed)
    journal = await store.open(KEY)
    say("writer" if journal.info.writable else f"reader {journal.info.why}")
    for n in range(100_000):
        await journal.save_draft(b"d" * rng.randrange(3000))
        ref = await journal.put_blob(rng.randbytes(rng.randrange(200_000)))
        many = [
            NewRecord("tool.result", {"blob": ref.sha256, "n": n, "pad": "p" * rng.randrange(9000)})
            for _ in range(rng.randrange(1, 4))
        ]
        if n % 7 == 0:
            many.append(
                NewRecord("tool.result", {"blob": ref.sha256, "n": n, "pad": "q" * 300_000})
            )
        made = await journal.append(many, ops=[OpUpdate(f"{seed}:{n}", "intent", "Bash")])
        say(f"{made[-1].seq} {seed}:{n}")
        await journal.append([], ops=[OpUpdate(f"{seed}:{n}", "done")])


def main() -> None:
    root, mode, *rest = sys.argv[1:]
    disk: Disk | None = None
    if mode == "write" and len(rest) > 1:
        disk = Disk()
        left = int(rest[1])

        def count(op: str, name: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        disk.before = count
    store = SqliteJournalStore(Path(root), vfs=disk.name if disk else None)
    if mode == "write":
        asyncio.run(write(store, int(rest[0])))
    else:
        asyncio.run(race(store) if mode == "race" else hold(store))


if __name__ == "__main__":
    main()
