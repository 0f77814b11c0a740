"""The file ``app.db``: schema, versions, backups, and what happens when it is damaged.

It is precious. A damaged file is set aside whole, never overwritten or deleted; the newest backup
that is whole takes its place, and what came since is rebuilt from the journals (``AppDb.rebuild``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from desktop_app.core.errors import SessionError
from desktop_app.core.ids import now_us

from .db import Database
from .disk import from_os, private_dir, sync_dir

VERSION = 2
KEPT = 3
_DAY_US = 24 * 3600 * 1_000_000

_TABLES = """
CREATE TABLE workspace(
    id TEXT PRIMARY KEY, name TEXT NOT NULL, backend TEXT NOT NULL, folder TEXT, root TEXT,
    generation TEXT NOT NULL, trusted INTEGER NOT NULL, config TEXT NOT NULL,
    last_used_us INTEGER NOT NULL, position INTEGER NOT NULL, forgotten_us INTEGER
) STRICT;
CREATE TABLE agent(
    id TEXT PRIMARY KEY, name TEXT NOT NULL, prompt TEXT NOT NULL, model TEXT NOT NULL,
    tools TEXT NOT NULL, rules TEXT NOT NULL, position INTEGER NOT NULL,
    mode TEXT NOT NULL DEFAULT '', made_us INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE session(
    user_id TEXT NOT NULL, agent_id TEXT NOT NULL, session_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL, title TEXT NOT NULL, pinned INTEGER NOT NULL, tags TEXT NOT NULL,
    created_us INTEGER NOT NULL, trashed_us INTEGER,
    PRIMARY KEY(user_id, agent_id, session_id)
) STRICT;
CREATE INDEX session_workspace ON session(workspace_id);
"""


def _agents_are_made(db: Database) -> None:
    """Since version 2 a person makes agents; those of before were seen in sessions."""
    db.run("ALTER TABLE agent ADD COLUMN mode TEXT NOT NULL DEFAULT ''")
    db.run("ALTER TABLE agent ADD COLUMN made_us INTEGER NOT NULL DEFAULT 0")


MIGRATIONS: dict[int, Callable[[Database], None]] = {1: _agents_are_made}
"""From version n to n + 1, each inside the transaction that also writes the new version."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should be told: ``appdb.damaged`` {aside, backup}, ``appdb.newer``
    {schema, known}."""

    code: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Opened:
    db: Database
    writable: bool
    notices: list[Notice]


def open_app_file(path: Path) -> Opened:
    """Open or make the file. SessionError ``disk.*``."""
    notices: list[Notice] = []
    try:
        private_dir(path.parent)
        if path.exists() and path.stat().st_size and not _whole(path):
            notices.append(_set_aside(path))
        return _open(path, notices)
    except OSError as error:
        raise from_os(error, path) from error


def _open(path: Path, notices: list[Notice]) -> Opened:
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    db = Database(path, "write")
    try:
        found = int(db.rows("PRAGMA user_version")[0][0])
        if found > VERSION:
            db.close()
            notices.append(Notice("appdb.newer", {"schema": found, "known": VERSION}))
            return Opened(Database(path, "read"), False, notices)
        if found and found < VERSION:
            backup(db)
        db.journal_mode(autocheckpoint=True)
        if found < VERSION:
            with db.write():
                if not found:
                    db.run(_TABLES)
                for step in range(found or VERSION, VERSION):
                    MIGRATIONS[step](db)
                db.run(f"PRAGMA user_version={VERSION}")
    except BaseException:
        db.close()
        raise
    return Opened(db, True, notices)


def _whole(path: Path) -> bool:
    try:
        db = Database(path, "write")
        try:
            return db.rows("PRAGMA quick_check(1)") == [("ok",)]
        finally:
            db.close()
    except SessionError as error:
        if error.code == "journal.damaged":
            return False
        raise


def _set_aside(path: Path) -> Notice:
    """Move the damaged file (and its log) out of the way and put the newest whole backup there."""
    aside = path.with_name(f"{path.name}.damaged-{_stamp()}")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            os.replace(part, aside.with_name(aside.name + suffix))
    used = ""
    for candidate in backups(path):
        if _whole(candidate):
            part = path.with_name(path.name + ".part")
            shutil.copy(candidate, part)
            os.replace(part, path)
            used = candidate.name
            break
    sync_dir(path.parent)
    return Notice("appdb.damaged", {"aside": str(aside), "backup": used})


def backups(path: Path) -> list[Path]:
    """Backups of the file, newest first."""
    return sorted(path.parent.glob(f"backups/{path.name}.*.backup"), reverse=True)


def backup(db: Database) -> Path:
    """A copy of the whole file under ``backups/``; the newest three are kept."""
    folder = db.path.parent / "backups"
    private_dir(folder)
    target = folder / f"{db.path.name}.{_stamp()}.backup"
    db.copy_to(target)
    for old in backups(db.path)[KEPT:]:
        old.unlink(missing_ok=True)
    return target


def backup_if_due(db: Database) -> None:
    """A backup unless there is one of the last 24 hours. What fails is tried at the next start."""
    newest = backups(db.path)[:1]
    try:
        if not newest or now_us() - newest[0].stat().st_mtime_ns // 1000 > _DAY_US:
            backup(db)
    except (OSError, SessionError):
        return


def _stamp() -> str:
    at = datetime.fromtimestamp(now_us() / 1_000_000, UTC)
    return at.strftime("%Y%m%d-%H%M%S-%f")
