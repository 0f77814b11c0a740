"""One session's journal file, synchronous: what the journal's own thread runs.

Every commit is one sync of the write-ahead log. The log is laid out ahead and folded back beside
the writer (``LOG_AHEAD``, ``LOG_LIMIT``), so that a commit overwrites bytes that are there already
and its cost depends neither on the length of the session nor on the file system's own journal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from desktop_app.core.errors import SessionError
from desktop_app.core.ids import now_us

from . import chain
from .base import BlobRef, JournalInfo, NewRecord, Operation, OpState, OpUpdate, Record, SessionKey
from .blobs import Blobs
from .codec import GENESIS, check, digest, encode, head_of, link, merge_op
from .db import Database, SqliteError
from .lease import Lease
from .reading import Wanted, select, singly
from .schema import VERSION
from .snapshots import Snapshots

LARGE = 256 * 1024
"""Bodies over this many bytes are kept as blobs; the row has their hash."""
LOG_AHEAD = 1024 * 1024
LOG_LIMIT = 512 * 1024
LOG_MOST = 4 * 1024 * 1024
NAME = "journal.db"

_OPERATION = (
    "op_id, state, tool, call_id, effect, args_sha, attempt, writer_gen, intent_seq, result_seq"
)
_BEGIN = (
    "BEGIN IMMEDIATE;"
    "SELECT (SELECT v FROM meta WHERE k = 'generation'), (SELECT max(seq) FROM record)"
)
INSERT = (
    "INSERT INTO record(seq, kind, v, ts_us, gen, ignorable, crc, hash, blob, body)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def prepare(
    records: Sequence[NewRecord], head: int, last: bytes, gen: int, blobs: Blobs
) -> tuple[list[Record], list[tuple[Any, ...]]]:
    """``records`` as they will be read and as rows for ``INSERT``, chained after record ``head``
    whose hash is ``last``. Large bodies are durable as blobs before any row names them."""
    made: list[Record] = []
    rows: list[tuple[Any, ...]] = []
    for seq, new in enumerate(records, start=head + 1):
        raw, now = encode(new.body), now_us()
        before = head_of(seq, new.kind, new.v, now, new.ignorable)
        blob = blobs.put(raw).sha256 if len(raw) > LARGE else None
        body = b"" if blob else raw
        last = link(last, before, digest(raw))
        ignorable, crc = int(new.ignorable), check(before, body)
        rows.append((seq, new.kind, new.v, now, gen, ignorable, crc, last, blob, body))
        made.append(Record(seq, new.kind, new.v, now, raw, new.ignorable))
    return made, rows


class JournalFile:
    """An open journal. ``db`` is None when the file cannot be read at all.

    ``lease`` and a writable database make a writer; ``why`` and ``params`` say why it is none.
    All methods raise SessionError as ``base.Journal`` says.
    """

    def __init__(
        self,
        key: SessionKey,
        folder: Path,
        db: Database | None,
        *,
        lease: Lease | None = None,
        why: str | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        self._key = key
        self._db = db
        self._lease = lease
        self._blobs = Blobs(folder / "blobs")
        self._snapshots = Snapshots(folder / "snapshots")
        self._path = folder / NAME
        self._why = why
        self._params: dict[str, Any] = dict(params or {})
        self._head = 0
        self._hash = GENESIS
        self._gen = 0
        self._schema = VERSION
        self._limit: int | None = None if db else 0
        self._inode: os.stat_result | None = None
        self._unsure = False
        self._drafted = True
        self.log_bytes = 0

    # -- opening and closing ----------------------------------------------------------------

    def start(self) -> None:
        """Check the tail of the chain and, as a writer, take the next generation."""
        db = self._db
        if db is None:
            return
        try:
            self._schema = int(db.rows("PRAGMA user_version")[0][0])
            self._gen = int(db.rows("SELECT v FROM meta WHERE k = 'generation'")[0][0])
            tail = chain.check_tail(db)
        except (TypeError, ValueError, IndexError):
            self._damage_found()
            return
        except SessionError as error:
            if error.code != "journal.damaged":
                raise
            self._damage_found()
            return
        self._head, self._hash = tail.head, tail.hash
        if tail.bad is not None:
            self._damaged(tail.bad)
        elif self._lease is not None:
            with db.write():
                db.run("UPDATE meta SET v = v + 1 WHERE k = 'generation'")
                self._gen = int(db.rows("SELECT v FROM meta WHERE k = 'generation'")[0][0])
            self._inode = os.stat(self._path)
            db.on_log(self._log_grew)

    def _log_grew(self, size: int) -> None:
        self.log_bytes = size

    def fold_log(self) -> None:
        """Copy the log into the database, if it is still long."""
        if self._db is not None and self.log_bytes > LOG_MOST:
            try:
                self._db.checkpoint()
            except SessionError:
                pass  # the log keeps everything; the next turn tries again

    def info(self) -> JournalInfo:
        return JournalInfo(
            key=self._key,
            head=self._head,
            schema=self._schema,
            writer_gen=self._gen,
            writable=self._lease is not None and self._why is None,
            why=self._why,
            params=dict(self._params),
        )

    def close(self) -> None:
        """Fold the log back (the last connection to close does) and release the lease."""
        try:
            if self._db is not None:
                self._db.close()
        except SqliteError:
            pass  # what is acknowledged is in the log, which stays
        finally:
            self._db = None
            self._limit = 0
            if self._lease is not None:
                self._lease.release()
                self._lease = None

    # -- writing ----------------------------------------------------------------------------

    def append(
        self, records: Sequence[NewRecord], ops: Sequence[OpUpdate], draft: bytes | None
    ) -> list[Record]:
        db = self._writer()
        made, rows = prepare(records, self._head, self._hash, self._gen, self._blobs)
        head = self._head + len(made)

        def write() -> None:
            if rows:
                db.run(INSERT, rows[0]) if len(rows) == 1 else db.many(INSERT, rows)
            if ops:
                self._write_ops(db, ops, head)
            if draft or (draft is not None and self._drafted):
                self._write_draft(db, draft)

        self._commit(db, write)
        self._head = head
        if rows:
            self._hash = rows[-1][7]
        if draft is not None:
            self._drafted = bool(draft)
        return made

    def save_draft(self, data: bytes) -> None:
        db = self._writer()
        # Not synced: a draft may be lost with the power, a killed process keeps it.
        db.synchronous("normal")
        try:
            self._commit(db, lambda: self._write_draft(db, data))
            self._drafted = bool(data)
        finally:
            db.synchronous("full")

    def put_blob(self, data: bytes) -> BlobRef:
        self._writer()
        return self._blobs.put(data)

    def put_snapshot(self, seq: int, data: bytes) -> None:
        db = self._writer()
        row = db.one("SELECT hash FROM record WHERE seq = ?", (seq,))
        if row is None:
            raise ValueError(f"no record {seq} to make a snapshot of")
        self._snapshots.put(seq, row[0], data)

    def _writer(self) -> Database:
        """The database, if this may write."""
        session = self._key.session_id
        if self._why == "journal.fenced":
            raise SessionError("journal.fenced", session=session)
        if self._why == "journal.damaged":
            raise SessionError("journal.damaged", session=session, **self._params)
        if self._why == "journal.missing":
            raise SessionError("journal.missing", path=str(self._path))
        if self._db is None or self._lease is None or self._why is not None:
            raise SessionError("journal.readonly", session=session, why=self._why or "")
        if self._unsure:
            # A sync failed: the kernel may have dropped what was not synced before (drafts). Copy
            # everything to the database and begin the log anew before trusting it again.
            self._db.checkpoint(whole=True)
            self._unsure = False
        return self._db

    def _fence(self, generation: int, head: int) -> None:
        """Inside the write transaction: still ours, and as we left it."""
        if generation != self._gen or head != self._head:
            self._why = "journal.fenced"
            raise SessionError("journal.fenced", session=self._key.session_id)
        try:
            here = os.stat(self._path)
        except FileNotFoundError:
            here = None
        if here is None or self._inode is None or not os.path.samestat(here, self._inode):
            # Writing to a file without a name would acknowledge what nobody can ever read.
            self._why = "journal.missing"
            raise SessionError("journal.missing", path=str(self._path))

    def _write_ops(self, db: Database, ops: Sequence[OpUpdate], seq: int) -> None:
        for update in ops:
            row = db.one(f"SELECT {_OPERATION} FROM operation WHERE op_id = ?", (update.op_id,))
            op = merge_op(Operation(*row) if row else None, update, gen=self._gen, seq=seq)
            fields = (op.state, op.tool, op.call_id, op.effect, op.args_sha, op.attempt)
            fields = (*fields, op.writer_gen, op.intent_seq, op.result_seq)
            if row:
                db.run(
                    "UPDATE operation SET state = ?, tool = ?, call_id = ?, effect = ?,"
                    " args_sha = ?, attempt = ?, writer_gen = ?, intent_seq = ?, result_seq = ?"
                    " WHERE op_id = ?",
                    (*fields, op.op_id),
                )
            else:
                db.run(
                    f"INSERT INTO operation({_OPERATION}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (op.op_id, *fields),
                )

    def _write_draft(self, db: Database, data: bytes) -> None:
        if data:
            db.run("INSERT OR REPLACE INTO meta(k, v) VALUES('draft', ?)", (data,))
        else:
            db.run("DELETE FROM meta WHERE k = 'draft'")

    def _commit(self, db: Database, write: Callable[[], None]) -> None:
        """One write transaction of ours, fenced. (Every microsecond here is one of a barrier.)"""
        try:
            found = db.rows(_BEGIN)
            try:
                self._fence(*found[0])
                write()
                db.run("COMMIT")
            except BaseException:
                db.rollback()
                raise
        except SessionError as error:
            self._unsure = self._unsure or error.code == "disk.failed"
            raise

    # -- reading ----------------------------------------------------------------------------

    def read(self, wanted: Wanted) -> list[Record]:
        if self._db is None or (wanted.kinds is not None and not wanted.kinds):
            return []
        with self._watching():
            if self._limit is None:
                rows = select(self._db, wanted)
            else:
                rows = singly(self._db, wanted, self._limit)
            return [self._record(row) for row in rows]

    def _record(self, row: chain.Row) -> Record:
        if not row.whole():
            raise SessionError("journal.damaged", session=self._key.session_id, seq=row.seq)
        raw = row.body if row.blob is None else self._blobs.get(row.blob)
        return Record(row.seq, row.kind, row.v, row.ts_us, raw, bool(row.ignorable))

    @contextmanager
    def _watching(self) -> Generator[None]:
        """Damage met while reading makes the journal read-only up to it."""
        try:
            yield
        except SessionError as error:
            if error.code not in ("journal.damaged", "blob.missing", "blob.corrupt"):
                raise
            self._damage_found()
            raise SessionError(
                "journal.damaged", session=self._key.session_id, **self._params
            ) from error

    def head(self) -> int:
        """The newest record that may be read; follows the writer."""
        if self._db is not None and self._limit is None:
            self._head = int(self._db.rows("SELECT max(seq) FROM record")[0][0] or 0)
        return self._head

    def draft(self) -> bytes:
        if self._db is None:
            return b""
        with self._watching():
            row = self._db.one("SELECT v FROM meta WHERE k = 'draft'")
        return bytes(row[0]) if row else b""

    def operations(self, states: Sequence[OpState]) -> list[Operation]:
        if self._db is None:
            return []
        where = f" WHERE state IN ({', '.join('?' * len(states))})" if states else ""
        sql = f"SELECT {_OPERATION} FROM operation{where} ORDER BY rowid"
        with self._watching():
            return [Operation(*row) for row in self._db.rows(sql, list(states))]

    def get_blob(self, ref: BlobRef | str) -> bytes:
        return self._blobs.get(ref if isinstance(ref, str) else ref.sha256)

    def snapshot(self) -> tuple[int, bytes] | None:
        return self._snapshots.newest(self._chain_at)

    def _chain_at(self, seq: int) -> bytes | None:
        if self._db is None or (self._limit is not None and seq > self._limit):
            return None
        row = self._db.one("SELECT hash FROM record WHERE seq = ?", (seq,))
        return bytes(row[0]) if row else None

    # -- damage -----------------------------------------------------------------------------

    def verify_piece(self, at: int, previous: bytes) -> tuple[int, bytes, int | None]:
        """Check up to 500 records after ``at``, whose hash is ``previous``: where it came to, the
        hash there, and the first record that is not whole. Ends where ``at`` does not move."""
        if self._db is None:
            return at, previous, 1 if at == 0 else None
        end = self.head()
        try:
            at, previous, bad = chain.check_piece(self._db, at, previous, self._blobs)
        except SessionError as error:
            if error.code != "journal.damaged":
                raise
            bad = chain.first_bad(self._db, self._blobs)
        if (
            bad is None
            and at < end
            and not self._db.rows("SELECT 1 FROM record WHERE seq = ?", (at + 1,))
        ):
            bad = at + 1
        if bad is not None:
            self._damaged(bad)
        return at, previous, bad

    def salvage(self) -> list[Record]:
        """Every record that is whole by itself, also those after damage: for a person to read and
        for a new session to begin from. A state must not be folded from it."""
        if self._db is None:
            return []
        return [
            Record(row.seq, row.kind, row.v, row.ts_us, raw, bool(row.ignorable))
            for row, raw in chain.salvage(self._db, self._blobs)
        ]

    def _damage_found(self) -> None:
        self._damaged(chain.first_bad(self._db, self._blobs) if self._db is not None else 1)

    def _damaged(self, seq: int) -> None:
        """Read-only from now on, up to the record before ``seq``. Nothing is deleted."""
        self._why = "journal.damaged"
        self._params = {"seq": seq}
        self._limit = self._head = max(seq - 1, 0)
        if self._lease is not None:
            self._lease.release()
            self._lease = None
