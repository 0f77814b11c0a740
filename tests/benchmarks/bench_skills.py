"""Listing 1,000 skills, again and again as before every prompt, beside AgentScope's own listing.

Warm: nothing changed since the last listing. The peer works in the same kind of folder, made by
itself. Beside the figure: the first listing, and one after a single skill was edited.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from desktop_app.core.loopwatch import LoopWatch
from desktop_app.core.skills import SkillLibrary
from desktop_app.core.workspaces.local import LocalBackend
from tests.benchmarks.figures import against, limit

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
SKILLS = 1_000
TIMES = 20
PEER_TIMES = 5
BODY = "".join(f"Step {n}: do what the page says, then look at the result.\n" for n in range(40))

PEER_LIST = """
import asyncio, json, logging, sys, time
logging.disable(logging.CRITICAL)
from agentscope.workspace import LocalWorkspace

async def main():
    space = LocalWorkspace(workdir=sys.argv[1])
    await space.initialize()
    count = len(await space.list_skills())
    assert count == int(sys.argv[2]), count
    taken = []
    for _ in range(int(sys.argv[3])):
        began = time.perf_counter()
        await space.list_skills()
        taken.append((time.perf_counter() - began) * 1000)
    print(json.dumps(taken))
asyncio.run(main())
"""


def _fill(skills: Path) -> None:
    for n in range(SKILLS):
        folder = skills / f"skill-{n:04}"
        folder.mkdir(parents=True)
        head = f"---\nname: skill-{n:04}\ndescription: Does the thing number {n}, carefully.\n---\n"
        (folder / "SKILL.md").write_text(head + BODY)


def _peer(root: Path) -> float | None:
    """Milliseconds of the peer's warm listing, in its own partition of the default agent."""
    if not PEER:
        return None
    _fill(root / "skills" / "default")
    done = subprocess.run(
        [PEER, "-c", PEER_LIST, str(root), str(SKILLS), str(PEER_TIMES)],
        capture_output=True, check=True, text=True, timeout=300, cwd=root,
    )  # fmt: skip
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


async def _ours(root: Path) -> tuple[float, float, float, float]:
    """Milliseconds of the first listing, of a warm one and of one after an edit; the longest that
    the loop was held (CPU)."""
    _fill(root / "skills" / "default")
    backend = LocalBackend(root)
    await backend.start()
    library = SkillLibrary(backend, str(root), "C", str(root))
    watch = LoopWatch().start()

    async def listed() -> float:
        began = time.perf_counter()
        skills = (await library.set("default")).skills
        taken = (time.perf_counter() - began) * 1000
        assert len(skills) == SKILLS
        return taken

    first = await listed()
    warm = statistics.median([await listed() for _ in range(TIMES)])
    edited = root / "skills/default/skill-0500/SKILL.md"
    edited.write_text(edited.read_text() + "One step more.\n")
    changed = await listed()
    watch.stop()
    await backend.close()
    return first, warm, changed, watch.longest().ms


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temp:
        for name in ("ours", "peer"):
            (Path(temp) / name).mkdir()
        first, warm, changed, held = asyncio.run(_ours(Path(temp) / "ours"))
        peer = _peer(Path(temp) / "peer")
    return [
        against(f"{SKILLS:,} skills listed, warm", warm, peer, 1 / 50, "ms", "≤ 1/50"),
        limit(f"{SKILLS:,} skills, the first listing", first, 2_000, "ms", "≤ 2 s"),
        limit("the same after one was edited", changed, 100, "ms", "≤ 100 ms"),
        limit("loop held meanwhile (CPU)", held, 16, "ms", "≤ 16 ms"),
    ]
