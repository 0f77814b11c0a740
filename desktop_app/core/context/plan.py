"""What a compaction would take away and keep: cut, masks and ledger, before any model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Msg
from desktop_app.core.state import AgentState

from .accounting import Accounting
from .atoms import Atom, Cut, atoms, cut_for
from .build import (
    Envelope,
    Prompt,
    build,
    compaction_part,
    open_tasks,
    summary_text,
    task_lines,
    whole_summary,
)
from .ledger import FILES, Ledger, ledger_from
from .masking import Mask, old_masks, squeeze
from .tokens import FRAME
from .types import Breakdown

KEEP = 0.25  # of W: the newest steps stay in this, counting the conversation alone
KEEP_BY_HAND = 0.3  # of the conversation, when a person asks for less than the marks would
SAID = 0.15  # of W: the person's earlier messages
NOTES = 0.10  # of W: notes of all compactions together
ROUNDS = 8


@dataclass(slots=True)
class Draft:
    """A plan on ``state``. ``places`` are the messages that leave whole, ``front`` the one whose
    first ``front_blocks`` blocks leave; masks are placed as in ``state``."""

    state: AgentState
    before: Breakdown
    ledger: Ledger
    tier: int
    places: list[int] = field(default_factory=list[int])
    front: int | None = None
    front_blocks: int = 0
    masks: list[Mask] = field(default_factory=list[Mask])
    covered: list[Msg] = field(default_factory=list[Msg])
    until: list[Msg] = field(default_factory=list[Msg])  # all up to the cut, in the prompt's order
    offloaded: list[Msg] = field(default_factory=list[Msg])
    written: list[Any] | None = None  # how far the offload reaches, in the state as it is
    dropped: frozenset[str] = frozenset()  # ids that a person leaves out of the prompt
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def gone(self) -> set[int]:
        """``places`` for looking up."""
        return set(self.places)

    def summary_text(self) -> str:
        """``AgentState.summary`` after it. Masking alone leaves the summary as it is."""
        if self.tier == 1:
            return summary_text(self.state)
        return whole_summary(self.ledger.pinned, self.ledger.history)

    def covered_blocks(self) -> dict[str, list[str]]:
        if self.front is None:
            return {}
        msg = self.state.context[self.front]
        return {msg.id: [b.id for b in msg.content[: self.front_blocks]]}

    def gone_from(self, message: int) -> int:
        """How many first blocks of a message leave."""
        return self.front_blocks if message == self.front else 0

    def mask_entries(self) -> list[dict[str, Any]]:
        return [
            {
                "message": self.state.context[m.message].id,
                "block": m.block - self.gone_from(m.message),
                "text": m.text,
            }
            for m in self.masks
        ]

    def undo_data(self) -> dict[str, Any]:
        """What ``applying.undo`` needs."""
        return {
            "messages": [m.model_dump() for m in self.covered],
            "outputs": [
                {
                    "message": self.state.context[m.message].id,
                    "block": m.block - self.gone_from(m.message),
                    "former": m.former.model_dump(),
                }
                for m in self.masks
            ],
            "former": {"summary": _plain(self.state), "part": compaction_part(self.state)},
            "written": self.written,
        }


def _plain(state: AgentState) -> Any:
    if isinstance(state.summary, str):
        return state.summary
    return [b.model_dump() for b in state.summary]


class Planner:
    """Plans on one account (a fork: the session's own sums stay untouched). All of it is pure
    computing and may run in a thread."""

    def __init__(self, account: Accounting, envelope: Envelope, where: str) -> None:
        self.account = account
        self._envelope = envelope
        self._where = where

    def _raw(self, tokens: float) -> float:
        """Raw tokens whose upper bound is ``tokens``."""
        return tokens / self.account.upper(1.0)

    def _share(self, share: float) -> float:
        return self._raw(share * self.account.limits.usable)

    def draft(self, state: AgentState, notes: int, mask: bool, by_hand: bool) -> Draft:
        """The plan: ``notes`` tokens are left free for a model; ``mask`` tries tier 1 first.
        ContextError ``compaction.not_smaller`` when there is nothing to take away."""
        before = self.account.breakdown(build(self._envelope, state))
        pricer = self.account.pricer
        found = atoms(state.context, pricer)
        fixed = sum(p.raw for p in pricer.envelope(self._envelope))
        talk = sum(a.raw for a in found)
        target = self._raw(self.account.limits.mark(self.account.limits.target))
        if mask:
            masks = old_masks(state.context, found, self.account.limits, pricer, self._where)
            freed = sum(m.freed for m in masks)
            if masks and fixed + self._head(state) + talk - freed <= target:
                draft = Draft(state, before, self._ledger(state), tier=1, masks=masks)
                return self._placed(draft, found, Cut(0), None)
        keep = self._share(KEEP)
        if by_hand:
            keep = min(keep, KEEP_BY_HAND * talk)
        return self._tier2(state, before, found, fixed + self._raw(notes), target, keep)

    def _head(self, state: AgentState) -> float:
        return self.account.pricer.texts.count(summary_text(state))

    def _tier2(
        self,
        state: AgentState,
        before: Breakdown,
        found: list[Atom],
        fixed: float,
        target: float,
        keep: float,
    ) -> Draft:
        """Less and less is kept until the whole reaches the target; then the person's earlier
        messages are shortened too. What is smallest is returned when nothing reaches it."""
        best: tuple[float, Draft] | None = None
        said, shown = SAID, max(8, min(FILES, self.account.limits.usable // 400))
        for _ in range(ROUNDS):
            atoms_now, masks = self._squeezed(state, found, max(keep, self._raw(400)))
            cut = cut_for(atoms_now, max(0.0, keep))
            kept = sum(a.raw for a in cut.kept(atoms_now))
            draft = Draft(state, before, self._ledger(state), tier=2)
            draft.masks, draft.ledger.shown = masks, shown
            self._placed(draft, atoms_now, cut, said)
            total = fixed + self._rendered(draft.ledger) + kept
            if best is None or total < best[0]:
                best = (total, draft)
            if total <= target:
                break
            if keep > 0:
                keep = 0.0 if keep < 0.02 * target else max(0.0, keep - max(total - target, 1))
            else:
                said, shown = said / 2, shown // 2
        draft = best[1] if best else None
        if draft is None or not (draft.covered or draft.masks):
            raise ContextError("compaction.not_smaller", before=before.total, after=before.total)
        if not draft.covered:  # only the newest step was shortened: the summary stays as it is
            only = Draft(state, before, self._ledger(state), tier=1, masks=draft.masks)
            return self._placed(only, found, Cut(0), None)
        return draft

    def _squeezed(
        self, state: AgentState, found: list[Atom], keep: float
    ) -> tuple[list[Atom], list[Mask]]:
        """The newest step alone may be more than may stay: then its results are shortened."""
        if not found or found[-1].person or found[-1].raw <= keep:
            return found, []
        newest = found[-1]
        masks = squeeze(state.context, newest, self.account.pricer, self._where, 0.9 * keep)
        freed = sum(m.freed for m in masks)
        return [*found[:-1], replace(newest, raw=newest.raw - freed)], masks

    def _ledger(self, state: AgentState) -> Ledger:
        ledger = ledger_from(compaction_part(state))
        summary = summary_text(state)
        if summary and summary != whole_summary(ledger.pinned, ledger.history):
            ledger.foreign = summary
        ledger.last = ledger.gen = max(ledger.gen, ledger.last) + 1
        ledger.held = None
        return ledger

    def _rendered(self, ledger: Ledger) -> float:
        count = self.account.pricer.texts.counter.count
        ledger.render(self._where)
        return count(ledger.pinned) + count(ledger.history) + 2 * FRAME

    def _placed(self, draft: Draft, found: Sequence[Atom], cut: Cut, said: float | None) -> Draft:
        """Fill in what leaves, the ledger of it and the offload."""
        context, ledger = draft.state.context, draft.ledger
        if cut.first < len(found):
            if found[cut.first].start > 0:
                draft.front, draft.front_blocks = found[cut.first].message, found[cut.first].start
        elif context and context[-1].role == "assistant":
            # All of a reply that may go on: its message stays, empty, for what comes.
            draft.front, draft.front_blocks = len(context) - 1, len(context[-1].content)
        gone = {a.message for a in cut.covered(found)} - {draft.front}
        draft.places = sorted(gone)
        draft.covered = [context[p] for p in draft.places]
        if draft.front is not None:
            msg = context[draft.front]
            front = msg.model_copy(update={"content": msg.content[: draft.front_blocks]})
            draft.covered.append(front)
            draft.until = [*context[: draft.front], front]
        elif cut.first:
            draft.until = context[: found[cut.first - 1].message + 1]
        draft.masks = [m for m in draft.masks if not self._leaves(draft, m)]
        count = self.account.pricer.texts.count
        if draft.tier == 2:
            ledger.absorb(draft.covered, count)
            ledger.tasks = task_lines(open_tasks(draft.state))
            _name_latest(ledger, context, found, cut)
            if said is not None:
                ledger.fit_said(self._share(said), count, self._where)
        if draft.front is not None:
            ledger.cut = context[draft.front].id
        elif ledger.cut not in {m.id for n, m in enumerate(context) if n not in gone}:
            ledger.cut = None
        self._offload(draft)
        return draft

    def _leaves(self, draft: Draft, mask: Mask) -> bool:
        if mask.message in draft.places:
            return True
        return mask.message == draft.front and mask.block < draft.front_blocks

    def _offload(self, draft: Draft) -> None:
        """What goes to ``context.jsonl``: everything up to the last block that leaves or is masked
        and is not there yet, so that the file holds the messages in their order even where a
        request stays live behind what it led to."""
        context = draft.state.context
        start = _place(context, draft.ledger.written)
        ends = [(p, len(context[p].content)) for p in draft.places]
        if draft.front is not None:
            ends.append((draft.front, draft.front_blocks))
        ends += [(m.message, m.block + 1) for m in draft.masks]
        end = max([start, *ends])
        for place in range(start[0], min(end[0] + 1, len(context))):
            msg = context[place]
            first = start[1] if place == start[0] else 0
            last = end[1] if place == end[0] else len(msg.content)
            if first < last:
                content = msg.content[first:last]  # a copy: the message itself may go on growing
                draft.offloaded.append(msg.model_copy(update={"content": content}))
        draft.written = [context[end[0]].id, end[1]] if end[0] < len(context) else None
        draft.ledger.written = self._carried(draft, end)

    def _carried(self, draft: Draft, end: tuple[int, int]) -> list[Any] | None:
        """The end of the offload in terms of the state after the compaction."""
        gone = set(draft.places)
        context = draft.state.context
        for place in range(end[0], len(context)):
            if place not in gone:
                blocks = end[1] - draft.gone_from(place) if place == end[0] else 0
                return [context[place].id, max(0, blocks)]
        return None

    def leaving(self, draft: Draft) -> Prompt:
        """The prompt up to the cut: what a model that writes notes is shown."""
        state = draft.state.model_copy(update={"context": draft.until})
        prompt = build(self._envelope, state)
        return replace(prompt, messages=prompt.messages[: prompt.stable])

    def trim_notes(self, ledger: Ledger) -> list[tuple[str, str]]:
        """Drop the oldest notes that are beyond their budget; they stay in the journal."""
        count = self.account.pricer.texts.count
        dropped: list[tuple[str, str]] = []
        while len(ledger.notes) > 1 and sum(count(n.text) for n in ledger.notes) > self._share(
            NOTES
        ):
            old = ledger.notes.pop(0)
            dropped.append((f"notes {old.gen}", "budget"))
        return dropped


def _name_latest(ledger: Ledger, context: Sequence[Msg], found: Sequence[Atom], cut: Cut) -> None:
    """Note the person's newest message when it leaves; one that left before stays noted until the
    person says something new."""
    last = max((n for n, a in enumerate(found) if a.person), default=None)
    if last is None:
        return
    leaves = last < cut.first and last != cut.request
    ledger.latest = context[found[last].message].id if leaves else None


def _place(context: Sequence[Msg], written: list[Any] | None) -> tuple[int, int]:
    if written:
        for place, msg in enumerate(context):
            if msg.id == written[0]:
                return place, min(int(written[1]), len(msg.content))
    return 0, 0
