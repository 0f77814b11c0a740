"""Large values as files named by the SHA-256 of their bytes: ``blobs/ab/ab12…``."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from desktop_app.core.errors import SessionError

from .base import BlobRef
from .disk import from_os, private_dir, write_whole

_SHA = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """The blobs of one session. Same bytes, same file; a file is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str) -> Path:
        """Where a blob lies. SessionError ``blob.missing`` for what is no hash (and may be a
        path)."""
        if _SHA.fullmatch(sha256) is None:
            raise SessionError("blob.missing", sha256=sha256[:80])
        return self._folder / sha256[:2] / sha256

    def put(self, data: bytes) -> BlobRef:
        """Durable when this returns. A damaged file of the same name is put right."""
        sha = hashlib.sha256(data).hexdigest()
        path = self.path(sha)
        try:
            if not (path.exists() and path.stat().st_size == len(data) and _whole(path, sha)):
                private_dir(path.parent)
                write_whole(path, data)
        except OSError as error:
            raise from_os(error, path) from error
        return BlobRef(sha, len(data))

    def get(self, sha256: str) -> bytes:
        path = self.path(sha256)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise SessionError("blob.missing", sha256=sha256) from error
        except OSError as error:
            raise from_os(error, path) from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise SessionError("blob.corrupt", sha256=sha256, path=str(path))
        return data


def _whole(path: Path, sha256: str) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256
