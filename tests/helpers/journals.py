"""For tests of journals: a disk that fails when told, loses power, and child processes."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from desktop_app.core.sessions.base import NewRecord, SessionKey

KEY = SessionKey("ann", "guide", "s1")
REPO = Path(__file__).resolve().parents[2]


def said(text: str) -> NewRecord:
    return NewRecord("user.message", {"msg": text})


class Disk(apsw.VFS):
    """The real file system with everything that SQLite does to it noted, and failing on demand.

    ``before(op, name)`` is called first (op: write, sync, truncate, delete) and may raise.
    """

    def __init__(self) -> None:
        self.name = f"disk-{uuid.uuid4().hex}"
        self.before: Callable[[str, str], None] = lambda op, name: None
        self.writes: list[tuple[str, int, bytes]] = []
        self.log: list[tuple[str, str, int, bytes]] = []
        self.syncs = 0
        super().__init__(self.name, "")

    def xOpen(self, name, flags):
        return _File(self, name, flags)

    def xDelete(self, filename, syncdir):
        self.note("delete", filename, 0, b"")
        super().xDelete(filename, syncdir)

    def note(self, op: str, name: str, offset: int, data: bytes) -> None:
        self.before(op, name)
        # A journal is built under another name and renamed once all of it is synced.
        self.log.append((op, os.path.basename(name).replace(".new", ""), offset, data))
        if op == "sync":
            self.syncs += 1
        if op == "write":
            self.writes.append((name, offset, data))

    def after_power_cut(self, folder: Path, rng: random.Random) -> None:
        """Write to ``folder`` what may be left of the files: all that was synced, and of the
        writes since a random choice, some of them torn at a sector."""
        files: dict[str, bytearray] = {}
        pending: dict[str, list[tuple[str, int, bytes]]] = {}
        for op, name, offset, data in self.log:
            if op == "delete":
                files.pop(name, None)
                pending.pop(name, None)
            elif op == "sync":
                for change in pending.pop(name, []):
                    _change(files.setdefault(name, bytearray()), *change)
            else:
                pending.setdefault(name, []).append((op, offset, data))
        for name, changes in pending.items():
            for op, offset, data in changes:
                if rng.random() < 0.5:
                    if op == "write" and rng.random() < 0.3:
                        data = data[: rng.randrange(len(data) + 1) // 512 * 512]
                    _change(files.setdefault(name, bytearray()), op, offset, data)
        for name, content in files.items():
            (folder / name).write_bytes(content)


def _change(content: bytearray, op: str, offset: int, data: bytes) -> None:
    if op == "truncate":
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name, flags) -> None:
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else (name or "temp")
        super().__init__("", name, flags)

    def xLock(self, level):
        # SQLite tries for a lock to write even where it may only read, and lives without; an error
        # of Python would not be overlooked, "busy" is.
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("not to be written to") from error

    def xWrite(self, data, offset):
        self._disk.note("write", self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xSync(self, flags):
        self._disk.note("sync", self._name, 0, b"")
        super().xSync(flags)

    def xTruncate(self, size):
        self._disk.note("truncate", self._name, size, b"")
        super().xTruncate(size)


def full() -> Exception:
    return apsw.FullError("no space left")


def broken_sync() -> Exception:
    error = apsw.IOError("sync failed")
    error.extendedresult = apsw.SQLITE_IOERR_FSYNC
    return error


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow over ``size`` bytes: what a full disk looks like, for this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def no_writing(folder: Path) -> Iterator[None]:
    """Nothing under ``folder`` may be written, also when the tests run as root."""
    root = os.geteuid() == 0
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in reversed(paths):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if root:
        opened = [p for p in folder.parents if not p.stat().st_mode & 0o001]
        for parent in opened:
            parent.chmod(parent.stat().st_mode | 0o011)
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
            for parent in opened:
                parent.chmod(parent.stat().st_mode & ~0o011)
        for path, mode in modes.items():
            if path.exists():
                path.chmod(mode)


def child(*args: str) -> subprocess.Popen[str]:
    """``tests.helpers.journal_child`` in a process of its own; it answers in lines."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.journal_child", *args],
        cwd=REPO,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
