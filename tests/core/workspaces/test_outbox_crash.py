"""kill -9 at random points: every message that was committed reaches context.jsonl."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desktop_app.core.workspaces.history import read_history
from desktop_app.core.workspaces.local import LocalBackend

ROOT = Path(__file__).parents[3]


def child(data: Path, folder: Path, until: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.core.workspaces.outbox_child", data, folder, str(until)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.crash
async def test_nothing_committed_is_lost(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "folder"
    folder.mkdir()
    chance = random.Random(7)
    committed = 0
    for _ in range(8):
        with child(data, folder, 10_000) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, 25)):
                committed = int(process.stdout.readline())
            time.sleep(chance.random() * 0.004)  # the point of the kill, not a wait
            process.kill()
            for line in process.stdout.read().splitlines():
                committed = int(line)
    with child(data, folder, committed + 40) as process:
        assert process.stdout is not None
        last = process.stdout.read().split()
    assert last[-2] == "done"
    total = int(last[-1])
    assert total > committed
    path = folder / ".slipway/sessions/s1/context.jsonl"
    lines = [json.loads(line)["id"] for line in path.read_text().splitlines()]  # nothing torn
    assert list(dict.fromkeys(lines)) == [f"m{n}" for n in range(total)]
    backend = LocalBackend(path.parent)
    history = await read_history(backend, "context.jsonl")
    await backend.close()
    assert [m.id for m in history.messages] == [f"m{n}" for n in range(total)]
    assert not history.damaged
