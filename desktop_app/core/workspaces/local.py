"""The execution backend for a folder on this computer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from desktop_app.core.crew import Begun, Crew
from desktop_app.core.errors import WorkspaceError

from . import local_files as files
from .backend import ExecResult, FileInfo, Looked, ProcessEvent, ProcessExit, Version, collected
from .local_cached import CachedFiles
from .local_process import LocalProcess
from .local_write import AtomicWrite, append, append_plain
from .process_tree import end_group, end_marked, kill_all

if TYPE_CHECKING:
    import psutil

    from .left_running import LeftRunning

P = ParamSpec("P")
R = TypeVar("R")
WORKERS = 8


class LocalBackend:
    """Files and processes of this computer, as the ``Backend`` contract has them.

    ``cwd`` is the working directory; relative paths are under it, absolute ones are taken as they
    are (who may reach what is decided above). ``env`` is the environment processes get, by default
    this process's own; what ``run`` is handed is added to it. File work runs on at most
    ``workers`` threads, each process has a thread of its own. ``left`` keeps what commands leave
    in the background, for the case that the program dies.
    """

    kind = "local"

    def __init__(
        self,
        cwd: str | Path,
        *,
        env: Mapping[str, str] | None = None,
        workers: int = WORKERS,
        left: LeftRunning | None = None,
    ) -> None:
        self._cwd = os.path.abspath(cwd)
        self._told_cwd = Path(self._cwd).as_posix()
        self._env = env
        self._workers = workers
        self._pool: Crew | None = None
        self._cached = CachedFiles()
        self._running: dict[LocalProcess, None] = {}
        self._survivors: list[psutil.Process] = []
        self._groups: dict[int, str] = {}  # they are in, with their marks
        self._left = left
        self._closed = False

    @property
    def os_name(self) -> Literal["posix", "nt"]:
        return "nt" if os.name == "nt" else "posix"

    @property
    def cwd(self) -> str:
        return self._told_cwd

    async def start(self) -> None:
        """Check that the working directory is there; WorkspaceError ``file.missing``,
        ``file.not_dir``, ``file.denied``."""
        self._closed = False
        info = await self.stat(self._cwd)
        if info.kind != "dir":
            raise WorkspaceError("file.not_dir", path=self._cwd)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        running = list(self._running)
        for process in running:
            process.kill()
        for process in running:
            await process.ended.wait()
        left, self._survivors = self._survivors, []
        groups, self._groups = self._groups, {}
        if left:
            await asyncio.to_thread(_end, left, groups)
        if self._pool is not None:
            self._pool.stop()
            self._pool = None

    # -- processes -----------------------------------------------------------------------------

    async def run(
        self,
        argv: list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        mark: str | None = None,
    ) -> AsyncGenerator[ProcessEvent]:
        """As in the contract. A process that a command leaves in the background may live on after
        its end; ``close`` ends it."""
        self._check_open()
        process = LocalProcess(
            argv,
            cwd=self._path(cwd or self._cwd),
            env={**(os.environ if self._env is None else self._env), **(env or {})},
            stdin=stdin,
            timeout=timeout,
            mark=mark,
        )
        self._running[process] = None
        process.start()
        try:
            while True:
                event = await process.next()
                yield event
                if isinstance(event, ProcessExit):
                    return
        finally:
            process.kill()
            await process.ended.wait()
            self._running.pop(process, None)
            if process.survivors:
                await self._remember(process)

    async def _remember(self, process: LocalProcess) -> None:
        """What a command left in the background, to be ended with us or after us."""
        self._survivors = [p for p in self._survivors if p.is_running()] + process.survivors
        self._groups[process.group] = process.mark
        if self._left is not None:
            await asyncio.to_thread(self._left.note, process.group, process.mark)

    async def end_marked(self, marks: Sequence[str]) -> int:
        return await asyncio.to_thread(end_marked, list(marks))

    async def exec(
        self,
        argv: list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        max_bytes: int = 4 << 20,
    ) -> ExecResult:
        stream = self.run(argv, cwd=cwd, env=env, stdin=stdin, timeout=timeout)
        return await collected(stream, max_bytes)

    # -- files -----------------------------------------------------------------------------------

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._cwd, path))

    def _check_open(self) -> None:
        if self._closed:
            raise WorkspaceError("backend.closed")

    async def _do(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """``work`` on the pool."""
        return await self._crew().call(work, *args, **kwargs)

    def _crew(self) -> Crew:
        self._check_open()
        if self._pool is None:
            self._pool = Crew("slipway-files", self._workers, lazy=True)
        return self._pool

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        return await self._do(files.stat, self._path(path), follow)

    async def stat_many(self, paths: Sequence[str]) -> list[FileInfo | None]:
        return await self._do(files.stat_many, [self._path(path) for path in paths])

    async def versions(self, folder: str, names: Sequence[str]) -> list[Version]:
        return await self._do(files.versions, self._path(folder), names)

    async def access(self, path: str) -> tuple[bool, bool]:
        return await self._do(files.access, self._path(path))

    async def scandir(self, path: str) -> AsyncGenerator[list[FileInfo]]:
        scanner = files.Scanner(self._path(path))
        try:
            while batch := await self._do(scanner.next):
                yield batch
        finally:
            await asyncio.to_thread(scanner.close)

    async def read(
        self, path: str, *, offset: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        reader = files.Reader(self._path(path), offset, length)
        try:
            while data := await self._do(reader.next):
                yield data
        finally:
            await asyncio.to_thread(reader.close)

    async def read_bytes(self, path: str, *, max_bytes: int = 16 << 20) -> bytes:
        return await self._do(files.read_bytes, self._path(path), max_bytes)

    async def write(
        self,
        path: str,
        data: bytes | AsyncIterator[bytes],
        *,
        expect: str | None = None,
        create: bool = False,
        mode: int | None = None,
    ) -> FileInfo:
        job = AtomicWrite(self._path(path), expect=expect, create=create, mode=mode)

        def whole(content: bytes) -> FileInfo:
            try:
                job.write(content)
                return job.commit()
            finally:
                job.abort()

        if isinstance(data, bytes):
            return await self._do(whole, data)
        try:
            await self._do(job.write, b"")
            async for piece in data:
                await self._do(job.write, piece)
            return await self._do(job.commit)
        finally:
            await asyncio.to_thread(job.abort)

    async def append(self, path: str, data: bytes, *, plain: bool = False) -> int:
        return await self._do(append_plain if plain else append, self._path(path), data)

    async def mkdir(self, path: str) -> None:
        await self._do(files.mkdir, self._path(path))

    async def rename(self, old: str, new: str, *, replace: bool = False) -> None:
        await self._do(files.rename, self._path(old), self._path(new), replace)

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        await self._do(files.remove, self._path(path), recursive)

    async def realpath(self, path: str) -> str:
        return await self._do(files.realpath, self._path(path))

    async def realpaths(self, paths: Sequence[str]) -> list[str]:
        return await self._do(files.realpaths, [self._path(path) for path in paths])

    async def look(self, path: str, *, whole: int, head: int, beside: Sequence[str] = ()) -> Looked:
        others = [self._path(other) for other in beside]
        return await self._do(files.look, self._path(path), whole, head, others)

    def look_ahead(
        self, path: str, *, whole: int, beside: Sequence[str]
    ) -> Looked | Begun[Looked | None]:
        """Begin ``look_plain``, for a caller who waits for something else first; what it would find
        where that need not be waited for."""
        self._check_open()
        real, others = self._path(path), [self._path(other) for other in beside]
        found = self._cached.look(real, whole, others)
        return found or self._crew().begin(self._look_plain, real, whole, others)

    def _look_plain(self, path: str, whole: int, beside: list[str]) -> Looked | None:
        found = files.look_plain(path, whole, beside)
        if found is not None:
            with suppress(OSError, WorkspaceError):
                self._cached.learn(path)
        return found


if TYPE_CHECKING:
    from .backend import Backend

    def conforms(backend: LocalBackend) -> Backend:
        """Checked by the type checker alone."""
        return backend


def _end(processes: list[psutil.Process], groups: Mapping[int, str]) -> None:
    """End what commands left, and what that started since."""
    kill_all(processes)
    for group, mark in groups.items():
        end_group(group, mark)
