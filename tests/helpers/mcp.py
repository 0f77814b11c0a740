"""Connections to the servers in ``mcp_servers``, and waiting for what they do."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from desktop_app.core.mcp.connection import Connection, Limits, Status
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.tools.base import ToolOutcome

SERVERS = Path(__file__).parent / "mcp_servers"
QUICK = Limits(start=20.0, call=20.0, pauses=(0.05, 0.05), wait=10.0)


def command(file: str, *args: str) -> tuple[str, ...]:
    return (sys.executable, str(SERVERS / file), *args)


def entry(name: str, file: str, *args: str, **more: Any) -> dict[str, Any]:
    """A declaration as it stands in ``.mcp``."""
    program, *rest = command(file, *args)
    config: dict[str, Any] = {"type": "stdio_mcp", "command": program, "args": rest}
    return {"name": name, "is_stateful": True, "mcp_config": config, **more}


def declare(root: Path, *entries: Any, agent: str = "", session: str = "") -> Path:
    """Write a ``.mcp`` of the newest generation."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / ".mcp"
    path.write_text(json.dumps({"version": 2, "mcps": {agent: {session: list(entries)}}}))
    return path


async def until(done: Callable[[], Any], seconds: float = 20.0) -> None:
    """Let the loop turn until ``done()`` is true."""
    async with asyncio.timeout(seconds):
        while not done():
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def children() -> list[int]:
    """Processes below this one that still run."""
    return [p.pid for p in psutil.Process().children(recursive=True) if alive(p.pid)]


class Bench:
    """Makes connections and ends them; ``seen`` has the states of each by name."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.seen: dict[str, list[Status]] = {}
        self.connections: list[Connection] = []
        self.before = set(children())

    def connect(
        self,
        file: str,
        *args: str,
        name: str = "server",
        limits: Limits = QUICK,
        cwd: str | None = None,
        **spec: Any,
    ) -> Connection:
        """A stdio connection, started."""
        return self.start(
            ServerSpec(name, "stdio", command(file, *args), **spec), limits=limits, cwd=cwd
        )

    def start(
        self, spec: ServerSpec, *, limits: Limits = QUICK, cwd: str | None = None
    ) -> Connection:
        seen = self.seen.setdefault(spec.name, [])
        connection = Connection(spec, self.runner, cwd or os.getcwd(), seen.append, limits)
        self.connections.append(connection)
        connection.start()
        return connection

    async def ok(self, file: str, *args: str, **more: Any) -> Connection:
        """A connection that is up."""
        connection = self.connect(file, *args, **more)
        await until(lambda: connection.status.state in ("ok", "failed"))
        assert connection.status.state == "ok", connection.status
        return connection

    async def close(self) -> None:
        await asyncio.gather(*(c.stop() for c in self.connections))
        await self.runner.close()
        await until(lambda: not set(children()) - self.before, 10)


async def call(connection: Connection, tool: str, **args: Any) -> ToolOutcome:
    return await connection.call(tool, args, images=True, progress=lambda _: None)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@asynccontextmanager
async def serving(kind: str, port: int, file: str = "plain.py", more: str = ""):
    """A server over HTTP: ``plain.py`` of a kind and port, or another with its own arguments."""
    process = await asyncio.create_subprocess_exec(
        *command(file, kind, more or str(port)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(20):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    await writer.wait_closed()
                    break
                except OSError:
                    await asyncio.sleep(0.05)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
