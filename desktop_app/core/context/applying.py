"""Doing and undoing a compaction on a state: pure functions of the record, so that a replay of the
journal gives the live state and an undo the exact former prompt.

States and messages that go in are never changed; what differs is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Msg, ToolResultBlock
from desktop_app.core.state import AgentState

from .build import compaction_part, slipway
from .types import CompactionRecord


def record_body(record: CompactionRecord) -> dict[str, Any]:
    """The body of the journal's ``compaction`` record."""
    return {f.name: getattr(record, f.name) for f in fields(record)}


def record_from(body: dict[str, Any]) -> CompactionRecord:
    """A record from its body; fields of a newer version are left out."""
    known = {f.name for f in fields(CompactionRecord)}
    values = {k: v for k, v in body.items() if k in known}
    values["rejected"] = [(str(a), str(b)) for a, b in values.get("rejected", [])]
    return CompactionRecord(**values)


def with_part(state: AgentState, part: dict[str, Any] | None) -> dict[str, Any]:
    """``middle_context`` with our compaction part replaced."""
    ours = dict(slipway(state.middle_context))
    if part is None:
        ours.pop("compaction", None)
    else:
        ours["compaction"] = part
    return {**state.middle_context, "slipway": ours}


def apply(record: CompactionRecord, state: AgentState) -> AgentState:
    """The state after ``record``. ContextError ``compaction.mismatch`` when the messages that the
    record covers are not where it found them."""
    context = list(state.context)
    for place, name in zip(reversed(record.places), reversed(record.covered_ids), strict=True):
        if place >= len(context) or context[place].id != name:
            raise ContextError("compaction.mismatch", gen=record.gen)
        del context[place]
    for name, blocks in record.covered_blocks.items():
        at = _place(context, name, record.gen)
        if len(context[at].content) < len(blocks):
            raise ContextError("compaction.mismatch", gen=record.gen)
        left = context[at].content[len(blocks) :]
        context[at] = context[at].model_copy(update={"content": left})
    _replace_outputs(context, record.masks, record.gen, masked=True)
    return state.model_copy(
        update={
            "context": context,
            "summary": record.summary,
            "middle_context": with_part(state, record.ledger),
        }
    )


def _place(context: Sequence[Msg], name: str, gen: int) -> int:
    for at, msg in enumerate(context):
        if msg.id == name:
            return at
    raise ContextError("compaction.mismatch", gen=gen)


def undo(
    record: CompactionRecord, state: AgentState, left: Sequence[Msg] | None = None
) -> AgentState:
    """The state as if ``record`` had not happened, followed by what came since. ``left`` are the
    messages that left, when they are not in the record itself. Only the newest compaction can be
    undone: else ContextError ``compaction.not_newest``."""
    part = compaction_part(state)
    if part.get("gen") != record.gen:
        raise ContextError("compaction.not_newest", gen=record.gen, newest=part.get("gen", 0))
    if left is None:
        left = [Msg.model_validate(m) for m in record.undo["messages"]]
    context = list(state.context)
    _replace_outputs(context, record.undo["outputs"], record.gen, masked=False)
    whole = list(left)
    for name in record.covered_blocks:
        front = whole.pop()
        at = _place(context, name, record.gen)
        joined = [*front.content, *context[at].content]
        context[at] = context[at].model_copy(update={"content": joined})
    for place, msg in zip(record.places, whole, strict=True):
        context.insert(place, msg)
    former = cast(dict[str, Any], record.undo["former"])
    back = {
        **former["part"],
        "last": max(record.gen, int(part.get("last", 0))),
        "written": record.undo["written"],
        "held": record.trigger,
    }
    return state.model_copy(
        update={
            "context": context,
            "summary": AgentState.model_validate({"summary": former["summary"]}).summary,
            "middle_context": with_part(state, back),
        }
    )


def _replace_outputs(
    context: list[Msg], outputs: Sequence[dict[str, Any]], gen: int, *, masked: bool
) -> None:
    """Give results in ``context`` other outputs. Places count from the front of each message as it
    is after the compaction, which later blocks do not move."""
    for entry in outputs:
        at = _place(context, entry["message"], gen)
        content: list[Any] = list(context[at].content)
        block: Any = content[entry["block"]] if entry["block"] < len(content) else None
        if not isinstance(block, ToolResultBlock):
            raise ContextError("compaction.mismatch", gen=gen)
        if masked:
            ours = {**slipway(block.metadata), "masked": True}
            changed: dict[str, Any] = {
                "output": entry["text"],
                "metadata": {**block.metadata, "slipway": ours},
            }
            content[entry["block"]] = block.model_copy(update=changed)
        else:
            content[entry["block"]] = ToolResultBlock.model_validate(entry["former"])
        context[at] = context[at].model_copy(update={"content": content})
