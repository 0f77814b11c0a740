"""The other process in tests of killed changes to a context. Usage: ROOT WHAT MOST

Makes a session, then does WHAT to copies of it, each in a process of its own (a fork) that is
killed one operation on the disk later than the last one: of SQLite, of files beside the journal,
of the workspace. Ends when one lives to the end. Each is opened again after its death. Prints a
line of JSON for each copy: ``died`` (at which operation), ``said`` (what had been acknowledged)
and what was found afterwards.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.fold import Folder
from desktop_app.core.agent.policy import Policy
from desktop_app.core.events import RunFinished
from desktop_app.core.messages import ToolResultBlock
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from tests.helpers.filling import fill, long_session
from tests.helpers.journals import Disk
from tests.helpers.sessions import KEY, Bench, collect, of

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND


class Killer:
    """Kills this process before the ``at``-th operation that changes the disk."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.armed = False
        self.disk = Disk()
        self.disk.before = lambda op, name: self.count()
        sys.addaudithook(self._heard)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and bool(args[2] & WRITES)
        if writes or event in ("os.rename", "os.remove", "os.link", "os.truncate"):
            self.count()

    def count(self) -> None:
        if self.armed:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def bench(root: Path, what: str, killer: Killer | None = None) -> Bench:
    made = long_session(root, 20, window=65_536 if what == "draft" else 131_072)
    made.policy = Policy("ask" if what == "draft" else "remind")
    disk = killer.disk.name if killer is not None else None
    made.store = SqliteJournalStore(root / "journals", vfs=disk)
    return made


def prompt(talk: SessionConversation) -> list[str]:
    """What a model reads, one hash a message."""
    sent: list[str] = []
    for msg in talk.engine.prompt().messages:
        blocks = [b.model_dump(exclude={"metadata", "created_at"}) for b in msg.content]
        text = json.dumps([msg.role, blocks], sort_keys=True)
        sent.append(hashlib.sha256(text.encode()).hexdigest()[:12])
    return sent


def result(talk: SessionConversation) -> ToolResultBlock:
    found = [b for m in talk.state.context for b in m.content if isinstance(b, ToolResultBlock)]
    return found[1]


async def prepare(root: Path, what: str) -> None:
    b = bench(root, what)
    talk = await b.open()
    await fill(talk, 7 if what == "draft" else 4)
    if what in ("undo", "again"):
        await talk.accept_compaction(await talk.propose_compaction())
        await talk.outbox.deliver()
    await talk.close()
    await b.close()


async def change(talk: SessionConversation, what: str) -> None:
    if what == "accept":
        await talk.accept_compaction(await talk.propose_compaction())
    elif what == "undo":
        await talk.undo_compaction()
    elif what == "again":
        await collect(talk.compact_again("the numbers"))
    elif what == "offload":
        await talk.offload_now(result(talk).id)
    else:
        await collect(talk.send("hi"))
        async with asyncio.timeout(20):
            while talk.drafted is None:
                await asyncio.sleep(0)


async def live(root: Path, what: str, at: int, say: Callable[[Any], None]) -> None:
    killer = Killer(at)
    b = bench(root, what, killer)
    talk = await b.open()
    say({"before": prompt(talk)})
    killer.armed = True
    await change(talk, what)
    say({"after": prompt(talk)})
    await talk.outbox.deliver()
    await talk.close()
    await b.close()


async def look(root: Path, what: str, at: int, say: Callable[[Any], None]) -> None:
    """What the next process finds; it goes on with a turn."""
    b = bench(root, what)
    talk = await b.open()
    assert await talk.log.journal.verify() is None
    folder = Folder(KEY.session_id)
    folder.replay(await talk.log.journal.read())
    same = folder.now.state.model_dump() == talk.state.model_dump()
    found: dict[str, Any] = {"found": prompt(talk), "replays": same and talk.drafted is None}
    await talk.outbox.deliver()
    found["broken"] = [*talk.outbox.broken]
    left = [i for r in talk.log.now.log for i in r.covered_ids]
    results = [r.body()["path"] for r in await talk.log.journal.read(kinds=["offload"])]
    events = await collect(talk.send("And on."))
    # A draft may be ready in the moment in which the run ends.
    found["goes_on"] = "".join(e.reason for e in of(events, RunFinished))
    await talk.close()
    await b.close()
    workspace = LocalWorkspace(root / "folder", id="w", trusted=True)
    await workspace.initialize()
    history = await workspace.read_context(KEY.session_id)
    kept = [m.id for m in history.messages]
    found["lost"] = sorted(set(left) - set(kept)) + [str(d) for d in history.damaged]
    files = root / "folder" / ".slipway"
    found["lost"] += [p for p in results if not (files / p).is_file()]
    await workspace.close()
    say(found)


def fork(root: Path, job: Callable[..., Awaitable[None]], what: str, at: int) -> tuple[int, Any]:
    """Run ``job`` in a process of its own: how it ended, and all that it said, in one dict."""
    come, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(come)
        try:
            asyncio.run(job(root, what, at, lambda m: os.write(go, f"{json.dumps(m)}\n".encode())))
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    os.close(go)
    with os.fdopen(come) as file:
        said = [json.loads(line) for line in file.read().splitlines()]
    _, status = os.waitpid(pid, 0)
    whole: dict[str, Any] = {}
    for part in said:
        whole |= part
    return os.waitstatus_to_exitcode(status), whole


def main(root: Path, what: str, most: int) -> None:
    template = root / "template"
    template.mkdir()
    code, _ = fork(template, lambda r, w, a, s: prepare(r, w), what, 0)
    assert code == 0
    at, step = 1, 1
    while True:
        copy = root / f"copy{at}"
        shutil.copytree(template, copy)
        code, said = fork(copy, live, what, at)
        ended, found = fork(copy, look, what, at)
        killed = code == -signal.SIGKILL
        print(json.dumps({"died": at if killed else 0, "code": code, "said": said, "ended": ended}
                         | found), flush=True)  # fmt: skip
        shutil.rmtree(copy)
        if not killed:
            return
        if at >= most:  # enough neighbours: farther ones, so that the end is reached
            step *= 2
        at += step


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
