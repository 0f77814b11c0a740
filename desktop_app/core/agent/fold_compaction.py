"""What the records of compactions, pins and side calls mean to the fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from desktop_app.core.context.applying import apply, failed_record, record_from, undo, with_part
from desktop_app.core.context.build import compaction_part
from desktop_app.core.context.pins import pin_left
from desktop_app.core.messages import ToolResultBlock

from .finding import find
from .folded import Folded


def add_cost(now: Folded, cost: Any) -> None:
    if isinstance(cost, int | float):
        now.cost = (now.cost or 0.0) + cost
        now.turn_cost = (now.turn_cost or 0.0) + cost


def _spent(now: Folded, body: dict[str, Any]) -> None:
    add_cost(now, body.get("cost"))


def _pin(now: Folded, body: dict[str, Any]) -> None:
    """Marks are beside the text: what was built of a live message stays as it is."""
    ref, pinned = str(body["ref"]), bool(body["pinned"])
    now.guards = now.guards.acted()
    found = find(now.state, ref)
    if found is None:
        text, who = str(body.get("text", "")), str(body.get("who", "user"))
        now.state = pin_left(now.state, ref, pinned, text=text, who=who)
        return
    msg, block = found
    holder = block if isinstance(block, ToolResultBlock) else msg
    ours: Any = holder.metadata.get("slipway")
    part: dict[str, Any] = {**ours} if isinstance(ours, dict) else {}  # pyright: ignore[reportUnknownArgumentType]
    part["pinned"] = pinned
    holder.metadata["slipway"] = part


def _compaction(now: Folded, body: dict[str, Any]) -> None:
    record = record_from(body)
    record = replace(record, seq=now.head, id=record.id or f"gen-{record.gen}")
    now.state = apply(record, now.state)
    now.anchored = False
    # What the log keeps of it is short; the whole record is in the journal.
    masks = [{"message": m["message"], "block": m["block"]} for m in record.masks]
    now.log.append(replace(record, ledger={}, masks=masks, undo={}))
    if not record.drafted:
        add_cost(now, record.cost)
    if upper := body.get("upper"):
        before, after, usable = map(int, upper)
        now.guards = now.guards.compacted(record.trigger, before, after, usable)
    if sha := body.get("undo_blob"):
        now.undo_blobs[record.gen] = str(sha)


def _at(now: Folded, gen: Any) -> int | None:
    """The place in the log of the newest compaction of that number that holds."""
    for at in range(len(now.log) - 1, -1, -1):
        if now.log[at].gen == int(gen) and now.log[at].status == "committed":
            return at
    return None


def _undone(now: Folded, body: dict[str, Any]) -> None:
    if (at := _at(now, body["gen"])) is not None:
        now.state = undo(replace(now.log[at], undo=body["undo"]), now.state)
        now.anchored = False
        now.undo_blobs.pop(int(body["gen"]), None)
        now.log[at] = replace(now.log[at], status="undone")
        now.guards = now.guards.acted()


def _measured(now: Folded, body: dict[str, Any]) -> None:
    if (at := _at(now, body["gen"])) is not None:
        now.log[at] = replace(now.log[at], measured=int(body["after"]))


def _held(now: Folded, body: dict[str, Any]) -> None:
    part = {**compaction_part(now.state), "held": str(body["trigger"])}
    now.state = now.state.model_copy(update={"middle_context": with_part(now.state, part)})


def _failed(now: Folded, body: dict[str, Any]) -> None:
    now.log.append(replace(failed_record(body), seq=now.head))
    if body["trigger"] != "manual" and "usable" in body:
        now.guards = now.guards.failed(int(body["upper"]), int(body["usable"]))


COMPACTION_HANDLERS: dict[str, Callable[[Folded, dict[str, Any]], None]] = {
    "compaction": _compaction,
    "compaction.undone": _undone,
    "compaction.measured": _measured,
    "compaction.failed": _failed,
    "compaction.held": _held,
    "spent": _spent,
    "pin": _pin,
}
