"""SQLite through apsw, typed and with our error codes. The only module that imports apsw.

Never open a database file of ours with ``open()`` while a connection of this process may hold it:
closing that file would drop SQLite's POSIX locks (sqlite.org, "How To Corrupt", 2.2).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn
from urllib.parse import quote

import apsw

from desktop_app.core.errors import SessionError

from .disk import disk_error

Row = tuple[Any, ...]
Access = Literal["write", "view", "read", "frozen"]
BUSY_MS = 5000
FOLD_MS = 50
Damaged = apsw.CorruptError | apsw.NotADBError
SqliteError = apsw.Error

_FLAGS = {
    "write": apsw.SQLITE_OPEN_READWRITE,
    "view": apsw.SQLITE_OPEN_READWRITE,
    "read": apsw.SQLITE_OPEN_READONLY,
    "frozen": apsw.SQLITE_OPEN_READONLY,
}


class Database:
    """One connection. ``view`` reads and, when it is the last one, takes SQLite's own files beside
    the database away again; ``read`` changes nothing of the database ever; ``frozen`` reads a file
    that nobody can be writing, in a folder where SQLite cannot make its own files.

    Methods raise SessionError (``disk.*``, ``journal.busy``, ``journal.damaged``); what is a
    mistake of ours stays an ``apsw.Error``."""

    def __init__(self, path: Path, access: Access, *, vfs: str | None = None) -> None:
        self.path = path
        # Any: apsw's own types name collections.abc.Buffer, which Python 3.11 has not.
        self._connection: Any = None
        uri = f"file:{quote(str(path))}{'?immutable=1' if access == 'frozen' else ''}"
        with self._translated():
            self._connection = apsw.Connection(uri, _FLAGS[access] | apsw.SQLITE_OPEN_URI, vfs=vfs)
            self._connection.set_busy_timeout(BUSY_MS)
            self._connection.pragma("mmap_size", 0)
            if access != "write":
                self._connection.pragma("query_only", True)

    def journal_mode(self, *, autocheckpoint: bool = False) -> None:
        """Write-ahead log, every commit synced. Without ``autocheckpoint`` the log is folded back
        only by ``checkpoint``, so that no commit pays for it."""
        with self._translated():
            self._live.pragma("journal_mode", "wal")
            self._live.pragma("synchronous", "full")
            if not autocheckpoint:
                self._live.wal_autocheckpoint(0)

    @property
    def _live(self) -> Any:
        if self._connection is None:
            raise SessionError("journal.closed", path=str(self.path))
        return self._connection

    def rows(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        try:
            return self._live.execute(sql, params).fetchall()
        except apsw.Error as error:
            self._raise(error)
        except UnicodeDecodeError as error:  # SQLite keeps text as the bytes it finds
            path = str(self.path)
            raise SessionError("journal.damaged", path=path, reason=str(error)) from error

    def one(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> Row | None:
        found = self.rows(sql, params)
        return found[0] if found else None

    def run(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> None:
        try:
            self._live.execute(sql, params)
        except apsw.Error as error:
            self._raise(error)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self._live.executemany(sql, rows)
        except apsw.Error as error:
            self._raise(error)

    def changes(self) -> int:
        """Rows changed by the last statement."""
        return self._live.changes()

    @contextmanager
    def write(self) -> Generator[None]:
        """One transaction that has the write lock from its start: all of it or nothing."""
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def rollback(self) -> None:
        """Undo the transaction, if SQLite has not already (after most failed writes it has)."""
        if self._connection is not None and not self._connection.get_autocommit():
            self._connection.execute("ROLLBACK")

    def synchronous(self, level: Literal["full", "normal"]) -> None:
        self.run(f"PRAGMA synchronous={level}")

    def on_log(self, told: Callable[[int], None]) -> None:
        """Call ``told`` with the size of the write-ahead log in bytes after each commit."""
        size = int(self.rows("PRAGMA page_size")[0][0])

        def hook(_: object, __: str, pages: int) -> int:
            told(pages * size)
            return apsw.SQLITE_OK

        self._live.set_wal_hook(hook)

    def checkpoint(self, *, rest: bool = False, whole: bool = False) -> None:
        """Copy the log into the database, beside a writer. ``rest`` keeps the writer waiting for
        what it wrote meanwhile (a few pages, after a first one), so that it may begin the log
        anew; ``whole`` waits for readers too and empties the log."""
        mode = apsw.SQLITE_CHECKPOINT_PASSIVE
        if rest:
            mode = apsw.SQLITE_CHECKPOINT_FULL
            self._live.set_busy_timeout(FOLD_MS)
        if whole:
            mode = apsw.SQLITE_CHECKPOINT_TRUNCATE
        with self._translated():
            self._live.wal_checkpoint(mode=mode)

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the whole database as one file, synced, put in place whole."""
        part = target.with_name(target.name + ".part")
        part.unlink(missing_ok=True)
        with self._translated():
            copy: Any = apsw.Connection(str(part))
            try:
                with copy.backup("main", self._live, "main") as backup:
                    backup.step()
                copy.pragma("journal_mode", "delete")
            finally:
                copy.close()
        os.chmod(part, 0o600)
        os.replace(part, target)

    def interrupt(self) -> None:
        """Make the statement that runs in another thread stop."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except apsw.Error as error:
            self._raise(error)

    def _raise(self, error: apsw.Error) -> NoReturn:
        """``error`` as a SessionError where it is one for a person, else itself."""
        path = str(self.path)
        # Our statements are fixed: one that does not fit the schema has met a damaged schema.
        if isinstance(error, Damaged | apsw.SQLError | apsw.SchemaChangeError):
            raise SessionError("journal.damaged", path=path, reason=str(error)) from error
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            raise SessionError("journal.busy", path=path, retryable=True) from error
        if isinstance(error, apsw.FullError):
            raise SessionError("disk.full", path=path, retryable=True) from error
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            raise SessionError("disk.readonly", path=path) from error
        if isinstance(error, apsw.IOError | apsw.CantOpenError):
            number = self._connection.system_errno if self._connection is not None else 0
            if isinstance(error, apsw.CantOpenError) and not number:
                number = _why_not(self.path)
            raise disk_error(number, self.path, str(error)) from error
        raise error


def _why_not(path: Path) -> int:
    """The errno behind a file that SQLite could not open; it keeps none without a connection."""
    import errno

    if not path.exists():
        return errno.ENOENT
    return 0 if os.access(path.parent, os.W_OK) else errno.EACCES
