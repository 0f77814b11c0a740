"""Picking up after a process that ended without a word.

Runs once, right after a session's journal was opened for writing, and is idempotent: killed in its
middle, it does the same again. The open reply stays open, so that "continue" goes on with the same
reply: calls that never started are planned anew, calls that only read run again under the same
operation id, and calls that may have changed something get an answer that says so. What of them
still runs is ended first.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import SlipwayError
from desktop_app.core.messages import Msg
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.workspaces.backend import Backend

from .execute import result_block
from .finding import op_of
from .log import SessionLog

logger = logging.getLogger(__name__)

UNKNOWN_OUTCOME = (
    "<system-reminder>The program ended while this call ran, so its outcome is unknown: it may "
    "have been done in full, in part or not at all. What still ran of it was ended. Look before "
    "you do it again, and tell the person.</system-reminder>"
)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found: the reply that can be continued, and each operation's fate: ``again``
    (reads), ``not_started`` or ``unknown``."""

    reply_id: str | None
    operations: tuple[tuple[str, str, str], ...] = ()  # op id, tool, fate
    text_kept: int = 0  # characters of a streamed answer that were kept


async def end_left(log: SessionLog, backend: Backend) -> int:
    """End what a program that died left running of the calls that it was doing: their processes
    carry the operation's id. How many processes there were. A machine's helper needs no such
    search: it ends what it started as soon as nobody holds its line."""
    marks = [op for call in log.now.calls() if (op := op_of(call)) not in log.now.waiting]
    if not marks or backend.kind != "local":
        return 0
    try:
        return await backend.end_marked(marks)
    except SlipwayError as error:
        logger.warning("processes of a dead program were not looked for: %s", error)
        return 0


async def recover(log: SessionLog) -> Recovered:
    """Bring an opened session to rest; journals what it decides."""
    now = log.now
    draft = await log.journal.draft()
    records: list[NewRecord] = []
    ops: list[OpUpdate] = []
    fates: list[tuple[str, str, str]] = []
    kept = 0
    if draft and now.open_reply is not None:
        record, kept = _draft_record(draft, now.open_reply, _agent_name(log))
        if record is not None:
            records.append(record)
    known = {o.op_id: o for o in await log.journal.operations("planned", "approved", "intent")}
    for call in now.calls():
        op_id = op_of(call)
        if op_id in now.waiting:
            continue  # still asked, under the same operation id; never granted by a restart
        op = known.get(op_id)
        if op is None or op.state != "intent":
            fates.append((op_id, call.name, "not_started"))
        elif op.effect in ("read", "idempotent"):
            fates.append((op_id, call.name, "again"))
            ops.append(
                OpUpdate(
                    op_id, "approved", call.name, call.id, op.effect, op.args_sha, op.attempt + 1
                )
            )
        else:
            fates.append((op_id, call.name, "unknown"))
            block = result_block(call, UNKNOWN_OUTCOME, "error")
            block.metadata["slipway"] |= {"code": "tool.outcome_unknown"}
            records.append(
                NewRecord(
                    "tool.result",
                    {
                        "reply_id": now.open_reply,
                        "op_id": op_id,
                        "block": block.model_dump(),
                        "seconds": 0,
                    },
                )
            )
            ops.append(OpUpdate(op_id, "unknown", call.name, call.id, op.effect, op.args_sha))
    interrupted = now.open_reply is not None and not now.waiting
    if records or ops:
        body: dict[str, Any] = {
            "reply_id": now.open_reply,
            "ops": [{"op_id": o, "tool": t, "outcome": f} for o, t, f in fates],
            "text": kept,
        }
        await log.append(*records, NewRecord("recovered", body), ops=ops)
    return Recovered(now.open_reply if interrupted else None, tuple(fates), kept)


def _agent_name(log: SessionLog) -> str:
    return str(log.now.config.get("agent_name") or "assistant")


def _draft_record(draft: bytes, reply_id: str, name: str) -> tuple[NewRecord | None, int]:
    """The streamed text of the dead process as an assistant message that was cut."""
    try:
        body = json.loads(draft)
        msg = Msg.model_validate({"name": name, "role": "assistant", "content": body["blocks"]})
    except (ValueError, KeyError, TypeError):
        return None, 0
    if body.get("reply_id") != reply_id or not msg.content:
        return None, 0
    return (
        NewRecord(
            "assistant.message",
            {
                "reply_id": reply_id,
                "name": name,
                "blocks": [b.model_dump() for b in msg.content],
                "usage": None,
                "finish": "interrupted",
                "seconds": 0,
                "ops": [],
            },
        ),
        len(msg.text()),
    )
