"""One compaction of the log, looked at closely: what was there before, what stands there now.

The record is in the journal. What left, the preview's rows and the ledger's items lie beside it in
the blob that an undo needs.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from desktop_app.core.context.applying import record_from
from desktop_app.core.context.build import whole_summary
from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import CompactionRecord, LedgerItem, PreviewRow
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg, ToolResultBlock

from .log import SessionLog


@dataclass(frozen=True, slots=True)
class Masked:
    """A result or image that was replaced in place: ``former`` by ``text``."""

    ref: str
    label: str
    former: str
    text: str


@dataclass(frozen=True, slots=True)
class CompactionDetail:
    """``left`` are the messages (or their first blocks) that left, oldest first; ``summary_before``
    and ``summary_after`` what stood for the past; ``rows`` what became of each thing, as in the
    preview; ``items`` the ledger after it. All but ``record`` is empty for a failed one, and where
    the blob beside the journal is gone."""

    record: CompactionRecord
    left: tuple[Msg, ...] = ()
    masked: tuple[Masked, ...] = ()
    summary_before: str = ""
    summary_after: str = ""
    rows: tuple[PreviewRow, ...] = ()
    items: tuple[LedgerItem, ...] = ()


def beside(proposal: Proposal) -> dict[str, Any]:
    """What the blob keeps of a proposal for ``detail``."""
    return {
        "rows": [asdict(row) for row in proposal.rows],
        "items": [item.body() for item in proposal.items],
    }


async def detail(log: SessionLog, name: str) -> CompactionDetail:
    """The compaction with id ``name``. SessionError ``compaction.unknown`` when there is none, and
    what the journal raises."""
    entry = next((c for c in log.now.log if c.id == name), None)
    if entry is None:
        raise SessionError("compaction.unknown", id=name)
    if entry.status == "failed":
        return CompactionDetail(entry)
    [found] = await log.journal.read(after=entry.seq - 1, before=entry.seq + 1)
    body = found.body()
    record = replace(
        record_from(body),
        id=entry.id,
        seq=entry.seq,
        status=entry.status,
        measured=entry.measured,
    )
    try:
        blob = await log.journal.get_blob(str(body["undo_blob"]))
    except SessionError as error:
        if error.code not in ("blob.missing", "blob.corrupt"):
            raise
        return CompactionDetail(record, summary_after=record.summary)
    return await asyncio.to_thread(lambda: _detail(record, json.loads(blob)))  # it may be long


def _detail(record: CompactionRecord, blob: dict[str, Any]) -> CompactionDetail:
    aside = cast("dict[str, Any]", blob.get("detail") or {})
    former = cast("dict[str, Any]", blob["former"])
    return CompactionDetail(
        record,
        tuple(Msg.model_validate(m) for m in blob["messages"]),
        tuple(_masked(record, blob["outputs"])),
        _text(former["summary"]),
        _after(record),
        tuple(PreviewRow(**row) for row in aside.get("rows", ())),
        tuple(LedgerItem.of(item) for item in aside.get("items", ())),
    )


def _masked(record: CompactionRecord, outputs: list[dict[str, Any]]) -> list[Masked]:
    made: list[Masked] = []
    for mask, entry in zip(record.masks, outputs, strict=True):
        former = entry["former"]
        if former.get("type") == "tool_result":
            block = ToolResultBlock.model_validate(former)
            made.append(Masked(block.id, block.name, block.text(), mask["text"]))
        elif former.get("type") == "text":
            made.append(Masked(former["id"], "", str(former["text"]), mask["text"]))
        elif former.get("type") == "tool_call":
            named = str(former.get("name") or "")
            made.append(Masked(former["id"], named, str(former["input"]), mask["text"]))
        else:
            made.append(Masked(former["id"], str(former.get("name") or ""), "", mask["text"]))
    return made


def _text(summary: Any) -> str:
    if isinstance(summary, str):
        return summary
    return "\n\n".join(str(b.get("text", "")) for b in summary)


def _after(record: CompactionRecord) -> str:
    part = record.ledger
    return record.summary or whole_summary(part.get("pinned", ""), part.get("history", ""))
