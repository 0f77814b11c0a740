"""A journal in memory: the contract of ``base`` without a disk, for tests and throw-away sessions.

It passes the same contract suite as the SQLite journal. Two openings of one session in one store
behave as two processes do: one writes, the others look on.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop_app.core.errors import SessionError
from desktop_app.core.ids import now_us

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
from .codec import created_ids, encode, merge_op

SCHEMA = 1


@dataclass(slots=True)
class _Shelf:
    """What would be on disk for one session."""

    records: list[Record] = field(default_factory=list[Record])
    ops: dict[str, Operation] = field(default_factory=dict[str, Operation])
    draft: bytes = b""
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    snapshots: dict[int, bytes] = field(default_factory=dict[int, bytes])
    generation: int = 0
    held: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryJournal:
    """See ``base.Journal``. Nothing here blocks, so each call is carried out before it yields."""

    def __init__(self, key: SessionKey, shelf: _Shelf, writable: bool, why: str | None) -> None:
        self._key = key
        self._shelf = shelf
        self._gen = shelf.generation
        self._writable = writable
        self._why = why
        self._closed = False

    @property
    def info(self) -> JournalInfo:
        return JournalInfo(
            key=self._key,
            head=len(self._shelf.records),
            schema=SCHEMA,
            writer_gen=self._gen,
            writable=self._writable,
            why=self._why,
        )

    def _reading(self) -> _Shelf:
        if self._closed:
            raise SessionError("journal.closed", session=self._key.session_id)
        return self._shelf

    def _writing(self) -> _Shelf:
        shelf = self._reading()
        if not self._writable and self._why != "journal.fenced":
            raise SessionError(
                "journal.readonly", session=self._key.session_id, why=self._why or ""
            )
        if shelf.generation != self._gen:
            self._writable, self._why = False, "journal.fenced"
            raise SessionError("journal.fenced", session=self._key.session_id)
        return shelf

    async def append(
        self,
        records: Sequence[NewRecord],
        *,
        ops: Sequence[OpUpdate] = (),
        draft: bytes | None = b"",
    ) -> list[Record]:
        shelf = self._writing()
        head = len(shelf.records)
        made = [
            Record(head + i, r.kind, r.v, now_us(), encode(r.body), r.ignorable)
            for i, r in enumerate(records, start=1)
        ]
        merged: dict[str, Operation] = {}
        for update in ops:
            old = merged.get(update.op_id) or shelf.ops.get(update.op_id)
            merged[update.op_id] = merge_op(old, update, gen=self._gen, seq=head + len(made))
        shelf.records.extend(made)
        shelf.ops.update(merged)
        if draft is not None:
            shelf.draft = draft
        changed, shelf.changed = shelf.changed, asyncio.Event()
        changed.set()
        await asyncio.sleep(0)
        return made

    async def save_draft(self, data: bytes) -> None:
        self._writing().draft = data

    async def draft(self) -> bytes:
        return self._reading().draft

    async def read(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Sequence[str] | None = None,
    ) -> list[Record]:
        end = None if before is None else max(before - 1, 0)
        found = self._reading().records[max(after, 0) : end]
        if kinds is not None:
            found = [r for r in found if r.kind in kinds]
        if newest_first:
            found.reverse()
        return found if limit is None else found[:limit]

    async def operations(self, *states: OpState) -> list[Operation]:
        return [op for op in self._reading().ops.values() if not states or op.state in states]

    async def put_blob(self, data: bytes) -> BlobRef:
        sha = hashlib.sha256(data).hexdigest()
        self._writing().blobs[sha] = bytes(data)
        return BlobRef(sha, len(data))

    async def get_blob(self, ref: BlobRef | str) -> bytes:
        sha = ref if isinstance(ref, str) else ref.sha256
        data = self._reading().blobs.get(sha)
        if data is None:
            raise SessionError("blob.missing", sha256=sha)
        if hashlib.sha256(data).hexdigest() != sha:
            raise SessionError("blob.corrupt", sha256=sha)
        return data

    async def put_snapshot(self, seq: int, data: bytes) -> None:
        shelf = self._writing()
        shelf.snapshots[seq] = bytes(data)
        for old in sorted(shelf.snapshots)[:-3]:
            del shelf.snapshots[old]

    async def snapshot(self) -> tuple[int, bytes] | None:
        shelf = self._reading()
        whole = [seq for seq in shelf.snapshots if seq <= len(shelf.records)]
        return (max(whole), shelf.snapshots[max(whole)]) if whole else None

    async def wait_for_change(self, after: int, timeout: float) -> int:
        shelf = self._reading()
        try:
            async with asyncio.timeout(timeout):
                while len(shelf.records) <= after:
                    await shelf.changed.wait()
        except TimeoutError:
            pass
        return len(shelf.records)

    async def verify(self) -> int | None:
        self._reading()
        return None

    async def close(self) -> None:
        if not self._closed and self._writable and self._shelf.generation == self._gen:
            self._shelf.held = False
        self._closed = True


class MemoryJournalStore:
    """See ``base.JournalStore``."""

    def __init__(self) -> None:
        self._shelves: dict[SessionKey, _Shelf] = {}

    async def create(self, key: SessionKey, config: dict[str, Any]) -> MemoryJournal:
        if key in self._shelves:
            raise SessionError("session.exists", session=key.session_id)
        self._shelves[key] = _Shelf()
        journal = await self.open(key)
        body = {**config, **created_ids(key)}
        await journal.append([NewRecord("session.created", body)])
        return journal

    async def open(
        self, key: SessionKey, *, write: bool = True, steal: bool = False
    ) -> MemoryJournal:
        shelf = self._shelves[key]
        if not write:
            return MemoryJournal(key, shelf, False, "journal.readonly")
        if shelf.held and not steal:
            return MemoryJournal(key, shelf, False, "journal.in_use")
        shelf.held = True
        shelf.generation += 1
        return MemoryJournal(key, shelf, True, None)

    async def keys(self) -> list[SessionKey]:
        return list(self._shelves)

    async def delete(self, key: SessionKey) -> None:
        shelf = self._shelves.get(key)
        if shelf is not None and shelf.held:
            raise SessionError("journal.in_use", session=key.session_id)
        self._shelves.pop(key, None)
