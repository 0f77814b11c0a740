"""A far end in a container, over one exec whose streams are attached."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.remote.bundle import command
from desktop_app.core.workspaces.remote.line import unreachable

from .engine import Engine, told

log = logging.getLogger(__name__)

NOT_FOUND = (126, 127)  # the exit codes of a program that cannot be started
TAIL = 2000


class ExecChannel:
    """``Channel``. What the helper writes to its standard error is kept for the error that tells
    why it ended."""

    text = False

    def __init__(self, engine: Engine, running: Any, stream: Any) -> None:
        self._engine = engine
        self._exec = running
        self._stream = stream
        self._errors = b""
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))

    async def send(self, data: bytes) -> None:
        """A frame is handed over whole before anything waits. Who is cancelled while it waits takes
        its waiter along: aiohttp keeps it, and would cancel every later write with it."""
        try:
            await self._stream.write_in(data)
        except asyncio.CancelledError:
            connection = getattr(self._stream, "_resp", None) and self._stream._resp.connection
            if connection is not None and connection.protocol is not None:
                connection.protocol._drain_waiter = None
            raise
        except Exception as error:
            raise unreachable(str(error)) from error

    async def receive(self) -> bytes:
        try:
            while (message := await self._stream.read_out()) is not None:
                if message.stream == 1:
                    return bytes(message.data)
                self._errors = (self._errors + message.data)[-TAIL:]
            await self._ended()
        except WorkspaceError:
            raise
        except Exception as error:
            raise unreachable(str(error)) from error
        return b""

    async def _ended(self) -> None:
        """Why the helper is no more, when the engine knows."""
        try:
            code = (await self._exec.inspect()).get("ExitCode")
        except Exception as error:  # noqa: BLE001 - the container is gone too
            log.info("an ended helper cannot be asked about: %r", error)
            return
        detail = self._errors.decode("utf-8", "replace").strip()
        if code in NOT_FOUND:
            raise WorkspaceError("docker.no_python", detail=detail)
        if code:
            raise unreachable(detail or f"exit code {code}")

    async def close(self) -> None:
        await self._tasks.close()
        try:
            await self._stream.close()
        except Exception as error:  # noqa: BLE001 - nothing is left to close
            log.info("closing the stream to a helper: %r", error)


async def open_channel(engine: Engine, container_id: str) -> ExecChannel:
    """Start a far end in a running container. WorkspaceError as ``engine.told`` names."""
    client = await engine.client()
    try:
        running = await client.containers.container(container_id).exec(
            command(), stdin=True, stdout=True, stderr=True, workdir="/"
        )
        stream = running.start(detach=False)
        await stream.__aenter__()
    except Exception as error:
        raise told(error, engine) from error
    return ExecChannel(engine, running, stream)
