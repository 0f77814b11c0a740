"""A session's journal together with its live state: what is written is applied at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from desktop_app.core import events as ev
from desktop_app.core.errors import SlipwayError
from desktop_app.core.sessions.base import Journal, NewRecord, OpUpdate, Record
from desktop_app.core.tasks import Tasks

from . import snapshot
from .fold import Folder
from .folded import Folded

logger = logging.getLogger(__name__)
SNAPSHOT_PAGE = 2000
HELD_SECONDS = 0.05  # no record waits longer for the next append
# Of every step, and made of nothing but what JSON gives back as it was: not parsed again.
_PLAIN = frozenset({"model.request", "assistant.message", "tool.result"})


@dataclass(frozen=True, slots=True)
class _Held:
    """A record that goes with the next append."""

    record: NewRecord
    ops: Sequence[OpUpdate]


class SessionLog:
    """Appends to the journal, then folds. ``emit`` hears ``Saved`` after each barrier.

    The order of calls is the order of effect; a record that the journal refuses is not applied, and
    those that were held are taken back.
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
        self._held: list[_Held] = []
        self._told: list[ev.Event] = []  # what is told when the held ones are on disk
        self._since = 0.0  # when the first of them was held
        self._timer: asyncio.TimerHandle | None = None
        self._late: asyncio.Task[None] | None = None
        self._refused: SlipwayError | None = None  # what was held, while nobody waited for it
        self._tasks = Tasks(lambda name, error: logger.error("%s failed: %r", name, error))
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
        cost of opening depends on what is live, not on how long the session is. Until all of it is
        there, the state is the one that was."""
        folder, after = Folder(self.journal.info.key.session_id), 0
        found = await self.journal.snapshot()
        if found is not None and found[0] <= self.journal.info.head:
            seq, data = found
            known = await asyncio.to_thread(snapshot.load, data, seq)
            if known is not None:
                folder.now, after = known, seq
        self._snapshot = after
        while page := await self.journal.read(after=after, limit=SNAPSHOT_PAGE):
            after = page[-1].seq
            await asyncio.to_thread(folder.replay, page)
        folder.changes += self.changes + 1
        self._folder = folder

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
            (records, ops), head = self._unsaved.pop(0), self.now.head
            try:
                written += await self.append(*records, ops=ops)
            except BaseException:
                if self.now.head == head:  # a cancelled append may have been carried out
                    self._unsaved.insert(0, (records, ops))
                raise
        return written

    async def close(self) -> None:
        """Write what is held or was refused, as far as the disk takes it now, and let the journal
        go."""
        for save in (self.flush, self.save_unsaved):
            try:
                await save()
            except SlipwayError as error:
                logger.error("what happened last could not be saved: %s", error)
        if self._timer is not None:
            self._timer.cancel()
        await self._tasks.finish()
        await self.journal.close()

    @property
    def holding(self) -> bool:
        """Whether a record waits for the next append."""
        return bool(self._held)

    def hold(self, record: NewRecord, ops: Sequence[OpUpdate] = ()) -> bool:
        """Let the next append write this record ahead of its own, in the same transaction: one sync
        for all. Only where an append follows at once; should it not, ``HELD_SECONDS`` later one is
        made. The state has it already; what is told of it (``tell``) waits until it is on disk.
        False, and nothing done, while something else is being written."""
        if self._writing or self._late is not None or self._refused is not None:
            return False
        self._folder.foresee(record)
        if not self._held:
            self._since = time.monotonic()
        self._held.append(_Held(record, ops))
        if self._timer is None:
            self._look_again(HELD_SECONDS)
        return True

    def tell(self, event: ev.Event) -> None:
        """Emit ``event``, after what is held has been written: nothing is told ahead of that."""
        if self._held or self._told:
            self._told.append(event)
        else:
            self.emit(event)

    def _look_again(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._overdue)

    def _overdue(self) -> None:
        """The timer of one that was held, mostly long written: steps are shorter than this, and
        one timer does for many of them."""
        self._timer = None
        if self._held:
            left = self._since + HELD_SECONDS - time.monotonic()
            if left > 0:
                self._look_again(left)
            else:
                self._late = self._tasks.start(self._flush_late(), name="held records")

    async def _flush_late(self) -> None:
        try:
            await self._append((), (), b"")
        except SlipwayError as error:
            self._refused = error  # told to who appends next

    async def flush(self) -> None:
        """Write what is held, where no append follows at once after all."""
        if self._held or self._late is not None or self._refused is not None:
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
        try:
            await self._settle_late()
            return await self._append(records, ops, draft)
        except SlipwayError as error:
            if keep and error.retryable:
                self._unsaved.append((_as_written(records), tuple(ops)))
            raise

    async def _settle_late(self) -> None:
        """The end of an append that nobody waited for; its error is raised here."""
        if self._late is not None:
            await asyncio.wait([self._late])
            self._late = None
        if (refused := self._refused) is not None:
            self._refused = None
            raise refused

    async def _append(
        self, records: Sequence[NewRecord], ops: Sequence[OpUpdate], draft: bytes | None
    ) -> list[Record]:
        held, self._held = self._held, []
        first = [h.record for h in held]
        all_ops = [*(op for h in held for op in h.ops), *ops]
        self._writing += 1
        try:
            written = await self.journal.append([*first, *records], ops=all_ops, draft=draft)
        except SlipwayError as error:
            if held:
                await self._take_back(held, error)
            raise
        except asyncio.CancelledError:
            await self._cancelled(held)
            raise
        finally:
            self._writing -= 1
        self._written(written, (*first, *records), held)
        return written[len(first) :]

    async def _cancelled(self, held: Sequence[_Held]) -> None:
        """The journal carries out what it was handed all the same: wait for it, since a state that
        lacks it would be none that a replay gives."""
        try:
            written = await self.journal.read(after=self.now.head)
            if held and not written:
                await self._take_back(held, None)
            else:
                self._written(written, (), held)
        except SlipwayError as error:
            logger.warning("what was written last is not known: %s", error)

    def _written(
        self, written: Sequence[Record], new: Sequence[NewRecord], held: Sequence[_Held]
    ) -> None:
        """Apply what is on disk now, and tell of it. ``new`` is what it was made from."""
        fresh = [record for record in written if record.seq > self.now.head]
        for at, record in enumerate(fresh):
            if at < len(held):
                self._folder.reached(record)
            else:
                known = len(new) == len(fresh) and record.kind in _PLAIN
                self._folder.apply(record, new[at] if known else None)
        if fresh:
            for told in self.written:
                told(fresh)
            self.emit(ev.Saved(fresh[-1].seq, fresh[-1].ts_us))
        if self._told and not self._held:
            told, self._told = self._told, []
            for event in told:
                self.emit(event)

    async def _take_back(self, held: Sequence[_Held], error: SlipwayError | None) -> None:
        """The state as the journal has it, without what was held; that is saved later where the
        disk may take it then. What was to be told of it never is: the end of the turn is, which
        says of every call what became of it."""
        if error is not None and error.retryable:
            ops = tuple(op for h in held for op in h.ops)
            self._unsaved.append((_as_written([h.record for h in held]), ops))
        self._told.clear()
        await self.load()


def _as_written(records: Sequence[NewRecord]) -> tuple[NewRecord, ...]:
    """To be written later: what they were made of is in a live state already, which changes it."""
    return tuple(replace(r, made_of={}) for r in records)
