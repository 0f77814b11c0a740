"""The journal file's schema, its version and how older ones become this one.

``user_version`` is the schema's version from the first day, ``application_id`` says that the file
is a journal of ours. A newer version is opened read-only and not changed by one byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from desktop_app.core.errors import SessionError

from .base import SessionKey
from .db import Database

VERSION = 1
APPLICATION = 0x534C4A31  # "SLJ1"
_SANE = 10_000
"""A greater version is damage, not a newer program."""

_TABLES = """
CREATE TABLE meta(k TEXT PRIMARY KEY, v ANY) STRICT;
CREATE TABLE record(
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, v INTEGER NOT NULL, ts_us INTEGER NOT NULL,
    gen INTEGER NOT NULL, ignorable INTEGER NOT NULL, crc INTEGER NOT NULL, hash BLOB NOT NULL,
    blob TEXT, body BLOB NOT NULL
) STRICT;
CREATE TABLE operation(
    op_id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, tool TEXT NOT NULL, call_id TEXT NOT NULL,
    effect TEXT NOT NULL, args_sha TEXT NOT NULL, attempt INTEGER NOT NULL,
    writer_gen INTEGER NOT NULL, intent_seq INTEGER, result_seq INTEGER
) STRICT;
"""

MIGRATIONS: dict[int, Callable[[Database], None]] = {}
"""From version n to n + 1, each inside the transaction that also writes the new version."""


def build(db: Database, key: SessionKey) -> None:
    """All tables of an empty file; inside the caller's transaction."""
    db.run(_TABLES)
    name = json.dumps([key.user_id, key.agent_id, key.session_id])
    db.many("INSERT INTO meta(k, v) VALUES(?, ?)", [("generation", 0), ("key", name)])
    db.run(f"PRAGMA application_id={APPLICATION}")
    db.run(f"PRAGMA user_version={VERSION}")


def has_log(path: Path) -> bool:
    """Whether there is anything in the write-ahead log beside a database file."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False  # never there, or taken away by a writer that closes at this moment


def version_in_header(path: Path) -> int:
    """The version of a journal file without a log. SessionError ``journal.damaged`` when it is
    none of ours. (Without a log no connection of this process has locks that closing the file
    would drop.)"""
    with path.open("rb") as file:
        head = file.read(100)
    # sqlite.org/fileformat2.html: user version at 60, application id at 68, big-endian.
    if len(head) < 100 or not head.startswith(b"SQLite format 3\x00"):
        raise SessionError("journal.damaged", path=str(path))
    return _sane(path, int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big"))


def version_of(db: Database) -> int:
    """The version of an open journal; what is in its log may be newer than the header."""
    application = int(db.rows("PRAGMA application_id")[0][0])
    return _sane(db.path, application, int(db.rows("PRAGMA user_version")[0][0]))


def _sane(path: Path, application: int, found: int) -> int:
    if application != APPLICATION or not 0 < found < _SANE:
        raise SessionError("journal.damaged", path=str(path))
    return found


def migrate(db: Database, found: int) -> None:
    """Bring an older file to ``VERSION`` in one transaction, after a copy of it beside
    (``journal.db.v1.backup``)."""
    db.copy_to(db.path.with_name(f"{db.path.name}.v{found}.backup"))
    with db.write():
        for step in range(found, VERSION):
            MIGRATIONS[step](db)
        db.run(f"PRAGMA user_version={VERSION}")
