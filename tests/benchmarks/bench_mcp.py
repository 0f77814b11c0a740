"""MCP servers: how soon many are up, what they cost the loop, a call, a flood on standard error.

The servers are real processes. Those of the first figure take a second before they answer, as ones
that are fetched by ``npx`` or ``uvx`` do; the baseline is one of them alone, in the same run.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from desktop_app.core.loopwatch import LoopWatch
from desktop_app.core.mcp.connection import Connection, Status
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.mcp.spec import ServerSpec
from tests.benchmarks.figures import against, limit, p95
from tests.benchmarks.steps import listings, ours, peer, taken
from tests.helpers.mcp import SERVERS

SERVERS_AT_ONCE = 20
CALLS = 300
FLOOD_SECONDS = 30.0
STEPS = 100


async def _up(runner: Runner, n: int, mode: str) -> tuple[float, list[Connection]]:
    """Start ``n`` servers; seconds until the last one's tools are known."""
    ready = asyncio.Event()
    made: list[Connection] = []

    def changed(_: Status) -> None:
        if all(c.status.state == "ok" for c in made):
            ready.set()

    began = time.perf_counter()
    for k in range(n):
        command = (sys.executable, str(SERVERS / "raw.py"), mode)
        made.append(Connection(ServerSpec(f"s{k}", "stdio", command), runner, ".", changed))
        made[-1].start()
    async with asyncio.timeout(120):
        await ready.wait()
    return time.perf_counter() - began, made


async def _stop(connections: list[Connection]) -> None:
    await asyncio.gather(*(c.stop() for c in connections))


async def _calls(connection: Connection) -> tuple[list[float], float]:
    """Milliseconds of each call, and of our own CPU for one."""
    walls: list[float] = []
    cpu = time.process_time()
    for _ in range(CALLS):
        began = time.perf_counter()
        await connection.call("echo", {}, images=False, progress=lambda _: None)
        walls.append((time.perf_counter() - began) * 1000)
    return walls, (time.process_time() - cpu) * 1000 / CALLS


async def _flood(runner: Runner) -> tuple[float, float]:
    """Megabytes that memory grew, and that were written, while a server floods."""
    _, (connection,) = await _up(runner, 1, "flood")
    async with asyncio.timeout(30):
        while connection.ring.total < 4 << 20:
            await asyncio.sleep(0.05)
    before, mark = psutil.Process().memory_info().rss, connection.ring.total
    await asyncio.sleep(FLOOD_SECONDS)
    grown = psutil.Process().memory_info().rss - before
    written = connection.ring.total - mark
    await _stop([connection])
    return grown / (1 << 20), written / (1 << 20)


async def _measure() -> list[dict[str, Any]]:
    runner = Runner()
    watch = LoopWatch().start()
    first, warm = await _up(runner, 1, "plain")  # imports the SDK, asks the login shell
    walls, cpu = await _calls(warm[0])
    listings = warm[0].listings
    await _stop(warm)
    alone, one = await _up(runner, 1, "slow_start")
    await _stop(one)
    together, many = await _up(runner, SERVERS_AT_ONCE, "slow_start")
    watch.stop()
    held = watch.longest().ms
    await _stop(many)
    grown, written = await _flood(runner)
    await runner.close()
    return [
        against(
            f"{SERVERS_AT_ONCE} MCP servers of 10 tools, all up",
            together, alone, 1.2, "s", "≤ 1.2 x one alone",
        ),
        limit("loop held while they start (CPU)", held, 16, "ms", "≤ 16 ms"),
        limit("first MCP server, SDK import included", first, 5, "s", "≤ 5 s"),
        limit("MCP call over stdio, median", statistics.median(walls), 10, "ms", "≤ 10 ms"),
        limit("MCP call over stdio, p95", p95(walls), 20, "ms", "≤ 20 ms"),
        limit("CPU of one MCP call on our side", cpu, 5, "ms", "≤ 5 ms"),
        limit(f"tools/list after {CALLS} calls", listings, 1, "", "1"),
        limit(f"memory after {written:.0f} MB on stderr", grown, 8, "MB", "flat (≤ 8 MB)"),
    ]  # fmt: skip


async def _stepped(root: Path) -> list[dict[str, Any]]:
    """A step with Read while there is one server, which AgentScope asks for its tools in each."""
    for name in ("ours", "peer"):
        (root / name).mkdir()
    runner = Runner()
    marks = await ours(root / "ours", STEPS, runner=runner)
    await runner.close()
    beside = peer(root / "peer", STEPS, server=True)
    cpu = statistics.median(taken(marks, 0)[10:])
    theirs = statistics.median(taken(beside, 0)[10:]) if beside is not None else None
    title = "CPU of a step with Read beside one MCP server"
    asked = listings(root / "ours")
    return [
        against(title, cpu, theirs, 1 / 4, "ms", "≤ 1/4"),
        limit(f"tools/list in {STEPS} such steps", asked, 1, "", "1"),
    ]


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temp:
        steps = asyncio.run(_stepped(Path(temp)))
    return steps + asyncio.run(_measure())
