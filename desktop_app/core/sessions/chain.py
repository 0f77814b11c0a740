"""The chain of hashes over a journal's rows: checking its tail, all of it, and what damage left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import SessionError

from .blobs import Blobs
from .codec import GENESIS, check, digest, head_of, link
from .db import Database

TAIL = 256
"""Records checked when a journal is opened; ``verify`` checks all."""
TAIL_BYTES = 8 * 1024 * 1024
PIECE = 500
COLUMNS = "seq, kind, v, ts_us, ignorable, crc, hash, blob, body"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the record table."""

    seq: int
    kind: str
    v: int
    ts_us: int
    ignorable: int
    crc: int
    hash: bytes
    blob: str | None
    body: bytes

    def whole(self) -> bool:
        """Whether the row is what was written, by its own checksum."""
        # Of a damaged file a column may come back as another type than it was declared.
        kind: Any = self.kind
        body: Any = self.body
        blob: Any = self.blob
        if not isinstance(body, bytes) or not isinstance(kind, str):
            return False
        if not (blob is None or isinstance(blob, str)):
            return False
        return check(self._head(), self.body) == self.crc

    def follows(self, seq: int, previous: bytes) -> bool:
        """Whether it is whole and the one after record ``seq`` with the hash ``previous``."""
        if self.seq != seq + 1 or not self.whole():
            return False
        try:
            sha = bytes.fromhex(self.blob) if self.blob is not None else digest(self.body)
        except ValueError:
            return False
        return link(previous, self._head(), sha) == self.hash

    def _head(self) -> bytes:
        return head_of(self.seq, self.kind, self.v, self.ts_us, bool(self.ignorable))


@dataclass(frozen=True, slots=True)
class Tail:
    """``bad`` is the first record that is not whole; ``head`` and ``hash`` are the newest row's."""

    head: int
    hash: bytes
    bad: int | None


def check_tail(db: Database) -> Tail:
    """Check the last ``TAIL`` records (or ``TAIL_BYTES``) against the record before them."""
    newest = db.one("SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1")
    if newest is None:
        return Tail(0, GENESIS, 1)  # a journal has its session.created from its first moment
    head, last = int(newest[0]), newest[1]
    start, size = head, 0
    for seq, length in db.rows(
        "SELECT seq, length(body) FROM record ORDER BY seq DESC LIMIT ?", (TAIL,)
    ):
        size += length or 0
        if size > TAIL_BYTES:
            break
        start = int(seq)
    at = start - 1
    base = db.one("SELECT hash FROM record WHERE seq = ?", (at,))
    if base is None and at > 0:
        return Tail(head, last, first_bad(db, None))
    previous = base[0] if base else GENESIS
    if not isinstance(previous, bytes):
        return Tail(head, GENESIS, first_bad(db, None))
    for row in db.rows(f"SELECT {COLUMNS} FROM record WHERE seq > ? ORDER BY seq", (at,)):
        if not (found := Row(*row)).follows(at, previous):
            return Tail(head, last, at + 1)
        at, previous = found.seq, found.hash
    return Tail(head, last, None)


def check_piece(
    db: Database, at: int, previous: bytes, blobs: Blobs | None = None
) -> tuple[int, bytes, int | None]:
    """Check up to ``PIECE`` records after ``at``; with ``blobs`` also the bodies kept as files."""
    sql = f"SELECT {COLUMNS} FROM record WHERE seq > ? ORDER BY seq LIMIT ?"
    for row in db.rows(sql, (at, PIECE)):
        found = Row(*row)
        if not found.follows(at, previous):
            return at, previous, at + 1
        if blobs is not None and found.blob is not None and _body(found, blobs) is None:
            return at, previous, at + 1
        at, previous = found.seq, found.hash
    return at, previous, None


def first_bad(db: Database, blobs: Blobs | None) -> int:
    """The first record that is not whole (one after the newest when all are), read one by one
    where the file itself is damaged."""
    at, previous = 0, GENESIS
    while True:
        try:
            row = db.one(f"SELECT {COLUMNS} FROM record WHERE seq = ?", (at + 1,))
        except SessionError:
            return at + 1
        if row is None or not (found := Row(*row)).follows(at, previous):
            return at + 1
        if blobs is not None and found.blob is not None and _body(found, blobs) is None:
            return at + 1
        at, previous = found.seq, found.hash


def salvage(db: Database, blobs: Blobs) -> Iterator[tuple[Row, bytes]]:
    """Every row that is whole by itself, with its body, wherever it stands."""
    try:
        last = int(db.rows("SELECT max(seq) FROM record")[0][0] or 0)
    except SessionError:
        last = 0
    seq, misses = 0, 0
    while seq < last or (last == 0 and misses < PIECE):
        seq += 1
        try:
            row = db.one(f"SELECT {COLUMNS} FROM record WHERE seq = ?", (seq,))
        except SessionError:
            row = None
        if row is None or not (found := Row(*row)).whole():
            misses += 1
            continue
        if (body := _body(found, blobs)) is not None:
            yield found, body


def _body(row: Row, blobs: Blobs) -> bytes | None:
    if row.blob is None:
        return row.body
    try:
        return blobs.get(row.blob)
    except SessionError:
        return None
