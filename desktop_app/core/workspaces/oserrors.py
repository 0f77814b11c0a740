"""Operating system errors as the codes of the backend contract."""

from __future__ import annotations

import errno
from typing import NoReturn

from desktop_app.core.errors import WorkspaceError

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_BUSY = {errno.EBUSY, errno.ETXTBSY, errno.EAGAIN, errno.EWOULDBLOCK}
_UNREACHABLE = {
    getattr(errno, name)
    for name in ("ENOTCONN", "EHOSTDOWN", "EHOSTUNREACH", "ESTALE", "ETIMEDOUT", "ENETUNREACH")
    if hasattr(errno, name)
}


def raise_os(error: OSError, path: str) -> NoReturn:
    """Raise the WorkspaceError that stands for ``error`` at ``path``."""
    raise_os_file(error, path) if error.errno in _FILE else raise_os_disk(error, path)


_FILE = {
    errno.ENOENT,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EACCES,
    errno.EPERM,
    errno.ENOTEMPTY,
    errno.ENXIO,
    errno.ENAMETOOLONG,
    errno.EINVAL,
    errno.EILSEQ,
    errno.ELOOP,
}


def raise_os_file(error: OSError, path: str) -> NoReturn:
    """Errors about the one path."""
    match error.errno:
        case errno.ENOENT:
            raise WorkspaceError("file.missing", path=path) from error
        case errno.EISDIR:
            raise WorkspaceError("file.is_dir", path=path) from error
        case errno.ENOTDIR:
            raise WorkspaceError("file.not_dir", path=path) from error
        case errno.EEXIST:
            raise WorkspaceError("file.exists", path=path) from error
        case errno.EACCES | errno.EPERM:
            raise WorkspaceError("file.denied", path=path) from error
        case errno.ENOTEMPTY:
            raise WorkspaceError("file.not_empty", path=path) from error
        case errno.ENXIO:
            raise WorkspaceError("file.special", path=path) from error
        case errno.ELOOP:
            raise WorkspaceError("file.loop", path=path) from error
        case _:
            raise WorkspaceError("file.bad_name", path=path) from error


def raise_os_disk(error: OSError, path: str) -> NoReturn:
    """Errors about what the path is on."""
    if error.errno in _FULL:
        raise WorkspaceError("disk.full", retryable=True, path=path) from error
    if error.errno == errno.EROFS:
        raise WorkspaceError("disk.readonly", path=path) from error
    if error.errno in _BUSY:
        raise WorkspaceError("file.busy", retryable=True, path=path) from error
    if error.errno in _UNREACHABLE:
        raise WorkspaceError("backend.unreachable", retryable=True, path=path) from error
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise WorkspaceError("system.too_many_files", retryable=True, path=path) from error
    raise WorkspaceError(
        "file.failed", path=path, errno=error.errno, detail=error.strerror
    ) from error
