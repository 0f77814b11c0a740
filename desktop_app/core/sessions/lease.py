"""One writer: a lock of the operating system on a file, held for the writer's life.

The lock ends with its process whatever ends that; nothing has to be cleaned up. The file tells who
holds it. It is never removed when the lock is released (another process may just be opening it).
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, cast

from .disk import from_os

_AT = 1 << 30
"""Windows locks bytes and locked bytes cannot be read; this one lies behind the owner's line."""


class Lease:
    """The lock on ``path``, held until ``release``."""

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd

    def release(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)


def take(path: Path, *, steal: bool = False) -> Lease | None:
    """The lease, or None while another holds it. ``steal`` puts a new lock file in its place; the
    former holder keeps a lock on a file without a name and is fenced by the generation number in
    the journal. Raises SessionError ``disk.*``."""
    try:
        for _ in range(8):
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            if not _lock(fd):
                os.close(fd)
                if not steal:
                    return None
                path.unlink(missing_ok=True)
                continue
            if _same_file(fd, path):
                _sign(fd)
                return Lease(fd)
            os.close(fd)  # replaced between opening and locking
    except OSError as error:
        raise from_os(error, path) from error
    return None


def owner(path: Path) -> dict[str, Any]:
    """Who holds the lease: ``pid`` and ``host``; empty when that cannot be told."""
    try:
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def held_elsewhere(path: Path) -> bool:
    """Whether another process of this computer holds the lease. The lock is not touched: a trial of
    it could refuse somebody who takes it in the same moment."""
    said = owner(path)
    pid = said.get("pid")
    if said.get("host") != socket.gethostname() or not isinstance(pid, int) or pid == os.getpid():
        return False
    import psutil

    return psutil.pid_exists(pid) and _locked(path)


def _locked(path: Path) -> bool:
    """Whether anybody has a lock on the file, where the system tells it; else yes: the process
    that wrote its name there lives."""
    try:
        table, inode = Path("/proc/locks").read_text(), path.stat().st_ino
    except OSError:
        return path.exists()
    return any(f":{inode} " in line for line in table.splitlines())


def _sign(fd: int) -> None:
    line = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, line)


def _same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int) -> bool:
        os.lseek(fd, _AT, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
