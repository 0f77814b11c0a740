"""One MCP server behind the gateway: connected, listed, called, started again when it died."""

# pyright: basic

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import threading
import time

from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ListRootsResult, Root
from pydantic import FileUrl

# all packed beside this one
from .lines import ENCODING  # pyright: ignore[reportMissingImports]
from .sift import Sifted  # pyright: ignore[reportMissingImports]
from .tasks import Tasks  # pyright: ignore[reportMissingImports]

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)  # seconds before each further try; then it is failed
STEADY = 60.0  # a server that lived so long starts counting anew
START = 60.0  # until it must have answered
PAGES = 200
KEEP = 64 << 10  # bytes of standard error


class Errors:
    """The end of what a server wrote to its standard error."""

    def __init__(self):
        self.pieces = collections.deque()
        self.size = 0

    def pipe(self):
        """A file for a child; a thread reads the other end: a full pipe would stop the writer."""
        read, write = os.pipe()
        threading.Thread(target=self.drain, args=(read,), daemon=True).start()
        return os.fdopen(write, "w", encoding="utf-8", errors="replace")

    def drain(self, read):
        with contextlib.suppress(OSError):
            while data := os.read(read, 1 << 16):
                self.pieces.append(data)
                self.size += len(data)
                while self.size - len(self.pieces[0]) >= KEEP:
                    self.size -= len(self.pieces.popleft())
        os.close(read)

    def text(self):
        return b"".join(list(self.pieces))[-KEEP:].decode("utf-8", "replace")


class Upstream:
    """``declared`` is an entry of ``.mcp`` (AgentScope's MCPClient). ``state`` is ``starting``,
    ``ok``, ``waiting``, ``failed`` or ``stopped``; ``detail`` says why it is not ``ok``."""

    def __init__(self, declared, workdir):
        self.declared = declared
        self.name = declared["name"]
        self.workdir = workdir
        self.state, self.detail, self.version = "starting", "", ""
        self.tools, self.bad = [], []
        self.errors = Errors()
        self.client = None
        self.restarts = 0
        self.moved = asyncio.Event()
        self.again = asyncio.Event()
        self.wake = asyncio.Event()
        self.ended = self.stale = False
        self.flood = ""
        self.tasks = Tasks(lambda name, error: None)  # it catches all that can be told
        self.task = self.tasks.start(self.supervise(), name=self.name)

    def set(self, state, detail=""):
        self.state, self.detail = state, detail
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()

    async def stop(self):
        self.task.cancel()
        await asyncio.wait([self.task])

    async def settled(self, seconds):
        """Wait until it is known whether it started."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.state == "starting":
                    await self.moved.wait()

    def kick(self):
        """Start it anew, now."""
        self.again.set()
        if self.state == "ok":
            self.end()

    def flooded(self, why):
        self.flood = why

    def end(self):
        self.ended = True
        self.wake.set()

    # -- its life --------------------------------------------------------------------------------

    async def supervise(self):
        tries = 0
        try:
            while True:
                self.again = asyncio.Event()
                self.set("starting")
                began = time.monotonic()
                why = "it ended"
                try:
                    await self.live()
                except Exception as error:  # noqa: BLE001 - whatever a server can do to us
                    why = reason(error)
                self.client = None
                why = self.flood or why
                last = self.errors.text().strip().rpartition("\n")[2][:300]
                why = f"{why}: {last}" if last else why
                if time.monotonic() - began > STEADY:
                    tries = 0
                if tries >= len(PAUSES):
                    self.set("failed", why)
                    await self.again.wait()
                    tries = 0
                    continue
                pause = PAUSES[tries]
                tries += 1
                self.restarts += 1
                self.set("waiting", why)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self.again.wait()
        finally:
            self.client = None
            self.set("stopped")

    async def live(self):
        self.ended = self.stale = False
        self.flood = ""
        self.wake = asyncio.Event()
        client = Client(
            self.transport(),
            list_roots_callback=self.roots,
            message_handler=self.heard,
            cache=None,
        )
        async with asyncio.timeout(START) as limit:
            async with client:
                await self.list(client)
                self.client = client
                self.set("ok")
                limit.reschedule(None)
                while not self.ended:
                    await self.wake.wait()
                    self.wake.clear()
                    if self.stale:
                        self.stale = False
                        await self.list(client)
                self.client = None

    @contextlib.asynccontextmanager
    async def transport(self):
        config = self.declared.get("mcp_config") or {}
        async with contextlib.AsyncExitStack() as stack:
            if config.get("type") == "stdio_mcp":
                read, write = await self.stdio(config, stack)
            else:
                read, write = await self.http(config, stack)
            bad = self.bad = []
            told = lambda name, why: bad.append((name, why))  # noqa: E731
            yield Sifted(read, told, self.end, self.flooded), write

    async def stdio(self, config, stack):
        parameters = StdioServerParameters(
            command=config["command"],
            args=[str(word) for word in config.get("args") or []],
            env={**os.environ, **{k: str(v) for k, v in (config.get("env") or {}).items()}},
            cwd=os.path.join(self.workdir, os.path.expanduser(config.get("cwd") or "")),
            encoding=ENCODING,
            encoding_error_handler=config.get("encoding_error_handler") or "strict",
        )
        with self.errors.pipe() as pipe:  # the child has its own: the pipe ends with it
            return await stack.enter_async_context(stdio_client(parameters, errlog=pipe))

    async def http(self, config, stack):
        import httpx2

        headers = dict(config.get("headers") or {})
        seconds = float(config.get("timeout") or 30)
        limits = httpx2.Timeout(seconds, read=300)

        def make(*_, **__):
            return httpx2.AsyncClient(headers=headers, timeout=limits)

        if config.get("transport") == "sse" or config.get("type") == "sse_mcp":
            opened = sse_client(config["url"], timeout=seconds, httpx_client_factory=make)
            return await stack.enter_async_context(opened)
        client = await stack.enter_async_context(make())
        opened = streamable_http_client(config["url"], http_client=client)
        return await stack.enter_async_context(opened)

    async def list(self, client):
        """Every page of the tools, dumped in the wire's own spelling (camelCase)."""
        self.version = str(client.protocol_version)
        if client.server_capabilities.tools is None:
            self.tools = []
            return
        found, cursor, seen = {}, None, set()
        for _ in range(PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                dumped = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
                found.setdefault(tool.name, dumped)
            cursor = page.next_cursor
            if not cursor or cursor in seen:
                break
            seen.add(cursor)
        self.tools = list(found.values())
        self.set(self.state, self.detail)

    async def heard(self, message):
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self.stale = True
            self.wake.set()

    async def roots(self, context):
        return ListRootsResult(
            roots=[Root(uri=FileUrl(f"file://{self.workdir}"), name="workspace")]
        )

    # -- its use ---------------------------------------------------------------------------------

    async def ready(self, seconds):
        """The client; one that is down is tried again for it. ConnectionError when it stays."""
        if self.state in ("waiting", "failed"):
            self.again.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.client is None:
                    await self.moved.wait()
        if self.client is None:
            raise ConnectionError(self.detail or "it is still starting")
        return self.client

    def status(self):
        return {
            "name": self.name,
            "state": self.state,
            "detail": self.detail,
            "version": self.version,
            "tools": len(self.tools),
            "bad": self.bad,
            "restarts": self.restarts,
            "stderr": self.errors.text()[-8000:],
        }


def reason(error):
    """The innermost of grouped errors, in one line."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"not found: {error.filename}"
    if isinstance(error, TimeoutError):
        return f"no answer within {START:g} seconds"
    return f"{type(error).__name__}: {error}"[:500]
