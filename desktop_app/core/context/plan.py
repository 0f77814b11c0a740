"""What a compaction would take away and keep: cut, masks and ledger, before any model is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Msg
from desktop_app.core.state import AgentState

from .accounting import Accounting
from .aiming import FOUND, KEEP, KEEP_LEAST, room_of
from .atoms import Atom, Cut, cut_for, newest_said
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
from .chosen import Chosen
from .draft import Draft
from .foresight import TITLES, Foresight
from .intake import absorb
from .ledger import Ledger, Room
from .ledger_text import render
from .levels import LEVELS, Way, gone_at
from .masking import Mask, old_masks, squeeze
from .offloading import offload
from .past import Past
from .pins import settle
from .running import KEPT
from .standing import Standing
from .tokens import FRAME
from .types import Breakdown, Choices, CompactionRecord, Trigger
from .weighing import foreseen, remaining, weighed

LAST = 0.03  # of W: a newest step of no more than this stays, even a little over the target
KEEP_BY_HAND = 0.3  # of the conversation, when a person asks for less than the marks would
ROUNDS = 24
LOOSE = 0.05  # of the target: when more than this is left, more of the newest steps may stay
FREES = 0.1  # of W: an automatic compaction that frees less comes again at once
FREES_LEAST = 2000  # tokens; on small windows a fifth of W
PATIENT: frozenset[Trigger] = frozenset({"danger", "resume", "model_switch"})
FOUND_LEAST = 0.02  # of W: decisions and facts, whatever else is there
SEEN = 0.12  # of W: lines of results, out of what is left to the target


@dataclass(frozen=True, slots=True)
class Spoken:
    """Raw tokens that are spoken for before anything is chosen: of the envelope, of the whole
    prompt at most, of the newest steps at most, of a model's notes, of the newest step at least."""

    fixed: float
    target: float
    keep: float
    notes: float
    newest: float


class Planner:
    """Plans on one account (a fork: the session's own sums stay untouched). All of it is pure
    computing and may run in a thread. ``before`` is the account as it was shown."""

    def __init__(
        self,
        account: Accounting,
        envelope: Envelope,
        where: str,
        choices: Choices | None = None,
        before: Breakdown | None = None,
    ) -> None:
        self._before = before
        self.account = account
        self._envelope = envelope
        self._where = where
        self._choices = choices or Choices()
        self._past: Past | None = None
        self._standing = Standing.of((), [])

    def _share(self, share: float) -> float:
        return self.account.of_w(share)

    def draft(self, state: AgentState, notes: int, mask: bool, trigger: Trigger) -> Draft:
        """The plan; ``mask`` tries tier 1 first. ``notes`` tokens are left free for a model where
        the newest steps have more than their floor; the ledger never gives way for them.

        ContextError ``compaction.not_smaller`` when there is too little to take away,
        ``compaction.cannot_fit`` when what may not leave is over W: both before a model is asked.
        """
        pricer = self.account.pricer
        here = self._standing = self.account.running.standing(state.context)
        weight = weighed(self.account, self._envelope, state, here)
        found = here.atoms
        chosen = Chosen.of(self._choices, state.context, found)
        fixed = sum(p.raw for p in pricer.envelope(self._envelope))
        talk = here.raw[-1]
        target = self.account.raw(self.account.limits.mark(self.account.limits.target))
        if self.account.upper(fixed) > self.account.limits.usable:
            raise cannot_fit(self.before(state), int(self.account.upper(fixed)))
        if mask:
            masks = old_masks(state.context, found, self.account.limits, pricer, self._where)
            masks = [m for m in masks if not chosen.stays(m.former)]
            freed = sum(m.freed for m in masks)
            if masks and fixed + self._head(state) + talk - freed <= target:
                draft = Draft(state, self._before, weight, self._ledger(state), 1, masks=masks)
                return offload(self._placed(draft, found, Cut(0), None, chosen))
        keep = self._share(KEEP)
        if trigger == "manual":
            keep = min(keep, KEEP_BY_HAND * talk)
        begun = Draft(state, self._before, weight, self._ledger(state), tier=2)
        spoken = Spoken(fixed, target, keep, self.account.raw(notes), self._newest(found))
        draft, total = self._fitted(begun, spoken, chosen)
        self._worth(draft, total, trigger)
        offload(draft)
        return draft

    def _worth(self, draft: Draft, raw: float, trigger: Trigger) -> None:
        """Whether a plan of so many raw tokens is worth it, before anybody is asked for notes."""
        limits, upper = self.account.limits, draft.weight[1]
        after = self.account.upper(raw)
        if after > limits.usable:
            raise cannot_fit(self.before(draft.state), int(after))
        freed = upper - after
        least = max(FREES * limits.usable, min(FREES_LEAST, 0.2 * limits.usable))
        waits = trigger in PATIENT and upper <= limits.usable
        if freed <= 0 or (waits and freed < least and after > limits.mark(limits.target)):
            raise ContextError("compaction.not_smaller", before=upper, after=int(after))

    def before(self, state: AgentState) -> Breakdown:
        """The account of ``state``, which the plan is of: as it was shown, else as foreseen."""
        if self._before is not None:
            return self._before
        return foreseen(self.account, self._envelope, state, self._standing.every())

    def foreseen(self, state: AgentState) -> Breakdown:
        """The account of ``state``, which nobody has measured."""
        entries = self.account.parts.of(state.context, keep=False)
        return foreseen(self.account, self._envelope, state, entries)

    def after(self, draft: Draft, record: CompactionRecord) -> tuple[int, int]:
        """Total and upper estimate of what ``record`` leaves."""
        return remaining(self.account, self._envelope, draft, record, self._standing)

    def items(self, state: AgentState, masks: list[Mask]) -> Draft:
        """These results or images alone out of the prompt, all else as it is."""
        here = self._standing = self.account.running.standing(state.context)
        weight = weighed(self.account, self._envelope, state, here)
        found = here.atoms
        draft = Draft(state, self._before, weight, self._ledger(state), tier=1, masks=masks)
        nothing = Chosen.of(Choices(), state.context, found)
        return offload(self._placed(draft, found, Cut(0), None, nothing))

    def _head(self, state: AgentState) -> float:
        return self.account.pricer.texts.count_lines(summary_text(state))

    def _newest(self, found: Sequence[Atom]) -> float:
        """Raw tokens that must stay for the newest step to stay in sight, with what it answers, if
        that is little: what a call did, or that nobody knows, is not told by a ledger's line."""
        if not found or found[-1].person:
            return 0.0
        newest, last = found[-1].raw, newest_said(found)
        asked = found[last].raw if last is not None else 0.0
        room = newest + asked if asked <= newest else newest
        return room if room <= self._share(LAST) else 0.0

    def _fitted(self, begun: Draft, spoken: Spoken, chosen: Chosen) -> tuple[Draft, float]:
        """With the newest step, where nothing else forbids it."""
        if spoken.newest:
            with contextlib.suppress(ContextError):
                draft, total = self._tier2(begun, spoken, chosen)
                if self.account.upper(total) <= self.account.limits.usable:
                    return draft, total
        return self._tier2(begun, replace(spoken, newest=0.0), chosen)

    def _tier2(self, begun: Draft, spoken: Spoken, chosen: Chosen) -> tuple[Draft, float]:
        """The newest steps are kept down to a floor, then the ledger gives way level by level, then
        the newest steps too. What is smallest is returned, with its raw tokens, when nothing
        reaches the target."""
        here, running = self._standing, self.account.running
        found, part = here.atoms, compaction_part(begun.state)
        target, keep, notes = spoken.target, spoken.keep, spoken.notes
        read = running.read(here.context, part, self._share(KEPT), self.account.aim)
        self._past = Past(here, begun.ledger, read)
        way = Way(
            keep,
            self._share(KEEP_LEAST),
            self._share(FOUND),
            self._share(FOUND_LEAST),
            target,
        )
        texts = self.account.pricer.texts
        foresight = Foresight.of(here, begun.ledger, texts)
        free, room = target - spoken.fixed - notes, room_of(self.account, 0, way.most)
        way.keep = foresight.keep(keep, way.least, free, room)
        best: tuple[float, Draft] | None = None  # what fits, else the smallest
        fits = False
        for _ in range(ROUNDS):
            stays = max(way.keep, spoken.newest)
            draft, kept, ledger = self._tried(begun, way, stays, chosen)
            total = spoken.fixed + ledger + kept
            draft.spare = max(0.0, target - total - TITLES)
            over = total - target + (notes if way.keep > way.least else 0.0)
            over -= max(0.0, spoken.newest - max(0.0, way.keep))
            if over <= 0:
                best = (total, draft)
                if fits or way.level or -over < LOOSE * target:
                    break
                fits = True  # the ledger is smaller than was foreseen: more may stay
                more = foresight.again(ledger, keep, way.least, free, room)
                if more <= way.keep:
                    break
                way.keep = more
                continue
            if fits:
                break
            if best is None or total < best[0]:
                best = (total, draft)
            if not way.less(over, kept, draft.found):
                break
        return self._settled(best, begun, found, chosen)

    def _tried(
        self, begun: Draft, way: Way, stays: float, chosen: Chosen
    ) -> tuple[Draft, float, float]:
        """A draft with this room, ``stays`` of it for the newest steps, and the raw tokens of what
        stays live and of its ledger."""
        found = self._standing.atoms
        atoms_now, masks = self._squeezed(begun.state, found, max(stays, self.account.raw(400)))
        cut = cut_for(atoms_now, max(0.0, stays), self._standing.opened)
        draft = replace(begun, ledger=begun.ledger.fork(), masks=masks, level=way.level)
        self._placed(draft, atoms_now, cut, room_of(self.account, way.level, way.most), chosen)
        return draft, self._kept(draft), self._rendered(draft.ledger)

    def _settled(
        self,
        best: tuple[float, Draft] | None,
        begun: Draft,
        found: Sequence[Atom],
        chosen: Chosen,
    ) -> tuple[Draft, float]:
        total, draft = best if best else (0.0, None)
        if draft is None or not (draft.covered or draft.masks):
            was = begun.weight[0]
            raise ContextError("compaction.not_smaller", before=was, after=was)
        if not draft.covered:  # only the newest step was shortened: the summary stays as it is
            ledger = self._ledger(begun.state)
            only = replace(begun, ledger=ledger, tier=1, masks=draft.masks)
            return self._placed(only, found, Cut(0), None, chosen), total
        return draft, total

    def _kept(self, draft: Draft) -> float:
        """Raw tokens of what stays live."""
        here, gone = self._standing, draft.gone
        kept = here.left(here.weights, draft.places)
        if (front := draft.front) is not None and front not in gone:
            parts = here.entry(front).parts
            kept -= sum(p.raw for p in parts if p.start < draft.front_blocks)
        return kept - sum(m.freed for m in draft.masks)

    def _squeezed(
        self, state: AgentState, found: Sequence[Atom], keep: float
    ) -> tuple[Sequence[Atom], list[Mask]]:
        """The newest step alone may be more than may stay: then its results are shortened."""
        if not found or found[-1].person or found[-1].raw <= keep:
            return found, []
        newest = found[-1]
        masks = squeeze(state.context, newest, self.account.pricer, self._where, 0.9 * keep)
        freed = sum(m.freed for m in masks)
        return [*found[:-1], newest._replace(raw=newest.raw - freed)], masks

    def _ledger(self, state: AgentState) -> Ledger:
        ledger = self.account.running.ledger(compaction_part(state))
        summary = summary_text(state)
        if summary and summary != whole_summary(ledger.pinned, ledger.history):
            ledger.foreign = summary
        ledger.last = ledger.gen = max(ledger.gen, ledger.last) + 1
        ledger.held = None
        return ledger

    def _rendered(self, ledger: Ledger) -> float:
        texts = self.account.pricer.texts
        count = texts.count_lines
        render(ledger, self._where, texts)
        return count(ledger.pinned) + count(ledger.history) + 2 * FRAME

    def _placed(
        self,
        draft: Draft,
        found: Sequence[Atom],
        cut: Cut,
        room: Room | None,
        chosen: Chosen,
    ) -> Draft:
        """Fill in what leaves and the ledger of it. ``room`` None for tier 1."""
        context = draft.state.context
        draft.dropped = self._choices.drop
        draft.rejected = list(chosen.rejected)
        if cut.first < len(found):
            if found[cut.first].start > 0:
                draft.front, draft.front_blocks = found[cut.first].message, found[cut.first].start
        elif context and context[-1].role == "assistant":
            # All of a reply that may go on: its message stays, empty, for what comes.
            draft.front, draft.front_blocks = len(context) - 1, len(context[-1].content)
        gone = cut.messages(found)
        gone.discard(-1 if draft.front is None else draft.front)
        if draft.front in chosen.stay:
            draft.front, draft.front_blocks = None, 0
        if chosen.stay or chosen.leave:
            gone = (gone - chosen.stay) | (chosen.leave - {draft.front})
        draft.places = sorted(gone)
        draft.covered = [context[p] for p in draft.places]
        if draft.front is not None:
            msg = context[draft.front]
            front = msg.model_copy(update={"content": msg.content[: draft.front_blocks]})
            draft.covered.append(front)
            draft.until = (draft.front, front)
        elif cut.first:
            draft.until = (found[cut.first - 1].message + 1, None)
        draft.masks = [
            *chosen.masks(self._where, draft, self.account.pricer),
            *(m for m in draft.masks if not draft.leaves(m) and not chosen.decided(m.former)),
        ]
        if room is not None:
            self._fill(draft, found, cut, room, chosen)
        left, ledger = draft.gone, draft.ledger
        if draft.front is not None:
            ledger.cut = context[draft.front].id
        elif ledger.cut is not None and ledger.cut not in {
            m.id for n, m in enumerate(context) if n not in left
        }:
            ledger.cut = None
        return draft

    def _fill(
        self, draft: Draft, found: Sequence[Atom], cut: Cut, room: Room, chosen: Chosen
    ) -> None:
        """The ledger of what leaves."""
        context, here = draft.state.context, self._standing
        count = self.account.pricer.texts
        if self._choices.drop or self._past is None:
            settle(draft.ledger)
            absorb(draft.ledger, chosen.absorbed(draft.covered), count)
        else:
            past = self._past
            draft.ledger = past.ledger(draft.places, draft.front, draft.front_blocks, count)
        ledger = draft.ledger
        draft.rejected += chosen.change(ledger)
        ledger.tasks = task_lines(open_tasks(draft.state))
        gone, found = draft.gone, here.atoms
        ledger.open_lists(
            change
            for number in here.changing
            if (atom := found[number]).message not in gone
            and atom.start >= draft.gone_from(atom.message)
            and (step := here.part(number).step) is not None
            for change in step.changes(context[atom.message].id)
        )
        _name_latest(ledger, context, found, cut)
        had = sum(ledger.older.values())
        draft.found = ledger.fit(room, count, self._where)
        draft.noted = ledger.noted(count)
        gone = gone_at(draft.level, found=sum(ledger.older.values()) > had)
        draft.rejected += [(part, "no_room") for part in gone]

    def leaving(self, draft: Draft) -> Prompt:
        """The prompt up to the cut: what a model that writes notes is shown."""
        (end, front), drop = draft.until, self._choices.drop
        shown = [*draft.state.context[:end], *([front] if front is not None else [])]
        shown = [m for m in shown if m.id not in drop]
        state = draft.state.model_copy(update={"context": shown})
        prompt = build(self._envelope, state)
        return replace(prompt, messages=prompt.messages[: prompt.stable])

    def refit(self, draft: Draft, *, added: bool) -> list[tuple[str, str]]:
        """Bring the ledger into its room again after a model ``added`` to it: what is left to the
        target is for its items, the agent's own come first; the oldest narratives go; what is left
        then is for lines of results, most of it where no model wrote anything. All of it stays in
        the journal."""
        ledger, count = draft.ledger, self.account.pricer.texts
        dropped: list[tuple[str, str]] = []
        most = min(self._share(LEVELS[0][1]), draft.noted + draft.spare)
        while ledger.notes and ledger.noted(count) > most:
            dropped.append((f"notes {ledger.notes.pop(0).gen}", "budget"))
        more = max(0.0, ledger.noted(count) - draft.noted)
        if added:
            found = ledger.fit_found(draft.found + max(0.0, draft.spare - more), count)
            more += max(0.0, found - draft.found)
        ledger.fit_seen(max(0.0, draft.spare - more), self._share(SEEN), count)
        return dropped


def cannot_fit(before: Breakdown, needed: int) -> ContextError:
    """The refusal: what is needed at least, and who takes it."""
    return ContextError(
        "compaction.cannot_fit",
        needed=needed,
        usable=before.limits.usable,
        parts={k: v for k, v in before.parts.items() if v},
        items=[(i.category, i.label, i.tokens) for i in before.items[:8]],
    )


def _name_latest(ledger: Ledger, context: Sequence[Msg], found: Sequence[Atom], cut: Cut) -> None:
    """Note the person's newest message when it leaves; one that left before stays noted until the
    person says something new."""
    last = newest_said(found)
    if last is None:
        return
    leaves = last < cut.first and last != cut.request
    ledger.latest = context[found[last].message].id if leaves else None
