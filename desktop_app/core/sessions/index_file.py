"""The index's file and what a record adds to it. Synchronous: the index's own thread runs it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from desktop_app.core.errors import SessionError

from .appdb import Placement
from .base import Record, SessionKey
from .db import Database, Row, SqliteError
from .disk import from_os, private_dir
from .index_text import terms, texts

VERSION = 1
"""Another version is deleted and built anew."""
PER_SESSION = 5
PREVIEW = 200

# A doc's text is kept once; the full-text table has its terms only (content='').
_TABLES = """
CREATE TABLE session(
    id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL, workspace_id TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '', preview TEXT NOT NULL DEFAULT '',
    created_us INTEGER NOT NULL DEFAULT 0, last_us INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0, results INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'idle', pinned INTEGER NOT NULL DEFAULT 0,
    trashed INTEGER NOT NULL DEFAULT 0, head INTEGER NOT NULL DEFAULT 0,
    turn_open INTEGER NOT NULL DEFAULT 0, titled INTEGER NOT NULL DEFAULT 0,
    stamp TEXT NOT NULL DEFAULT '', UNIQUE(user_id, agent_id, session_id)
);
CREATE INDEX session_all ON session(trashed, pinned DESC, last_us DESC);
CREATE INDEX session_here ON session(workspace_id, trashed, pinned DESC, last_us DESC);
CREATE TABLE doc(
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX doc_session ON doc(session);
CREATE VIRTUAL TABLE fts USING fts5(
    body, content='', tokenize="unicode61 remove_diacritics 2", prefix='1 2 3'
);
INSERT INTO fts(fts, rank) VALUES('secure-delete', 1);
"""
_KEY = "user_id = ? AND agent_id = ? AND session_id = ?"
_ROW = (
    "user_id, agent_id, session_id, workspace_id, title, preview, created_us, last_us, messages,"
    " results, state, pinned, trashed"
)


@dataclass(frozen=True, slots=True)
class Doc:
    """One searchable text; ``seq`` 0 is the session's title."""

    seq: int
    role: str
    body: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a session, after the records up to ``head``. ``titled``: somebody gave
    a title; until then the first message is it."""

    head: int = 0
    workspace_id: str = ""
    title: str = ""
    preview: str = ""
    created_us: int = 0
    last_us: int = 0
    messages: int = 0
    results: int = 0
    turn_open: bool = False
    titled: bool = False


def folded(summary: Summary, records: Iterable[Record]) -> tuple[Summary, list[Doc], bool]:
    """``summary`` after ``records``, what of them can be searched, and whether that is instead of
    what was there before (a whole state was handed in)."""
    docs: list[Doc] = []
    fresh = False
    for record in records:
        summary = replace(summary, head=record.seq)
        if record.kind not in _COUNTS:
            continue
        body = record.body()
        if record.kind == "state.replaced":
            docs, fresh = [doc for doc in docs if not doc.seq], True
        found = texts(record.kind, body)
        docs.extend(Doc(0 if role == "title" else record.seq, role, text) for role, text in found)
        summary = _counted(summary, record, body, found)
    return summary, docs, fresh


_COUNTS = {
    "session.created",
    "title",
    "user.message",
    "assistant.message",
    "tool.result",
    "turn.finished",
    "state.replaced",
}


def _counted(
    s: Summary, record: Record, body: dict[str, Any], found: list[tuple[str, str]]
) -> Summary:
    kind, at = record.kind, record.ts_us
    said, last = (found[0][1], found[-1][1]) if found else ("", "")
    if kind == "session.created":
        title = str(body.get("title") or "")
        return replace(
            s, created_us=at, last_us=at, workspace_id=str(body.get("workspace_id") or ""),
            title=title, titled=bool(title),
        )  # fmt: skip
    if kind == "title":
        return replace(s, title=str(body.get("title") or ""), titled=True)
    s = replace(s, last_us=max(s.last_us, at))
    if kind == "user.message":
        line = " ".join(said.split())[:PREVIEW]
        return replace(
            s, messages=s.messages + 1, preview=line or s.preview, turn_open=True,
            title=s.title if s.titled or s.messages else line,
        )  # fmt: skip
    if kind == "assistant.message":
        return replace(s, preview=" ".join(said.split())[:PREVIEW] or s.preview)
    if kind == "tool.result":
        return replace(s, results=s.results + 1)
    if kind == "turn.finished":
        return replace(s, messages=s.messages + 1, turn_open=False)
    return replace(s, messages=len(found), preview=" ".join(last.split())[:PREVIEW])


class IndexFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._live: Database | None = None

    @property
    def _db(self) -> Database:
        if self._live is None:
            raise SessionError("index.closed")
        return self._live

    def open(self) -> None:
        """Open or make the file; one that is damaged or of another version is made anew."""
        try:
            private_dir(self._path.parent)
            try:
                self._live = self._opened()
            except (SessionError, SqliteError) as error:
                if isinstance(error, SessionError) and error.code != "journal.damaged":
                    raise
                self._live = None
            if self._live is None:
                self._remove()
                self._live = self._opened()
        except OSError as error:
            raise from_os(error, self._path) from error

    def _opened(self) -> Database | None:
        if not self._path.exists():
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600))
        db = Database(self._path, "write")
        try:
            found = int(db.rows("PRAGMA user_version")[0][0])
            db.journal_mode(autocheckpoint=True)
            db.synchronous("normal")
            db.run("PRAGMA secure_delete=ON")
            if found == 0:
                with db.write():
                    db.run(_TABLES)
                    db.run(f"PRAGMA user_version={VERSION}")
                return db
            if found == VERSION and db.rows("PRAGMA quick_check(1)") == [("ok",)]:
                return db
        except BaseException:
            db.close()
            raise
        db.close()
        return None

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        if self._live is not None:
            self._live.close()
            self._live = None

    # -- reading ----------------------------------------------------------------------------

    def list(
        self, workspace_id: str | None, trashed: bool, limit: int, offset: int
    ) -> Sequence[Row]:
        where, params = _where(workspace_id, trashed)
        order = "ORDER BY pinned DESC, last_us DESC LIMIT ? OFFSET ?"
        sql = f"SELECT {_ROW} FROM session WHERE {where} {order}"
        return self._db.rows(sql, [*params, limit, offset])

    def count(self, workspace_id: str | None, trashed: bool) -> int:
        where, params = _where(workspace_id, trashed)
        return int(self._db.rows(f"SELECT count(*) FROM session WHERE {where}", params)[0][0])

    def row(self, key: SessionKey) -> Row | None:
        return self._db.one(f"SELECT {_ROW} FROM session WHERE {_KEY}", _ids(key))

    def search(self, query: str, workspace_id: str | None, limit: int) -> Sequence[Row]:
        here = "" if workspace_id is None else "AND s.workspace_id = ?"
        sql = f"""
            SELECT user_id, agent_id, session_id, title, seq, role, body, last_us, workspace_id
            FROM (
                SELECT s.*, d.seq, d.role, d.body,
                    row_number() OVER (PARTITION BY d.session ORDER BY d.seq = 0 DESC, d.id DESC)
                    AS nth
                FROM doc d JOIN session s ON s.id = d.session
                WHERE d.id IN (SELECT rowid FROM fts WHERE fts MATCH ?) AND NOT s.trashed {here}
            ) WHERE nth <= {PER_SESSION} ORDER BY last_us DESC, id, nth LIMIT ?
        """
        params = [query, *([] if workspace_id is None else [workspace_id]), limit]
        return self._db.rows(sql, params)

    def stamps(self) -> dict[SessionKey, str]:
        """What was read of which journal."""
        rows = self._db.rows("SELECT user_id, agent_id, session_id, stamp FROM session")
        return {SessionKey(*row[:3]): row[3] for row in rows}

    def summary(self, key: SessionKey) -> Summary:
        row = self._db.one(
            "SELECT head, workspace_id, title, preview, created_us, last_us, messages, results,"
            f" turn_open, titled FROM session WHERE {_KEY}",
            _ids(key),
        )
        if row is None or not row[0]:
            return Summary()
        return Summary(*row[:8], turn_open=bool(row[8]), titled=bool(row[9]))

    # -- writing ----------------------------------------------------------------------------

    def write(self, key: SessionKey, s: Summary, docs: Sequence[Doc], fresh: bool) -> None:
        """A session's summary and new texts, at once: the index never has half a piece."""
        db = self._db
        with db.write():
            session = self._id(key)
            db.run(
                "UPDATE session SET head = ?, workspace_id = CASE WHEN workspace_id = '' THEN ?"
                " ELSE workspace_id END, title = ?, preview = ?, created_us = ?, last_us = ?,"
                " messages = ?, results = ?, turn_open = ?, titled = ? WHERE id = ?",
                (
                    *(s.head, s.workspace_id, s.title, s.preview, s.created_us, s.last_us),
                    *(s.messages, s.results, int(s.turn_open), int(s.titled), session),
                ),
            )
            if fresh:
                self._drop_docs("session = ? AND seq > 0", session)
            if any(doc.seq == 0 for doc in docs):
                self._drop_docs("session = ? AND seq = 0", session)
                titles = [doc for doc in docs if doc.seq == 0]
                docs = [*(doc for doc in docs if doc.seq), titles[-1]]
            for doc in docs:
                db.run(
                    "INSERT INTO doc(session, seq, role, body) VALUES(?, ?, ?, ?)",
                    (session, doc.seq, doc.role, doc.body),
                )
                db.run(
                    "INSERT INTO fts(rowid, body) VALUES(last_insert_rowid(), ?)",
                    (terms(doc.body),),
                )

    def settle(self, key: SessionKey, s: Summary, state: str, stamp: str) -> None:
        """All of a journal was read."""
        db = self._db
        with db.write():
            db.run(
                "UPDATE session SET state = ?, stamp = ? WHERE id = ?",
                (state, stamp, self._id(key)),
            )

    def place(self, placements: Iterable[Placement]) -> None:
        db = self._db
        with db.write():
            db.many(
                "INSERT INTO session(user_id, agent_id, session_id, workspace_id, title, pinned,"
                " trashed, created_us, last_us) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET workspace_id = excluded.workspace_id,"
                " pinned = excluded.pinned, trashed = excluded.trashed,"
                " title = CASE WHEN excluded.title = '' THEN title ELSE excluded.title END",
                [
                    (
                        *(*_ids(p.key), p.workspace_id, p.title, int(p.pinned)),
                        *(int(p.trashed_us is not None), p.created_us, p.created_us),
                    )
                    for p in placements
                ],
            )

    def forget(self, key: SessionKey) -> None:
        with self._db.write():
            session = self._id(key)
            self._drop_docs("session = ?", session)
            self._db.run("DELETE FROM session WHERE id = ?", (session,))

    def forget_read(self, key: SessionKey) -> None:
        """Forget a session whose journal is gone, if it ever had one here; one that was only
        placed may be about to be made."""
        row = self._db.one(f"SELECT head FROM session WHERE {_KEY}", _ids(key))
        if row and row[0]:
            self.forget(key)

    def forget_text(self, key: SessionKey) -> None:
        with self._db.write():
            session = self._id(key)
            self._drop_docs("session = ?", session)
            self._db.run("UPDATE session SET head = 0, stamp = '' WHERE id = ?", (session,))

    def _drop_docs(self, where: str, session: int) -> None:
        for rowid, body in self._db.rows(f"SELECT id, body FROM doc WHERE {where}", (session,)):
            self._db.run(
                "INSERT INTO fts(fts, rowid, body) VALUES('delete', ?, ?)", (rowid, terms(body))
            )
        self._db.run(f"DELETE FROM doc WHERE {where}", (session,))

    def _id(self, key: SessionKey) -> int:
        self._db.run(
            "INSERT INTO session(user_id, agent_id, session_id) VALUES(?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            _ids(key),
        )
        return int(self._db.rows(f"SELECT id FROM session WHERE {_KEY}", _ids(key))[0][0])


def _where(workspace_id: str | None, trashed: bool) -> tuple[str, list[Any]]:
    if workspace_id is None:
        return "trashed = ?", [int(trashed)]
    return "workspace_id = ? AND trashed = ?", [workspace_id, int(trashed)]


def _ids(key: SessionKey) -> tuple[str, str, str]:
    return key.user_id, key.agent_id, key.session_id
