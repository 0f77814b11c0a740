"""Blocking file work of the local backend; always called from its thread pool.

A special file (FIFO, device, socket) is never opened: opening a FIFO waits for its other end or
wakes it, opening some devices does something. So the kind is looked up first, and checked again on
the opened descriptor in case the path was exchanged in between.
"""

from __future__ import annotations

import os
import shutil
import stat as st
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

from desktop_app.core.errors import WorkspaceError

from .backend import FileInfo, FileKind, Looked, Version
from .oserrors import raise_os

PIECE = 1 << 20  # bytes of one read
BATCH = 256  # entries of one scandir batch
OPEN_FLAGS = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


@contextmanager
def os_errors(path: str) -> Generator[None]:
    """Turn OSError (and the ValueError of a NUL in a path) into the contract's codes."""
    try:
        yield
    except OSError as error:
        raise_os(error, path)
    except ValueError as error:  # "embedded null byte", surrogates that cannot be encoded
        raise WorkspaceError("file.bad_name", path=path) from error


def _kind(mode: int) -> FileKind:
    if st.S_ISREG(mode):
        return "file"
    if st.S_ISDIR(mode):
        return "dir"
    if st.S_ISLNK(mode):
        return "link"
    return "special"


def version_of(result: os.stat_result) -> str:
    """Differs when the content may differ: nanosecond mtime, size, inode."""
    return f"{result.st_mtime_ns:x}-{result.st_size:x}-{result.st_ino:x}"


def file_info(path: str, result: os.stat_result, target: str | None) -> FileInfo:
    return FileInfo(
        path=path,
        name=os.path.basename(path),
        kind=_kind(result.st_mode),
        size=result.st_size,
        mtime_ns=result.st_mtime_ns,
        mode=st.S_IMODE(result.st_mode),
        version=version_of(result),
        target=target,
    )


def _target(path: str) -> str | None:
    real = os.path.realpath(path)
    return real if os.path.lexists(real) and not os.path.islink(real) else None


def stat(path: str, follow: bool) -> FileInfo:
    with os_errors(path):
        result = os.lstat(path)
        target = None
        if st.S_ISLNK(result.st_mode):
            target = _target(path)
            if follow:
                result = os.stat(path)
        return file_info(path, result, target)


def stat_many(paths: list[str]) -> list[FileInfo | None]:
    found: list[FileInfo | None] = []
    for path in paths:
        try:
            found.append(file_info(path, os.stat(path), None))
        except (OSError, ValueError):
            found.append(None)
    return found


def versions(folder: str, names: Sequence[str]) -> list[Version]:
    """As the contract says, from the folder's descriptor where there can be one: the way down to it
    is gone once."""
    fd: int | None = None
    if os.stat in os.supports_dir_fd:
        try:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return [None] * len(names)
    try:
        return [_version(folder, name, fd) for name in names]
    finally:
        if fd is not None:
            os.close(fd)


def _version(folder: str, name: str, fd: int | None) -> Version:
    try:
        result = os.stat(os.path.join(folder, name)) if fd is None else os.stat(name, dir_fd=fd)
    except (OSError, ValueError):
        return None
    return result.st_mtime_ns, result.st_size, result.st_ino


def access(path: str) -> tuple[bool, bool]:
    with os_errors(path):
        mode = os.stat(path).st_mode
        list_bit = os.X_OK if st.S_ISDIR(mode) else 0
        return os.access(path, os.R_OK | list_bit), os.access(path, os.W_OK | list_bit)


class Scanner:
    """The entries of a directory in batches, unordered; one that vanishes meanwhile is left out.

    Made without touching the disk. The lock lets ``close`` come while another thread is in
    ``next`` (a cancelled call goes on in its thread).
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._entries: Iterator[os.DirEntry[str]] | None = None
        self._close = lambda: None
        self._closed = False

    def next(self) -> list[FileInfo]:
        """The next batch; empty at the end."""
        with self._lock, os_errors(self._path):
            if self._closed:
                return []
            if self._entries is None:
                scan = os.scandir(self._path)
                self._entries, self._close = scan, scan.close
            batch: list[FileInfo] = []
            for entry in self._entries:
                with suppress(FileNotFoundError):
                    batch.append(_entry(entry))
                if len(batch) >= BATCH:
                    break
            return batch

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._close()


def _entry(entry: os.DirEntry[str]) -> FileInfo:
    result = entry.stat(follow_symlinks=False)
    if sys.platform == "win32":  # the listing's own stat has no inode there
        result = os.lstat(entry.path)
    link = st.S_ISLNK(result.st_mode)
    return file_info(entry.path, result, _target(entry.path) if link else None)


def open_regular(path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """A descriptor of a regular file (made when ``flags`` say so); never opens anything else."""
    return _opened(path, flags, mode)[0]


def _opened(path: str, flags: int, mode: int = 0o666) -> tuple[int, os.stat_result]:
    try:
        refuse_unless_file(os.stat(path), path)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    fd = os.open(path, flags | OPEN_FLAGS, mode)
    try:
        result = os.fstat(fd)
        refuse_unless_file(result, path)
    except BaseException:
        os.close(fd)
        raise
    return fd, result


def refuse_unless_file(result: os.stat_result, path: str) -> None:
    kind = _kind(result.st_mode)
    if kind == "dir":
        raise WorkspaceError("file.is_dir", path=path)
    if kind != "file":
        raise WorkspaceError("file.special", path=path)


class Reader:
    """A regular file read in pieces; opened by the first ``next``. As with ``Scanner``, the lock
    keeps a close from freeing the descriptor under a thread that reads."""

    def __init__(self, path: str, offset: int, length: int | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._offset = offset
        self._left = length
        self._fd = -1
        self._closed = False

    def next(self) -> bytes:
        """The next piece; empty at the end."""
        with self._lock, os_errors(self._path):
            if self._closed:
                return b""
            if self._fd < 0:
                self._fd = open_regular(self._path)
                os.lseek(self._fd, self._offset, os.SEEK_SET)
            want = PIECE if self._left is None else min(PIECE, self._left)
            data = os.read(self._fd, want) if want > 0 else b""
            if self._left is not None:
                self._left -= len(data)
            return data

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1


def read_bytes(path: str, max_bytes: int) -> bytes:
    with os_errors(path):
        fd = open_regular(path)
        with open(fd, "rb", buffering=0) as file:
            size = os.fstat(fd).st_size
            if size > max_bytes:
                raise WorkspaceError("file.too_large", path=path, size=size, limit=max_bytes)
            pieces: list[bytes] = []
            got = 0
            # Files of /proc say size 0 and have content, a log may grow: read until the end.
            while piece := file.read(min(PIECE, max_bytes + 1 - got)):
                pieces.append(piece)
                got += len(piece)
                if got > max_bytes:
                    raise WorkspaceError("file.too_large", path=path, size=got, limit=max_bytes)
            return b"".join(pieces)


def sync_dir(path: str) -> None:
    """Make a rename or a new name in ``path`` durable; nothing to do on Windows."""
    if os.name != "posix":
        return
    with suppress(OSError):  # a directory we may not list, or a file system that cannot
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def mkdir(path: str) -> None:
    with os_errors(path):
        os.makedirs(path, exist_ok=True)


def rename(old: str, new: str, replace: bool) -> None:
    with os_errors(old):
        # A change of case on a file system that ignores it finds the file itself.
        if not replace and os.path.lexists(new) and not _same(old, new):
            raise WorkspaceError("file.exists", path=new)
        if replace:
            os.replace(old, new)
        else:
            os.rename(old, new)
        sync_dir(os.path.dirname(new))


def _same(a: str, b: str) -> bool:
    return a != b and os.path.samestat(os.lstat(a), os.lstat(b))


def remove(path: str, recursive: bool) -> None:
    with os_errors(path):
        mode = os.lstat(path).st_mode
        if not st.S_ISDIR(mode):
            os.unlink(path)
        elif recursive:
            shutil.rmtree(path)
        else:
            raise WorkspaceError("file.is_dir", path=path)


def realpath(path: str) -> str:
    with os_errors(path):
        return os.path.realpath(path)


def realpaths(paths: list[str]) -> list[str]:
    """Each with its links resolved. What lies under another of them is resolved from there on:
    most of the work is the way down from the root of the disk, which they have in common."""
    if os.name != "posix":  # case and short names are resolved there too
        return [realpath(path) for path in paths]
    known: dict[str, str] = {"/": "", "//": ""}  # without a final slash
    for path in sorted(set(paths).difference(known), key=len):
        base: str = os.path.dirname(path)
        while base not in known:
            base = os.path.dirname(base)
        known[path] = _real_below(base, known[base], path)
    return [known[path] or "/" for path in paths]


def _real_below(base: str, real: str, path: str) -> str:
    """``path``, which is normal and below ``base``, whose links are resolved in ``real``."""
    names = path[len(base) :].strip("/").split("/")
    for at, name in enumerate(names):
        below = f"{real}/{name}"
        try:
            if st.S_ISLNK(os.lstat(below).st_mode):
                return realpath(path)
        except FileNotFoundError:  # so is everything below it
            return "/".join([real, *names[at:]])
        except (OSError, ValueError):
            return realpath(path)
        real = below
    return real


def look(path: str, whole: int, head: int, beside: list[str]) -> Looked:
    real, *others = realpaths([path, *beside])
    return _look(path, real, others, whole, head)


def look_plain(path: str, whole: int, beside: list[str]) -> Looked | None:
    """``look`` at a file that no link leads to from the first of ``beside``, which it is below, and
    that is no larger than ``whole``. Else None, also for what ``look`` refuses: nothing is opened
    where a link leads elsewhere."""
    try:
        real, *others = realpaths([path, *beside])
        if real != others[0] + path[len(beside[0]) :]:
            return None
        found = _look(path, real, others, whole, 0)
    except WorkspaceError:
        return None
    return found if found.whole else None


def _look(path: str, real: str, others: list[str], whole: int, head: int) -> Looked:
    with os_errors(path):
        fd, result = _opened(real, os.O_RDONLY)
        try:
            info = file_info(real, result, None)
            most = whole + 1 if info.size <= whole else head
            pieces: list[bytes] = []
            got = 0
            # As in ``read_bytes``: the size of a file of /proc or of a growing log says little.
            while got < most and (piece := os.read(fd, min(PIECE, most - got))):
                pieces.append(piece)
                got += len(piece)
        finally:
            os.close(fd)
    data = b"".join(pieces)
    if info.size <= whole and got <= whole:
        return Looked(info, data, True, others)
    return Looked(info, data[:head], False, others)
