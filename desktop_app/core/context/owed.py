"""Notes that are still owed: of ranges whose model failed while the window could not wait.

Such a compaction stands, by rules alone; its summary is frozen. What its messages say is in the
journal, so the next compaction whose model answers asks about them too, and the notes are added to
the new ledger as items of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from desktop_app.core.messages import Msg

from .types import CompactionRecord

MOST = 2  # ranges that one compaction asks about beside its own
TRIES = 3  # for one range: a model that never answers about it is not asked for ever


@dataclass(frozen=True, slots=True)
class Owed:
    """The range of compaction ``gen``; ``load`` reads what left with it."""

    gen: int
    load: Callable[[], Awaitable[list[Msg]]]


def name_of(gen: int) -> str:
    """How the notes on that range are called among what was rejected."""
    return f"notes of {gen}"


def lacks_notes(record: CompactionRecord) -> bool:
    """Whether a model was asked about what left, and did not answer for all of it."""
    return any(
        rule.startswith("compaction.") and (what == "summary" or what.startswith("part "))
        for what, rule in record.rejected
    )


def still_owed(records: Sequence[CompactionRecord]) -> list[int]:
    """The generations among ``records`` (those in force, oldest first) whose notes are missing and
    worth asking for, newest first."""
    filled = {gen for record in records for gen in record.filled}
    tried = [what for record in records for what, _ in record.rejected]
    return [
        record.gen
        for record in reversed(records)
        if lacks_notes(record)
        and record.covered_ids
        and record.gen not in filled
        and tried.count(name_of(record.gen)) < TRIES
    ]
