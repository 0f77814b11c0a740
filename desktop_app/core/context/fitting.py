"""Whether a proposal that was made on an earlier state may still be done on the present one.

A conversation grows at its end, and ``applying.apply`` counts from the front: what came since does
not disturb a proposal. Everything else does: a compaction or an undo in between, a pin on something
that would leave, another state altogether.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from desktop_app.core.messages import AnyBlock, Msg, ToolResultBlock
from desktop_app.core.state import AgentState

from .applying import apply, plain_summary
from .build import compaction_part, open_tasks, slipway, task_lines, whole_summary
from .iterations import iterations
from .ledger import ledger_from
from .ledger_text import render
from .reading import read_step
from .types import CompactionRecord


def still_fits(record: CompactionRecord, state: AgentState) -> bool:
    """Whether the state that ``record`` was made on is a prefix of ``state``."""
    undo = record.undo
    former = cast(dict[str, Any], undo["former"])
    if former["part"] != compaction_part(state) or former["summary"] != plain_summary(state):
        return False
    context = state.context
    gone = list(undo["messages"])
    front = gone.pop() if record.covered_blocks else None
    for place, left in zip(record.places, gone, strict=True):
        if place >= len(context) or not _same(context[place], left, len(left["content"])):
            return False
        if len(context[place].content) != len(left["content"]):
            return False
    found = {m.id: m for m in context}
    if front is not None:
        here = found.get(front["id"])
        if here is None or not _same(here, front, len(front["content"])):
            return False
    return all(_unmasked(found, entry, record) for entry in undo["outputs"])


def _same(here: Msg, left: dict[str, Any], blocks: int) -> bool:
    if here.id != left["id"] or slipway(here.metadata) != slipway(left["metadata"]):
        return False
    if len(here.content) < blocks:
        return False
    return all(
        block.id == was["id"] and _pinned(block) == _pinned(was)
        for block, was in zip(here.content[:blocks], left["content"], strict=True)
    )


def _pinned(block: AnyBlock | dict[str, Any]) -> bool:
    if isinstance(block, dict):
        metadata = cast("dict[str, Any]", block.get("metadata") or {})
    else:
        metadata = block.metadata if isinstance(block, ToolResultBlock) else {}
    return bool(slipway(metadata).get("pinned"))


def _unmasked(found: dict[str, Msg], entry: dict[str, Any], record: CompactionRecord) -> bool:
    msg = found.get(entry["message"])
    if msg is None:
        return False
    at = entry["block"] + len(record.covered_blocks.get(msg.id, ()))
    if at >= len(msg.content):
        return False
    block = cast(AnyBlock, msg.content[at])
    former = cast("dict[str, Any]", entry["former"])
    mine = block.metadata if isinstance(block, ToolResultBlock) else {}
    return block.id == former["id"] and slipway(mine) == slipway(former.get("metadata") or {})


def brought_up(record: CompactionRecord, state: AgentState, where: str) -> CompactionRecord:
    """``record`` with the tasks as they are now, and without a "latest request" that is not the
    latest any more. The same object when nothing of that changed."""
    if record.tier == 1:
        return record
    ledger = ledger_from(record.ledger)
    tasks = task_lines(open_tasks(state))
    gone = set(record.places)
    spoke = any(
        m.role == "user" and n not in gone and n > max(gone, default=-1)
        for n, m in enumerate(state.context)
    )
    latest = None if spoke else ledger.latest
    todo = list(ledger.todo)
    ledger.open_lists(
        (msg.id, read_step(msg, step))
        for msg in apply(record, state).context
        if msg.role == "assistant"
        for step in iterations(msg.content)
    )
    if (tasks, latest, todo) == (ledger.tasks, ledger.latest, ledger.todo):
        return record
    ledger.tasks, ledger.latest = tasks, latest
    render(ledger, where)
    summary = whole_summary(ledger.pinned, ledger.history)
    return replace(record, ledger=ledger.model_dump(), summary=summary, pending=len(tasks))
