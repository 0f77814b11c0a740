"""Ways to a server: a child process, Streamable HTTP, SSE. Runs on the runner's loop."""

from __future__ import annotations

import asyncio
import logging
import os
import posixpath
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from desktop_app.core.models.network import Route
from desktop_app.core.tasks import Tasks

from .lines import ENCODING
from .ring import Ring, drained_pipe
from .sift import Sifted
from .spec import ServerSpec
from .ways import options

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

log = logging.getLogger(__name__)
SSE_READ_SECONDS = 300.0  # without a word on an open stream

# What a server may need of our environment beside what the SDK passes on (HOME, PATH, USER …):
# language, time, proxies, certificates, places. No tokens.
_PASSED = (
    "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY",
    "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "ProgramData", "ProgramFiles",
)  # fmt: skip


@dataclass(slots=True)
class Wire:
    """What a transport tells its connection. ``status`` is the last HTTP status that was an error;
    ``bad`` the items taken out of the listing under way; ``route`` the way to a server over HTTP,
    None where nobody says one; ``wake`` is set when the other side
    ``ended`` or its list of tools is ``stale``."""

    ring: Ring
    route: Route | None = None
    ended: bool = False
    stale: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 0
    flood: str = ""  # why a server that floods its output was given up
    sign_in: str = ""  # "needed", or why signing in failed
    bad: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def end(self) -> None:
        self.ended = True
        self.wake.set()

    def sifted(self, name: str, why: str) -> None:
        self.bad.append((name, why))

    def flooded(self, why: str) -> None:
        self.flood = why

    def change(self) -> None:
        self.stale = True
        self.wake.set()


def quiet() -> None:
    """The SDK logs a traceback for each line that is no JSON; such lines go into the ring."""
    logging.getLogger("mcp.client.stdio").setLevel(logging.CRITICAL)
    logging.getLogger("mcp").setLevel(logging.ERROR)
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)


def child_env(spec: ServerSpec, path: str) -> dict[str, str]:
    """The environment of a stdio server: the login shell's PATH, the directory of the program
    first when it is named by a path (``npx`` finds ``node`` beside it), then the declaration's."""
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    env["PATH"] = path
    env |= spec.env
    folder = os.path.dirname(spec.command[0]) if spec.command else ""
    if os.path.isabs(folder):
        env["PATH"] = os.pathsep.join([folder, env["PATH"]])
    return env


def found_program(spec: ServerSpec, path: str) -> str:
    """Where the program of a stdio server is; empty where it is not found."""
    if spec.transport != "stdio" or not spec.command:
        return ""
    return shutil.which(spec.command[0], path=child_env(spec, path)["PATH"]) or ""


@asynccontextmanager
async def transport(
    spec: ServerSpec,
    wire: Wire,
    cwd: str,
    path: str,
    auth: httpx2.Auth | None = None,
) -> AsyncGenerator[TransportStreams]:
    """Streams to the server; what it holds (a process, sockets) is gone when it is left."""
    async with AsyncExitStack() as stack:
        match spec.transport:
            case "stdio":
                read, write = await stack.enter_async_context(_stdio(spec, wire, cwd, path))
            case "sse":
                read, write = await stack.enter_async_context(_sse(spec, wire, auth))
            case _:
                read, write = await stack.enter_async_context(_http(spec, wire, auth))
        yield Sifted(read, wire.sifted, wire.end, wire.flooded), write


@asynccontextmanager
async def _stdio(
    spec: ServerSpec, wire: Wire, cwd: str, path: str
) -> AsyncGenerator[TransportStreams]:
    """The process is held by a task of its own, which nobody cancels: the SDK's way of ending one
    (its input closed, then signals; at most some seconds) is broken off by a cancellation of the
    task it runs in, and the process would outlive it, and the loop that waits for it."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=spec.command[0],
        args=list(spec.command[1:]),
        env=child_env(spec, path),
        cwd=posixpath.join(cwd, os.path.expanduser(spec.cwd or "")),
        encoding=ENCODING,
        encoding_error_handler=spec.errors,  # pyright: ignore[reportArgumentType]
    )
    errlog = drained_pipe(wire.ring, spec.name)
    up: asyncio.Future[TransportStreams] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def keep() -> None:
        async with AsyncExitStack() as stack:
            try:
                streams = await stack.enter_async_context(stdio_client(parameters, errlog=errlog))
            finally:
                errlog.close()  # the child has its own: the pipe ends with it
            up.set_result(streams)
            await leave.wait()

    tasks = Tasks(lambda name, error: log.debug("%s: %r", name, error))
    keeper = tasks.start(keep(), name=f"MCP server {spec.name}")
    try:
        await asyncio.wait({keeper, up}, return_when=asyncio.FIRST_COMPLETED)
        if not up.done():
            keeper.result()
        yield up.result()
    finally:
        leave.set()
        await _ended(keeper)
    keeper.result()


async def _ended(task: asyncio.Task[None]) -> None:
    """Wait until ``task`` has ended, whoever cancels the waiting meanwhile; that is passed on."""
    stopped: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            stopped = error
    if stopped is not None:
        raise stopped


@asynccontextmanager
async def _http(
    spec: ServerSpec, wire: Wire, auth: httpx2.Auth | None
) -> AsyncGenerator[TransportStreams]:
    from mcp.client.streamable_http import streamable_http_client

    async with (
        _client(spec, wire, auth)() as client,
        streamable_http_client(spec.url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _sse(
    spec: ServerSpec, wire: Wire, auth: httpx2.Auth | None
) -> AsyncGenerator[TransportStreams]:
    from mcp.client.sse import sse_client

    factory = _client(spec, wire, auth)
    async with sse_client(
        spec.url, timeout=spec.http_seconds, httpx_client_factory=factory
    ) as streams:
        yield streams


def _client(spec: ServerSpec, wire: Wire, auth: httpx2.Auth | None) -> Callable[..., Any]:
    """Makes HTTP clients with the declaration's headers that tell of error answers."""
    import httpx2

    async def told(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            wire.status = response.status_code

    def make(**_: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=spec.headers,
            auth=auth,
            timeout=httpx2.Timeout(spec.http_seconds, read=SSE_READ_SECONDS),
            event_hooks={"response": [told]},
            **options(spec.url, wire.route),
        )

    return make
