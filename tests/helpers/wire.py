"""An engine's socket at a path of the test's own. The engine is never stopped: what goes through
here can be cut, or be away as if the engine were."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import time
from collections.abc import AsyncGenerator
from pathlib import Path


class Wire:
    """In front of the unix socket ``to``."""

    def __init__(self, to: str, at: Path) -> None:
        self._to, self._at = to, at
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._served: set[asyncio.Task[None]] = set()
        self._refused_until = 0.0

    @property
    def url(self) -> str:
        return f"unix://{self._at}"

    async def join(self) -> None:
        """Be there (again)."""
        self._server = await asyncio.start_unix_server(self._serve, str(self._at))

    def cut(self, seconds: float = 0.0) -> None:
        """End every connection; refuse new ones for so long."""
        self._refused_until = time.monotonic() + seconds
        for end in list(self._ends):
            end.transport.abort()

    def leave(self) -> None:
        """End every connection and be gone from the disk."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._at.unlink(missing_ok=True)
        self.cut()

    async def close(self) -> None:
        self.leave()
        if self._served:
            await asyncio.wait(self._served)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._served.add(task)
        ends = [writer]
        try:
            if time.monotonic() < self._refused_until:
                writer.transport.abort()
                return
            behind, front = await asyncio.open_unix_connection(self._to)
            ends.append(front)
            self._ends.update(ends)
            await asyncio.gather(self._pass(reader, front), self._pass(behind, writer))
        finally:
            self._ends.difference_update(ends)
            for end in ends:
                end.close()
            self._served.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()


@contextlib.asynccontextmanager
async def wired(url: str) -> AsyncGenerator[Wire]:
    """A wire to the engine at ``url``, there."""
    # Not in the test's own folder: a socket's path is 107 bytes at most.
    folder = Path("/tmp") / f"slipway-{secrets.token_hex(4)}"
    folder.mkdir()
    wire = Wire(url.removeprefix("unix://"), folder / "d.sock")
    await wire.join()
    try:
        yield wire
    finally:
        await wire.close()
        shutil.rmtree(folder)
