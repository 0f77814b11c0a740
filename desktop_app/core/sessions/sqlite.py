"""Journals as SQLite files, one a session: ``<root>/<user>/<agent>/<session>/journal.db``.

Each open journal has a thread of its own in which its calls are carried out one after the other.
Ids become names by ``part``; where a name is not its id, ``key.json`` beside has the ids.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from desktop_app.core.crew import Crew, P, T
from desktop_app.core.errors import SessionError
from desktop_app.core.ids import new_id, safe_name

from . import lease, opening
from .base import (
    BlobRef,
    JournalInfo,
    NewRecord,
    Operation,
    OpState,
    OpUpdate,
    Record,
    SessionKey,
)
from .codec import GENESIS, created_ids
from .db import Database, SqliteError
from .disk import from_os, private_dir, sync_dir
from .file import LOG_LIMIT, LOG_MOST, NAME, JournalFile
from .reading import Wanted

_POLL = 0.1
_housekeeping: ThreadPoolExecutor | None = None


class SqliteJournal:
    """See ``base.Journal``."""

    def __init__(self, file: JournalFile, path: Path, worker: Crew) -> None:
        self._file = file
        self._path = path
        self._worker = worker
        self._closed: asyncio.Future[None] | None = None
        self._folding: Future[None] | None = None

    @property
    def info(self) -> JournalInfo:
        return self._file.info()

    async def append(
        self,
        records: Sequence[NewRecord],
        *,
        ops: Sequence[OpUpdate] = (),
        draft: bytes | None = b"",
    ) -> list[Record]:
        made = await self._call(self._file.append, list(records), list(ops), draft)
        self._fold_log()
        return made

    async def save_draft(self, data: bytes) -> None:
        await self._call(self._file.save_draft, data)
        self._fold_log()

    async def draft(self) -> bytes:
        return await self._call(self._file.draft)

    async def read(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Sequence[str] | None = None,
    ) -> list[Record]:
        wanted = Wanted(after, before, limit, newest_first, kinds)
        return await self._call(self._file.read, wanted)

    async def operations(self, *states: OpState) -> list[Operation]:
        return await self._call(self._file.operations, states)

    async def put_blob(self, data: bytes) -> BlobRef:
        return await self._call(self._file.put_blob, data)

    async def get_blob(self, ref: BlobRef | str) -> bytes:
        return await self._call(self._file.get_blob, ref)

    async def put_snapshot(self, seq: int, data: bytes) -> None:
        await self._call(self._file.put_snapshot, seq, data)

    async def snapshot(self) -> tuple[int, bytes] | None:
        return await self._call(self._file.snapshot)

    async def wait_for_change(self, after: int, timeout: float) -> int:
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while (head := await self._call(self._file.head)) <= after:
            if (left := end - loop.time()) <= 0:
                break
            await asyncio.sleep(min(_POLL, left))
        return head

    async def verify(self) -> int | None:
        at, previous = 0, GENESIS
        while True:
            begun = at
            at, previous, bad = await self._call(self._file.verify_piece, at, previous)
            if bad is not None or at == begun:
                return bad

    async def salvage(self) -> list[Record]:
        """Every record that is whole by itself, also those after damage. Not part of the
        contract: it is for showing and for beginning anew, never for folding a state."""
        return await self._call(self._file.salvage)

    async def close(self) -> None:
        if self._closed is None:
            self._closed = asyncio.get_running_loop().create_future()
            try:
                await self._worker.call(self._close)
            finally:
                self._worker.stop()
                self._closed.set_result(None)
        await asyncio.shield(self._closed)

    def _close(self) -> None:
        if self._folding is not None:
            self._folding.result()
        self._file.close()

    async def _call(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._closed is not None:
            raise SessionError("journal.closed", session=self._file.info().key.session_id)
        return await self._worker.call(do, *args, **kwargs)

    def _fold_log(self) -> None:
        """After the answer and beside the writer: a checkpoint through another connection, which
        never holds up a commit. Under appends without a pause that one cannot catch up, and the
        writer's own thread does it."""
        if self._file.log_bytes <= LOG_LIMIT or self._closed is not None:
            return
        if self._folding is None or self._folding.done():
            global _housekeeping
            if _housekeeping is None:
                _housekeeping = ThreadPoolExecutor(1, thread_name_prefix="journal-fold")
            self._folding = _housekeeping.submit(_fold, self._path)
        if self._file.log_bytes > LOG_MOST:
            self._worker.soon(self._file.fold_log)


def _fold(path: Path) -> None:
    try:
        db = Database(path, "write")
        try:
            db.journal_mode()  # also reads, without which a checkpoint does nothing
            db.checkpoint()
            db.checkpoint(rest=True)
        finally:
            db.close()
    except (SessionError, SqliteError):
        pass  # the log keeps everything; the next turn tries again


class SqliteJournalStore:
    """See ``base.JournalStore``. ``root`` is made when the first session is. ``vfs`` names an
    apsw VFS to work through."""

    def __init__(self, root: Path, *, vfs: str | None = None) -> None:
        self.root = root
        self._vfs = vfs

    def folder(self, key: SessionKey) -> Path:
        """Where a session's files are."""
        return self.root / part(key.user_id) / part(key.agent_id) / part(key.session_id)

    async def create(self, key: SessionKey, config: dict[str, Any]) -> SqliteJournal:
        body = {**config, **created_ids(key)}
        return await self._start(
            key, lambda: opening.create(self.folder(key), key, body, self._vfs)
        )

    async def open(
        self, key: SessionKey, *, write: bool = True, steal: bool = False
    ) -> SqliteJournal:
        return await self._start(key, lambda: self.open_file(key, write=write, steal=steal))

    def open_file(
        self, key: SessionKey, *, write: bool = False, steal: bool = False
    ) -> JournalFile:
        """The journal without a thread of its own, for who owns one already. KeyError when there
        is none."""
        return opening.open_file(self.folder(key), key, write=write, steal=steal, vfs=self._vfs)

    async def keys(self) -> list[SessionKey]:
        return await asyncio.to_thread(self._keys)

    async def delete(self, key: SessionKey) -> None:
        await asyncio.to_thread(self._delete, key)

    def stamp(self, key: SessionKey) -> str:
        """Differs whenever the journal was written to: so the index sees what it need not read.
        Two calls of the file system; not for the loop in bulk."""
        found: list[str] = []
        for name in (NAME, f"{NAME}-wal"):
            try:
                stat = (self.folder(key) / name).stat()
            except OSError:
                continue
            if stat.st_size:
                found.append(f"{stat.st_mtime_ns}.{stat.st_size}")
        return "/".join(found)

    def held_elsewhere(self, key: SessionKey) -> bool:
        """Whether another process has the session open for writing. A few calls of the file system;
        not for the loop."""
        return lease.held_elsewhere(self.folder(key) / opening.LOCK)

    async def _start(self, key: SessionKey, opened: Callable[[], JournalFile]) -> SqliteJournal:
        worker = Crew("journal")
        done: list[JournalFile] = []
        try:
            file = await worker.call(lambda: done.append(opened()) or done[0])
        except BaseException:
            # Cancelled while it opens: the lease must not stay with nobody.
            worker.soon(lambda: [left.close() for left in done])
            worker.stop()
            raise
        return SqliteJournal(file, self.folder(key) / NAME, worker)

    def _keys(self) -> list[SessionKey]:
        found: list[SessionKey] = []
        for db in self.root.glob(f"[!.]*/*/*/{NAME}"):
            folder = db.parent
            try:
                user, agent, session = json.loads((folder / opening.KEY).read_bytes())
                found.append(SessionKey(str(user), str(agent), str(session)))
            except FileNotFoundError:
                names = folder.parent.parent.name, folder.parent.name, folder.name
                found.append(SessionKey(*names))
            except (OSError, ValueError):
                continue
        return found

    def _delete(self, key: SessionKey) -> None:
        folder = self.folder(key)
        if not folder.is_dir():
            return
        gone = self.root / ".deleted" / new_id()
        try:
            held = lease.take(folder / opening.LOCK)
            if held is None:
                raise SessionError("journal.in_use", session=key.session_id)
            try:
                private_dir(gone.parent)
                if os.name == "nt":
                    held.release()  # Windows moves no folder with an open file in it
                os.rename(folder, gone)
                sync_dir(folder.parent)
            finally:
                held.release()
            # Also what an earlier deletion left when it was cut off.
            for left in gone.parent.iterdir():
                shutil.rmtree(left)
        except OSError as error:
            raise from_os(error, folder) from error


def part(name: str) -> str:
    """A folder name for an id: itself where it is safe, short and lower case, so that no two ids
    share a folder on a file system that folds case; else with a hash. Never a path."""
    safe = safe_name(name)
    if safe == safe.lower() and len(safe.encode()) <= 120:
        return safe
    sha = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{safe.lower()[:30].rstrip('.')}-{sha}"
