"""How a journal file is made and how it is opened: as a writer, or as a view and why.

A new journal is built under another name and renamed, so that a file with the journal's name always
has its schema and its first record, whenever the program is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from desktop_app.core.errors import SessionError

from . import lease, schema
from .base import NewRecord, SessionKey
from .blobs import Blobs
from .codec import GENESIS
from .db import Access, Database
from .disk import from_os, private_dir, sync_dir, write_whole
from .file import INSERT, LOG_AHEAD, NAME, JournalFile, prepare

LOCK = "journal.lock"
KEY = "key.json"


def create(folder: Path, key: SessionKey, body: dict[str, Any], vfs: str | None) -> JournalFile:
    """A new journal with its ``session.created`` record, opened for writing. SessionError
    ``session.exists``, ``disk.*``."""
    path = folder / NAME
    try:
        private_dir(folder)
        held = lease.take(folder / LOCK)
        if held is None:
            raise SessionError("session.exists", session=key.session_id)
        try:
            if path.exists():
                raise SessionError("session.exists", session=key.session_id)
            _build(folder, key, body, vfs)
            return _writer(folder, key, held, vfs)
        except BaseException:
            held.release()
            raise
    except OSError as error:
        raise from_os(error, path) from error


def open_file(
    folder: Path, key: SessionKey, *, write: bool, steal: bool = False, vfs: str | None = None
) -> JournalFile:
    """The journal in ``folder``; KeyError when there is none."""
    path = folder / NAME
    if not path.is_file():
        raise KeyError(key)
    if not write:
        return _view(folder, key, "journal.readonly", {}, vfs)
    try:
        held = lease.take(folder / LOCK, steal=steal)
    except SessionError as error:
        if error.code != "disk.readonly":
            raise
        return _view(folder, key, "disk.readonly", error.params, vfs)
    if held is None:
        return _view(folder, key, "journal.in_use", lease.owner(folder / LOCK), vfs)
    try:
        return _writer(folder, key, held, vfs)
    except SessionError as error:
        held.release()
        if error.code == "journal.newer":
            return _view(folder, key, "journal.newer", error.params, vfs)
        if error.code in ("journal.damaged", "disk.readonly"):
            return _view(folder, key, error.code, error.params, vfs)
        raise
    except BaseException:
        held.release()
        raise


def _build(folder: Path, key: SessionKey, body: dict[str, Any], vfs: str | None) -> None:
    names = (folder.parent.parent.name, folder.parent.name, folder.name)
    if names != (key.user_id, key.agent_id, key.session_id):
        ids = [key.user_id, key.agent_id, key.session_id]
        write_whole(folder / KEY, json.dumps(ids).encode())
    new = folder / f"{NAME}.new"
    for left in folder.glob(f"{NAME}.new*"):
        left.unlink()
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    db = Database(new, "write", vfs=vfs)
    try:
        db.journal_mode()
        with db.write():
            schema.build(db, key)
            first = NewRecord("session.created", body)
            _, rows = prepare([first], 0, GENESIS, 0, Blobs(folder / "blobs"))
            db.many(INSERT, rows)
        db.checkpoint(whole=True)
    finally:
        db.close()
    os.replace(new, folder / NAME)
    sync_dir(folder)


def _writer(folder: Path, key: SessionKey, held: lease.Lease, vfs: str | None) -> JournalFile:
    path = folder / NAME
    found = _version(path, vfs)
    if found > schema.VERSION:
        raise SessionError("journal.newer", schema=found, known=schema.VERSION)
    _lay_out_log(path)
    db = Database(path, "write", vfs=vfs)
    try:
        db.journal_mode()
        if found < schema.VERSION:
            schema.migrate(db, found)
        file = JournalFile(key, folder, db, lease=held)
        file.start()
    except BaseException:
        db.close()
        raise
    return file


def _lay_out_log(path: Path) -> None:
    """Give a log that does not exist yet its length in zeros, which SQLite takes for an empty log.

    Commits then overwrite what is there instead of growing the file, which spares each of them a
    commit of the file system's own journal (ext4: 0.10 ms instead of 0.19 ms).
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    try:
        os.write(fd, bytes(LOG_AHEAD))
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
    finally:
        os.close(fd)


def _view(
    folder: Path, key: SessionKey, why: str, params: dict[str, Any], vfs: str | None
) -> JournalFile:
    path = folder / NAME
    try:
        found = _version(path, vfs)
        if found > schema.VERSION:
            why, params = "journal.newer", {"schema": found, "known": schema.VERSION}
        db = _readable(path, "read" if found > schema.VERSION else "view", vfs)
    except SessionError as error:
        if error.code != "journal.damaged":
            raise
        return JournalFile(key, folder, None, why="journal.damaged", params={"seq": 1})
    file = JournalFile(key, folder, db, why=why, params=params)
    try:
        file.start()
    except BaseException:
        db.close()
        raise
    return file


def _version(path: Path, vfs: str | None) -> int:
    """The version of a journal file, found without changing it."""
    if not schema.has_log(path):
        return schema.version_in_header(path)
    db = _readable(path, "read", vfs)
    try:
        return schema.version_of(db)
    finally:
        db.close()


def _readable(path: Path, access: Access, vfs: str | None) -> Database:
    """A connection that reads. In a folder that may not be written to SQLite cannot make the files
    it shares with writers, nor can there be a writer: read the file alone, or, with a log that is
    not folded back, a copy of both."""
    try:
        db = Database(path, access, vfs=vfs)
        try:
            db.rows("SELECT count(*) FROM sqlite_schema")
        except BaseException:
            db.close()
            raise
        return db
    except SessionError as error:
        if error.code not in ("disk.readonly", "disk.failed"):
            raise
    if not schema.has_log(path):
        return Database(path, "frozen", vfs=vfs)
    log = path.with_name(f"{path.name}-wal")
    copy = Path(tempfile.mkdtemp(prefix="slipway-"))
    try:
        shutil.copyfile(path, copy / path.name)
        shutil.copyfile(log, copy / log.name)
        db = Database(copy / path.name, "write")
        db.journal_mode()
        db.checkpoint(whole=True)
        db.close()
        db = Database(copy / path.name, "frozen")
        db.rows("SELECT count(*) FROM sqlite_schema")
        return db
    finally:
        if os.name != "nt":
            shutil.rmtree(copy, ignore_errors=True)  # the open file lives on without a name
