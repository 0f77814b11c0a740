"""What the prompt of a state would cost, part by part, without building it."""

from __future__ import annotations

from collections.abc import Sequence

from desktop_app.core.messages import Msg
from desktop_app.core.state import AgentState

from .accounting import Accounting
from .applying import apply
from .build import (
    Envelope,
    compaction_part,
    from_iteration,
    head_messages,
    head_of,
    tail_messages,
)
from .draft import Draft
from .iterations import iterations
from .parts import Entry
from .pricing import Piece
from .standing import Standing
from .types import Breakdown, CompactionRecord


def weighed(
    account: Accounting, envelope: Envelope, state: AgentState, standing: Standing
) -> tuple[int, int]:
    """Total and upper estimate of ``foreseen``, without who uses it."""
    part = compaction_part(state)
    cut = part.get("cut")
    raw = standing.weights[-1]
    for place in standing.loops if cut is not None else ():
        msg, entry = state.context[place], standing.entry(place)
        if msg.id == cut and not entry.parts[0].thinks:
            raw += sum(p.raw for p in _stripped(account, msg)) - entry.raw
    ends = [*head_messages(state, part), *tail_messages(state, part, bool(standing.tasks))]
    raw += sum(p.raw for p in _priced(account, ends))
    return account.foresee_sum(envelope, raw, standing.images[-1])


def remaining(
    account: Accounting,
    envelope: Envelope,
    draft: Draft,
    record: CompactionRecord,
    standing: Standing,
) -> tuple[int, int]:
    """The same of the state that ``record`` leaves of ``draft``'s: without making it where sums
    tell."""
    gone, ledger, state = draft.gone, draft.ledger, draft.state
    front = draft.front if draft.front not in gone else None
    own = standing.entry(front) if front is not None else None
    if draft.masks or (ledger.cut and standing.loops) or (own is not None and own.images > 0):
        new = apply(record, state)
        entries = account.parts.of(new.context, keep=False)
        return weighed(account, envelope, new, Standing.of(new.context, entries))
    parts = own.parts if own is not None else []
    left = [p for p in parts if p.start < draft.front_blocks]
    raw = standing.left(standing.weights, draft.places) - sum(p.raw for p in left)
    part = {name: getattr(ledger, name) for name in ("pinned", "history", "gen", "tasks", "later")}
    new = state.model_copy(update={"context": [], "summary": record.summary})
    shown = any(place not in gone and place != front for place in standing.tasks)
    shown |= any(p.tasks for p in parts[len(left) :])
    if draft.tier == 1:
        ends = head_messages(new, part)
    else:  # the summary is these two texts
        ends = head_of(ledger.pinned, ledger.history, ledger.gen)
    ends += tail_messages(new, part, shown)
    raw += sum(p.raw for p in _priced(account, ends))
    return account.foresee_sum(envelope, raw, standing.left(standing.images, draft.places))


def foreseen(
    account: Accounting, envelope: Envelope, state: AgentState, entries: Sequence[Entry]
) -> Breakdown:
    """The account of the prompt that ``build`` makes of ``state``, whose messages are ``entries``.
    ``account`` is a fork: nothing was measured of such a prompt."""
    part = compaction_part(state)
    pieces = _priced(account, head_messages(state, part))
    cut = part.get("cut")
    for msg, entry in zip(state.context, entries, strict=True):
        if entry.loop and msg.id == cut and not entry.parts[0].thinks:
            pieces += _stripped(account, msg)
            continue
        for own in entry.parts:
            pieces += own.pieces
    shown = any(e.tasks for e in entries)
    return account.foresee(envelope, pieces, _priced(account, tail_messages(state, part, shown)))


def _priced(account: Accounting, built: Sequence[Msg]) -> list[Piece]:
    labels: dict[str, str] = {}
    return [p for m in built for p in account.pricer.message(m, 0, labels)]


def _stripped(account: Accounting, msg: Msg) -> list[Piece]:
    """Of a reply whose front left with the thinking that its loop began with."""
    return [
        piece
        for number, step in enumerate(iterations(msg.content))
        for piece in _priced(account, from_iteration(msg, step, number, set(), True))
    ]
