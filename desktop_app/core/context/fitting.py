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
from .ledger import ledger_from
from .ledger_text import render
from .reading import list_changes
from .types import CompactionRecord
from .way_back import WayBack


def still_fits(record: CompactionRecord, state: AgentState) -> bool:
    """Whether the state that ``record`` was made on is a prefix of ``state``."""
    undo = record.undo
    former = cast(dict[str, Any], undo["former"])
    if former["part"] != compaction_part(state) or former["summary"] != plain_summary(state):
        return False
    context, back = state.context, WayBack.of(undo)
    for number, place in enumerate(record.places):
        if place >= len(context) or not back.still(number, context[place], whole=True):
            return False
    found = {m.id: m for m in context}
    for name in record.covered_blocks:
        here = found.get(name)
        if here is None or not back.still(len(record.places), here, whole=False):
            return False
    return all(_unmasked(found, entry, record) for entry in undo["outputs"])


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
    part = record.ledger
    tasks = task_lines(open_tasks(state))
    last = max(record.places, default=-1)
    spoke = any(m.role == "user" for m in state.context[last + 1 :])
    latest = None if spoke else part.get("latest")
    lists = ledger_from({"lists": part.get("lists", [])})  # all of it may be long
    live = apply(record, state).context
    lists.open_lists(c for m in live if m.role == "assistant" for c in list_changes(m))
    if (tasks, latest, lists.todo) == (
        part.get("tasks", []),
        part.get("latest"),
        part.get("todo", []),
    ):
        return record
    ledger = ledger_from(part)
    ledger.tasks, ledger.latest, ledger.todo = tasks, latest, lists.todo
    render(ledger, where)
    summary = whole_summary(ledger.pinned, ledger.history)
    return replace(record, ledger=ledger.body(), summary=summary, pending=len(tasks))
