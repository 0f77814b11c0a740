"""What a background command prints: all of it in a file of the workspace, the newest in memory."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tools.background import Printed
from desktop_app.core.workspaces.backend import Backend

TAIL = 256 << 10  # bytes in memory
STEP_SECONDS = 0.2  # what comes within it is written together
WAITING = 1 << 20  # bytes that may wait for the file; then the command waits
AGAIN_SECONDS = 1.0  # between two tries of a file that cannot be written now
LAST_TRIES = 3  # of them once the command has ended


class Spool:
    """``add`` takes output, ``write`` (a task of the owner's) brings it to the file ``at`` until
    ``finish``. ``error`` is the code of what kept output from the file for good; the rest of it is
    then in memory alone."""

    def __init__(self, backend: Backend, at: str) -> None:
        self._backend = backend
        self._at = at
        self._waiting = bytearray()
        self._tail = bytearray()
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._over = False
        self.grown = asyncio.Event()  # set with all output, cleared by whoever waits for it
        self.total = 0
        self.written = 0
        self.error = "" if at else "file.missing"

    async def add(self, data: bytes) -> None:
        """Take a piece; waits while too much is on its way to the file."""
        self.total += len(data)
        self._tail += data
        if len(self._tail) > 2 * TAIL:  # now and then, not for each piece
            del self._tail[:-TAIL]
        self.grown.set()
        if self.error:
            return
        self._waiting += data
        self._more.set()
        if len(self._waiting) >= WAITING:
            self._room.clear()
        await self._room.wait()

    def finish(self) -> None:
        """No more will come: ``write`` ends once everything is in the file, or cannot be."""
        self._over = True
        self._more.set()

    async def write(self) -> None:
        tries = 0
        while not self.error:
            await self._more.wait()
            if not self._over and not tries:
                await asyncio.sleep(STEP_SECONDS)
            data = bytes(self._waiting)
            try:
                if data:
                    await self._backend.append(self._at, data, plain=True)
            except SlipwayError as error:
                tries += 1
                if not error.retryable or (self._over and tries >= LAST_TRIES):
                    self.error = error.code
                    break
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            tries = 0
            self.written += len(data)
            del self._waiting[: len(data)]
            if len(self._waiting) < WAITING:
                self._room.set()
            if not self._waiting:
                self._more.clear()
                if self._over:
                    break
        self._waiting.clear()
        self._room.set()

    def newest(self, limit: int) -> bytes:
        """The newest bytes that memory has, at most ``limit``."""
        return bytes(self._tail[-limit:])

    def unread(self, start: int) -> bytes:
        """What came from byte ``start`` on, as far as memory has it."""
        return bytes(self._tail[max(0, start - (self.total - len(self._tail))) :])

    def read(self, start: int, limit: int) -> Printed:
        """The newest ``limit`` bytes (at most ``TAIL``) of what came from byte ``start`` on."""
        end = self.total
        first = max(start, end - min(limit, TAIL))
        return Printed(self.unread(first), first, end, first - start)


async def read_file(backend: Backend, at: str, start: int, length: int) -> bytes:
    """``length`` bytes from ``start``; fewer where the file is shorter."""
    pieces: list[bytes] = []
    async with aclosing(backend.read(at, offset=start, length=length)) as stream:
        async for piece in stream:
            pieces.append(piece)
    return b"".join(pieces)
