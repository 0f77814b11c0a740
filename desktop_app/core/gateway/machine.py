"""The gateway of one machine: brought up over its backend when first needed, kept, and again.

It runs as a process of the far end, listens on the machine's loopback only, and has a token that is
new at each start and reaches it through its environment. Requests go through the far end's
connection, so that nothing listens outside the machine and a machine without a network has one too.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import Tasks, cancelled
from desktop_app.core.workspaces.backend import ExecResult, OutputChunk, collected
from desktop_app.core.workspaces.remote.backend import RemoteBackend

from .bundle import REQUIREMENTS, program
from .client import GatewayClient

log = logging.getLogger(__name__)

State = Literal["off", "installing", "starting", "ready", "failed"]
START_SECONDS = 30.0
INSTALL_SECONDS = 300.0
TAIL = 4000
LIBRARIES = "/opt/slipway/lib"  # where an image of ours has what it imports
_CHECK = "import os,sys;sys.path[:0]=sys.argv[1:];import mcp,uvicorn,starlette,mcp_types"


@dataclass(frozen=True, slots=True)
class GatewayStatus:
    """How the gateway is. ``detail`` is the last thing it (or pip) said when it failed."""

    state: State = "off"
    detail: str = ""
    seconds: float = 0.0  # from its start to its first answer


class Host(Protocol):
    """The machine itself, which may stand still."""

    async def start(self) -> object: ...

    def listen_awake(self, heard: Callable[[], None]) -> Callable[[], None]: ...


class GatewayMachine:
    """See the module. ``python`` is the interpreter there; ``on_change`` hears of each status.
    Without a ``host`` the machine is one that always runs.

    Nothing here wakes the machine but ``wake`` and a call of a tool: to keep servers running is no
    reason to end a pause, which is somebody's wish and their money."""

    def __init__(
        self,
        backend: RemoteBackend,
        *,
        python: str = "python3",
        libraries: Sequence[str] = (LIBRARIES,),
        host: Host | None = None,
        on_change: Callable[[GatewayStatus], None] | None = None,
    ) -> None:
        self._backend = backend
        self._python = python
        self._libraries = tuple(libraries)
        self._host = host
        self._on_change = on_change
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))
        self._starting = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._port = 0
        self._token = ""
        self._output = b""
        self.generation = 0  # grows with every start: a client adds its servers again
        self.status = GatewayStatus()

    def client(self, agent_id: str = "", session_id: str = "") -> GatewayClient:
        """For the gateway that runs now; a new one after it was started again."""
        return GatewayClient(self, self._token, agent_id, session_id)

    async def wake(self) -> None:
        """Bring the machine up. WorkspaceError when it cannot be."""
        if self._host is not None:
            await self._host.start()

    def listen_awake(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Hear each time that the machine came up; returns the way to stop."""
        return self._host.listen_awake(heard) if self._host is not None else lambda: None

    async def ensure(self) -> int:
        """Have it run; its generation. Who asks meanwhile waits for the same start. WorkspaceError
        ``workspace.asleep`` (nothing is started in a machine that stands still),
        ``gateway.failed`` with what it said, ``gateway.install`` with what pip said."""
        async with self._starting:
            ready = self.status.state == "ready"  # not one whose start was given up in the middle
            if not ready or self._running is None or self._running.done():
                await self._start()
            return self.generation

    async def close(self) -> None:
        """End it with every server behind it; idempotent."""
        await self._tasks.close()
        self._running = None
        self._set(GatewayStatus("off"))

    def _set(self, status: GatewayStatus) -> None:
        self.status = status
        if self._on_change is not None:
            self._on_change(status)

    # -- how it starts ---------------------------------------------------------------------------

    async def _start(self) -> None:
        began = time.monotonic()
        if self._running is not None:
            await cancelled(self._running)
        try:
            libraries = await self._installed()
            self._set(GatewayStatus("starting"))
            self._port, self._token, self._output = 0, secrets.token_hex(24), b""
            self._running = self._tasks.start(self._run(libraries), name="MCP gateway")
            await self._answers()
        except WorkspaceError as error:
            self._set(GatewayStatus("failed", str(error.params.get("detail", error.code))))
            raise
        self.generation += 1
        self._set(GatewayStatus("ready", seconds=time.monotonic() - began))

    async def _installed(self) -> str:
        """The folders that its imports are found in, as a path list; installed when missing."""
        home = (await self._exec(["sh", "-c", 'printf %s "$HOME"'])).stdout.decode()
        ours = f"{home or '/tmp'}/.slipway-gateway/{'-'.join(REQUIREMENTS).replace('==', '-')}"
        for folders in ((), self._libraries, (ours,)):
            line = [self._python, "-I", "-c", _CHECK, *folders]
            if (await self._exec(line, START_SECONDS)).code == 0:
                return ":".join(folders)
        self._set(GatewayStatus("installing"))
        pip = [self._python, "-m", "pip", "install", "--disable-pip-version-check", "-q"]
        line = [*pip, "--target", ours, *REQUIREMENTS]
        done = await self._exec(line, INSTALL_SECONDS)
        if done.code != 0:
            said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
            raise WorkspaceError("gateway.install", retryable=True, detail=said[-TAIL:])
        return ours

    async def _exec(self, line: list[str], seconds: float | None = None) -> ExecResult:
        stream = self._backend.run(line, cwd="/", timeout=seconds, quiet=True)
        return await collected(stream, TAIL * 4)

    async def _run(self, libraries: str) -> None:
        env = {"SLIPWAY_GATEWAY_TOKEN": self._token, "SLIPWAY_GATEWAY_PATH": libraries}
        nonce, workdir = secrets.token_hex(8), self._backend.cwd
        line = [self._python, "-I", "-c", program(), "--port", "0", "--workdir", workdir]
        stream = self._backend.run([*line, "--instance-nonce", nonce], cwd="/", env=env, quiet=True)
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, OutputChunk):
                    self._output = (self._output + event.data)[-TAIL:]
                    if not self._port and event.stream == "stdout":
                        self._port = _port(self._output)

    async def _answers(self) -> None:
        """Wait for its first answer."""
        assert self._running is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not self._running.done():
            if self._port:
                try:
                    await self.client().health()
                    return
                except WorkspaceError as error:
                    if error.code != "http.failed":
                        raise
            await asyncio.sleep(0.02)
        said = self._output.decode("utf-8", "replace").strip()
        if self._running.done() and not self._running.cancelled():
            failed = self._running.exception()
            if isinstance(failed, WorkspaceError):
                raise failed
        self._running.cancel()
        raise WorkspaceError("gateway.failed", retryable=True, detail=said)

    # -- the way of its clients ------------------------------------------------------------------

    async def http(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str],
        body: bytes,
        timeout: float | None,
    ) -> AsyncGenerator[tuple[int, dict[str, str]] | bytes]:
        quiet = "/tools/" not in path  # only a call is the agent's own use of the machine
        parts = self._backend.http(
            self._port, method, path, headers=headers, body=body, timeout=timeout, quiet=quiet
        )
        async with aclosing(parts) as pieces:
            async for piece in pieces:
                yield piece


def _port(output: bytes) -> int:
    for line in output.decode("utf-8", "replace").splitlines(keepends=True):
        word, _, number = line.strip().partition(" ")
        if line.endswith("\n") and word == "port" and number.isdigit():
            return int(number)
    return 0
