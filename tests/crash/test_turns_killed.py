"""kill -9 at any moment of a turn: of a stream, a tool, a recovery; of a compaction by hand, by an
accepted proposal, once more; of its undo, of an offload by hand.

Afterwards: nothing that was acknowledged is lost, the journal folds to what the live state was,
no unsafe operation started twice, at most the last second of text is gone, and what left the
context is in the workspace.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.agent.fold import Folder
from desktop_app.core.models.scripted import ScriptedModel
from desktop_app.core.sessions.base import Record
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from tests.helpers.journals import REPO, end
from tests.helpers.sessions import KEY, Bench
from tests.helpers.turn_child import sha

pytestmark = pytest.mark.crash

LATE = 1.5  # seconds of text that may be gone: one, and what a busy machine is late


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "page.txt").write_text("".join(f"line {n} of the page\n" for n in range(400)))
    return tmp_path


def start(root: Path, seed: int, *rest: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.turn_child", str(root), str(seed), *rest],
        cwd=REPO,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def kill(process: subprocess.Popen[str], after: str, seconds: float) -> tuple[list[str], float]:
    """Kill ``seconds`` after the child said ``after``; what it said, and when it died."""
    said: list[str] = []
    assert process.stdout is not None
    while not said or said[-1] != after:
        line = process.stdout.readline()
        assert line, "the child ended by itself"
        said.append(line.strip())
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    at = time.monotonic()
    process.wait()
    said += process.stdout.read().split("\n")[:-1]
    end(process)
    return said, at


async def records(root: Path) -> list[Record]:
    """All records; none where the process died before there was a journal."""
    try:
        journal = await SqliteJournalStore(root / "journals").open(KEY, write=False)
    except KeyError:
        return []
    found = await journal.read()
    assert await journal.verify() is None
    await journal.close()
    return found


async def check(root: Path, said: list[str], died: float) -> None:
    """The journal as the killed process left it, against what it had acknowledged."""
    found = await records(root)
    acked = {int(seq): state for kind, seq, state in _split(said, "saved") if kind}
    folder = Folder(KEY.session_id)
    seen = 0
    for record in found:
        folder.apply(record)
        if record.seq in acked:
            assert sha(folder.now.state) == acked[record.seq], f"state at {record.seq}"
            seen += 1
    assert max(acked, default=0) <= len(found), "an acknowledged record is lost"
    assert seen == len(acked)
    world = root / "world"
    effects = Counter(world.read_text().split()) if world.exists() else Counter()
    assert all(n == 1 for n in effects.values()), effects
    await check_text(root, said, died)


async def check_text(root: Path, said: list[str], died: float) -> None:
    """Text that was shown more than a second before the end is durable: in a record or a draft."""
    shown: dict[str, int] = {}
    for _, reply, chars, at in _split(said, "text"):
        if float(at) < died - LATE:
            shown[reply] = int(chars)
    if not shown:
        return
    kept: Counter[str] = Counter()
    for record in await records(root):
        if record.kind == "assistant.message":
            kept[record.body()["reply_id"]] += _chars(record.body()["blocks"])
    journal = await SqliteJournalStore(root / "journals").open(KEY, write=False)
    if data := await journal.draft():
        draft = json.loads(data)
        kept[draft["reply_id"]] += _chars(draft["blocks"])
    await journal.close()
    for reply, chars in shown.items():
        assert kept[reply] >= chars, reply


def _chars(blocks: list[dict[str, Any]]) -> int:
    return sum(len(b["text"]) for b in blocks if b["type"] == "text")


def _split(said: list[str], kind: str) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in said if line.startswith(kind + " ")]


async def check_end(root: Path) -> None:
    """The next process: opens, recovers, delivers; and once more, where nothing is left to do."""
    b = Bench(root / "folder", ScriptedModel(), store=SqliteJournalStore(root / "journals"))
    talk = await b.open()
    assert talk.writable
    folder = Folder(KEY.session_id)
    folder.replay(await talk.log.journal.read())
    assert folder.now.state.model_dump() == talk.state.model_dump()
    await talk.outbox.deliver()
    left = [i for r in await talk.compactions() for i in r.covered_ids]
    await talk.close()
    head = len(await records(root))
    workspace = LocalWorkspace(root / "folder", id="w", trusted=True)
    await workspace.initialize()
    history = await workspace.read_context(KEY.session_id)
    assert history.damaged == []
    offloaded = [m.id for m in history.messages]
    assert set(left) <= set(offloaded), "what left the context is in the workspace"
    first = list(dict.fromkeys(i for i in left))
    assert [i for i in offloaded if i in set(first)] == first, "in the order in which it left"
    await workspace.close()
    again = await b.open()
    assert len(await records(root)) == head, "recovery twice is recovery once"
    await again.close()
    await b.close()


@pytest.mark.parametrize("seed", range(3))
async def test_killed_again_and_again_at_random_times(root: Path, seed: int) -> None:
    rng = random.Random(seed)
    for n in range(6):
        # Every third time in the middle of opening, which is the recovery of the kill before.
        after, seconds = ("opening", 0.05) if n % 3 == 2 else ("ready", 0.6)
        child = start(root, seed * 100 + n)
        said, died = kill(child, after, rng.random() * seconds)
        if n or "ready" in said:
            await check(root, said, died)
    await check_end(root)


async def test_at_most_the_last_second_of_a_long_answer_is_gone(root: Path) -> None:
    said, died = kill(start(root, 7), "ready", 2.6)
    await check(root, said, died)
    assert _split(said, "text")
    await check_end(root)


@pytest.mark.parametrize("at", [25, 45, 60, 80, 110, 150, 200, 260])
async def test_killed_before_an_operation_on_the_disk(root: Path, at: int) -> None:
    process = start(root, at, str(at))
    assert process.stdout is not None
    said = process.stdout.read().split("\n")[:-1]
    process.wait(30)
    end(process)
    assert process.returncode == -signal.SIGKILL, "the point was never reached"
    await check(root, said, time.monotonic())
    # And in the recovery of that: the same number of operations later, at a point of its own.
    process = start(root, at + 1, str(at // 5))
    assert process.stdout is not None
    said = process.stdout.read().split("\n")[:-1]
    process.wait(30)
    end(process)
    assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    await check(root, said, time.monotonic())
    await check_end(root)
