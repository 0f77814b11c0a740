"""Carrying what is whole of a session that can only be read into a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop_app.core.sessions.base import Journal, NewRecord

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
    "turn.finished",
    "permissions",
    "tasks",
    "state.replaced",
)


async def carry(source: SessionConversation | ForeignConversation, into: Journal) -> int:
    """Write the history of ``source`` into a new journal; how many records. What had no end there
    is ended, operations are not taken along: nothing of the old session can run again. Of a
    history of another program that is longer than ``CARRIED_BYTES`` the newest part is carried."""
    if isinstance(source, ForeignConversation):
        records = await _foreign(source)
    else:
        found = await source.log.journal.read(kinds=_KINDS)
        records = [NewRecord(r.kind, r.body(), r.v, r.ignorable) for r in found]
    reply_id = _open_reply(records)
    if reply_id:
        reason = "completed" if isinstance(source, ForeignConversation) else "interrupted"
        body: dict[str, Any] = {"reply_id": reply_id, "reason": reason, "params": {}}
        records.append(NewRecord("turn.finished", body))
    if records and source.title:
        records.append(NewRecord("title", {"title": source.title[:200], "by": "text"}))
    for at in range(0, len(records), _PAGE):
        await into.append(records[at : at + _PAGE])
    return len(records)


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
    return records


def _open_reply(records: Sequence[NewRecord]) -> str:
    """The reply that has no end."""
    for record in reversed(records):
        if record.kind in ("turn.finished", "state.replaced"):
            return ""
        if record.kind in ("user.message", "model.request", "assistant.message"):
            return str(record.body.get("reply_id") or "")
    return ""
