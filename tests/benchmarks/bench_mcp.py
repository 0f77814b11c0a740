"""MCP servers: how soon many are up, what they cost the loop, a call, a flood on standard error.

The servers are real processes. Those of the first figure take a second before they answer, as ones
that are fetched by ``npx`` or ``uvx`` do; the baseline is the slowest of as many that are started
by hand and asked the same three lines, since on few cores they wait for each other.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
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
from tests.benchmarks import steps
from tests.benchmarks.figures import against, limit, p95
from tests.helpers.mcp import SERVERS

SERVERS_AT_ONCE = 20
ROUNDS = 3  # in turn with the baseline; the middle counts
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


def _bare(n: int) -> float:
    """Seconds until the slowest of ``n`` such servers has answered who only starts them, greets
    them and asks for their tools: what the machine needs for the servers themselves."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "bench", "version": "1"}}  # fmt: skip
    asked = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    began = time.perf_counter()
    servers = [
        subprocess.Popen(
            [sys.executable, str(SERVERS / "raw.py"), "slow_start"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,  # as ours: the scheduler shares the processor by sessions
        )
        for _ in range(n)
    ]  # fmt: skip
    for server in servers:
        assert server.stdin is not None
        server.stdin.write(lines)
        server.stdin.flush()
    for server in servers:
        assert server.stdout is not None
        assert '"id": 1' in server.stdout.readline()
        assert '"id": 2' in server.stdout.readline()
    taken = time.perf_counter() - began
    for server in servers:
        server.communicate()
    return taken


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
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(ROUNDS):
        bare.append(await asyncio.to_thread(_bare, SERVERS_AT_ONCE))
        taken, many = await _up(runner, SERVERS_AT_ONCE, "slow_start")
        ours.append(taken)
        await _stop(many)
    watch.stop()
    held = watch.longest().ms
    together, slowest = statistics.median(ours), statistics.median(bare)
    grown, written = await _flood(runner)
    await runner.close()
    return [
        against(
            f"{SERVERS_AT_ONCE} MCP servers of 10 tools, all up",
            together, slowest, 1.2, "s", "≤ 1.2 x the slowest",
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
    runner = Runner()
    cpu: list[float] = []
    theirs: list[float] = []
    asked: list[int] = []
    for n in range(ROUNDS):
        mine, other = root / f"ours{n}", root / f"peer{n}"
        mine.mkdir()
        other.mkdir()
        marks = await steps.ours(mine, STEPS, runner=runner)
        cpu.append(statistics.median(steps.taken(marks, 0)[10:]))
        asked.append(steps.listings(mine))
        if (beside := steps.peer(other, STEPS, server=True)) is not None:
            theirs.append(statistics.median(steps.taken(beside, 0)[10:]))
    await runner.close()
    title = "CPU of a step with Read beside one MCP server"
    baseline = statistics.median(theirs) if theirs else None
    return [
        against(title, statistics.median(cpu), baseline, 1 / 4, "ms", "≤ 1/4"),
        limit(f"tools/list in {STEPS} such steps", max(asked), 1, "", "1"),
    ]


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temp:
        rows = asyncio.run(_stepped(Path(temp)))
    return rows + asyncio.run(_measure())
