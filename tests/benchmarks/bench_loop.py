"""One step of the loop, reason and act with Read: processor and wall time, beside the peer.

A model in the process asks for the same Read in every step (``steps``). Each step of ours is one
synced transaction. Ours and the peer are measured in turn, five times, and of each the quietest
counts: what else a machine does makes steps dearer, never cheaper.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import against, limit
from tests.benchmarks.steps import ours, peer, taken
from tests.helpers.journals import Disk

STEPS = 100  # beside the peer
ROUNDS = 5
LONG = 1_000
SYNCS = 200  # of the disk alone
COUNTED = 20


def _sync_ms(folder: Path) -> float:
    """One appended page and its fdatasync on this disk."""
    fd = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT)
    measured: list[float] = []
    for n in range(SYNCS):
        os.pwrite(fd, b"x" * 4096, n * 4096)
        began = time.perf_counter()
        os.fdatasync(fd)
        measured.append((time.perf_counter() - began) * 1000)
    os.close(fd)
    return statistics.median(measured)


def _syncs(root: Path) -> float:
    """How often a step waits for the disk; those of a session's beginning are not of a step."""
    counts: list[int] = []
    for name, steps in (("few", 0), ("many", COUNTED)):
        (root / name).mkdir()
        disk = Disk()
        asyncio.run(ours(root / name, steps, disk))
        counts.append(sum(1 for op, *_ in disk.log if op == "sync"))
    return (counts[1] - counts[0]) / COUNTED


def _quiet(steps: list[float]) -> float:
    """The lower quartile: a busy machine makes steps dearer, and the first and the last hundred are
    seconds apart."""
    return statistics.quantiles(steps, n=4)[0]


def _rounds(root: Path) -> tuple[float, float, float | None]:
    """Our processor and wall time of a step, and the peer's processor time."""
    cpu: list[float] = []
    wall: list[float] = []
    theirs: list[float] = []
    for n in range(ROUNDS):
        for name in ("ours", "peer"):
            (root / f"{name}{n}").mkdir()
        marks = asyncio.run(ours(root / f"ours{n}", STEPS))
        cpu.append(statistics.median(taken(marks, 0)[10:]))
        wall.append(statistics.median(taken(marks, 1)[10:]))
        if (beside := peer(root / f"peer{n}", STEPS)) is not None:
            theirs.append(statistics.median(taken(beside, 0)[10:]))
    return min(cpu), min(wall), min(theirs, default=None)


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temp:
        root = Path(temp)
        cpu, wall, theirs = _rounds(root)
        (root / "long").mkdir()
        long = taken(asyncio.run(ours(root / "long", LONG)), 0)
        syncs, sync = _syncs(root), _sync_ms(root)
    rows = [
        against("CPU of a step with Read, journalled", cpu, theirs, 1 / 3, "ms", "≤ 1/3"),
    ]
    if theirs is not None:
        most = (theirs / 3 + syncs * sync) * 1.2
        rows.append(
            limit(
                f"wall of it ({syncs:.1f} syncs of {sync:.2f} ms)",
                wall, most, "ms", f"≤ (1/3 + syncs) x 1.2 = {most:.1f} ms",
            )
        )  # fmt: skip
    first, last = _quiet(long[10:110]), _quiet(long[-100:])
    rows.append(against(f"step {LONG}, beside step 10", last, first, 1.2, "ms", "≤ 1.2 x"))
    return rows
