"""The backend contract over a far end: for containers and sandboxes.

One connection carries everything: files, processes, their output. It is made at the first use and
again when it broke; what was under way then fails with ``backend.unreachable`` (retryable), because
nobody knows whether it was done.
"""

from __future__ import annotations

import asyncio
import logging
import posixpath
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Sequence,
)
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any, Literal

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import (
    ExecResult,
    FileInfo,
    Looked,
    OutputChunk,
    ProcessEvent,
    ProcessExit,
    Version,
    collected,
)

from .channel import Channel
from .line import PIECE, Line, unreachable

log = logging.getLogger(__name__)

HELLO_SECONDS = 20.0
CLOSE_SECONDS = 5.0
_unused: ContextVar[bool] = ContextVar("unused", default=False)


@contextmanager
def unused() -> Generator[None]:
    """Around what is no use of a machine that would keep it alive: a copy before it ends."""
    token = _unused.set(True)
    try:
        yield
    finally:
        _unused.reset(token)


class RemoteBackend:
    """``Backend`` over a far end (see ``far``).

    ``connect`` starts a far end and gives a channel to it; ``cwd`` is the working directory as the
    far end sees it. ``env`` is added to what every process gets. ``refuse`` is asked before
    anything that could change the machine: files, processes, requests to its servers.
    """

    os_name: Literal["posix", "nt"] = "posix"

    def __init__(
        self,
        kind: str,
        cwd: str,
        connect: Callable[[], Awaitable[Channel]],
        *,
        env: dict[str, str] | None = None,
    ) -> None:
        self._kind = kind
        self._cwd = posixpath.normpath(cwd)
        self._connect = connect
        self._env = env or {}
        self._line: Line | None = None
        self._connecting = asyncio.Lock()
        self._closed = False
        self._used_at = 0.0
        self.refuse: Callable[[], None] = lambda: None  # raises where nothing may be changed
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def cwd(self) -> str:
        return self._cwd

    async def start(self) -> None:
        """Connect and check that the working directory is there; WorkspaceError ``file.missing``,
        ``file.not_dir``, ``backend.unreachable``."""
        self._closed = False
        info = await self.stat(self._cwd)
        if info.kind != "dir":
            raise WorkspaceError("file.not_dir", path=self._cwd)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self.hang_up()
        await self._tasks.close(CLOSE_SECONDS)

    async def hang_up(self) -> None:
        """End the connection and every process started over it; the next use makes a new one."""
        async with self._connecting:
            line, self._line = self._line, None
        if line is not None:
            await line.bye()

    def used_since(self, at: float) -> bool:
        """Whether anything was asked since ``at`` (the loop's time), or still goes on."""
        return self._used_at > at or (self._line is not None and self._line.busy)

    # -- the line --------------------------------------------------------------------------------

    async def _ready(self, *, quiet: bool = False) -> Line:
        if self._closed:
            raise WorkspaceError("backend.closed")
        if not quiet and not _unused.get():
            self._used_at = asyncio.get_running_loop().time()
        async with self._connecting:
            if self._line is None or self._line.broken is not None:
                self._line = await self._dial()
            return self._line

    async def _dial(self) -> Line:
        line = Line(await self._connect())
        self._tasks.start(line.follow(), name="read the far end")
        self._tasks.start(line.ping(), name="keep the far end")
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                await asyncio.shield(line.hello)
        except TimeoutError:
            await line.drop()
            raise unreachable("no answer of the helper") from None
        except BaseException:
            await line.drop()
            raise
        return line

    def path(self, path: str) -> str:
        """A path as the machine has it, absolute; WorkspaceError ``file.bad_name``."""
        if "\0" in path:
            raise WorkspaceError("file.bad_name", path=path)
        return posixpath.normpath(posixpath.join(self._cwd, path))

    async def _ask(self, op: str, path: str = "", body: bytes = b"", **more: Any) -> Any:
        return await (await self._ready()).ask(op, None, body, path=path, **more)

    async def _parts(
        self, op: str, path: str = "", source: AsyncIterator[bytes] | None = None, **more: Any
    ) -> AsyncGenerator[tuple[str, Any, bytes]]:
        line = await self._ready(quiet=bool(more.get("quiet")))
        async with aclosing(line.stream(op, source, path=path, **more)) as parts:
            async for part in parts:
                yield part

    # -- processes -------------------------------------------------------------------------------

    async def run(
        self,
        argv: list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        mark: str | None = None,
        quiet: bool = False,
    ) -> AsyncGenerator[ProcessEvent]:
        """As in the contract. ``quiet``: it does not count as use of the machine."""
        self.refuse()
        parts = self._parts(
            "run",
            source=None if stdin is None else _once(stdin),
            argv=argv,
            cwd=self.path(cwd or self._cwd),
            env={**self._env, **(env or {})},
            input=stdin is not None,
            timeout=timeout,
            mark=mark,
            quiet=quiet,
        )
        async with aclosing(parts) as pieces:
            async for what, value, data in pieces:
                if what == "part":
                    yield OutputChunk(value, data)
                else:
                    yield ProcessExit(int(value[0]), bool(value[1]), float(value[2]))

    async def http(
        self,
        port: int,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
        timeout: float | None = None,
        quiet: bool = False,
    ) -> AsyncGenerator[tuple[int, dict[str, str]] | bytes]:
        """A request to a server on the machine's own loopback: first status and headers, then the
        body in pieces as they come. Left early, the connection is closed. ``timeout`` is in seconds
        without a byte. WorkspaceError ``http.failed``, ``http.timeout`` (both retryable)."""
        self.refuse()
        line = await self._ready(quiet=quiet)
        options: dict[str, Any] = {"port": port, "method": method, "headers": headers or {}}
        options |= {"timeout": timeout, "quiet": quiet}
        async with aclosing(line.stream("http", None, body, path=path, **options)) as parts:
            async for what, value, data in parts:
                if what != "part":
                    continue
                if value is not None:
                    yield int(value[0]), dict(value[1])
                else:
                    yield data

    async def pack(self, path: str) -> AsyncGenerator[bytes]:
        """A directory as tar, its name first, in pieces. WorkspaceError ``file.*``."""
        async with aclosing(self._parts("pack", self.path(path))) as parts:
            async for what, _, data in parts:
                if what == "part":
                    yield data

    async def unpack(self, path: str, pieces: AsyncIterator[bytes]) -> None:
        """A tree of tar into a directory, which is made. WorkspaceError ``file.*``,
        ``disk.full``."""
        self.refuse()
        await (await self._ready()).ask("unpack", pieces, path=self.path(path))

    async def digests(self, path: str) -> dict[str, tuple[int, str]]:
        """Size and SHA-256 of every regular file below a directory, by its path there."""
        found: dict[str, tuple[int, str]] = {}
        async with aclosing(self._parts("digests", self.path(path))) as parts:
            async for what, value, _ in parts:
                if what == "part":
                    found |= {str(name): (int(size), str(sha)) for name, size, sha in value}
        return found

    async def end_marked(self, marks: Sequence[str]) -> int:
        return int(await self._ask("end_marked", marks=list(marks)))

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

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        return FileInfo(*await self._ask("stat", self.path(path), follow=follow))

    async def stat_many(self, paths: Sequence[str]) -> list[FileInfo | None]:
        whole = [posixpath.normpath(posixpath.join(self._cwd, path)) for path in paths]
        found = await self._ask("stat_many", paths=whole)
        return [None if entry is None else FileInfo(*entry) for entry in found]

    async def versions(self, folder: str, names: Sequence[str]) -> list[Version]:
        found = await self.stat_many([posixpath.join(folder, name) for name in names])
        return [info and info.version for info in found]

    async def access(self, path: str) -> tuple[bool, bool]:
        read, write = await self._ask("access", self.path(path))
        return bool(read), bool(write)

    async def scandir(self, path: str) -> AsyncGenerator[list[FileInfo]]:
        async with aclosing(self._parts("scandir", self.path(path))) as parts:
            async for what, value, _ in parts:
                if what == "part":
                    yield [FileInfo(*entry) for entry in value]

    async def read(
        self, path: str, *, offset: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        parts = self._parts("read", self.path(path), offset=offset, length=length)
        async with aclosing(parts) as pieces:
            async for what, _, data in pieces:
                if what == "part":
                    yield data

    async def read_bytes(self, path: str, *, max_bytes: int = 16 << 20) -> bytes:
        found: list[bytes] = []
        async with aclosing(self._parts("read", self.path(path), limit=max_bytes)) as parts:
            async for what, _, data in parts:
                if what == "part":
                    found.append(data)
        return b"".join(found)

    async def write(
        self,
        path: str,
        data: bytes | AsyncIterator[bytes],
        *,
        expect: str | None = None,
        create: bool = False,
        mode: int | None = None,
    ) -> FileInfo:
        self.refuse()
        whole = isinstance(data, bytes) and len(data) <= PIECE
        options: dict[str, Any] = {"expect": expect, "create": create, "mode": mode, "whole": whole}
        if isinstance(data, bytes) and whole:
            return FileInfo(*await self._ask("write", self.path(path), data, **options))
        line = await self._ready()
        pieces = _once(data) if isinstance(data, bytes) else data
        path = self.path(path)
        return FileInfo(*await line.ask("write", pieces, path=path, **options))

    async def append(self, path: str, data: bytes, *, plain: bool = False) -> int:
        self.refuse()
        return int(await self._ask("append", self.path(path), data, plain=plain))

    async def mkdir(self, path: str) -> None:
        self.refuse()
        await self._ask("mkdir", self.path(path))

    async def rename(self, old: str, new: str, *, replace: bool = False) -> None:
        self.refuse()
        await self._ask("rename", self.path(old), to=self.path(new), replace=replace)

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        self.refuse()
        await self._ask("remove", self.path(path), recursive=recursive)

    async def realpath(self, path: str) -> str:
        return str(await self._ask("realpath", self.path(path)))

    async def realpaths(self, paths: Sequence[str]) -> list[str]:
        return list(await self._ask("realpaths", paths=[self.path(path) for path in paths]))

    async def look(self, path: str, *, whole: int, head: int, beside: Sequence[str] = ()) -> Looked:
        others = [self.path(other) for other in beside]
        parts = self._parts("look", self.path(path), whole=whole, head=head, beside=others)
        found: list[bytes] = []
        answer: Any = None
        async with aclosing(parts) as pieces:
            async for what, value, data in pieces:
                if what == "part":
                    found.append(data)
                else:
                    answer = value
        info, complete, real = answer
        data = b"".join(found)
        return Looked(FileInfo(*info), data if complete else data[:head], bool(complete), real)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
