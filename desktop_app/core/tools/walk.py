"""Walking a directory tree through a backend: in order, bounded, never through links."""

from __future__ import annotations

import asyncio
import posixpath
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from operator import attrgetter

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import Backend, FileInfo

from . import ignore
from .plain import closing

MAX_ENTRIES = 200_000
MAX_DEPTH = 64
SECONDS = 30.0

YIELD = 200  # entries after which the loop gets its turn
MANY = 2_000  # entries that are sorted in a thread

_by_name = attrgetter("name")

Enter = Callable[[str, str], bool]


@dataclass(slots=True)
class Budget:
    """What a search may cost. ``stopped`` says which bound ended it: ``time`` or ``entries``."""

    seconds: float = SECONDS
    entries: int = MAX_ENTRIES
    stopped: str = ""
    seen: int = 0
    unreadable: int = 0
    started: float = field(default_factory=time.monotonic)

    def spent(self) -> bool:
        if not self.stopped and time.monotonic() - self.started > self.seconds:
            self.stopped = "time"
        if not self.stopped and self.seen > self.entries:
            self.stopped = "entries"
        return bool(self.stopped)


@dataclass(slots=True)
class _Level:
    """A directory under way: what is left of it, last first."""

    path: str
    left: list[FileInfo]
    files: tuple[ignore.IgnoreFile, ...]


@dataclass(slots=True)
class Walk:
    """A walk below ``start``. ``enter(relative path, name)`` says whether a directory is entered;
    with ``honour`` the ``.gitignore`` files on the way (and ``above``, those between the working
    directory and the start) are obeyed, except where ``keep(relative path)`` is true."""

    backend: Backend
    start: str
    budget: Budget
    enter: Enter
    honour: bool = False
    above: tuple[ignore.IgnoreFile, ...] = ()
    keep: Callable[[str], bool] | None = None
    prefix: str = ""  # of the start relative to where ``above`` is, "" or "sub/"

    async def entries(self) -> AsyncIterator[tuple[str, FileInfo, bool]]:
        """(relative path, info, ignored) of files and directories, each directory followed by what
        is in it, by name; ignored directories are not entered."""
        turn = 0
        stack = [_Level(*await self._open("", self.above))]
        while stack:
            level = stack[-1]
            if not level.left or self.budget.spent():
                stack.pop()
                continue
            info = level.left.pop()
            path = f"{level.path}/{info.name}" if level.path else info.name
            is_dir = info.kind == "dir"
            out = self.honour and ignore.ignored(
                level.files, self.prefix + path, info.name, is_dir=is_dir
            )
            out = out and not (self.keep and self.keep(path))
            yield path, info, out
            turn += 1
            if turn % YIELD == 0:
                await asyncio.sleep(0)
            if is_dir and not out and len(stack) < MAX_DEPTH and self.enter(path, info.name):
                stack.append(_Level(*await self._open(path, level.files)))

    async def _open(
        self, path: str, files: tuple[ignore.IgnoreFile, ...]
    ) -> tuple[str, list[FileInfo], tuple[ignore.IgnoreFile, ...]]:
        found = await self._list(path)
        if self.honour:
            files = await self._ignore(path, found, files)
        return path, found[::-1], files

    async def _list(self, relative: str) -> list[FileInfo]:
        path = posixpath.join(self.start, relative) if relative else self.start
        out: list[FileInfo] = []
        try:
            async with closing(self.backend.scandir(path)) as batches:
                async for batch in batches:
                    out.extend(batch)
                    self.budget.seen += len(batch)
                    if self.budget.spent():
                        break
        except WorkspaceError as error:
            if not relative or error.retryable:
                raise
            self.budget.unreadable += 1
        if len(out) > MANY:
            await asyncio.to_thread(out.sort, key=_by_name)
        else:
            out.sort(key=_by_name)
        return out

    async def _ignore(
        self, relative: str, found: list[FileInfo], files: tuple[ignore.IgnoreFile, ...]
    ) -> tuple[ignore.IgnoreFile, ...]:
        if not any(i.name == ".gitignore" and i.kind == "file" for i in found):
            return files
        path = posixpath.join(self.start, relative, ".gitignore")
        try:
            data = await self.backend.read_bytes(path, max_bytes=ignore.MAX_IGNORE_BYTES)
        except WorkspaceError:
            return files
        return (*files, ignore.parse(data, (self.prefix + relative).strip("/")))
