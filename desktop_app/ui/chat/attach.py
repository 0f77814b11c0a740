"""Files and pictures that a person adds to a message."""

from __future__ import annotations

import asyncio
import base64
import mimetypes
import os
from pathlib import Path

from desktop_app.core.agent.base import Attachment
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Base64Source, DataBlock

MAX_BYTES = 8 << 20  # what travels inside a message; larger files belong into the workspace
LONG_PASTE = 20_000  # characters; more becomes an attachment, so that the field stays quick


def media_type(name: str) -> str:
    """The media type by the name's ending; octet-stream when unknown."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def from_bytes(name: str, data: bytes, kind: str | None = None) -> Attachment:
    """An attachment whose bytes travel in the message. WorkspaceError ``file.too_large``."""
    if len(data) > MAX_BYTES:
        raise WorkspaceError("file.too_large", path=name, size=len(data), limit=MAX_BYTES)
    kind = kind or media_type(name)
    source = Base64Source(data=base64.b64encode(data).decode("ascii"), media_type=kind)
    return Attachment(name, kind, data=DataBlock(source=source, name=name))


async def from_file(path: str, cwd: str | None) -> Attachment:
    """An attachment from a file of this computer.

    Inside ``cwd`` (the folder of a local workspace; None for a remote one) it is named by its path,
    relative to it; elsewhere its bytes are taken along. WorkspaceError ``file.missing``,
    ``file.denied``, ``file.is_dir``, ``file.special``, ``file.too_large``.
    """
    return await asyncio.to_thread(_from_file, path, cwd)


def _from_file(path: str, cwd: str | None) -> Attachment:
    real = os.path.realpath(path)
    name = Path(path).name
    if cwd is not None:
        inside = os.path.realpath(cwd)
        if real != inside and os.path.commonpath([real, inside]) == inside:
            return Attachment(
                name, media_type(name), path=Path(real).relative_to(inside).as_posix()
            )
    try:
        if os.path.isdir(real):
            raise WorkspaceError("file.is_dir", path=path)
        if not os.path.isfile(real):
            if os.path.exists(real):
                raise WorkspaceError("file.special", path=path)
            raise WorkspaceError("file.missing", path=path)
        size = os.path.getsize(real)
        if size > MAX_BYTES:
            raise WorkspaceError("file.too_large", path=path, size=size, limit=MAX_BYTES)
        return from_bytes(name, Path(real).read_bytes())
    except OSError as error:
        raise WorkspaceError("file.denied", path=path) from error


def mention(path: str) -> str:
    """How a file is named inside a message: ``@notes.md``, quoted when it has spaces."""
    return f'@"{path}"' if any(c.isspace() for c in path) else f"@{path}"
