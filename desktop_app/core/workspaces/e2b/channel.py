"""A far end in a sandbox: a command whose input is sent and whose output streams, as text."""

from __future__ import annotations

import asyncio
import logging
import shlex
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import Tasks, ending
from desktop_app.core.workspaces.remote.bundle import command
from desktop_app.core.workspaces.remote.line import unreachable

from .account import told

log = logging.getLogger(__name__)

PIECE = 1 << 20  # of input in one request; the protocol's servers take at most 4 MiB
AHEAD = 64  # pieces of output that wait to be read; then the stream is not read on
TAIL = 2000
NOT_FOUND = (126, 127)


class CommandChannel:
    """``Channel``. The library decodes output as UTF-8, so frames are lines of base64."""

    text = True

    def __init__(self) -> None:
        self._handle: Any = None
        self._pieces: asyncio.Queue[bytes | WorkspaceError] = asyncio.Queue(AHEAD)
        self._errors = ""
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))

    async def open(self, sandbox: Any) -> None:
        try:
            self._handle = await sandbox.commands.run(
                shlex.join(command(text=True)),
                background=True,
                stdin=True,
                cwd="/",
                timeout=0,
                on_stdout=self._output,
                on_stderr=self._error,
                retain_output=False,
            )
        except Exception as error:
            raise told(error) from error
        self._tasks.start(self._wait(), name="wait for a sandbox's helper")

    async def _output(self, text: str) -> None:
        await self._pieces.put(text.encode())

    def _error(self, text: str) -> None:
        self._errors = (self._errors + text)[-TAIL:]

    async def _wait(self) -> None:
        """Until the helper ends; why, when the sandbox says."""
        why: bytes | WorkspaceError = b""
        try:
            await self._handle.wait()
        except Exception as error:  # noqa: BLE001 - told to whoever reads
            code = getattr(error, "exit_code", None)
            if code in NOT_FOUND:
                why = WorkspaceError("e2b.no_python", detail=self._errors.strip())
            else:
                why = unreachable(self._errors.strip() or str(error)[:TAIL])
        await self._pieces.put(why)

    async def send(self, data: bytes) -> None:
        try:
            for at in range(0, len(data), PIECE):
                await self._handle.send_stdin(data[at : at + PIECE])
        except Exception as error:
            if ending():  # the protocol library makes an error of a cancellation
                raise asyncio.CancelledError from error
            raise unreachable(str(error)[:TAIL]) from error

    async def receive(self) -> bytes:
        piece = await self._pieces.get()
        if isinstance(piece, WorkspaceError):
            raise piece
        return piece

    async def close(self) -> None:
        await self._tasks.close()
        try:
            await self._handle.disconnect()
        except Exception as error:  # noqa: BLE001 - nothing is left to disconnect from
            log.info("leaving a sandbox's helper: %r", error)
        # Whoever reads is at the end; what waits is of no use to anybody.
        while not self._pieces.empty():
            self._pieces.get_nowait()
        self._pieces.put_nowait(b"")
