"""What the far end says when it cannot: the codes of the backend contract."""

# pyright: basic

from __future__ import annotations

import errno


class Refused(Exception):
    def __init__(self, code, retryable=False, **params):
        super().__init__(code)
        self.code, self.retryable, self.params = code, retryable, params


CODES = {
    errno.ENOENT: "file.missing",
    errno.EISDIR: "file.is_dir",
    errno.ENOTDIR: "file.not_dir",
    errno.EEXIST: "file.exists",
    errno.EACCES: "file.denied",
    errno.EPERM: "file.denied",
    errno.ENOTEMPTY: "file.not_empty",
    errno.ENXIO: "file.special",
    errno.ELOOP: "file.loop",
    errno.ENAMETOOLONG: "file.bad_name",
    errno.EINVAL: "file.bad_name",
    errno.EILSEQ: "file.bad_name",
    errno.EROFS: "disk.readonly",
}
AGAIN = {
    errno.ENOSPC: "disk.full",
    errno.EDQUOT: "disk.full",
    errno.EBUSY: "file.busy",
    errno.ETXTBSY: "file.busy",
    errno.EAGAIN: "file.busy",
    errno.EMFILE: "system.too_many_files",
    errno.ENFILE: "system.too_many_files",
}


def refusal(error, path):
    """The contract's code for an error of the operating system."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, ValueError):  # a NUL, or characters that no path can have
        return Refused("file.bad_name", path=path)
    number = getattr(error, "errno", None)
    if number in CODES:
        return Refused(CODES[number], path=path)
    if number in AGAIN:
        return Refused(AGAIN[number], True, path=path)
    return Refused("file.failed", path=path, errno=number, detail=str(error))


class Gone(Exception):
    """The other side cancelled this request."""
