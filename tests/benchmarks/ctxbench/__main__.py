"""``python -m tests.benchmarks.ctxbench``: the whole comparison, or a part of it.

Peers need SLIPWAY_PEER_PYTHON (agentscope) and SLIPWAY_BENCH_PYTHON (LangChain and tokenizers);
``make bench-context`` prepares both. Their results are taken from tests/data/ctxbench where the
streams are still the same, and are made where they are missing. Ours are made anew, except with
``--resume``, which goes on after a run that was broken off.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import ROOT

from . import cache, chart, report
from .events import digest
from .generate import generate
from .matrix import ARMS, MAIN, REST, Arm, Bench, Config, key, runs

OUT = ROOT / "build" / "ctxbench.json"
PAPER = Path(__file__).with_name("RESULTS.md")
ROWS = ROOT / "build" / "ctxbench-rows.json"  # of everybody, so that a run can be resumed


def main() -> int:
    args = _arguments()
    configs = [*MAIN, *(() if args.main else REST)]
    if args.mode:
        configs = [c for c in configs if c.mode in args.mode]
    if args.seeds:
        configs = [replace(c, seeds=min(c.seeds, args.seeds)) for c in configs]
    arms = [a for a in ARMS if not args.arm or a.name in args.arm]
    ready = [a for a in arms if not a.python or os.environ.get(a.python)]
    rows = {**(cache.load(ROWS) if args.resume else {}), **cache.load()}
    _drop_stale(rows, configs)
    missing = [a.name for a in arms if a not in ready]
    if missing:
        print(f"· not installed, taken from former results: {', '.join(missing)}")
    _run(rows, configs, ready, args.again, args.resume)
    generator = digest([generate(seed, c.shape) for c in configs for seed in range(c.seeds)])
    whole = report.document(rows, configs, generator)
    for name, found in whole["configurations"].items():
        print("\n" + report.table(name, found))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if args.publish:
        chart.write(whole, ROOT / "resources" / "pictures")
        PAPER.write_text(report.paper(whole), "utf-8")
    print(f"\ngenerator {generator[:16]}; all figures are in {args.out}\n")
    for goal in whole["goals"]:
        print(f"{'met   ' if goal['met'] else 'MISSED'}  {goal['goal']}: {goal['found']}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.ctxbench")
    parser.add_argument("--main", action="store_true", help="only perfect, lossy and failing")
    parser.add_argument("--mode", action="append", help="only this summariser; repeats")
    parser.add_argument("--arm", action="append", help="only this system; repeats")
    parser.add_argument("--seeds", type=int, help="at most so many")
    parser.add_argument("--again", action="store_true", help="make the peers' results anew too")
    parser.add_argument("--resume", action="store_true", help="keep our own former results too")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    parser.add_argument("--publish", action="store_true", help="write RESULTS.md and the charts")
    return parser.parse_args()


def _drop_stale(rows: dict[str, dict[str, Any]], configs: Sequence[Config]) -> None:
    """Rows whose stream is made otherwise today say nothing."""
    for config in configs:
        for seed in range(config.seeds):
            now = generate(seed, config.shape).digest()
            for arm in ARMS:
                name = key(arm, config, seed)
                if name in rows and not now.startswith(rows[name]["stream"]):
                    del rows[name]


def _run(
    rows: dict[str, dict[str, Any]],
    configs: Sequence[Config],
    arms: Sequence[Arm],
    again: bool,
    resume: bool,
) -> None:
    peers = {a.name for a in ARMS if a.python}

    def known(arm: Arm, config: Config, seed: int) -> bool:
        kept = not again if arm.name in peers else resume
        return kept and key(arm, config, seed) in rows

    todo = [one for one in runs(configs, arms) if not known(*one)]
    bench = Bench()
    started = saved = time.monotonic()
    try:
        for number, (arm, config, seed) in enumerate(todo, 1):
            rows[key(arm, config, seed)] = bench.run(arm, config, seed)
            if sys.stderr.isatty() or number % 25 == 0 or number == len(todo):
                spent = time.monotonic() - started
                print(f"· {number} of {len(todo)} runs, {spent:.0f} s", file=sys.stderr, flush=True)
            if time.monotonic() - saved > 20:
                saved = time.monotonic()
                _keep(rows, peers)
    finally:
        bench.close()
        _keep(rows, peers)


def _keep(rows: dict[str, dict[str, Any]], peers: set[str]) -> None:
    cache.save(rows, ROWS)
    made = {n: r for n, r in rows.items() if n.split(" ", 1)[0] in peers}
    if made:
        cache.save(made)


if __name__ == "__main__":
    raise SystemExit(main())
