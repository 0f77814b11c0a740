"""Files between this computer and a workspace, whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import stat
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_app.core.errors import WorkspaceError

from .backend import Backend
from .oserrors import raise_os
from .remote.tree_tar import Moved, part_name

if TYPE_CHECKING:
    from .local_workspace import LocalWorkspace

log = logging.getLogger(__name__)

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


async def upload_tree(
    workspace: LocalWorkspace, source: Path, path: str, tell: Callable[[Moved], None]
) -> Moved:
    """Copy a directory of this computer to ``path`` in the workspace, which must not exist: whole,
    or not at all. What may not be brought is in ``left_out``. WorkspaceError ``file.exists`` and
    those of ``LocalWorkspace.upload``."""
    backend = workspace.get_backend()
    workspace.check_free()
    await workspace.require_writable()  # a folder that went away is not made anew
    if (await backend.stat_many([path]))[0] is not None:
        raise WorkspaceError("file.exists", path=path)
    real = await asyncio.to_thread(source.resolve)  # what a link leads to, not the link
    staging = f"{path.rpartition('/')[0]}/{part_name()}"
    await backend.mkdir(staging)
    try:
        moved = await workspace.upload(real, staging, tell=tell)
        await backend.rename(f"{staging}/{real.name}", path)
        return moved
    finally:
        try:
            await backend.remove(staging, recursive=True)
        except WorkspaceError as error:  # a machine that went away: it is found by its name there
            log.info("an unfinished upload stays: %s", error)


@dataclass(frozen=True, slots=True)
class Weight:
    """Of a directory of this computer: bytes of its regular files, and how many."""

    bytes: int
    files: int


async def weigh(source: Path) -> Weight:
    """What ``upload_tree`` would bring, as well as it can be read."""
    stopped = threading.Event()

    def walk() -> Weight:
        size = files = 0
        for top, _folders, names in os.walk(source):
            for name in names:
                if stopped.is_set():
                    return Weight(size, files)
                with contextlib.suppress(OSError):
                    found = os.lstat(os.path.join(top, name))
                    if stat.S_ISREG(found.st_mode):
                        size, files = size + found.st_size, files + 1
        return Weight(size, files)

    try:
        return await asyncio.to_thread(walk)
    finally:
        stopped.set()


async def free_name(backend: Backend, path: str) -> str:
    """``path``, or with the first number at its end that nothing has: ``data 2``."""
    for first in range(2, 1000, 20):
        wanted = [f"{path} {n}" for n in range(first, first + 20)]
        found = await backend.stat_many([path, *wanted])
        free = [one for one, info in zip([path, *wanted], found, strict=True) if info is None]
        if free:
            return free[0]
    raise WorkspaceError("file.exists", path=path)


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
