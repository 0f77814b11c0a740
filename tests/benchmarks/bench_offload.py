"""Offload onto a long history, and opening a workspace in a fresh process, beside the peer.

AgentScope 2.0.11 is in the interpreter that SLIPWAY_PEER_PYTHON names; without it only our own
figures are given. Both sides are measured in the same run, on the same disk, with the same bytes.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from desktop_app.core.messages import Msg, TextBlock
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from tests.benchmarks.figures import ROOT, against

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
LINES = 100_000

PEER_OFFLOAD = """
import asyncio, sys, time
from agentscope.message import Msg, TextBlock
from agentscope.workspace import LocalWorkspace
async def main(folder, rounds):
    workspace = LocalWorkspace(workdir=folder)
    await workspace.initialize()
    msgs = [Msg(name="user", role="user", content=[TextBlock(text="x" * 2048)]) for _ in range(100)]
    for _ in range(rounds):
        started = time.perf_counter()
        await workspace.offload_context("s1", msgs)
        print((time.perf_counter() - started) * 1000)
    await workspace.close()
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""
OUR_OPEN = """
import asyncio, sys
import desktop_app.core
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
async def main():
    async with LocalWorkspace(sys.argv[1], id="w") as workspace:
        assert workspace.info.state == "ready"
asyncio.run(main())
"""
PEER_OPEN = """
import asyncio, sys
from agentscope.workspace import LocalWorkspace
async def main():
    workspace = LocalWorkspace(workdir=sys.argv[1])
    await workspace.initialize()
    await workspace.close()
asyncio.run(main())
"""
# The peak of this program alone: getrusage would count what the parent held before the exec.
PEAK = "\nprint(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1])\n"


def _message() -> Msg:
    return Msg(name="user", role="user", content=[TextBlock(text="x" * 2048)])


def _lengthen(folder: Path) -> Path:
    """A context.jsonl of 100,000 lines of 2 KB at ``folder``."""
    path = folder / "sessions/s1/context.jsonl"
    path.parent.mkdir(parents=True)
    line = _message().to_json().encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(LINES // 1000):
            file.write(line * 1000)
        os.fsync(file.fileno())
    return path


async def _ours(folder: Path, empty: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Milliseconds onto the long file and onto an empty one (each time another), in turns, so that
    a busy moment of the disk meets both."""
    msgs = [_message() for _ in range(100)]
    long: list[float] = []
    short: list[float] = []

    async def one(workspace: LocalWorkspace, session: str, times: list[float]) -> None:
        os.sync()  # neither pays for what the other left to write
        started = time.perf_counter()
        await workspace.offload_context(session, msgs)
        times.append((time.perf_counter() - started) * 1000)

    async with LocalWorkspace(folder, id="l") as ours, LocalWorkspace(empty, id="e") as other:
        await other.offload_context("first", msgs)
        for n in range(rounds):
            path = empty / f".slipway/sessions/e{n}/context.jsonl"
            path.parent.mkdir()
            path.touch()
            await one(ours, "s1", long)
            await one(other, f"e{n}", short)
    return long, short


def offload() -> list[dict[str, Any]]:
    name = "offload of 100 messages of 2 KB onto 100,000 lines"
    with tempfile.TemporaryDirectory(dir=os.environ.get("SLIPWAY_BENCH_DIR")) as temp:
        ours_dir, empty_dir, peer_dir = (Path(temp, n) for n in ("ours", "empty", "peer"))
        for folder in (ours_dir, empty_dir, peer_dir):
            folder.mkdir()
        long = _lengthen(ours_dir / ".slipway")
        both = asyncio.run(_ours(ours_dir, empty_dir, 21))
        long_ms, empty_ms = map(statistics.median, both)
        peer_ms = None
        if PEER:
            (peer_dir / "sessions/s1").mkdir(parents=True)
            shutil.move(long, peer_dir / "sessions/s1/context.jsonl")
            done = subprocess.run(
                [PEER, "-c", PEER_OFFLOAD, str(peer_dir), "3"],
                capture_output=True,
                text=True,
                check=True,
                cwd=temp,
            )
            peer_ms = statistics.median(map(float, done.stdout.split()))
    return [
        against(f"{name}, beside AgentScope", long_ms, peer_ms, 1 / 50, "ms", "≤ 1/50"),
        against(f"{name}, beside an empty file", long_ms, empty_ms, 1.5, "ms", "≤ 1.5 ×"),
    ]


def _process(python: str, script: str, folder: str) -> tuple[float, float]:
    """Milliseconds and peak MiB of a fresh process."""
    started = time.perf_counter()
    done = subprocess.run(
        [python, "-c", script + PEAK, folder],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        # Compiled modules are kept, as they are for a person: the first run makes them.
        env={**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""},
    )
    return (time.perf_counter() - started) * 1000, int(done.stdout.split()[-1]) / 1024


def opening() -> list[dict[str, Any]]:
    name = "whole process: import core, open a local workspace"
    with tempfile.TemporaryDirectory() as ours_dir, tempfile.TemporaryDirectory() as peer_dir:
        ours: list[tuple[float, float]] = []
        theirs: list[tuple[float, float]] = []
        for _ in range(6):  # in turns, so that a busy moment meets both; the first warms up
            ours.append(_process(sys.executable, OUR_OPEN, ours_dir))
            if PEER:
                theirs.append(_process(PEER, PEER_OPEN, peer_dir))
    # The best of each: everything else that runs on a machine only ever adds.
    our_ms, our_mib = (min(column) for column in zip(*ours[1:], strict=True))
    their_ms = their_mib = None
    if theirs:
        their_ms, their_mib = (min(column) for column in zip(*theirs[1:], strict=True))
    return [
        against(f"{name}: time", our_ms, their_ms, 0.4, "ms", "≤ 0.4 ×"),
        against(f"{name}: peak memory", our_mib, their_mib, 0.65, "MiB", "≤ 0.65 ×"),
    ]


def run() -> list[dict[str, Any]]:
    return [*offload(), *opening()]


if __name__ == "__main__":
    print(json.dumps(run(), indent=2, ensure_ascii=False))
