"""A far end on this computer, over pipes: what a container's or a sandbox's connection is."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import Backend
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.remote.backend import RemoteBackend
from desktop_app.core.workspaces.remote.bundle import command
from tests.helpers.backends import RemoteLikeBackend


class PipeChannel:
    """``Channel`` to a far end that runs as a process of this computer."""

    def __init__(self, *, text: bool = False, python: str = sys.executable) -> None:
        self.text = text
        self.process = subprocess.Popen(
            command(python=python, text=text),
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    async def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            await asyncio.to_thread(_write_all, self.process.stdin.fileno(), data)
        except (OSError, ValueError) as error:  # broken, or closed here
            raise WorkspaceError("backend.unreachable", retryable=True, path="") from error

    async def receive(self) -> bytes:
        assert self.process.stdout is not None
        return await asyncio.to_thread(os.read, self.process.stdout.fileno(), 1 << 18)

    async def close(self) -> None:
        def end() -> None:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()

        await asyncio.to_thread(end)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def far_backend(cwd: Path, *, text: bool = False, python: str = sys.executable) -> RemoteBackend:
    """A backend whose far end works in ``cwd``."""

    async def connect() -> PipeChannel:
        return await asyncio.to_thread(PipeChannel, text=text, python=python)

    return RemoteBackend("far", str(cwd), connect)


def each_backend(kind: str, cwd: Path) -> Backend:
    """The backend of this name in ``cwd``, for the suite that every one of them passes."""
    match kind:
        case "local":
            return LocalBackend(cwd)
        case "remote":
            return RemoteLikeBackend(LocalBackend(cwd), latency=0.0005)
        case "docker":
            from tests.helpers.docker import ContractBackend

            return ContractBackend(cwd)
        case "e2b":
            from tests.helpers import e2b_cloud

            return e2b_cloud.ContractBackend(cwd)
        case _:
            return far_backend(cwd, text=kind == "far-text")
