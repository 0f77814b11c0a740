"""Carrying what is whole of a session that can only be read into a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.base import Journal, NewRecord, Record

from .conversation import SessionConversation
from .foreign import ForeignConversation

CARRIED_BYTES = 64 << 20
_PAGE = 500
_KINDS = (
    "user.message",
    "model.request",
    "assistant.message",
    "tool.result",
    "approval.decided",
    "question.answered",
    "compaction",
    "compaction.undone",
    "compaction.measured",
    "compaction.failed",
    "compaction.held",
    "pin",
    "turn.finished",
    "permissions",
    "effort",
    "compaction.policy",
    "tasks",
    "state.replaced",
)


async def carry(
    source: SessionConversation | ForeignConversation,
    into: Journal,
    *,
    before: int | None = None,
    title: str = "",
) -> int:
    """Write the history of ``source`` into a new journal; how many records. What had no end there
    is ended, operations are not taken along: nothing of the old session can run again. Of a
    history of another program that is longer than ``CARRIED_BYTES`` the newest part is carried.
    ``before``: only what one of our journals holds before that record; where that is a compaction
    it is not done again by itself before the next mark. ``title``: what the new one is called,
    else as the old one until something better is found. Ours goes on with the model it had."""
    if isinstance(source, ForeignConversation):
        records = await _foreign(source)
    else:
        found = await source.log.journal.read(before=before, kinds=_KINDS)
        await _blobs(source.log.journal, into, found)
        records = [NewRecord(r.kind, r.body(), r.v, r.ignorable) for r in found]
    reply_id = _open_reply(records)
    if reply_id:
        reason = "completed" if isinstance(source, ForeignConversation) else "interrupted"
        body: dict[str, Any] = {"reply_id": reply_id, "reason": reason, "params": {}}
        records.append(NewRecord("turn.finished", body))
    if before is not None and await _is_compaction(source, before):
        records.append(NewRecord("compaction.held", {"trigger": "danger"}))
    if isinstance(source, SessionConversation) and (model := source.log.now.model):
        records.append(NewRecord("model", {"model": model}))
    if records and (title or source.title):
        by = "agent" if title else "text"
        records.append(NewRecord("title", {"title": (title or source.title)[:200], "by": by}))
    for at in range(0, len(records), _PAGE):
        await into.append(records[at : at + _PAGE])
    return len(records)


async def _is_compaction(source: Any, seq: int) -> bool:
    found = await source.log.journal.read(after=seq - 1, before=seq + 1)
    return bool(found) and found[0].kind == "compaction"


async def _blobs(source: Journal, into: Journal, records: Sequence[Record]) -> None:
    """What the carried compactions would be undone with, and the whole results. What is gone there
    stays gone."""
    for record in records:
        if record.kind not in ("compaction", "tool.result"):
            continue
        body = record.body()
        sha = body.get("undo_blob") or body.get("blob")
        if not sha:
            continue
        try:
            await into.put_blob(await source.get_blob(str(sha)))
        except SessionError as error:
            if error.code not in ("blob.missing", "blob.corrupt"):
                raise


async def _foreign(source: ForeignConversation) -> list[NewRecord]:
    import json

    records: list[NewRecord] = []
    size, before = 0, None
    while True:
        history = await source.history(before=before, limit=_PAGE)
        page = [e for e in history.entries if e.kind in _KINDS]
        size += sum(len(e.raw) for e in page)
        records[:0] = [NewRecord(e.kind, json.loads(e.raw)) for e in page]
        if history.at_start or not history.entries or size > CARRIED_BYTES:
            break
        before = history.entries[0].seq
    if not history.at_start:
        first = next((i for i, r in enumerate(records) if r.kind == "user.message"), 0)
        records = records[first:]
    return _rejoined(records)


def _rejoined(records: Sequence[NewRecord]) -> list[NewRecord]:
    """Results beside their calls: another program may have kept one behind the person's next
    message, where nothing would belong to it and the call would seem to have been interrupted."""
    groups: list[list[NewRecord]] = []
    waiting: dict[str, tuple[list[NewRecord], str, str]] = {}  # by the provider's id of the call
    known: set[str] = set()
    for record in records:
        body = record.body
        group = [record]
        if record.kind == "assistant.message":
            for block in body.get("blocks") or ():
                if block.get("type") == "tool_call":
                    known.add(str(block["op_id"]))
                    waiting[str(block["id"])] = (group, str(body["reply_id"]), str(block["op_id"]))
        elif record.kind == "tool.result":
            found = waiting.pop(str(body["block"]["id"]), None)
            if found is not None and body["op_id"] not in known:
                theirs, reply_id, op_id = found
                block = {**body["block"], "op_id": op_id}
                moved = {**body, "reply_id": reply_id, "op_id": op_id, "block": block}
                theirs.append(NewRecord(record.kind, moved))
                continue
        groups.append(group)
    return [record for group in groups for record in group]


def _open_reply(records: Sequence[NewRecord]) -> str:
    """The reply that has no end."""
    for record in reversed(records):
        if record.kind in ("turn.finished", "state.replaced"):
            return ""
        if record.kind in ("user.message", "model.request", "assistant.message"):
            return str(record.body.get("reply_id") or "")
    return ""
