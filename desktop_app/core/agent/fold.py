"""Folding a journal: records in, the live state out.

The one place that gives records their meaning. The loop applies each record to the same ``Folded``
right after the journal took it, so that replaying a journal and having lived through it give the
same state, field for field (invariant 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from desktop_app.core.context.build import slipway
from desktop_app.core.context.figures import HISTORY
from desktop_app.core.messages import (
    BLOCKS,
    AnyBlock,
    Msg,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from desktop_app.core.sessions.base import NewRecord, Record
from desktop_app.core.state import AgentState, PermissionContext, Task, TasksContext
from desktop_app.core.tools.background import Command, Ending

from .finding import op_of
from .fold_compaction import COMPACTION_HANDLERS, add_cost
from .folded import Folded, Waiting


def append_blocks(
    state: AgentState, reply_id: str, name: str, blocks: Iterable[AnyBlock], usage: Usage | None
) -> Msg:
    """Add blocks to the reply's assistant message at the tail, as AgentScope does."""
    made = list(blocks)
    tail = state.context[-1] if state.context else None
    if tail is None or tail.role != "assistant" or tail.id != reply_id:
        # Its time is its first block's, so that a replay makes the same message.
        at = made[0].created_at if made else None
        tail = Msg(name=name, role="assistant", id=reply_id, created_at=at)
        state.context.append(tail)
    tail.content.extend(made)
    if usage is not None:
        tail.usage = usage
    return tail


class Folder:
    """Applies records one by one to a ``Folded``."""

    def __init__(self, session_id: str) -> None:
        self.now = Folded(AgentState(session_id=session_id))
        self.changes = 0  # of ``now``: what is foreseen changes it while its head stays

    def replay(self, records: Iterable[Record]) -> Folded:
        for record in records:
            self.apply(record)
        return self.now

    def apply(self, record: Record, new: NewRecord | None = None) -> None:
        """Apply one record; an unknown kind changes nothing but the head. ``new`` is what the
        record was written from, where nobody else holds it and JSON gives back the same."""
        self.changes += 1
        self.now.head = record.seq
        handler = _HANDLERS.get(record.kind)
        if handler is not None:
            handler(self.now, record.body() if new is None else _body_of(new))
        self.now.last_us = record.ts_us

    def foresee(self, new: NewRecord) -> None:
        """Apply a record that is still to be written; ``reached`` follows when it was."""
        self.changes += 1
        _HANDLERS[new.kind](self.now, _body_of(new))

    def reached(self, record: Record) -> None:
        """A record that was foreseen is in the journal."""
        self.now.head, self.now.last_us = record.seq, record.ts_us


def _body_of(new: NewRecord) -> dict[str, Any]:
    """What a handler is given: what validates to itself stands for what was dumped from it."""
    return {**new.body, **new.made_of} if new.made_of else new.body


def fold(records: Iterable[Record], session_id: str = "") -> AgentState:
    """The AgentState of a journal, for ``StorageBase`` and for export."""
    return Folder(session_id).replay(records).state


def _created(now: Folded, body: dict[str, Any]) -> None:
    now.config = body
    now.model = str(body.get("model") or "")
    now.title = str(body.get("title") or "")
    now.titled_by = "person" if now.title else ""
    if session_id := body.get("session_id"):
        now.state.session_id = str(session_id)
    if mode := body.get("mode"):
        now.state.permission_context.mode = mode


def _user(now: Folded, body: dict[str, Any]) -> None:
    msg = Msg.model_validate(body["msg"])
    now.state.context.append(msg)
    now.open_reply = str(body["reply_id"])
    now.state.reply_context.reply_id = now.open_reply
    now.state.reply_context.cur_iter = 0
    now.turns += 1
    now.turn_cost = None


def _request(now: Folded, body: dict[str, Any]) -> None:
    now.open_reply = str(body["reply_id"])
    now.state.reply_context.reply_id = now.open_reply
    now.state.reply_context.cur_iter = int(body["iteration"])
    now.model = str(body.get("model") or now.model)
    now.guards = now.guards.called()


def _assistant(now: Folded, body: dict[str, Any]) -> None:
    usage = body.get("usage")
    add_cost(now, body.get("cost"))
    append_blocks(
        now.state,
        str(body["reply_id"]),
        str(body.get("name") or "assistant"),
        BLOCKS.validate_python(body["blocks"]),
        Usage.model_validate(usage) if usage else None,
    )
    _commands_told(now, body)
    if counted := body.get("counted"):
        now.counts = [*now.counts[1 - HISTORY :], counted]
        now.anchored = True


def _find_call(now: Folded, op_id: str) -> ToolCallBlock | None:
    for msg in reversed(now.state.context):
        for block in reversed(msg.content):
            if isinstance(block, ToolCallBlock) and op_of(block) == op_id:
                return block
    return None


def _replace_block(now: Folded, old: ToolCallBlock, new: ToolCallBlock) -> None:
    """Put a block in the place of another: what was built from the old one is built anew."""
    for msg in reversed(now.state.context):
        for i, block in enumerate(msg.content):
            if block is old:
                msg.content[i] = new
                return


def _asked(now: Folded, body: dict[str, Any]) -> None:
    op_id, reply_id = str(body["op_id"]), str(body["reply_id"])
    now.waiting[op_id] = Waiting(op_id, reply_id, approval=body["approval"])
    if (call := _find_call(now, op_id)) is not None:
        call.state = "asking"


def _question(now: Folded, body: dict[str, Any]) -> None:
    op_id, reply_id = str(body["op_id"]), str(body["reply_id"])
    now.waiting[op_id] = Waiting(op_id, reply_id, questions=body["questions"])
    if (call := _find_call(now, op_id)) is not None:
        call.state = "submitted"


def _decided(now: Folded, body: dict[str, Any]) -> None:
    op_id = str(body["op_id"])
    now.waiting.pop(op_id, None)
    now.decided[op_id] = bool(body["allowed"])
    if (call := _find_call(now, op_id)) is not None and body["allowed"]:
        call.state = "allowed"
        if (changed := body.get("arguments")) is not None:
            _replace_block(now, call, call.model_copy(update={"input": str(changed)}))


def _result(now: Folded, body: dict[str, Any]) -> None:
    op_id = str(body["op_id"])
    block = ToolResultBlock.model_validate(body["block"])
    append_blocks(now.state, str(body["reply_id"]), str(body.get("name") or ""), [block], None)
    now.waiting.pop(op_id, None)
    now.decided.pop(op_id, None)
    if (call := _find_call(now, op_id)) is not None:
        call.state = "finished"
    read: dict[str, str] = body.get("read") or {}
    now.files.update(read)
    if (groups := body.get("groups")) is not None:
        now.state.tool_context.activated_groups = [str(name) for name in groups]
    _commands_told(now, body)


def _command_started(now: Folded, body: dict[str, Any]) -> None:
    names = ("id", "op_id", "command", "started_us", "mark", "path", "at")
    now.commands[str(body["id"])] = Command(**{name: body[name] for name in names})


def _command_ended(now: Folded, body: dict[str, Any]) -> None:
    if (command := now.commands.get(str(body["id"]))) is not None:
        names = ("why", "code", "seconds", "bytes", "error")
        command.ended = Ending(**{name: body[name] for name in names})


def _commands_told(now: Folded, body: dict[str, Any]) -> None:
    """How far the model has read each command, and whether it knows of its end."""
    known: dict[str, dict[str, Any]] = body.get("commands") or {}
    for command_id, seen in known.items():
        if (command := now.commands.get(command_id)) is not None:
            command.read_to = max(command.read_to, int(seen.get("read_to") or 0))
            command.told = command.told or bool(seen.get("told"))


def _finished(now: Folded, body: dict[str, Any]) -> None:
    reply_id = str(body["reply_id"])
    for msg in reversed(now.state.context):
        if msg.role == "assistant" and msg.id == reply_id:
            msg.finished_reason = body["reason"]
            msg.finished_at = body.get("at")
            break
    now.open_reply = None
    now.waiting.clear()
    now.decided.clear()


def _permissions(now: Folded, body: dict[str, Any]) -> None:
    now.state.permission_context = PermissionContext.model_validate(body["permission_context"])


def _tasks(now: Folded, body: dict[str, Any]) -> None:
    now.state.tasks_context = TasksContext(tasks=[Task.model_validate(t) for t in body["tasks"]])


def _title(now: Folded, body: dict[str, Any]) -> None:
    by = str(body.get("by") or "agent")
    if by == "person" or now.titled_by != "person":
        now.title, now.titled_by = str(body["title"]), by


def _replaced(now: Folded, body: dict[str, Any]) -> None:
    session_id = now.state.session_id
    now.state = AgentState.model_validate(body["state"])
    now.anchored = False
    now.state.session_id = now.state.session_id or session_id
    now.open_reply = None
    now.waiting.clear()


def _recovered(now: Folded, body: dict[str, Any]) -> None:
    for op in body.get("ops") or ():
        if op.get("outcome") == "again":
            op_id = str(op["op_id"])
            now.attempts[op_id] = now.attempts.get(op_id, 1) + 1


def _request_answered(now: Folded, body: dict[str, Any]) -> None:
    """A model that answered a server costs as any call does."""
    add_cost(now, body.get("cost"))


def _model(now: Folded, body: dict[str, Any]) -> None:
    now.model = str(body["model"])
    now.guards = now.guards.acted()


def _effort(now: Folded, body: dict[str, Any]) -> None:
    now.effort = str(body["effort"])


def _policy(now: Folded, body: dict[str, Any]) -> None:
    now.policy = body["policy"]


def _tools_off(now: Folded, body: dict[str, Any]) -> None:
    ours = {**slipway(now.state.middle_context), "tools_off": list(body["off"])}
    now.state.middle_context = {**now.state.middle_context, "slipway": ours}


_HANDLERS: dict[str, Callable[[Folded, dict[str, Any]], None]] = {
    **COMPACTION_HANDLERS,
    "session.created": _created,
    "user.message": _user,
    "model.request": _request,
    "assistant.message": _assistant,
    "approval.asked": _asked,
    "question.asked": _question,
    "approval.decided": _decided,
    "tool.result": _result,
    "request.answered": _request_answered,
    "turn.finished": _finished,
    "permissions": _permissions,
    "tasks": _tasks,
    "command.started": _command_started,
    "command.ended": _command_ended,
    "title": _title,
    "model": _model,
    "effort": _effort,
    "compaction.policy": _policy,
    "recovered": _recovered,
    "state.replaced": _replaced,
    "tools.off": _tools_off,
}
