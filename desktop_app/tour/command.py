"""``slipway tour --out DIR``: runs the tour's parts as processes and judges the outcome.

A part whose engine or account is not there is left out and says why. The first part ends by being
killed in the middle of an answer (SIGKILL, by this process); the second starts on what that left.
Exit code 0 only when every step happened.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from desktop_app.core.resources import path as resource
from desktop_app.core.workspaces.docker.spec import BASE_IMAGE

from . import needs
from .display import Display
from .plan import FIRST, MAIN, NAMES, PARTS, PARTS_OF, PLANS

PART_SECONDS = 240


def run(args: Sequence[str]) -> int:
    """The commands ``tour`` and ``shots``; returns the exit code."""
    options = _options(args)
    out: Path = options.out.absolute()
    if options.part:
        from .script import play

        return play(options.part, out)
    if args[0] == "shots":
        return _shots(out)
    return _tour(out, options)


def _options(args: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"slipway {args[0]}")
    where = "the folder for pictures, workspace and report"
    parser.add_argument("--out", required=True, type=Path, help=where)
    if args[0] == "tour":
        parser.add_argument("--documents", type=Path, help="a folder to work on a copy of")
        parser.add_argument("--only", choices=list(PLANS), help="this part alone")
        image = f"the base image of the container (without it: {BASE_IMAGE})"
        parser.add_argument("--image", default="", help=image)
        e2b = "where E2B is; its key is taken from E2B_API_KEY (without it: no sandbox is made)"
        parser.add_argument("--e2b", default="", metavar="URL", help=e2b)
    parser.add_argument("--part", choices=(*PARTS, "shots"), help=argparse.SUPPRESS)
    return parser.parse_args(list(args[1:]))


def _tour(out: Path, options: argparse.Namespace) -> int:
    started = time.monotonic()
    source = options.documents or resource("demo", "field-sales")
    if not source.is_dir():
        print(f"slipway tour: {source} is not a folder", file=sys.stderr)
        return 2
    wanted = [options.only] if options.only else list(PLANS)
    left_out = needs.left_out(wanted, options.image, options.e2b)
    plans = [name for name in wanted if name not in left_out]
    _fresh(out)
    shutil.copytree(source, out / "field-sales")
    codes: dict[str, int] = {}
    with Display() as display:
        print(f"tour: the window opens on {display.words}")
        for part in [part for name in plans for part in PARTS_OF[name]]:
            codes[part] = _part(part, out, {**display.environment, **needs.environment(options)})
            if part == FIRST:
                killed = codes[part] == -signal.SIGKILL
                how = "was killed in the middle of an answer" if killed else "ended too early"
                print(f"tour: the program {how}")
    report = _report(out, codes, left_out, time.monotonic() - started)
    return _say(report, plans, codes, out)


def _say(report: dict[str, Any], plans: list[str], codes: dict[str, int], out: Path) -> int:
    """What happened, in lines; the exit code."""
    steps = {name: words for plan in plans for name, words in PLANS[plan].items()}
    missing = [name for name in steps if name not in report["steps"]]
    for name in steps:
        print(f"  {'done   ' if name in report['steps'] else 'MISSING'}  {steps[name]}")
    for name, why in report["left_out"].items():
        print(f"  left out: the part in {NAMES[name]}: {why}")
    compacted = f"{report['tokens_before']} to {report['tokens_after']} tokens by compaction, "
    print(
        f"tour: {len(steps) - len(missing)} of {len(steps)} steps, {report['tool_calls']} tool "
        f"calls, {compacted if MAIN in plans else ''}{report['files_offloaded']} files offloaded, "
        f"longest callback {report['longest_callback_ms']} ms, {report['seconds']} s. See {out}"
    )
    ended = all(code == 0 for part, code in codes.items() if part != FIRST)
    return 0 if not missing and ended else 1


def _fresh(out: Path) -> None:
    """Empty the folder, but only of what a tour left; anything else is a person's."""
    if out.exists() and any(out.iterdir()):
        if not (out / "report.json").exists() and not (out / ".tour").exists():
            raise SystemExit(f"slipway tour: {out} holds other things; choose an empty folder")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / ".tour").touch()


def _part(name: str, out: Path, environment: dict[str, str]) -> int:
    """Run one part as a process of its own; its exit code (negative: a signal)."""
    env = {**os.environ, **environment, "SLIPWAY_HOME": str(out / "home")}
    command = [sys.executable, "-m", "desktop_app", "tour", "--part", name, "--out", str(out)]
    try:
        return subprocess.run(command, env=env, timeout=PART_SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"tour: part {name} did not end in {PART_SECONDS} s", file=sys.stderr)
        return 1


def _report(
    out: Path, codes: dict[str, int], left_out: dict[str, str], seconds: float
) -> dict[str, Any]:
    """Fold the parts' notes into ``report.json``."""
    notes: list[dict[str, Any]] = []
    for name in codes:
        file = out / f"part-{name}.jsonl"
        if file.exists():
            notes += [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            file.unlink()
    steps = [n["step"] for n in notes if "step" in n]
    if codes.get(FIRST) == -signal.SIGKILL:
        steps.append("killed")
    facts: dict[str, Any] = {}
    for note in notes:
        for key, value in note.get("facts", {}).items():
            summed = key in ("tool_calls",)
            worst = key == "longest_callback_ms"
            if summed:
                facts[key] = facts.get(key, 0) + value
            elif worst:
                facts[key] = max(facts.get(key, 0), value)
            else:
                facts[key] = value
    offloads = sorted(
        str(p.relative_to(out))
        for p in (out / "field-sales" / ".slipway").rglob("*")
        if p.is_file() and p.name != ".gitignore"
    )
    report = {
        "steps": list(dict.fromkeys(steps)),
        "left_out": left_out,
        "tool_calls": facts.get("tool_calls", 0),
        "tokens_before": facts.get("tokens_before", 0),
        "tokens_after": facts.get("tokens_after", 0),
        "files_offloaded": len(offloads),
        "offloads": offloads,
        "longest_callback_ms": facts.get("longest_callback_ms", 0),
        "slowest_callbacks": [text for n in notes for text in n.get("slowest", ())],
        "seconds": round(seconds, 1),
        "pictures": sorted(p.name for p in out.glob("*.png")),
    }
    text = json.dumps(report, indent=2, ensure_ascii=False)
    (out / "report.json").write_text(text + "\n", "utf-8")
    return report


def _shots(out: Path) -> int:
    """The README's pictures."""
    import tempfile

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Display() as display:
        work = Path(folder)
        shutil.copytree(resource("demo", "field-sales"), work / "field-sales")
        code = _part("shots", work, display.environment)
        for picture in sorted(work.glob("*.png")):
            if code != 0 and not picture.name.startswith("failed"):
                continue
            shutil.copy(picture, out / picture.name)
            print(f"shots: {out / picture.name}")
    return code
