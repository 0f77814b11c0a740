"""What of a planned compaction goes to the session's ``context.jsonl``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop_app.core.asleep import with_blocks
from desktop_app.core.messages import Msg

from .draft import Draft


def offload(draft: Draft) -> Draft:
    """``draft`` with what goes to ``context.jsonl``: everything up to the last block that leaves or
    is masked and is not there yet, so that the file holds the messages in their order even where
    a request stays live behind what it led to."""
    context = draft.state.context
    start = _place(context, draft.ledger.written)
    last = draft.places[-1:]  # of those that leave whole
    ends = [(p, len(context[p].content)) for p in last]
    if draft.front is not None:
        ends.append((draft.front, draft.front_blocks))
    ends += [(m.message, m.block + 1) for m in draft.masks]
    end = max([start, *ends])
    newest = len(context) - 1
    for place in dict.fromkeys((start[0], end[0])) if context else ():
        msg = context[place]
        first = start[1] if place == start[0] else 0
        last = end[1] if place == end[0] else len(msg.content)
        if (first, last) == (0, len(msg.content)) and place < newest and last:
            draft.offloaded.append(msg)
        elif first < last:
            content = msg.content[first:last]  # a copy: the message itself may go on growing
            draft.offloaded.append(msg.model_copy(update={"content": content}))
        if place == start[0]:
            draft.offloaded += with_blocks(context[place + 1 : end[0]])
    draft.written = [context[end[0]].id, end[1]] if end[0] < len(context) else None
    draft.ledger.written = _carried(draft, end)
    return draft


def _carried(draft: Draft, end: tuple[int, int]) -> list[Any] | None:
    """The end of the offload in terms of the state after the compaction."""
    gone = draft.gone
    context = draft.state.context
    for place in range(end[0], len(context)):
        if place not in gone:
            blocks = end[1] - draft.gone_from(place) if place == end[0] else 0
            return [context[place].id, max(0, blocks)]
    return None


def _place(context: Sequence[Msg], written: list[Any] | None) -> tuple[int, int]:
    if written:
        for place, msg in enumerate(context):
            if msg.id == written[0]:
                return place, min(int(written[1]), len(msg.content))
    return 0, 0
