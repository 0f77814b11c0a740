"""The index of sessions, for lists and for search. Disposable: the journals have everything.

Deleting ``index.db`` loses nothing; ``rebuild`` reads again what changed since. It holds copies of
what was said, so a session that is purged is forgotten here too (and overwritten in the file).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_app.core.crew import Crew, P, T
from desktop_app.core.errors import SessionError

from . import index_file
from .appdb import Placement
from .base import Journal, JournalStore, Record, SessionKey
from .index_file import Summary, folded
from .index_text import excerpt, match

PIECE = 200
"""Records that are read and indexed at once."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as a list shows it. ``state``: ``idle``, ``parked`` (waits for the person's
    approval or answer) or ``open`` (its last turn did not end). ``last_us`` is the time of the last
    message, never of a file; ``messages`` counts the person's and the agent's replies."""

    key: SessionKey
    workspace_id: str
    title: str
    preview: str
    created_us: int
    last_us: int
    messages: int
    results: int
    state: str
    pinned: bool
    trashed: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a search found something. ``seq`` is the record in the journal (0: the title);
    ``spans`` are the found parts of ``line``, as start and end."""

    key: SessionKey
    title: str
    seq: int
    role: str
    line: str
    spans: list[tuple[int, int]]
    last_us: int
    workspace_id: str = ""


class Index:
    """See the module. All work runs in a thread of the index's own. An index that cannot be read
    is made anew. Raises SessionError ``index.closed``, ``index.damaged`` (while in use: close it,
    delete the file, open again), ``index.busy``, ``disk.*``."""

    def __init__(self, path: Path, worker: Crew) -> None:
        self.path = path
        self._worker = worker
        self._closed = False
        self._db = index_file.IndexFile(path)

    @classmethod
    async def open(cls, path: Path) -> Index:
        index = cls(path, Crew("session-index"))
        try:
            await index._call(index._db.open)
        except BaseException:
            index._worker.stop()
            raise
        return index

    async def close(self) -> None:
        if not self._closed:
            try:
                await self._call(self._db.close)
            finally:
                self._closed = True
                self._worker.stop()

    # -- lists and search -------------------------------------------------------------------

    async def rows(
        self,
        workspace_id: str | None = None,
        *,
        trashed: bool = False,
        limit: int = 200,
        offset: int = 0,
    ) -> list[SessionRow]:
        """Pinned first, then by last message, newest first."""
        found = await self._call(self._db.list, workspace_id, trashed, limit, offset)
        return [SessionRow(SessionKey(*row[:3]), *_flags(row[3:])) for row in found]

    async def count(self, workspace_id: str | None = None, *, trashed: bool = False) -> int:
        return await self._call(self._db.count, workspace_id, trashed)

    async def row(self, key: SessionKey) -> SessionRow | None:
        row = await self._call(self._db.row, key)
        return SessionRow(SessionKey(*row[:3]), *_flags(row[3:])) if row else None

    async def search(
        self, text: str, workspace_id: str | None = None, *, limit: int = 50
    ) -> list[Hit]:
        """Places that have every word of ``text`` (the last may be a beginning), newest session
        first, at most five of a session. Sessions in the trash are left out."""
        query = match(text)
        if not query:
            return []
        rows = await self._call(self._db.search, query, workspace_id, limit)
        hits: list[Hit] = []
        for user, agent, session, title, seq, role, body, last_us, workspace in rows:
            line, spans = excerpt(body, text)
            key = SessionKey(user, agent, session)
            hits.append(Hit(key, title, seq, role, line, spans, last_us, workspace))
        return hits

    # -- keeping up -------------------------------------------------------------------------

    async def place(self, placements: Iterable[Placement]) -> None:
        """Take over what ``app.db`` knows: workspace, title, pin, trash. Unknown sessions appear
        in the lists at once, their text when they are read."""
        await self._call(self._db.place, list(placements))

    async def refresh(self, journal: Journal) -> None:
        """Read what the journal has more than the index."""
        await self._read(journal, journal.info.key, "")

    async def forget(self, key: SessionKey) -> None:
        """Take a session out, its text overwritten."""
        await self._call(self._db.forget, key)

    async def rebuild(
        self,
        store: JournalStore,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Bring the index up to all journals: how many sessions were read. In pieces; cancelling
        it leaves a whole index that the next call goes on with. ``progress(done, of)`` is called
        on the loop."""
        keys = await store.keys()
        stamp: Callable[[SessionKey], str] = getattr(store, "stamp", lambda _: "")
        known = await self._call(self._db.stamps)
        for gone in known.keys() - set(keys):
            await self._call(self._db.forget_read, gone)
        read = 0
        for n, key in enumerate(keys):
            if progress is not None and n % 20 == 0:
                progress(n, len(keys))
            now = await self._call(stamp, key)
            if now and known.get(key) == now:
                continue
            read += await self._read_stored(store, key, now)
        if progress is not None:
            progress(len(keys), len(keys))
        return read

    async def _read_stored(self, store: JournalStore, key: SessionKey, stamp: str) -> int:
        try:
            journal = await store.open(key, write=False)
        except (KeyError, SessionError):
            return 0  # gone or not readable now; its lease holder or the next start will tell
        try:
            await self._read(journal, key, stamp)
        except SessionError:
            return 0  # damaged in its middle: what came before is indexed
        finally:
            await journal.close()
        return 1

    async def _read(self, journal: Journal, key: SessionKey, stamp: str) -> None:
        summary = await self._call(self._db.summary, key)
        head = await journal.wait_for_change(summary.head, 0)
        if head < summary.head:  # another history under the same ids
            await self._call(self._db.forget_text, key)
            summary = Summary()
        async with aclosing(_pieces(journal, summary.head)) as pieces:
            async for records in pieces:
                summary, docs, fresh = await self._call(folded, summary, records)
                await self._call(self._db.write, key, summary, docs, fresh)
        parked = bool(await journal.operations("asking"))
        state = "parked" if parked else ("open" if summary.turn_open else "idle")
        await self._call(self._db.settle, key, summary, state, stamp)

    async def _call(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._closed:
            raise SessionError("index.closed")
        try:
            return await self._worker.call(do, *args, **kwargs)
        except SessionError as error:
            if error.code == "journal.damaged":
                raise SessionError("index.damaged", **error.params) from error
            if error.code == "journal.busy":
                raise SessionError("index.busy", retryable=True, **error.params) from error
            raise


async def _pieces(journal: Journal, after: int) -> AsyncGenerator[list[Record]]:
    while records := await journal.read(after=after, limit=PIECE):
        yield records
        after = records[-1].seq
        await asyncio.sleep(0)


def _flags(row: Sequence[Any]) -> list[Any]:
    return [*row[:-2], bool(row[-2]), bool(row[-1])]
