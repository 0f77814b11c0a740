"""A JSON object in a file that people may edit: read without surprise, written whole, and never
overwritten when it could not be read."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from desktop_app.core.errors import SettingsError


def read_object(path: Path) -> tuple[dict[str, Any], SettingsError | None]:
    """The object at ``path`` and, when it could not be read, why (code ``settings.unreadable``).
    Never raises; a missing or empty file is an empty object."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        # Only what JSON calls blank: anything else is somebody's content.
        raw: Any = json.loads(text) if text.strip(" \t\r\n") else {}
        if not isinstance(raw, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, RecursionError) as error:
        return {}, SettingsError("settings.unreadable", path=str(path), reason=_reason(error))
    return cast("dict[str, Any]", raw), None


def write_object(path: Path, value: dict[str, Any], *, aside: bool = False) -> Path | None:
    """Write ``value``; with ``aside`` the former file is kept under a dated name, which is given.
    Raises SettingsError ``settings.unwritable``; the former file is then untouched."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _put_aside(path) if aside else None
        _write(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError("settings.unwritable", path=str(path), reason=reason) from error
    return kept


def aside_name(path: Path) -> Path:
    """A free name beside ``path`` for a file that is kept: ``x.broken-20260102-150405.json``."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    candidate = path.with_name(f"{path.stem}.broken-{stamp}{path.suffix}")
    count = 1
    while candidate.exists():
        count += 1
        name = f"{path.stem}.broken-{stamp}-{count}{path.suffix}"
        candidate = path.with_name(name)
    return candidate


def _put_aside(path: Path) -> Path | None:
    kept = aside_name(path)
    try:
        os.rename(path, kept)
    except FileNotFoundError:
        return None
    return kept


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, {error.lineno}:{error.colno}"
    return str(getattr(error, "strerror", None) or error)


def _write(path: Path, text: str) -> None:
    """Write beside, sync, rename: a reader sees the old file or the new one, whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
