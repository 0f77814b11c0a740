"""A session that another program left in a workspace: its history, to be read only.

What is known of it is ``sessions/<id>/context.jsonl``, the messages that left its context. They are
told in the records of our own journal, so that a transcript (and a new session made from it) needs
no second way of reading. Lines that are no message are told as ``history.damaged``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol

from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Breakdown, Choices, CompactionRecord, Limits
from desktop_app.core.errors import SessionError
from desktop_app.core.events import Event
from desktop_app.core.messages import AnyBlock, Msg, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.base import Effort
from desktop_app.core.sessions.base import NewRecord, SessionKey
from desktop_app.core.state import AgentState, Mode, PermissionContext
from desktop_app.core.tools.background import Command
from desktop_app.core.workspaces.history import ContextFile, Damage
from desktop_app.core.workspaces.history import History as Folded

from .base import Activity, Attachment, Branch, Decision, History, HistoryEntry, Pending
from .detail import CompactionDetail
from .offloads import Offload
from .policy import Policy
from .request_shapes import Answered, Request

FOLDED_BYTES = 32 << 20  # up to here repeats are folded; longer files are read as they stand
AGENT = "foreign:"  # then the workspace's id: where a session of another program is
_STRIDE = 1 << 16  # sequence numbers a line may take
_PAGE = 200


def foreign_key(user_id: str, workspace_id: str, session_id: str) -> SessionKey:
    """The key of another program's session, which belongs to one workspace."""
    return SessionKey(user_id, AGENT + workspace_id, session_id)


def workspace_of(key: SessionKey) -> str | None:
    """The workspace of another program's session; None for a session of ours."""
    return key.agent_id.removeprefix(AGENT) if key.agent_id.startswith(AGENT) else None


class Source(Protocol):
    """What is read: lines by number."""

    def __len__(self) -> int: ...

    async def page(self, first: int, count: int) -> Sequence[Msg | Damage]: ...


class FoldedSource:
    """A file that was read whole; what could not be read comes first."""

    def __init__(self, history: Folded) -> None:
        self._lines: list[Msg | Damage] = [*history.damaged, *history.messages]

    def __len__(self) -> int:
        return len(self._lines)

    async def page(self, first: int, count: int) -> Sequence[Msg | Damage]:
        return self._lines[first : first + count]


async def open_source(workspace: Any, session_id: str) -> Source:
    """The history of a session in ``workspace`` (a ``LocalWorkspace``). KeyError when there is
    none; WorkspaceError when it cannot be read."""
    file: ContextFile | None = await workspace.open_context(session_id)
    if file is None:
        raise KeyError(session_id)
    if file.starts[-1] > FOLDED_BYTES:
        return file
    return FoldedSource(await workspace.read_context(session_id))


class ForeignConversation:
    """Implements ``core.agent.base.Conversation`` for reading; everything else raises SessionError
    ``session.readonly``."""

    def __init__(self, key: SessionKey, source: Source) -> None:
        self._key = key
        self._source = source
        self._listeners: list[Callable[[Event], None]] = []
        self._state = AgentState(session_id=key.session_id)

    @property
    def key(self) -> SessionKey:
        return self._key

    @property
    def activity(self) -> Activity:
        return "idle"

    @property
    def asked(self) -> frozenset[str]:
        return frozenset()

    @property
    def title(self) -> str:
        return self._key.session_id

    @property
    def writable(self) -> bool:
        return False

    @property
    def why_readonly(self) -> tuple[str, dict[str, Any]] | None:
        return "session.foreign", {}

    @property
    def pending(self) -> Pending | None:
        return None

    @property
    def resumable(self) -> str | None:
        return None

    @property
    def requests(self) -> tuple[Request, ...]:
        return ()

    def answer_request(self, request_id: str, answer: Answered) -> None:
        raise SessionError("request.gone", id=request_id)

    @property
    def spent(self) -> None:
        return None

    @property
    def state(self) -> AgentState:
        return self._state

    @property
    def effort(self) -> None:
        return None

    @property
    def own_policy(self) -> None:
        return None

    def policy(self) -> Policy:
        return Policy()

    @property
    def permissions(self) -> PermissionContext:
        return self._state.permission_context

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def draft(self) -> str:
        return ""

    async def history(self, *, before: int | None = None, limit: int | None = None) -> History:
        """See ``Conversation.history``; a message is never cut, so a few more may come."""
        last = len(self._source)
        if before is not None:  # the numbers of line n (from 1) begin at n * _STRIDE
            last = min(last, max(0, (before - 1) // _STRIDE))
        entries: list[HistoryEntry] = []
        while last > 0 and (limit is None or len(entries) < limit):
            first = max(0, last - _PAGE) if limit is None else max(0, last - min(_PAGE, limit))
            lines = await self._source.page(first, last - first)
            made = await asyncio.to_thread(_entries, lines, first, before)
            entries[:0] = made
            last = first
        return History(entries, last == 0)

    async def breakdown(self) -> Breakdown:
        """Nothing: what is read here left another program's window."""
        return Breakdown(0, 0, 0, Limits(0, 0), {}, ())

    async def compactions(self) -> list[CompactionRecord]:
        return []

    def background(self) -> Sequence[Command]:
        return ()

    async def command_output(self, command_id: str) -> str:
        return ""

    async def compaction_log(self) -> list[CompactionRecord]:
        return []

    async def compaction_detail(self, compaction_id: str) -> CompactionDetail:
        raise SessionError("compaction.unknown", id=compaction_id)

    @property
    def drafted(self) -> Proposal | None:
        return None

    def cancel_draft(self) -> None:
        return

    # -- what cannot be done -------------------------------------------------------------------

    def _refuse(self) -> SessionError:
        return SessionError("session.readonly", why="session.foreign")

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[Event]:
        raise self._refuse()

    def decide(self, reply_id: str, decisions: Sequence[Decision]) -> AsyncIterator[Event]:
        raise self._refuse()

    def answer(self, reply_id: str, op_id: str, answer: dict[str, Any]) -> AsyncIterator[Event]:
        raise self._refuse()

    def interrupt(self, reply_id: str) -> AsyncIterator[Event]:
        raise self._refuse()

    def go_on(self) -> AsyncIterator[Event]:
        raise self._refuse()

    def compact(self, *, notes: bool = True) -> AsyncIterator[Event]:
        raise self._refuse()

    async def stop_command(self, command_id: str) -> None:
        raise self._refuse()

    def compact_again(self, focus: str) -> AsyncIterator[Event]:
        raise self._refuse()

    async def propose_compaction(self, focus: str = "", choices: Choices | None = None) -> Proposal:
        raise self._refuse()

    async def accept_compaction(
        self, proposal: Proposal, choices: Choices | None = None
    ) -> CompactionRecord:
        raise self._refuse()

    async def undo_compaction(self) -> list[Event]:
        raise self._refuse()

    async def branch(self, message_id: str, *, after: bool = False) -> Branch:
        raise self._refuse()

    async def fork_before_compaction(self, compaction_id: str) -> SessionKey:
        raise self._refuse()

    async def pin(self, ref: str, pinned: bool = True) -> None:
        raise self._refuse()

    async def unpin(self, ref: str) -> None:
        raise self._refuse()

    async def whole_result(self, ref: str) -> str:
        raise self._refuse()

    async def offloads(self) -> list[Offload]:
        return []  # what its program offloaded is this history

    async def offload_content(self, offload_id: str) -> bytes:
        raise SessionError("offload.unknown", id=offload_id)

    async def offload_now(self, ref: str) -> CompactionRecord:
        raise self._refuse()

    async def drop_image(self, ref: str) -> CompactionRecord:
        raise self._refuse()

    async def set_mode(self, mode: Mode) -> None:
        raise self._refuse()

    async def set_model(self, model_id: str) -> None:
        raise self._refuse()

    async def set_effort(self, effort: Effort | None) -> None:
        raise self._refuse()

    async def set_policy(self, policy: Policy | None) -> None:
        raise self._refuse()

    async def set_tool(self, name: str, on: bool) -> None:
        raise self._refuse()

    async def recount(self) -> None:
        return

    async def set_title(self, title: str) -> None:
        raise self._refuse()

    async def add_rule(self, rule: dict[str, Any]) -> None:
        raise self._refuse()

    async def remove_rule(self, rule: dict[str, Any]) -> None:
        raise self._refuse()

    async def stop(self) -> None:
        return

    async def close(self) -> None:
        self._listeners.clear()


def _entries(lines: Sequence[Msg | Damage], first: int, before: int | None) -> list[HistoryEntry]:
    made: list[HistoryEntry] = []
    for n, line in enumerate(lines, first + 1):
        seq = n * _STRIDE
        if isinstance(line, Damage):
            body = {"line": line.line, "bytes": line.bytes}
            made.append(HistoryEntry(seq, "history.damaged", 0, json.dumps(body).encode()))
            continue
        ts_us = time_us(line.created_at)
        for k, record in enumerate(records_of(line)):
            if before is None or seq + k < before:
                raw = json.dumps(record.body, ensure_ascii=False).encode("utf-8", "replace")
                made.append(HistoryEntry(seq + k, record.kind, ts_us, raw))
    return made


def time_us(stamp: str | None) -> int:
    """AgentScope's naive local time as microseconds; 0 when there is none."""
    try:
        return int(datetime.fromisoformat(stamp).timestamp() * 1_000_000) if stamp else 0
    except (ValueError, OverflowError, OSError):
        return 0


def records_of(msg: Msg) -> list[NewRecord]:
    """A message as the records that a journal of ours would have of it."""
    if msg.role == "user":
        return [NewRecord("user.message", {"reply_id": msg.id, "msg": msg.model_dump()})]
    made: list[NewRecord] = []
    calls: dict[str, str] = {}  # the provider's id -> our operation id, newest call first
    for run in _runs(msg.content):
        if isinstance(run[0], ToolResultBlock):
            for block in run:
                assert isinstance(block, ToolResultBlock)
                op_id = calls.pop(block.id, f"{msg.id}:{block.id}")
                made.append(_result(msg.id, op_id, block))
            continue
        ops: list[str] = []
        for block in run:
            if isinstance(block, ToolCallBlock):
                calls[block.id] = f"{msg.id}:{len(made)}:{len(ops)}"
                ops.append(calls[block.id])
        body: dict[str, Any] = {
            "reply_id": msg.id,
            "name": msg.name,
            "blocks": _with_ops(run, ops),
            "finish": "interrupted" if msg.finished_reason == "interrupted" else "stop",
            "ops": ops,
        }
        made.append(NewRecord("assistant.message", body))
    return made


def _with_ops(run: Sequence[AnyBlock], ops: Sequence[str]) -> list[dict[str, Any]]:
    given = iter(ops)
    return [
        {**block.model_dump(), "op_id": next(given)}
        if isinstance(block, ToolCallBlock)
        else block.model_dump()
        for block in run
    ]


def _result(reply_id: str, op_id: str, block: ToolResultBlock) -> NewRecord:
    body = {**block.model_dump(), "op_id": op_id}
    return NewRecord(
        "tool.result", {"reply_id": reply_id, "op_id": op_id, "block": body, "seconds": 0}
    )


def _runs(blocks: Iterable[AnyBlock]) -> list[list[AnyBlock]]:
    """Neighbours of one kind together: results, or anything else."""
    runs: list[list[AnyBlock]] = []
    for block in blocks:
        result = isinstance(block, ToolResultBlock)
        if runs and isinstance(runs[-1][0], ToolResultBlock) == result:
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs
