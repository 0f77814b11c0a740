"""Files that must survive: private folders, synced writes, and disk errors under stable codes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from desktop_app.core.errors import SessionError
from desktop_app.core.ids import new_id

# EFBIG comes from a file-size limit; to a person it is the same as a full disk.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
READONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def disk_error(number: int, path: Path, reason: str) -> SessionError:
    """The SessionError for an ``errno`` met at ``path``."""
    if number in FULL:
        return SessionError("disk.full", path=str(path), retryable=True)
    if number in READONLY:
        return SessionError("disk.readonly", path=str(path))
    return SessionError("disk.failed", path=str(path), reason=reason, retryable=True)


def from_os(error: OSError, path: Path) -> SessionError:
    """The SessionError for an OSError met at ``path``."""
    return disk_error(error.errno or 0, path, error.strerror or type(error).__name__)


def private_dir(path: Path) -> None:
    """Make ``path`` and its parents, each readable by their owner only, and durable."""
    missing: list[Path] = []
    at = path
    while not at.is_dir():
        missing.append(at)
        at = at.parent
    for made in reversed(missing):
        made.mkdir(mode=0o700, exist_ok=True)
        sync_dir(made.parent)


def sync_dir(path: Path) -> None:
    """Make the names in a folder durable. Windows has no such call and journals them itself."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all: a temporary file in the same folder,
    sync, rename, sync of the folder. Raises OSError; the temporary file is taken away."""
    temporary = path.with_name(f".{path.name[:40]}.{new_id()}.tmp")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_dir(path.parent)
