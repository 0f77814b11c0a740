"""A session's journal together with its live state: what is written is applied at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from desktop_app.core import events as ev
from desktop_app.core.errors import SlipwayError
from desktop_app.core.sessions.base import Journal, NewRecord, OpUpdate, Record

from . import snapshot
from .fold import Folded, Folder

logger = logging.getLogger(__name__)
SNAPSHOT_PAGE = 2000
# Of every step, and made of nothing but what JSON gives back as it was: not parsed again.
_PLAIN = frozenset({"model.request", "assistant.message", "tool.result"})


class SessionLog:
    """Appends to the journal, then folds. ``emit`` hears ``Saved`` after each barrier.

    The order of calls is the order of effect; a record that the journal refuses is not applied.
    """

    def __init__(self, journal: Journal, emit: Callable[[ev.Event], None]) -> None:
        self.journal = journal
        self.emit = emit
        self.written: list[Callable[[Sequence[Record]], None]] = []  # told of each append
        self._unsaved: list[tuple[tuple[NewRecord, ...], tuple[OpUpdate, ...]]] = []
        self._folder = Folder(journal.info.key.session_id)
        self._snapshot = 0  # the record that the newest snapshot reaches

    @property
    def now(self) -> Folded:
        return self._folder.now

    async def load(self) -> None:
        """Take the newest snapshot and replay what came after it, in pages and beside the loop. The
        cost of opening depends on what is live, not on how long the session is."""
        after = 0
        found = await self.journal.snapshot()
        if found is not None and found[0] <= self.journal.info.head:
            seq, data = found
            known = await asyncio.to_thread(snapshot.load, data, seq)
            if known is not None:
                self._folder.now, after = known, seq
        self._snapshot = after
        while page := await self.journal.read(after=after, limit=SNAPSHOT_PAGE):
            after = page[-1].seq
            await asyncio.to_thread(self._folder.replay, page)

    async def save_snapshot(self) -> None:
        """Write a snapshot when enough has come since the last one. Call it while no turn works on
        the state; a failure costs only time at the next opening."""
        head = self.now.head
        if head - self._snapshot < snapshot.EVERY:
            return
        try:
            data = await asyncio.to_thread(snapshot.dump, self.now)
            await self.journal.put_snapshot(head, data)
        except SlipwayError as error:
            logger.info("no snapshot was written: %s", error)
            return
        self._snapshot = head

    async def follow(self) -> list[Record]:
        """Apply what another process has written since."""
        records = await self.journal.read(after=self.now.head)
        for record in records:
            self._folder.apply(record)
        return records

    async def save_unsaved(self) -> list[Record]:
        """Write what a full disk refused, in its order. Raises what the journal raises."""
        written: list[Record] = []
        while self._unsaved:
            records, ops = self._unsaved[0]
            written += await self.append(*records, ops=ops)
            del self._unsaved[0]
        return written

    async def append(
        self,
        *records: NewRecord,
        ops: Sequence[OpUpdate] = (),
        draft: bytes | None = b"",
        keep: bool = False,
    ) -> list[Record]:
        """One synced transaction, applied to the live state, then announced. With ``keep`` what
        the disk refuses for now is kept for ``save_unsaved``: a thing that happened stays known."""
        try:
            written = await self.journal.append(list(records), ops=ops, draft=draft)
        except SlipwayError as error:
            if keep and error.retryable:
                self._unsaved.append((tuple(records), tuple(ops)))
            raise
        for record, new in zip(written, records, strict=True):
            self._folder.apply(record, new.body if record.kind in _PLAIN else None)
        if written:
            for told in self.written:
                told(written)
            self.emit(ev.Saved(written[-1].seq, written[-1].ts_us))
        return written
