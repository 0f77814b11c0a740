"""Blocking writes of the local backend: whole files atomically, lines at the end under a lock."""

from __future__ import annotations

import os
import secrets
import stat as st
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.filelock import try_lock, unlock

from .backend import FileInfo
from .local_files import (
    OPEN_FLAGS,
    file_info,
    open_regular,
    os_errors,
    refuse_unless_file,
    sync_dir,
    version_of,
)

LOCK_SECONDS = 10.0


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class AtomicWrite:
    """Replace one file whole: temporary file beside it, sync, rename, sync of the directory.

    A link is written through to its target; the permission bits (and where we may, the owner) of
    the file that is replaced are kept.
    """

    def __init__(self, path: str, *, expect: str | None, create: bool, mode: int | None) -> None:
        self._path = path
        self._expect = expect
        self._create = create
        self._mode = mode
        self._lock = threading.Lock()
        self._done = False
        self._fd = -1
        self._temp = ""
        self._dest = path

    def _open(self) -> None:
        if self._create and os.path.lexists(self._path):
            raise WorkspaceError("file.exists", path=self._path)
        if os.path.islink(self._path):
            self._dest = os.path.realpath(self._path)
        old = self._check()
        parent = os.path.dirname(self._dest)
        os.makedirs(parent, exist_ok=True)
        self._temp = os.path.join(parent, f".slipway-{secrets.token_hex(8)}.tmp")
        keep = self._mode
        if keep is None and old is not None:
            keep = st.S_IMODE(old.st_mode)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_FLAGS
        # Never wider than the file it replaces, not even for a moment.
        self._fd = os.open(self._temp, flags, 0o666 if keep is None else 0o600)
        self._keep(old, keep)

    def _check(self) -> os.stat_result | None:
        """Look at what is there now; ``file.changed`` when it is not what the caller saw."""
        try:
            old = os.stat(self._dest)
        except FileNotFoundError:
            old = None
        if old is not None:
            refuse_unless_file(old, self._path)
        if self._expect is not None and (old is None or version_of(old) != self._expect):
            raise WorkspaceError("file.changed", path=self._path)
        return old

    def _keep(self, old: os.stat_result | None, mode: int | None) -> None:
        if sys.platform == "win32":
            return
        if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                os.fchown(self._fd, old.st_uid, old.st_gid)
        if mode is not None:
            os.fchmod(self._fd, mode)

    def write(self, data: bytes) -> None:
        """Add a piece; the first one makes the temporary file."""
        with self._lock, os_errors(self._path):
            if self._done:
                raise WorkspaceError("backend.closed")
            if self._fd < 0:
                self._open()
            write_all(self._fd, data)

    def commit(self) -> FileInfo:
        """Put it in place; at least one ``write`` (of nothing, for an empty file) came before."""
        with self._lock, os_errors(self._path):
            if self._done:
                raise WorkspaceError("backend.closed")
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1
            with _placing(os.path.dirname(self._dest)):
                self._check()
                if self._create:
                    self._place_new()
                else:
                    os.replace(self._temp, self._dest)
            self._temp = ""
            self._done = True
            sync_dir(os.path.dirname(self._dest))
            return file_info(self._path, os.stat(self._dest), None)

    def _place_new(self) -> None:
        """Give the file its name unless somebody took it meanwhile; linking is the atomic way."""
        try:
            os.link(self._temp, self._dest)
        except (PermissionError, NotImplementedError):  # no hard links on this file system
            if os.path.lexists(self._dest):
                raise WorkspaceError("file.exists", path=self._path) from None
            os.rename(self._temp, self._dest)
        else:
            os.unlink(self._temp)

    def abort(self) -> None:
        """Leave nothing behind; harmless after ``commit``."""
        with self._lock:
            self._done = True
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
            if self._temp:
                with suppress(OSError):
                    os.unlink(self._temp)
                self._temp = ""


_here = threading.Lock()


@contextmanager
def _placing(folder: str) -> Generator[None]:
    """Between the last look at a file and the new one in its place nobody else of ours comes: one
    at a time in this process, and by a lock of the directory among processes where there is one."""
    with _here:
        fd = -1
        if os.name == "posix":
            with suppress(OSError):  # a directory we may not list: this process alone is safe
                fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            if fd < 0:
                yield
            else:
                with locked(fd, folder):
                    yield
        finally:
            if fd >= 0:
                os.close(fd)


@contextmanager
def locked(fd: int, path: str, seconds: float = LOCK_SECONDS) -> Generator[None]:
    """Hold the advisory lock of an open file; ``file.busy`` when it cannot be had in time."""
    deadline = time.monotonic() + seconds
    while not try_lock(fd):
        if time.monotonic() > deadline:
            raise WorkspaceError("file.busy", retryable=True, path=path)
        time.sleep(0.005)
    try:
        yield
    finally:
        unlock(fd)


def append(path: str, data: bytes) -> int:
    """Append under the file's lock, synced; returns the size before. Cost does not depend on the
    length of the file. A write that fails half-way (full disk) is taken back."""
    with os_errors(path):
        fresh = not os.path.lexists(path)
        fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            with locked(fd, path):
                size = os.fstat(fd).st_size
                if size and data:
                    os.lseek(fd, size - 1, os.SEEK_SET)
                    if os.read(fd, 1) != b"\n":
                        data = b"\n" + data
                try:
                    write_all(fd, data)
                    os.fsync(fd)
                except OSError:
                    with suppress(OSError):
                        os.ftruncate(fd, size)
                    raise
        finally:
            os.close(fd)
        if fresh:
            sync_dir(os.path.dirname(path))
        return size


def append_plain(path: str, data: bytes) -> int:
    """Append bytes as they are, not synced; returns the size before."""
    with os_errors(path):
        fd = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(fd).st_size
            write_all(fd, data)
        finally:
            os.close(fd)
        return size
