"""Files between this computer and a workspace, whole or not at all."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

from .backend import Backend
from .oserrors import raise_os

PIECE = 1 << 20
Tell = Callable[[int], None]  # bytes so far


async def upload(
    backend: Backend, source: Path, path: str, tell: Tell, *, replace: bool = False
) -> None:
    """Copy a file of this computer to ``path`` in the workspace. WorkspaceError ``file.exists``
    when one is there and is not to be replaced, and the backend's others."""
    try:
        file = await asyncio.to_thread(source.open, "rb")
    except OSError as error:
        raise_os(error, str(source))

    async def pieces() -> AsyncIterator[bytes]:
        done = 0
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece
            done += len(piece)
            tell(done)

    try:
        await backend.write(path, pieces(), create=not replace)
    finally:
        await asyncio.to_thread(file.close)


async def download(backend: Backend, path: str, target: Path, tell: Tell) -> None:
    """Copy a file of the workspace to ``target``; what was there before is replaced only when all
    of it came. WorkspaceError."""
    try:
        handle, name = await asyncio.to_thread(
            tempfile.mkstemp, dir=target.parent, prefix=f".{target.name[:60]}."
        )
    except OSError as error:
        raise_os(error, str(target))
    part = Path(name)
    try:
        file = os.fdopen(handle, "wb")
        try:
            await _fill(backend, path, file.write, tell)
        finally:
            await asyncio.to_thread(file.close)
        await asyncio.to_thread(part.replace, target)
    except OSError as error:
        raise_os(error, str(target))
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)


async def _fill(backend: Backend, path: str, write: Callable[[bytes], int], tell: Tell) -> None:
    done = 0
    async with aclosing(backend.read(path)) as pieces:
        async for piece in pieces:
            await asyncio.to_thread(write, piece)
            done += len(piece)
            tell(done)
