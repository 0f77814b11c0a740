"""``python -m tests.benchmarks``: every figure, in a table and in build/bench.json.

Each bench runs in a process of its own, one after the other, so that none warms or disturbs
another. Ratios are measured against a baseline in the same run. A missed goal does not fail the
command (a busy machine misses goals too); a bench that breaks does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

from .figures import ROOT, child

OUT = ROOT / "build" / "bench.json"
ORDER = ["offload", "start", "transcript", "typing", "journal", "index", "mcp", "compaction"]
RUN = "import json, sys, importlib as i; print(json.dumps(i.import_module(sys.argv[1]).run()))"
COLUMNS = ("figure", "ours", "baseline", "ratio", "goal", "")


def main() -> int:
    args = _arguments()
    names = [n for n in _benches() if not args.only or any(word in n for word in args.only)]
    if not names:
        print(f"no such bench; there are: {', '.join(_benches())}", file=sys.stderr)
        return 2
    if not os.environ.get("SLIPWAY_PEER_PYTHON"):
        print("· SLIPWAY_PEER_PYTHON is not set: figures beside AgentScope have no baseline")
    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    for name in names:
        started = time.monotonic()
        print(f"· {name} …", end=" ", flush=True)
        try:
            rows += child(RUN, f"tests.benchmarks.bench_{name}")
        except (subprocess.SubprocessError, ValueError) as error:
            broken.append(name)
            print(f"broke: {error}")
        else:
            print(f"{time.monotonic() - started:.0f} s")
    print(_table(rows))
    _write(rows, args.out)
    print(_verdict(rows, broken))
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="only this bench; repeats")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    return parser.parse_args()


def _benches() -> list[str]:
    found = [p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py")]
    known = [name for name in ORDER if name in found]
    return known + sorted(set(found) - set(known))


def _write(rows: list[dict[str, Any]], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(_width(line[n]) for line in lines) for n in range(len(COLUMNS))]
    out: list[str] = []
    for line in lines:
        cells = [
            text + " " * (width - _width(text)) if n in (0, 4, 5) else text.rjust(width)
            for n, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip())
    out.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n" + "\n".join(out) + "\n"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    def value(number: float | None) -> str:
        return "" if number is None else f"{number:.4g} {row['unit']}"

    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g} ×"
    mark = {True: "met", False: "MISSED", None: "no baseline"}[row["met"]]
    return (row["name"], value(row["ours"]), value(row["baseline"]), ratio, row["goal"], mark)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _verdict(rows: list[dict[str, Any]], broken: list[str]) -> str:
    missed = [row["name"] for row in rows if row["met"] is False]
    said = [f"{sum(row['met'] is True for row in rows)} of {len(rows)} figures meet their goal."]
    said += [f"MISSED: {name}" for name in missed]
    said += [f"BROKEN: the bench {name} did not finish" for name in broken]
    if (load := os.getloadavg()[0]) > (cores := os.cpu_count() or 1):
        said.append(f"The load is {load:.1f} on {cores} cores: measure again on a quiet machine.")
    return "\n".join(said)


if __name__ == "__main__":
    raise SystemExit(main())
