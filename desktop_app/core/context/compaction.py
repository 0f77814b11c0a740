"""Compaction: proposes, and changes nothing itself.

Tiers, each tried before the next: old tool results masked in one batch; then the *ledger*, kept by
rules, with a model's notes beside it. The newest steps stay as they are. A proposal that is not
smaller, is empty or does not fit is an error, and then nothing was changed; when only the model
failed and the window cannot wait, the ledger alone serves and the record says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Literal

from desktop_app.core.errors import ContextError, SessionError
from desktop_app.core.ids import now_us
from desktop_app.core.messages import Msg
from desktop_app.core.models.base import ChatModel
from desktop_app.core.state import AgentState

from .accounting import Accounting
from .applying import apply
from .bodies import LedgerBody
from .build import Envelope, Prompt, build, compaction_part
from .delta import Delta
from .draft import Draft
from .ledger_text import all_items, render
from .limits import resolve
from .masking import Mask
from .noting import add_notes
from .owed import MOST, Owed, name_of
from .plan import Planner, cannot_fit
from .preview import preview_rows
from .summary import join, write_notes
from .types import (
    Breakdown,
    Choices,
    CompactionRecord,
    LedgerItem,
    Limits,
    PreviewRow,
    Trigger,
)

# A person who asked for it is told when the model failed; a window that is full cannot wait.
WAITING: frozenset[Trigger] = frozenset({"manual", "alert"})
BY_HAND: frozenset[Trigger] = frozenset({"manual", "item"})
BETWEEN = len("\n---\n")  # between two messages of the person, as ``ledger_text`` writes them
WORTH = 0.9  # what comes out must be at most this share of what went in, or reach the target

Decision = Literal["none", "offer", "do", "refuse"]


@dataclass(frozen=True, repr=False)  # whoever shows a finished task would write out the session
class Proposal:
    """A compaction that may be journalled. ``offloaded`` are the messages (or their first blocks,
    under the same id) that ``context.jsonl`` does not hold yet, in order. ``choices`` are what it
    was made with, ``uppers`` the upper estimates before and after it. What costs something and may
    not be wanted is made when somebody asks."""

    record: CompactionRecord
    offloaded: list[Msg]
    uppers: tuple[int, int]
    choices: Choices
    draft: Draft
    planner: Planner

    @property
    def account(self) -> Accounting:
        return self.planner.account

    @cached_property
    def new_state(self) -> AgentState:
        """The state after it."""
        return apply(self.record, self.draft.state)

    @cached_property
    def before(self) -> Breakdown:
        """The account as it was shown, or as it was foreseen."""
        return self.planner.before(self.draft.state)

    @cached_property
    def after(self) -> Breakdown:
        """The account that is foreseen."""
        return self.planner.foreseen(self.new_state)

    @cached_property
    def rows(self) -> tuple[PreviewRow, ...]:
        """What becomes of each message, step and result; see ``preview_rows``."""
        return preview_rows(self.draft, self.account)

    @cached_property
    def items(self) -> tuple[LedgerItem, ...]:
        """All of the ledger after it, closed items too."""
        return tuple(all_items(self.draft.ledger))

    @property
    def limits(self) -> Limits:
        return _limits(self.draft, self.account)

    @property
    def rejected(self) -> list[tuple[str, str]]:
        """What was not accepted, with the rule that it broke: of a model's answer, of choices."""
        return self.record.rejected


FIXED = ("system", "tools", "mcp", "skills")  # categories that no compaction takes from


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a compaction was asked for with, and when (``time.monotonic``)."""

    trigger: Trigger
    choices: Choices
    started: float


def decide(breakdown: Breakdown, state: AgentState | None = None) -> Decision:
    """What to do before the next call, on the upper estimate: nothing, offer a compaction, do it,
    or refuse because what cannot be compacted is too large by itself. After an undo (``state``
    tells) the next mark up is waited for."""
    limits, upper = breakdown.limits, breakdown.upper
    if _fixed(breakdown) > limits.usable:
        return "refuse"
    if upper > limits.usable:
        return "do"
    held = compaction_part(state).get("held") if state is not None else None
    if upper >= limits.mark(limits.danger):
        return "do" if held is None or held in WAITING else "offer"
    if upper >= limits.mark(limits.alert):
        return "offer" if held is None else "none"
    return "none"


def _fixed(breakdown: Breakdown) -> int:
    """Tokens of what stands in every prompt, and leaves with no compaction."""
    parts = breakdown.parts  # without those of which nothing is known, as in a session only read
    return sum(parts.get(c, 0) for c in FIXED)


def check_fits(breakdown: Breakdown) -> None:
    """The gate before every call: ContextError ``context.over_window`` when the upper estimate is
    over W, ``context.fixed_over_window`` when what no compaction takes away is. Such a request is
    never sent."""
    limits = breakdown.limits
    if (fixed := _fixed(breakdown)) > limits.usable:
        most = [i for i in breakdown.items if i.category in FIXED][:2]
        raise ContextError(
            "context.fixed_over_window",
            needed=fixed,
            usable=limits.usable,
            window=limits.window,
            share=round(100 * fixed / limits.window),
            biggest=most[0].label if most else "",
            biggest_tokens=most[0].tokens if most else 0,
            second=most[1].label if len(most) > 1 else "",
            second_tokens=most[1].tokens if len(most) > 1 else 0,
        )
    if breakdown.upper > limits.usable:
        biggest = breakdown.items[0] if breakdown.items else None
        raise ContextError(
            "context.over_window",
            upper=breakdown.upper,
            usable=limits.usable,
            window=limits.window,
            biggest=biggest.label if biggest else "",
            biggest_tokens=biggest.tokens if biggest else 0,
        )


class Compactor:
    """Makes proposals for one session. ``where`` is the offload as the agent can read it;
    ``model`` None leaves the ledger alone. ``mask_first``: old results give way before anything is
    summarised; by default only without a model, which could not tell what it is not shown."""

    def __init__(
        self,
        model: ChatModel | None,
        accounting: Accounting,
        envelope: Envelope,
        *,
        where: str = "context.jsonl",
        mask_first: bool | None = None,
    ) -> None:
        self._model = model
        self._accounting = accounting
        self._envelope = envelope
        self._where = where
        self._mask_first = model is None if mask_first is None else mask_first

    async def propose(
        self,
        state: AgentState,
        trigger: Trigger,
        *,
        before: Breakdown | None = None,
        choices: Choices | None = None,
        owed: Sequence[Owed] = (),
    ) -> Proposal:
        """A compaction of ``state``. ``before`` is the account as it was shown, for the record;
        ``choices`` what a person said about an earlier proposal. ``owed`` are earlier ranges that
        a model that answers is asked about too.

        ContextError: ``compaction.not_smaller`` (nothing to gain), ``compaction.empty``,
        ``compaction.failed``, ``compaction.cut`` (the model's notes, when the trigger can wait),
        ``compaction.cannot_fit``."""
        asked = _Asked(trigger, choices or Choices(), time.monotonic())
        state = state.model_copy(update={"context": list(state.context)})
        account = self._accounting.fork()
        planner = Planner(account, self._envelope, self._where, asked.choices, before)
        model = self._model if asked.choices.notes else None
        room = self._allowance() if model is not None else 0
        mask = self._mask_first and trigger not in WAITING
        if model is None:
            return await asyncio.to_thread(self._by_rules, planner, state, mask, asked)
        draft = await asyncio.to_thread(planner.draft, state, room, mask, trigger)
        notes, rejected = None, list[tuple[str, str]]()
        if draft.tier == 2 and draft.covered:
            try:
                notes = await self._notes(model, planner, draft, asked.choices.focus)
            except ContextError as error:
                if trigger in WAITING:
                    raise
                rejected.append(("summary", error.code))
        filled: list[int] = []
        if notes is not None:
            notes, filled = await self._fill(model, notes, planner, draft, asked, owed)
        proposal = await asyncio.to_thread(self._finish, planner, draft, notes, rejected, asked)
        proposal.record.filled = filled
        return proposal

    def _by_rules(self, planner: Planner, state: AgentState, mask: bool, asked: _Asked) -> Proposal:
        """Without a model."""
        draft = planner.draft(state, 0, mask, asked.trigger)
        return self._finish(planner, draft, None, [], asked)

    async def take_out(self, state: AgentState, masks: list[Mask], before: Breakdown) -> Proposal:
        """Results or images that a person wants out of the prompt now (``items``)."""
        asked = _Asked("item", Choices(), time.monotonic())
        planner = Planner(self._accounting.fork(), self._envelope, self._where, before=before)
        draft = await asyncio.to_thread(planner.items, state, masks)
        return await asyncio.to_thread(self._finish, planner, draft, None, [], asked)

    def _allowance(self) -> int:
        """Tokens that a model's notes may take."""
        return max(200, min(2500, int(0.08 * self._accounting.limits.usable)))

    async def _notes(self, model: ChatModel, planner: Planner, draft: Draft, focus: str) -> Delta:
        prompt = await asyncio.to_thread(planner.leaving, draft)
        known = [i.text for i in draft.ledger.items]
        return await self._write(model, planner, prompt, self._allowance(), focus, known)

    async def _write(
        self,
        model: ChatModel,
        planner: Planner,
        prompt: Prompt,
        allowance: int,
        focus: str,
        known: Sequence[str],
    ) -> Delta:
        # The notes are the whole answer here, so they take the place of the reserve.
        usable = int(0.98 * min(planner.account.limits.window, resolve(model.info).window))
        return await write_notes(model, prompt, planner.account, allowance, usable, focus, known)

    async def _fill(
        self,
        model: ChatModel,
        own: Delta,
        planner: Planner,
        draft: Draft,
        asked: _Asked,
        owed: Sequence[Owed],
    ) -> tuple[Delta, list[int]]:
        """``own`` with notes on earlier ranges, which come first, and whose. One that fails again
        costs nothing but its place among what was rejected."""
        made: list[tuple[int, Delta]] = []
        failed: list[tuple[str, str]] = []
        known = [*(i.text for i in draft.ledger.items), *(i.text for i in own.items)]
        for earlier in owed[:MOST]:
            try:
                left = draft.state.model_copy(update={"context": await earlier.load()})
                prompt = await asyncio.to_thread(build, self._envelope, left)
                part = self._allowance() // 2
                focus = asked.choices.focus
                notes = await self._write(model, planner, prompt, part, focus, known)
            except (ContextError, SessionError) as error:
                failed.append((name_of(earlier.gen), error.code))
            else:
                made.append((earlier.gen, notes))
        whole = Delta()
        for _, notes in sorted(made, key=lambda one: one[0]):
            join(whole, notes)
        join(whole, own)
        whole.rejected += failed
        return whole, sorted(gen for gen, _ in made)

    def _finish(
        self,
        planner: Planner,
        draft: Draft,
        notes: Delta | None,
        rejected: list[tuple[str, str]],
        asked: _Asked,
    ) -> Proposal:
        """Render, check, and put the record together. CPU only; runs off the loop."""
        rejected = [*draft.rejected, *rejected, *self._written(planner, draft, notes)]
        record = self._record(draft, notes, rejected, asked, planner.account)
        record.ledger = LedgerBody(draft.ledger)
        after = planner.after(draft, record)
        _check(after, draft, planner, asked.trigger, record.summary)
        gone, shown = draft.gone, draft.before
        record.kept_ids = [m.id for n, m in enumerate(draft.state.context) if n not in gone]
        total, upper = (shown.total, shown.upper) if shown is not None else draft.weight
        record.before, record.after = total, after[0]
        record.before_measured = shown.measured if shown is not None else 0
        record.seconds = time.monotonic() - asked.started
        uppers = upper, after[1]
        return Proposal(record, draft.offloaded, uppers, asked.choices, draft, planner)

    def _written(
        self, planner: Planner, draft: Draft, notes: Delta | None
    ) -> list[tuple[str, str]]:
        """Write the ledger with a model's notes in it; what was not taken in."""
        rejected: list[tuple[str, str]] = []
        ledger = draft.ledger
        seen = list(ledger.seen)
        if notes is not None:
            add_notes(ledger, notes)
            rejected += notes.rejected
        if draft.tier == 2:
            rejected += planner.refit(draft, added=notes is not None)
            if notes is not None or rejected or ledger.seen != seen:
                # The plan wrote it as it was.
                render(ledger, self._where, planner.account.pricer.texts)
        return rejected

    def _record(
        self,
        draft: Draft,
        notes: Delta | None,
        rejected: list[tuple[str, str]],
        asked: _Asked,
        account: Accounting,
    ) -> CompactionRecord:
        """The record, but for what is known only once it was applied."""
        ledger, context = draft.ledger, draft.state.context
        usage = notes.usage.model_dump() if notes is not None and notes.usage else None
        return CompactionRecord(
            gen=ledger.gen,
            trigger=asked.trigger,
            summary=draft.summary_text(),
            covered_ids=[context[p].id for p in draft.places],
            covered_blocks=draft.covered_blocks(),
            places=draft.places,
            kept_ids=[],
            before=0,
            after=0,
            limits=asdict(_limits(draft, account)),
            summariser=self._model.info.id if notes is not None and self._model else None,
            seconds=0.0,
            offload_path=self._where,
            pinned=len(ledger.rules) + len(ledger.pins),
            pending=len(ledger.tasks),
            ts_us=now_us(),
            rejected=rejected,
            tier=draft.tier,
            usage=usage,
            choices=asked.choices.body(),
            masks=draft.mask_entries(),
            undo=draft.way_back(),
        )


def _limits(draft: Draft, account: Accounting) -> Limits:
    return account.limits if draft.before is None else draft.before.limits


def _check(
    after: tuple[int, int], draft: Draft, planner: Planner, trigger: Trigger, summary: str
) -> None:
    """Checks of what came out, by rules alone. Raises; nothing was changed yet."""
    limits, before, (total, upper) = planner.account.limits, draft.weight[0], after
    if draft.tier == 2 and not _all_in(summary, draft.ledger.protected()):
        raise ContextError("compaction.failed", reason="protected")
    if total >= before:
        raise ContextError("compaction.not_smaller", before=before, after=total)
    if upper > limits.usable and trigger != "item":  # one thing out is a step on the way
        raise cannot_fit(planner.before(draft.state), upper)
    reached = upper <= limits.mark(limits.target)
    if trigger not in BY_HAND and not reached and total > WORTH * before:
        raise ContextError("compaction.not_smaller", before=before, after=total)


def _all_in(text: str, protected: Iterable[str]) -> bool:
    """Whether all of ``protected`` stand in ``text``. They stand there in about this order, so
    each is looked for behind the one before it first: long ledgers are not read again for each."""
    at = end = 0
    for words in protected:
        next_one = text.startswith(words, end + BETWEEN)  # mostly one message after the other
        place = end + BETWEEN if next_one else text.find(words, at)
        if place < 0 and (place := text.find(words)) < 0:
            return False
        at, end = place, place + len(words)
    return True
