"""What a bench hands back: rows of name, ours, baseline, unit, ratio, goal, met."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def limit(name: str, ours: float, most: float, unit: str, goal: str) -> dict[str, Any]:
    """A figure with a fixed goal: at most ``most``."""
    return _row(name, ours, None, unit, None, goal, ours <= most)


def against(
    name: str, ours: float, baseline: float | None, most: float, unit: str, goal: str
) -> dict[str, Any]:
    """A figure whose goal is a ratio to a baseline of the same run. Without the baseline (a peer
    that is not installed) it is neither met nor missed."""
    if baseline is None:
        return _row(name, ours, None, unit, None, goal, None)
    ratio = ours / baseline
    return _row(name, ours, baseline, unit, ratio, goal, ratio <= most)


def _row(
    name: str,
    ours: float,
    baseline: float | None,
    unit: str,
    ratio: float | None,
    goal: str,
    met: bool | None,
) -> dict[str, Any]:
    return {
        "name": name,
        "ours": round(ours, 3),
        "baseline": None if baseline is None else round(baseline, 3),
        "unit": unit,
        "ratio": None if ratio is None else round(ratio, 4),
        "goal": goal,
        "met": met,
    }


def p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def child(code: str, *args: str, timeout: float = 600, **env: str) -> Any:
    """Run ``code`` in a fresh interpreter; the JSON of its last line. What it says on the way goes
    to our standard error. CalledProcessError when it fails."""
    with tempfile.TemporaryFile("w+") as out:
        subprocess.run(
            [sys.executable, "-c", code, *args],
            stdout=out,
            check=True,
            timeout=timeout,
            cwd=ROOT,
            env={**os.environ, **env},
        )
        out.seek(0)
        *said, last = out.read().rstrip().split("\n")
    for line in said:
        print(line, file=sys.stderr)
    return json.loads(last)
