"""A backend like a remote one, for tests: slow, coarse file times, another OS, failures."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal, TypeVar

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import (
    Backend,
    ExecResult,
    FileInfo,
    Looked,
    ProcessEvent,
    Version,
)

T = TypeVar("T")


class RemoteLikeBackend:
    """Wraps ``inner``.

    ``latency`` seconds pass before each operation. ``mtime_ns`` is in whole seconds. With
    probability ``failures`` an operation ends as ``backend.unreachable`` before it began, with
    ``lost_answers`` after it was done: the caller cannot tell which. ``down`` fails all. The
    random numbers come from ``seed``.
    """

    kind = "remote"

    def __init__(
        self,
        inner: Backend,
        *,
        latency: float = 0.0,
        os_name: Literal["posix", "nt"] = "posix",
        failures: float = 0.0,
        lost_answers: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.inner = inner
        self.latency = latency
        self.failures = failures
        self.lost_answers = lost_answers
        self.down = False
        self.calls: list[str] = []
        self._os_name: Literal["posix", "nt"] = os_name
        self._random = random.Random(seed)

    @property
    def os_name(self) -> Literal["posix", "nt"]:
        return self._os_name

    @property
    def cwd(self) -> str:
        return self.inner.cwd

    def _unreachable(self, path: str) -> WorkspaceError:
        return WorkspaceError("backend.unreachable", retryable=True, path=path)

    async def _before(self, name: str, path: str = "") -> None:
        self.calls.append(name)
        await asyncio.sleep(self.latency)
        if self.down or self._random.random() < self.failures:
            raise self._unreachable(path)

    async def _do(self, name: str, path: str, work: Awaitable[T]) -> T:
        try:
            await self._before(name, path)
        except BaseException:
            work.close()  # type: ignore[attr-defined]
            raise
        result = await work
        if self._random.random() < self.lost_answers:
            raise self._unreachable(path)
        return result

    def _coarse(self, info: FileInfo) -> FileInfo:
        seconds = info.mtime_ns // 1_000_000_000
        return replace(info, mtime_ns=seconds * 1_000_000_000, version=f"remote:{info.version}")

    async def start(self) -> None:
        await self._do("start", self.cwd, self.inner.start())

    async def close(self) -> None:
        await self.inner.close()

    async def run(self, argv: list[str], **options: Any) -> AsyncGenerator[ProcessEvent]:
        await self._before("run", "".join(argv[:1]))
        async with aclosing(self.inner.run(argv, **options)) as events:
            async for event in events:
                await asyncio.sleep(self.latency)
                yield event

    async def exec(self, argv: list[str], **options: Any) -> ExecResult:
        return await self._do("exec", "".join(argv[:1]), self.inner.exec(argv, **options))

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo:
        return self._coarse(await self._do("stat", path, self.inner.stat(path, follow=follow)))

    async def stat_many(self, paths: Sequence[str]) -> list[FileInfo | None]:
        found = await self._do("stat_many", "", self.inner.stat_many(paths))
        return [info and self._coarse(info) for info in found]

    async def versions(self, folder: str, names: Sequence[str]) -> list[Version]:
        return await self._do("versions", folder, self.inner.versions(folder, names))

    async def access(self, path: str) -> tuple[bool, bool]:
        return await self._do("access", path, self.inner.access(path))

    async def scandir(self, path: str) -> AsyncGenerator[list[FileInfo]]:
        await self._before("scandir", path)
        async with aclosing(self.inner.scandir(path)) as batches:
            async for batch in batches:
                yield [self._coarse(info) for info in batch]

    async def read(
        self, path: str, *, offset: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        await self._before("read", path)
        async with aclosing(self.inner.read(path, offset=offset, length=length)) as pieces:
            async for piece in pieces:
                yield piece

    async def read_bytes(self, path: str, *, max_bytes: int = 16 << 20) -> bytes:
        return await self._do("read_bytes", path, self.inner.read_bytes(path, max_bytes=max_bytes))

    async def write(
        self,
        path: str,
        data: bytes | AsyncIterator[bytes],
        *,
        expect: str | None = None,
        create: bool = False,
        mode: int | None = None,
    ) -> FileInfo:
        inner = None if expect is None else expect.removeprefix("remote:")
        work = self.inner.write(path, data, expect=inner, create=create, mode=mode)
        return self._coarse(await self._do("write", path, work))

    async def append(self, path: str, data: bytes, *, plain: bool = False) -> int:
        return await self._do("append", path, self.inner.append(path, data, plain=plain))

    async def end_marked(self, marks: Sequence[str]) -> int:
        return await self._do("end_marked", "", self.inner.end_marked(marks))

    async def mkdir(self, path: str) -> None:
        await self._do("mkdir", path, self.inner.mkdir(path))

    async def rename(self, old: str, new: str, *, replace: bool = False) -> None:
        await self._do("rename", old, self.inner.rename(old, new, replace=replace))

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        await self._do("remove", path, self.inner.remove(path, recursive=recursive))

    async def realpath(self, path: str) -> str:
        return await self._do("realpath", path, self.inner.realpath(path))

    async def realpaths(self, paths: Sequence[str]) -> list[str]:
        return await self._do("realpaths", "", self.inner.realpaths(paths))

    async def look(self, path: str, *, whole: int, head: int, beside: Sequence[str] = ()) -> Looked:
        work = self.inner.look(path, whole=whole, head=head, beside=beside)
        found = await self._do("look", path, work)
        return replace(found, info=self._coarse(found.info))
