"""Doing and undoing a compaction on a state: pure functions of the record, so that a replay of the
journal gives the live state and an undo the exact former prompt.

States and messages that go in are never changed; what differs is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

from desktop_app.core.errors import ContextError
from desktop_app.core.messages import (
    AnyBlock,
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.state import AgentState

from .build import compaction_part, slipway
from .types import CompactionRecord


def record_body(record: CompactionRecord) -> dict[str, Any]:
    """The body of the journal's ``compaction`` record."""
    body = {f.name: getattr(record, f.name) for f in fields(record)}
    return {**body, "ledger": dict(record.ledger), "undo": dict(record.undo)}


def record_from(body: dict[str, Any]) -> CompactionRecord:
    """A record from its body; fields of a newer version are left out."""
    known = {f.name for f in fields(CompactionRecord)}
    values = {k: v for k, v in body.items() if k in known}
    values["rejected"] = [(str(a), str(b)) for a, b in values.get("rejected", [])]
    return CompactionRecord(**values)


def failed_record(body: dict[str, Any]) -> CompactionRecord:
    """The log's entry of a ``compaction.failed`` record."""
    return CompactionRecord(
        gen=0,
        trigger=body["trigger"],
        summary="",
        covered_ids=[],
        covered_blocks={},
        kept_ids=[],
        before=int(body.get("before", 0)),
        after=int(body.get("before", 0)),
        limits={},
        summariser=None,
        seconds=float(body.get("seconds", 0.0)),
        ts_us=int(body.get("ts_us", 0)),
        status="failed",
        id=str(body.get("id", "")),
        code=str(body["code"]),
        params=dict(body.get("params") or {}),
    )


def plain_summary(state: AgentState) -> Any:
    """The state's summary as JSON has it."""
    if isinstance(state.summary, str):
        return state.summary
    return [b.model_dump() for b in state.summary]


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
    gone = set(record.places)
    for place, name in zip(record.places, record.covered_ids, strict=True):
        if place >= len(context) or context[place].id != name:
            raise ContextError("compaction.mismatch", gen=record.gen)
    if gone:
        context = [m for n, m in enumerate(context) if n not in gone]
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
            "middle_context": with_part(state, dict(record.ledger)),
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
    """Give results in ``context`` other outputs, calls other arguments, images a text in their
    place. Places count from the front of each message as it is after the compaction, which later
    blocks do not move."""
    for entry in outputs:
        at = _place(context, entry["message"], gen)
        content: list[Any] = list(context[at].content)
        block: Any = content[entry["block"]] if entry["block"] < len(content) else None
        if masked:
            new = _masked(block, entry)
        else:
            former = cast("dict[str, Any]", entry["former"])
            kind = _KINDS.get(former.get("type", ""), ToolResultBlock)
            same = block is not None and block.id == former["id"]
            new = kind.model_validate(former) if same else None
        if new is None:
            raise ContextError("compaction.mismatch", gen=gen)
        content[entry["block"]] = new
        context[at] = context[at].model_copy(update={"content": content})


_KINDS: dict[str, type[DataBlock | ToolCallBlock | TextBlock]] = {
    "data": DataBlock,
    "tool_call": ToolCallBlock,
    "text": TextBlock,
}


def _masked(block: Any, entry: dict[str, Any]) -> Any:
    """The block with the mask in place; None where there is nothing that it fits."""
    text = entry["text"]
    if isinstance(block, DataBlock):
        at = block.created_at
        return TextBlock(id=block.id, text=text, created_at=at, finished_at=at)
    if isinstance(block, ToolCallBlock):
        return block.model_copy(update={"input": text})
    if isinstance(block, TextBlock):
        return block.model_copy(update={"text": text})
    if not isinstance(block, ToolResultBlock):
        return None
    if not (inner := entry.get("inner")):
        ours = {**slipway(block.metadata), "masked": True}
        changed = {"output": text, "metadata": {**block.metadata, "slipway": ours}}
        return block.model_copy(update=changed)
    if isinstance(block.output, str) or max(inner) >= len(block.output):
        return None
    parts: list[Any] = [p for n, p in enumerate(block.output) if n not in inner]
    at, first = block.created_at, cast(AnyBlock, block.output[inner[0]])
    parts.append(TextBlock(id=first.id, text=f"\n{text}", created_at=at, finished_at=at))
    return block.model_copy(update={"output": parts})
