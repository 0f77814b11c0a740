"""Workspaces in containers: how soon one is usable, what a call costs beside a bare exec, the
gateway beside the same server called directly and beside AgentScope's exec for each request, and
whole directories beside ``docker cp``. Needs a Docker engine; without one it has no rows.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from desktop_app.core.gateway.connection import declaration
from desktop_app.core.gateway.machine import GatewayMachine
from desktop_app.core.mcp.connection import Connection
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.workspaces.docker.engine import Engine
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.docker.workspace import DockerWorkspace
from desktop_app.core.workspaces.manager import WorkspaceManager
from tests.benchmarks.figures import against, limit
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers, why_no_engine
from tests.helpers.mcp import SERVERS

CALLS = 40
SMALL_FILES = 20_000
BIG_BYTES = 1 << 30
# AgentScope's way to its gateway: a new Python in the container for every request.
SHIM = (
    "import sys,urllib.request as u;r=u.Request(sys.argv[1],data=sys.argv[2].encode(),"
    "headers={'Authorization':'Bearer '+sys.argv[3],'Content-Type':'application/json'});"
    "print(u.urlopen(r).read().decode())"
)


async def _median(work: Callable[[], Awaitable[Any]], times: int = CALLS) -> float:
    """Milliseconds."""
    walls: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        walls.append((time.perf_counter() - began) * 1000)
    return statistics.median(walls)


async def _bare(engine: Engine, container_id: str, argv: list[str]) -> None:
    """One exec by the client library alone."""
    client = await engine.client()
    running = await client.containers.container(container_id).exec(argv, stdout=True, stderr=True)
    async with running.start(detach=False) as stream:
        while await stream.read_out() is not None:
            pass
    await running.inspect()


async def _opening(make: Callable[[], DockerWorkspace]) -> list[dict[str, Any]]:
    workspace = make()
    await workspace.initialize()
    await workspace.start()
    await workspace.get_backend().exec(["true"])
    await workspace.stop()
    container = await workspace.container()
    began = time.perf_counter()
    await container.start()
    alone = time.perf_counter() - began
    await container.stop()
    again = make()
    began = time.perf_counter()
    await again.initialize()
    await again.start()
    await again.get_backend().exec(["true"])
    opened = time.perf_counter() - began
    other = make()
    began = time.perf_counter()
    await other.initialize()
    await other.get_backend().exec(["true"])
    attached = (time.perf_counter() - began) * 1000
    await other.remote.hang_up()
    return [
        limit(
            "a stopped Docker workspace to its first result, beyond the container's own start",
            opened - alone, 1.5, "s", "≤ 1.5 s",
        ),
        limit("a running one attached, first result", attached, 300, "ms", "≤ 300 ms"),
    ]  # fmt: skip


async def _calls(workspace: DockerWorkspace, engine: Engine) -> dict[str, Any]:
    found = await (await workspace.container()).find()
    assert found is not None
    backend = workspace.get_backend()
    ours = await _median(lambda: backend.exec(["true"]))
    bare = await _median(lambda: _bare(engine, found["Id"], ["true"]))
    return against("a command in a running container", ours, bare, 1.3, "ms", "≤ 1.3 x bare exec")


async def _gateway(workspace: DockerWorkspace, engine: Engine) -> list[dict[str, Any]]:
    backend = workspace.remote
    await backend.write("plain.py", (SERVERS / "plain.py").read_bytes())
    machine = GatewayMachine(backend)
    began = time.perf_counter()
    await machine.ensure()
    ready = time.perf_counter() - began
    client = machine.client()
    await client.add(declaration(ServerSpec("plain", "stdio", ("python3", "plain.py"))))

    async def through() -> None:
        await client.call("plain", "add", {"a": 1, "b": 2}, seconds=30)

    await through()
    ours = await _median(through)
    runner = Runner()
    line = (sys.executable, str(SERVERS / "plain.py"))
    direct = Connection(ServerSpec("plain", "stdio", line), runner, ".", lambda _: None)
    direct.start()

    async def directly() -> None:
        await direct.call("add", {"a": 1, "b": 2}, images=False, progress=lambda _: None)

    await directly()
    alone = await _median(directly)
    await direct.stop()
    await runner.close()
    found = await (await workspace.container()).find()
    assert found is not None
    url = f"http://127.0.0.1:{machine._port}/mcps/plain/tools/add?agent_id=&session_id="
    body = '{"arguments":{"a":1,"b":2}}'
    shim = ["python3", "-c", SHIM, url, body, machine._token]
    theirs = await _median(lambda: _bare(engine, found["Id"], shim), 15)
    await machine.close()
    return [
        limit("the gateway from its start to its first answer", ready, 3.5, "s", "≤ 3.5 s"),
        limit(
            "an MCP call through the gateway, beyond the same server called directly",
            ours - alone, 5, "ms", "≤ 5 ms",
        ),
        against(
            "an MCP call through the gateway, beside an exec for each request",
            ours, theirs, 0.2, "ms", "≤ 1/5 x exec per request",
        ),
    ]  # fmt: skip


async def _creations() -> dict[str, Any]:
    made: list[str] = []

    class Place:
        async def close(self) -> None: ...

    async def open_one(workspace_id: str) -> Place:
        made.append(workspace_id)
        await asyncio.sleep(0.05)
        return Place()

    manager = WorkspaceManager(open_one)
    await asyncio.gather(*(manager.get_workspace("one") for _ in range(100)))
    await manager.close_all()
    return limit("creations for 100 who ask for one id at once", len(made), 1, "", "1")


def _trees(top: Path) -> None:
    (top / "big").mkdir()
    piece = os.urandom(1 << 20)
    with (top / "big/one.bin").open("wb") as file:
        for _ in range(BIG_BYTES >> 20):
            file.write(piece)
    for n in range(SMALL_FILES):
        folder = top / f"small/{n // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n}.txt").write_bytes(piece[n : n + 2000])


async def _taken(work: Awaitable[Any]) -> float:
    """Seconds. What was written before is on the disk first: who comes next would pay for it."""
    await asyncio.to_thread(os.sync)
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def _copied(*words: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "docker", "cp", *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 0


async def _round(workspace: DockerWorkspace, top: Path, name: str, n: int) -> dict[str, float]:
    """Seconds of each way up and down, docker's own and ours. Nothing is deleted meanwhile: for
    half a minute ext4 passes over the inodes of deleted files one by one (``recently_deleted`` in
    its ``ialloc.c``), which makes the next twenty thousand files up to ten times as slow."""
    found = await (await workspace.container()).find()
    assert found is not None
    inside, took = f"{found['Id']}:/workspace/{n}", dict[str, float]()
    here = top / str(n)
    here.mkdir()
    await workspace.remote.mkdir(f"{n}/cp")
    took["cp up"] = await _taken(_copied(str(top / name), f"{inside}/cp/"))
    took["cp down"] = await _taken(_copied(f"{inside}/cp/{name}", str(here / "cp")))
    for sure in ("", " with digests"):
        there = f"{n}/ours{sure}"
        up = workspace.upload(top / name, there, verify=bool(sure))
        took["up" + sure] = await _taken(up)
        down = workspace.download(f"{there}/{name}", here / f"ours{sure}", verify=bool(sure))
        took["down" + sure] = await _taken(down)
    return took


async def _transfers(workspace: DockerWorkspace) -> list[dict[str, Any]]:
    """The better of two rounds: the disk is not ours alone. The small files come first, since what
    is deleted after the large one would slow them."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        top = Path(folder)
        await asyncio.to_thread(_trees, top)
        for name, what in (("small", f"{SMALL_FILES:,} small files"), ("big", "1 GB in one file")):
            rounds = [await _round(workspace, top, name, n) for n in (1, 2)]
            best = {way: min(took[way] for took in rounds) for way in rounds[0]}
            for sure, share in (("", 0.7), (" with digests", 0.35)):
                for way in ("up", "down"):
                    ours, cp = best[way + sure], best[f"cp {way}"]
                    goal = f"≥ {share} x docker cp"
                    rows.append(against(f"{what} {way}{sure}", ours, cp, 1 / share, "s", goal))
            for n in (1, 2):
                await asyncio.to_thread(shutil.rmtree, top / str(n))
                await workspace.remote.remove(str(n), recursive=True)
    return rows


async def _measure() -> list[dict[str, Any]]:
    engine, prefix = engine_or_skip(), f"bench-{secrets.token_hex(6)}"

    async def of() -> Engine:
        return engine

    def make() -> DockerWorkspace:
        spec = DockerSpec(base_image=base_image(), network=False)
        return DockerWorkspace(spec, of, id=prefix, name="bench", trusted=True, gateway=False)

    try:
        rows = await _opening(make)
        workspace = make()
        await workspace.initialize()
        rows.append(await _calls(workspace, engine))
        rows += await _gateway(workspace, engine)
        rows.append(await _creations())
        rows += await _transfers(workspace)
        await workspace.remove()
        await workspace.close()
        return rows
    finally:
        await engine.close()
        await asyncio.to_thread(remove_leftovers, prefix)


def run() -> list[dict[str, Any]]:
    return [] if why_no_engine() else asyncio.run(_measure())
