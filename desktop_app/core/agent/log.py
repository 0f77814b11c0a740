"""A session's journal together with its live state: what is written is applied at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop_app.core import events as ev
from desktop_app.core.errors import SlipwayError
from desktop_app.core.sessions.base import Journal, NewRecord, OpUpdate, Record

from . import snapshot
from .fold import Folded, Folder

logger = logging.getLogger(__name__)
SNAPSHOT_PAGE = 2000
# Of every step, and made of nothing but what JSON gives back as it was: not parsed again.
_PLAIN = frozenset({"model.request", "assistant.message", "tool.result"})


@dataclass(frozen=True, slots=True)
class _Held:
    """A record that goes with the next append; ``then`` is called when it is on disk."""

    record: NewRecord
    ops: Sequence[OpUpdate]
    then: Callable[[], None]


class SessionLog:
    """Appends to the journal, then folds. ``emit`` hears ``Saved`` after each barrier.

    The order of calls is the order of effect; a record that the journal refuses is not applied, and
    one that was held is taken back.
    """

    def __init__(self, journal: Journal, emit: Callable[[ev.Event], None]) -> None:
        self.journal = journal
        self.emit = emit
        self.written: list[Callable[[Sequence[Record]], None]] = []  # told of each append
        # What was read of the messages, to be kept with a snapshot.
        self.read: Callable[[], bytes] = bytes
        self._unsaved: list[tuple[tuple[NewRecord, ...], tuple[OpUpdate, ...]]] = []
        self._folder = Folder(journal.info.key.session_id)
        self._snapshot = 0  # the record that the newest snapshot reaches
        self._held: _Held | None = None
        self._writing = 0  # appends under way

    @property
    def now(self) -> Folded:
        return self._folder.now

    @property
    def changes(self) -> int:
        """Grows with every change of the live state, also by what is not on disk yet."""
        return self._folder.changes

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
            data = await asyncio.to_thread(lambda: snapshot.dump(self.now, self.read()))
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

    def hold(self, record: NewRecord, ops: Sequence[OpUpdate], then: Callable[[], None]) -> bool:
        """Let the next append write this record ahead of its own, in the same transaction: one sync
        for both. For what may be lost with the process because it can be had again, and only when
        an append is sure to follow at once. The state has it already; nothing is told of it before
        ``then``. False, and nothing done, while something else is being written."""
        if self._writing or self._held is not None:
            return False
        self._folder.foresee(record)
        self._held = _Held(record, ops, then)
        return True

    async def flush(self) -> None:
        """Write what is held, where no append follows at once after all."""
        if self._held is not None:
            await self.append()

    async def append(
        self,
        *records: NewRecord,
        ops: Sequence[OpUpdate] = (),
        draft: bytes | None = b"",
        keep: bool = False,
    ) -> list[Record]:
        """One synced transaction, applied to the live state, then announced. With ``keep`` what
        the disk refuses for now is kept for ``save_unsaved``: a thing that happened stays known."""
        held, self._held = self._held, None
        first = (held.record,) if held is not None else ()
        all_ops = ops if held is None else (*held.ops, *ops)
        self._writing += 1
        try:
            written = await self.journal.append([*first, *records], ops=all_ops, draft=draft)
        except SlipwayError as error:
            if held is not None:
                await self._take_back(held, error)
            if keep and error.retryable:
                self._unsaved.append((tuple(records), tuple(ops)))
            raise
        except asyncio.CancelledError:
            await self._cancelled(held)
            raise
        finally:
            self._writing -= 1
        self._written(written, (*first, *records), held)
        return written[len(first) :]

    async def _cancelled(self, held: _Held | None) -> None:
        """The journal carries out what it was handed all the same: wait for it, since a state that
        lacks it would be none that a replay gives."""
        try:
            written = await self.journal.read(after=self.now.head)
            self._written(written, (), held if written else None)
            if held is not None and not written:
                await self._take_back(held, None)
        except SlipwayError as error:
            logger.warning("what was written last is not known: %s", error)

    def _written(
        self, written: Sequence[Record], new: Sequence[NewRecord], held: _Held | None
    ) -> None:
        """Apply what is on disk now, and tell of it. ``new`` is what it was made from."""
        fresh = [record for record in written if record.seq > self.now.head]
        for at, record in enumerate(fresh):
            if held is not None and at == 0:
                self._folder.reached(record)
            else:
                known = len(new) == len(fresh) and record.kind in _PLAIN
                self._folder.apply(record, new[at].body if known else None)
        if fresh:
            for told in self.written:
                told(fresh)
            self.emit(ev.Saved(fresh[-1].seq, fresh[-1].ts_us))
        if held is not None:
            held.then()

    async def _take_back(self, held: _Held, error: SlipwayError | None) -> None:
        """The state as the journal has it, without what was held; that is saved later where the
        disk may take it then."""
        if error is not None and error.retryable:
            self._unsaved.append(((held.record,), tuple(held.ops)))
        self._folder = Folder(self.journal.info.key.session_id)
        await self.load()
