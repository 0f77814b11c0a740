"""Making room in the context window: when, by which proposal, and durably.

Before every model call the marks decide (``make_room``). A compaction is proposed on a copy of the
state and journalled only if the state that it was made on is still the beginning of the present
one; until then nothing changes. Whatever does not work out is in the log, with its reason.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.context.applying import apply, undo
from desktop_app.core.context.build import build
from desktop_app.core.context.compaction import Proposal, check_fits, decide
from desktop_app.core.context.figures import CallCount
from desktop_app.core.context.fitting import brought_up, still_fits
from desktop_app.core.context.guards import refills
from desktop_app.core.context.limits import window_beside_output
from desktop_app.core.context.types import Breakdown, Choices, CompactionRecord, Trigger
from desktop_app.core.errors import ContextError, ModelError, SlipwayError
from desktop_app.core.ids import new_id, now_us
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.state import AgentState
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.outbox import Outbox

from .drafting import Drafts, frozen
from .engine import ContextEngine
from .policy import Policy
from .proposing import Proposals

logger = logging.getLogger(__name__)

Emit = Callable[[ev.Event], None]

# What a compaction fails with where nothing but the newest request fills the window.
NO_ROOM = frozenset({"compaction.cannot_fit", "compaction.not_smaller"})


class Room:
    """One session's compactions. ``trigger`` is why the next one would be, beside the marks."""

    def __init__(
        self,
        engine: ContextEngine,
        outbox: Outbox,
        workspace: Any,
        policy: Callable[[], Policy],
        tasks: Tasks,
        emit: Emit,
    ) -> None:
        self.engine = engine
        self.log = engine.log
        self._outbox = outbox
        self.proposals = Proposals(engine, workspace, outbox)
        self._policy = policy
        self._emit = emit
        self._offered = False
        self._told = False  # that automatic compaction pauses
        self._changing = asyncio.Lock()  # one change of the past at a time
        self._queued: tuple[Proposal, asyncio.Future[CompactionRecord]] | None = None
        self.trigger: Trigger | None = "resume"
        self.drafts = Drafts(self._drafted, tasks, emit)

    # -- when --------------------------------------------------------------------------------

    async def make_room(self, *, fresh: bool = True) -> None:
        """Before a call (``fresh``: the first of a turn): offer at the alert mark, do it at the
        danger mark. ContextError ``context.over_window`` when what cannot be compacted is too large
        by itself."""
        if fresh or self.engine.due:
            await self.log.flush()  # a look may take its time
        await self.engine.refresh(fresh=fresh)
        await self.settle()
        upper, limits = await self.engine.upper()
        if upper < limits.mark(limits.alert):
            self._offered = False  # the usual case: nothing to decide
            self.drafts.drop("below")
            self.trigger = None
            return
        await self.log.flush()
        breakdown = await self.engine.breakdown()
        choice = decide(breakdown, self.log.now.state)
        if choice == "refuse":
            check_fits(breakdown)
        elif choice == "none":
            self._offered = False
            self.drafts.drop("below")
        elif choice == "offer" or not self._policy().by_itself:
            self._offer(breakdown)
        else:
            await self._by_itself(breakdown)
        self.trigger = None

    async def _by_itself(self, breakdown: Breakdown) -> None:
        """Unless the guards hold it back: then the world is told once who fills the window."""
        why, usable = self._why(breakdown), breakdown.limits.usable
        guards = self.log.now.guards
        if guards.allows(why, breakdown.upper, usable):
            self._told = False
            await self.compact(why)
        elif not self._told:
            self._told = True
            most = refills(breakdown)
            params = {
                "why": guards.paused or "breaker",
                "label": most.label if most is not None else "",
                "tokens": most.tokens if most is not None else 0,
            }
            self._emit(ev.Notice("compaction.paused", params))

    def _why(self, breakdown: Breakdown) -> Trigger:
        if self.trigger is not None:
            return self.trigger
        return "oversize" if breakdown.upper > breakdown.limits.usable else "danger"

    def _offer(self, breakdown: Breakdown) -> None:
        if not self._offered:
            self._offered = True
            self._emit(ev.CompactionOffered(breakdown))
        if self._policy().mode != "remind":
            self.drafts.start(breakdown.upper)

    async def look(self) -> None:
        """While nothing runs: what was accepted meanwhile is done; over the alert mark it is
        offered, and drafted while the person reads."""
        await self.settle()
        breakdown = await self.engine.breakdown()
        if decide(breakdown, self.log.now.state) in ("offer", "do"):
            self._offer(breakdown)

    # -- proposing ---------------------------------------------------------------------------

    async def _drafted(self) -> Proposal:
        """A draft of the present state. What it cost is spent whether it is used or not."""
        proposal = await self.proposals.propose("alert")
        record = proposal.record
        if record.cost is not None:
            body = {"purpose": "draft", "cost": record.cost, "usage": record.usage}
            await self.log.append(NewRecord("spent", body, ignorable=True), draft=None)
            record.drafted = True
        return proposal

    # -- doing -------------------------------------------------------------------------------

    async def compact(self, trigger: Trigger, *, notes: bool = True) -> bool:
        """Reorganise the history, by the draft where there is one that still fits; without
        ``notes`` no model takes part. Nothing is
        changed when it does not work out, and the world is told why; whether the next call still
        fits is checked where it is made."""
        started = time.monotonic()
        before = await self.engine.breakdown()
        self._emit(ev.CompactionStarted(trigger, before.total))
        try:
            await self._compact(trigger, before, notes)
        except asyncio.CancelledError:
            self._emit(ev.CompactionFailed(trigger, "compaction.stopped"))
            raise
        except SlipwayError as error:
            await self._failed(trigger, error, before, time.monotonic() - started)
            return False
        return True

    async def _compact(self, trigger: Trigger, before: Breakdown, notes: bool) -> None:
        draft = None if trigger == "manual" else await self.drafts.take(self.log.now.state)
        if draft is not None:
            try:
                await self.commit(draft, trigger)
                return
            except ContextError as error:
                logger.info("a draft was of no use: %s", error)
        try:
            proposal = await self.proposals.propose(trigger, before=before, notes=notes)
        except ContextError as error:
            full = before.upper > before.limits.usable and error.code in NO_ROOM
            if not full or not await self._shorten(trigger):
                raise
            now = await self.engine.breakdown()
            if now.upper < now.limits.mark(now.limits.danger):
                return
            proposal = await self.proposals.propose(trigger, before=now, notes=notes)
        await self.commit(proposal, trigger)

    async def _shorten(self, trigger: Trigger) -> bool:
        """What stays whole is too long by itself: the person's newest message gives way to its
        ends, the whole of it in the journal and the offload. Whether it did."""
        shorter = await self.proposals.shorten()
        if shorter is None:
            return False
        await self.commit(shorter, trigger)
        return True

    async def _failed(
        self, trigger: Trigger, error: SlipwayError, before: Breakdown, seconds: float
    ) -> None:
        body = {
            "id": new_id(),
            "trigger": trigger,
            "code": error.code,
            "params": error.params,
            "before": before.total,
            "upper": before.upper,
            "usable": before.limits.usable,
            "seconds": round(seconds, 3),
            "ts_us": now_us(),
        }
        try:
            record = NewRecord("compaction.failed", body, ignorable=True)
            await self.log.append(record, draft=None)
        except SlipwayError as second:
            logger.warning("a failed compaction is not in the log: %s", second)
        self._emit(ev.CompactionFailed(trigger, error.code, error.params))

    async def commit(
        self,
        proposal: Proposal,
        trigger: Trigger | None = None,
        more: Sequence[NewRecord] = (),
    ) -> CompactionRecord:
        """Journal a proposal, ``more`` before it. ContextError ``compaction.stale`` when the state
        that it was made on is not the beginning of the present one, ``compaction.not_smaller`` and
        ``compaction.cannot_fit`` when it is of no use any more."""
        async with self._changing:
            record = await self._present(proposal)
            record.trigger = trigger or record.trigger
            staged = await self._staged(proposal, record)
            body = await self.proposals.body(proposal, record)
            if not still_fits(record, self.log.now.state):
                raise ContextError("compaction.stale")
            await self.log.append(*more, *staged, NewRecord("compaction", body), draft=None)
        await self._done(proposal, record)
        return record

    async def _present(self, proposal: Proposal) -> CompactionRecord:
        """The proposal's record for the state as it is now, measured again where that grew."""
        state = self.log.now.state
        if not still_fits(proposal.record, state):
            raise ContextError("compaction.stale")
        record = brought_up(proposal.record, state, self.proposals.where())
        if record is proposal.record and _size(state) == _size(proposal.draft.state):
            return replace(record)
        now = await self.engine.breakdown()
        envelope, account = self.engine.envelope, self.engine.account().fork()
        new = apply(record, frozen(state))
        after = await asyncio.to_thread(lambda: account.breakdown(build(envelope, new)))
        if after.total >= now.total:
            raise ContextError("compaction.not_smaller", before=now.total, after=after.total)
        if after.upper > after.limits.usable:
            raise ContextError(
                "compaction.cannot_fit", needed=after.upper, usable=after.limits.usable
            )
        return replace(record, before=now.total, before_measured=now.measured, after=after.total)

    async def _staged(self, proposal: Proposal, record: CompactionRecord) -> tuple[NewRecord, ...]:
        if not proposal.offloaded:
            return ()
        session_id = self.log.now.state.session_id
        kept = await self._outbox.stage_messages(session_id, proposal.offloaded)
        record.offload_path = kept.path
        count = len(proposal.offloaded)
        self._emit(ev.Offloaded("messages", kept.path, count, kept.bytes, False))
        return kept.records

    async def _done(self, proposal: Proposal, record: CompactionRecord) -> None:
        self._offered = False
        self.drafts.drop("done" if self.drafts.ready is proposal else "stale")
        self._emit(ev.CompactionFinished(record))
        self._emit(ev.ContextChanged(await self.engine.breakdown()))

    # -- accepting ---------------------------------------------------------------------------

    def queue(self, proposal: Proposal) -> asyncio.Future[CompactionRecord]:
        """Do it before the next call, or when the run under way ends."""
        future: asyncio.Future[CompactionRecord] = asyncio.get_running_loop().create_future()
        if self._queued is not None and not self._queued[1].done():
            self._queued[1].set_exception(ContextError("compaction.stale"))
        self._queued = (proposal, future)
        return future

    async def settle(self) -> None:
        """Do what was accepted meanwhile."""
        queued, self._queued = self._queued, None
        if queued is None or queued[1].done():
            return
        try:
            record = await self.commit(queued[0])
        except SlipwayError as error:
            queued[1].set_exception(error)
        else:
            queued[1].set_result(record)

    # -- what the provider says --------------------------------------------------------------

    async def overflowed(self, error: ModelError) -> bool:
        """The provider refused the prompt as too long: learn from what it said, and make room.
        Whether the call is worth repeating."""
        self.engine.overflowed(error)
        return await self.compact("overflow")

    async def answer_refused(self, error: ModelError) -> bool:
        """The provider does not give so long an answer, or has no room for it beside the prompt:
        learn how long one may be, or make room. Whether the call is worth repeating."""
        if self.engine.answer_refused(error):
            await self.make_room()
            return True
        named = window_beside_output(str(error.params.get("detail", "")))
        return named is not None and await self.overflowed(error)

    async def counted(self, call: CallCount) -> None:
        """The provider counted a call. The first one after a compaction corrects its estimate."""
        newest = next(reversed(self.log.now.compactions), None)
        if newest is None or newest.measured is not None or newest.gen != self.engine.sent.gen:
            return
        if not call.estimated:
            return
        after = round(newest.after * call.measured / call.estimated)
        body = {"gen": newest.gen, "after": after}
        await self.log.append(NewRecord("compaction.measured", body, ignorable=True), draft=None)
        self._emit(ev.CompactionMeasured(newest.id, newest.gen, after))

    # -- undoing -----------------------------------------------------------------------------

    def newest(self) -> CompactionRecord:
        """ContextError ``compaction.none``."""
        compactions = self.log.now.compactions
        if not compactions:
            raise ContextError("compaction.none")
        return compactions[-1]

    async def undo(self) -> ev.CompactionUndone:
        """Take the newest compaction back. ContextError ``compaction.none``, or
        ``compaction.would_not_fit`` when the former prompt and what came since are too long."""
        async with self._changing:
            newest = self.newest()
            way_back = await self.proposals.way_back(newest)
            former = undo(replace(newest, undo=way_back), frozen(self.log.now.state))
            account, envelope = self.engine.account().fork(), self.engine.envelope
            breakdown = await asyncio.to_thread(lambda: account.breakdown(build(envelope, former)))
            if breakdown.upper > breakdown.limits.usable:
                raise ContextError(
                    "compaction.would_not_fit",
                    tokens=breakdown.upper,
                    usable=breakdown.limits.usable,
                    id=newest.id,
                )
            # The record carries what it puts back, so that a replay needs nothing beside it.
            body = {"gen": newest.gen, "undo": way_back}
            await self.log.append(NewRecord("compaction.undone", body), draft=None)
        self.drafts.drop("stale")
        return ev.CompactionUndone(newest.gen, newest.id)

    async def again(self, focus: str) -> CompactionRecord:
        """The newest compaction once more, with what its notes should pay attention to. The old
        one is taken back and the new one done in one transaction, or nothing is."""
        async with self._changing:
            newest = self.newest()
            way_back = await self.proposals.way_back(newest)
            former = undo(replace(newest, undo=way_back), frozen(self.log.now.state))
            chosen = newest.choices
            choices = Choices(
                frozenset(chosen.get("keep", ())),
                frozenset(chosen.get("drop", ())),
                dict(chosen.get("edits", {})),
                focus,
            )
            self._emit(ev.CompactionStarted("manual", newest.before))
            proposal = await self.proposals.propose("manual", choices=choices, state=former)
            record = replace(proposal.record)
            staged = await self._staged(proposal, record)
            body = await self.proposals.body(proposal, record)
            present = frozen(self.log.now.state)
            if not still_fits(record, undo(replace(newest, undo=way_back), present)):
                raise ContextError("compaction.stale")
            undone = NewRecord("compaction.undone", {"gen": newest.gen, "undo": way_back})
            await self.log.append(undone, *staged, NewRecord("compaction", body), draft=None)
        self._emit(ev.CompactionUndone(newest.gen, newest.id))
        await self._done(proposal, record)
        return record


def _size(state: AgentState) -> tuple[int, int]:
    context = state.context
    return len(context), len(context[-1].content) if context else 0
