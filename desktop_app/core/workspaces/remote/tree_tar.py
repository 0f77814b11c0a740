"""Directories of this computer to a stream of tar and back, in a thread; nothing is trusted that
comes from a machine.

The tar of a machine is unpacked into a new directory beside its target and renamed when it is
whole. An entry that leads out of it, a device, or a link to somewhere else is left out and named.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import os
import queue
import re
import secrets
import shutil
import stat
import tarfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from desktop_app.core.errors import WorkspaceError

PIECE = 1 << 20
AHEAD = 8  # pieces between the thread and the loop
Digests = dict[str, tuple[int, str]]  # path below the top -> size, SHA-256


@dataclass(slots=True)
class Moved:
    """What went over: bytes and files so far; ``left_out`` are entries that may not be brought
    here; ``digests`` only where they were asked for."""

    bytes: int = 0
    files: int = 0
    left_out: list[str] = field(default_factory=list[str])
    digests: Digests = field(default_factory=Digests)


Tell = Callable[[Moved], None]
_PART = re.compile(r"\.slipway-[0-9a-f]{16}\.part")


def part_name() -> str:
    """Of a directory that is not whole yet; never packed, so that a directory can be copied into
    one of its own."""
    return f".slipway-{secrets.token_hex(8)}.part"


async def counted(
    pieces: AsyncIterator[bytes], moved: Moved, tell: Tell | None
) -> AsyncGenerator[bytes]:
    """The same pieces; ``tell`` hears of ``moved`` with each."""
    async for piece in pieces:
        if tell is not None:
            tell(moved)
        yield piece


class _Pipe:
    """Pieces from a thread to the loop or back, bounded."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self.room = threading.Semaphore(AHEAD)
        self.stopped = threading.Event()

    def put(self, item: bytes | BaseException | None) -> None:
        """From the thread; waits while the loop is behind. BrokenPipeError when nobody reads."""
        while not self.room.acquire(timeout=0.2):
            if self.stopped.is_set():
                raise BrokenPipeError
        if self.stopped.is_set():
            raise BrokenPipeError
        self.loop.call_soon_threadsafe(self.queue.put_nowait, item)

    async def get(self) -> bytes | BaseException | None:
        item = await self.queue.get()
        self.room.release()
        return item


class _Out(io.RawIOBase):
    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._pipe.put(bytes(data))
        return len(data)


class _Told(io.RawIOBase):
    """A file that is counted while it is read, and digested when wanted."""

    def __init__(self, inner: io.RawIOBase, moved: Moved, *, digest: bool) -> None:
        self._inner, self._moved = inner, moved
        self.digest = hashlib.sha256() if digest else None
        self.size = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._inner.read(size) or b""
        if self.digest is not None:
            self.digest.update(data)
        self.size += len(data)
        self._moved.bytes += len(data)
        return data


async def pack(
    source: Path, moved: Moved, *, digests: bool, owner: tuple[int, int] = (0, 0)
) -> AsyncGenerator[bytes]:
    """The directory ``source`` as tar, its name first; everything is ``owner``'s (uid, gid).
    WorkspaceError ``file.failed`` when something cannot be read."""
    pipe = _Pipe()

    def work() -> None:
        try:
            pack_into(_Out(pipe), source, moved, digests=digests, owner=owner)
            pipe.put(None)
        except BrokenPipeError:
            pass
        except WorkspaceError as error:
            pipe.put(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while (item := await pipe.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        pipe.stopped.set()
        await asyncio.to_thread(thread.join)


def pack_into(
    out: io.RawIOBase, source: Path, moved: Moved, *, digests: bool, owner: tuple[int, int]
) -> None:
    """``pack`` into a file that is written in pieces of ``PIECE``; blocking. What it raises for a
    write goes through, BrokenPipeError too. WorkspaceError ``file.failed``."""
    try:
        # The library's own pieces are of 10 KB: cutting what is larger into them costs more than
        # reading it.
        opening: Any = cast(Any, tarfile.open)
        with opening(fileobj=out, mode="w|", bufsize=PIECE, copybufsize=PIECE) as tar:
            _Adding(tar, str(source), moved, digests, owner).add(str(source), source.name)
    except BrokenPipeError:
        raise
    except OSError as error:
        path = str(error.filename or source)
        raise WorkspaceError("file.failed", path=path, detail=str(error.strerror)) from error


@dataclass(slots=True)
class _Adding:
    tar: tarfile.TarFile
    top: str
    moved: Moved
    digests: bool
    owner: tuple[int, int]

    def add(self, path: str, name: str) -> None:
        """A second name of a file is one more file: the first may be elsewhere. Times are whole
        seconds, as ``docker cp`` has them: a part of one takes two blocks more for each file."""
        found = os.lstat(path)
        entry, kind = tarfile.TarInfo(name), stat.S_IFMT(found.st_mode)
        entry.mode, entry.mtime = stat.S_IMODE(found.st_mode), int(found.st_mtime)
        entry.uid, entry.gid = self.owner
        if kind == stat.S_IFREG:
            entry.size = found.st_size
            self._file(entry, path)
        elif kind == stat.S_IFLNK:
            entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(path)
            self.tar.addfile(entry)
        elif kind == stat.S_IFDIR:
            entry.type = tarfile.DIRTYPE
            self.tar.addfile(entry)
            for child in sorted(os.listdir(path)):
                if _PART.fullmatch(child):
                    continue
                self.add(os.path.join(path, child), f"{name}/{child}")
        else:
            self.moved.left_out.append(name)

    def _file(self, entry: tarfile.TarInfo, path: str) -> None:
        with open(path, "rb", buffering=0) as file:
            held = _Told(file, self.moved, digest=self.digests)
            self.tar.addfile(entry, cast(IO[bytes], held))
        self.moved.files += 1
        if held.digest is not None:
            below = os.path.relpath(path, self.top).replace(os.sep, "/")
            self.moved.digests[below] = (held.size, held.digest.hexdigest())


class _In(io.RawIOBase):
    def __init__(self, pieces: Callable[[], bytes]) -> None:
        self._next = pieces
        self._rest = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest and not self._ended:
            self._rest = self._next()
            self._ended = not self._rest
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


async def unpack(
    pieces: AsyncIterator[bytes], target: Path, moved: Moved, *, digests: bool
) -> None:
    """A tree of tar as ``target``, which must not exist; its own name at the top is left off.
    WorkspaceError ``file.exists``, ``disk.full``, ``transfer.broken``."""
    if os.path.lexists(target):
        raise WorkspaceError("file.exists", path=str(target))
    loop = asyncio.get_running_loop()
    waiting: queue.Queue[bytes] = queue.Queue(AHEAD)
    stopped = threading.Event()
    fresh = target.with_name(part_name())

    def following() -> bytes:
        if stopped.is_set():
            raise BrokenPipeError
        return waiting.get()

    def work() -> None:
        fresh.mkdir(parents=True)
        source = io.BufferedReader(_In(following), PIECE)
        with tarfile.open(fileobj=source, mode="r|", bufsize=PIECE) as tar:
            taking = _Taking(tar, fresh, moved, digests)
            for entry in tar:
                taking.take(entry)
        while source.read(PIECE):  # what follows the end of the tar
            pass

    job = loop.run_in_executor(None, work)
    try:
        async for piece in _joined(pieces):
            if job.done():
                break
            await _handed(waiting, piece)
        await _handed(waiting, b"")
        await job
        await asyncio.to_thread(os.rename, fresh, target)
    except tarfile.TarError as error:
        raise WorkspaceError("transfer.broken", retryable=True, detail=str(error)) from error
    except OSError as error:
        code = "disk.full" if error.errno == 28 else "file.failed"
        raise WorkspaceError(code, path=str(target), detail=str(error)) from error
    finally:
        stopped.set()
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        waiting.put_nowait(b"")
        await asyncio.wait([job])
        if not job.cancelled():
            job.exception()  # of one that was broken off nobody asks
        await asyncio.to_thread(shutil.rmtree, fresh, True)


async def _joined(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Pieces of about ``PIECE``: what a connection gives at a time is small, and each costs a
    change of thread."""
    held, size = list[bytes](), 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


async def _handed(waiting: queue.Queue[bytes], piece: bytes) -> None:
    try:
        waiting.put_nowait(piece)
    except queue.Full:
        await asyncio.to_thread(waiting.put, piece)


class _Taking:
    """Entries of a tar into ``top``, a new directory that nobody else writes in."""

    def __init__(self, tar: tarfile.TarFile, top: Path, moved: Moved, digests: bool) -> None:
        self._tar = tar
        self._top = top
        self._moved = moved
        self._digests = digests
        self._made = {""}  # directories that we made: no link is among them

    def take(self, entry: tarfile.TarInfo) -> None:
        _, _, below = entry.name.rstrip("/").partition("/")
        if not below:  # the directory itself
            return
        entry.name = below
        parent, _, name = below.rpartition("/")
        if entry.isreg() and parent in self._made and name not in ("", ".", ".."):
            self._write(entry, below)  # the usual case, without resolving the path again
            return
        if entry.islnk():
            entry.linkname = entry.linkname.partition("/")[2]
        try:
            safe = tarfile.data_filter(entry, str(self._top))
        except tarfile.FilterError:
            self._moved.left_out.append(below)
            return
        if safe.isreg():
            (self._top / below).parent.mkdir(parents=True, exist_ok=True)
            self._write(safe, below)
        elif safe.isdir() and parent in self._made and name not in ("", ".", ".."):
            os.mkdir(self._top / below)
            self._made.add(below)
        elif safe.isdir() or safe.issym() or safe.islnk():
            self._tar.extract(safe, self._top, set_attrs=False, filter="data")
        else:
            self._moved.left_out.append(below)

    def _write(self, entry: tarfile.TarInfo, below: str) -> None:
        source = self._tar.extractfile(entry)
        assert source is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        digest = hashlib.sha256() if self._digests else None
        size, left = 0, entry.size
        fd = os.open(os.path.join(self._top, below), flags, (entry.mode or 0o644) & 0o777 | 0o600)
        with os.fdopen(fd, "wb", buffering=0) as file:
            # No more than there is: room for a whole piece costs more than a small file.
            while left > 0 and (data := source.read(min(PIECE, left))):
                file.write(data)
                size += len(data)
                left -= len(data)
                self._moved.bytes += len(data)
                if digest is not None:
                    digest.update(data)
        self._moved.files += 1
        if digest is not None:
            self._moved.digests[below] = (size, digest.hexdigest())
