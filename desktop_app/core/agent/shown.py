"""The records that a window shows, read from a journal."""

from __future__ import annotations

from desktop_app.core.sessions.base import Journal, Record

from .base import History, HistoryEntry

SHOWN = (
    "user.message",
    "assistant.message",
    "tool.result",
    "approval.decided",
    "question.answered",
    "request.answered",
    "compaction",
    "compaction.undone",
    "turn.finished",
    "recovered",
)


async def history_of(
    journal: Journal, *, before: int | None = None, limit: int | None = None
) -> History:
    """The newest ``limit`` records that a window shows, before record ``before``."""
    records = await journal.read(before=before, limit=limit, newest_first=True, kinds=SHOWN)
    entries = [entry_of(r) for r in reversed(records)]
    return History(entries, limit is None or len(records) < limit)


def entry_of(record: Record) -> HistoryEntry:
    return HistoryEntry(record.seq, record.kind, record.ts_us, record.raw)
