"""Running planned calls durably: intent, work, result, each in the journal before the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from desktop_app.core import events as ev
from desktop_app.core.context.ingest import Allowance
from desktop_app.core.ids import new_id, now_iso
from desktop_app.core.messages import (
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)
from desktop_app.core.sessions.base import NewRecord, OpState, OpUpdate
from desktop_app.core.tools.base import ToolOutcome
from desktop_app.core.workspaces.outbox import Staged

from .engine import ContextEngine
from .finding import op_of
from .log import SessionLog
from .toolbox import Planned, Toolbox

logger = logging.getLogger(__name__)


Stage = Callable[[str, bytes], Awaitable[Staged]]
"""Keeps a whole result (call id, bytes) and says where the workspace will have it."""


class Executor:
    """Runs batches of planned calls of one session."""

    def __init__(
        self,
        log: SessionLog,
        toolbox: Toolbox,
        engine: ContextEngine,
        stage: Stage,
        emit: Callable[[ev.Event], None],
        tasks: Callable[[], list[dict[str, Any]]],
    ) -> None:
        self.log = log
        self.toolbox = toolbox
        self.engine = engine
        self._stage = stage
        self.emit = emit
        self._tasks = tasks
        self._commit = asyncio.Lock()
        self._started: set[str] = set()  # of the newest batch

    def op(self, plan: Planned, state: OpState) -> OpUpdate:
        attempt = self.log.now.attempts.get(plan.op_id, 1)
        call = plan.call
        return OpUpdate(plan.op_id, state, call.name, call.id, plan.effect, plan.args_sha, attempt)

    def _ended(self, plan: Planned, state: OpState) -> list[OpUpdate]:
        """How the operation ended. One whose beginning is in no journal, and that a restart never
        met, is not among the operations: its result says all there is to know of it."""
        if self.toolbox.harmless(plan) and plan.op_id not in self.log.now.attempts:
            return []
        return [self.op(plan, state)]

    async def run(
        self, reply_id: str, batch: Sequence[Planned], allowance: Allowance | None = None
    ) -> None:
        """Run a batch together. ``allowance`` is what the results of the step may bring, where it
        is not this batch alone. A cancellation leaves the results that are there."""
        live = [p for p in batch if p.outcome is None]
        if intents := [self.op(p, "intent") for p in live if not self.toolbox.harmless(p)]:
            # One commit for the batch's intents, synced before any tool body starts.
            await self.log.append(ops=intents, draft=None)
        self._started = {p.op_id for p in live}
        for plan in batch:
            if plan.by != "person" and plan.outcome is None:
                self.emit(ev.ApprovalDecided(reply_id, plan.op_id, True, plan.by))
            self.emit(ev.ToolStarted(reply_id, plan.op_id))
        budget = allowance or self.engine.allowance(len(batch))
        if len(batch) == 1:
            await self._one(reply_id, batch[0], budget)
            return
        async with asyncio.TaskGroup() as group:
            for plan in batch:
                group.create_task(self._one(reply_id, plan, budget), name=f"tool {plan.op_id}")

    async def _one(self, reply_id: str, plan: Planned, budget: Allowance) -> None:
        before = None if self.toolbox.harmless(plan) else self._tasks()  # a reader changes none
        outcome, seconds = await self.toolbox.run(plan)
        await self.finish(reply_id, plan, outcome, seconds, budget, before)

    async def finish(
        self,
        reply_id: str,
        plan: Planned,
        outcome: ToolOutcome,
        seconds: float,
        budget: Allowance,
        before: list[dict[str, Any]] | None = None,
    ) -> None:
        """Bound the result, journal it with its operation, tell the world."""
        bounded = await self.engine.bound(outcome.text, budget)
        whole = outcome.raw
        records: list[NewRecord] = []
        path: str | None = None
        blob = ""
        text = bounded.text
        size = len(outcome.text)
        async with self._commit:
            if bounded.cut or whole is not None:
                data = whole if whole is not None else outcome.text.encode("utf-8", "replace")
                size = len(data)
                staged = await self._stage(plan.call.id, data)
                path, blob = staged.path, staged.blob
                records.extend(staged.records)
                text += _whole_note(staged, size, plan.op_id)
            block = self._block(plan, outcome, text, path, size)
            told = ours(block)  # as JSON gives it back
            body: dict[str, Any] = {
                "reply_id": reply_id,
                "op_id": plan.op_id,
                "block": block.model_dump(),
                "seconds": round(seconds, 3),
                "offload": path,
                "whole_bytes": size,
                "blob": blob,
                **_told(told),
            }
            records.append(NewRecord("tool.result", body, made_of={"block": block}))
            after = self._tasks() if before is not None else None
            if after is not None and after != before:
                records.append(NewRecord("tasks", {"tasks": after}))
            done: OpState = "done" if outcome.state == "success" else "failed"
            if outcome.state in ("interrupted", "denied"):
                done = "cancelled"
            elif told.get("unknown"):
                done = "unknown"
            ended = ev.ToolFinished(reply_id, plan.op_id, outcome.state, block, seconds, path, size)
            waits = len(records) == 1 and self._may_wait(plan)
            if waits and self.log.hold(records[0], self._ended(plan, done)):
                self.emit(ended)
                return
            await self.log.append(*records, ops=self._ended(plan, done), keep=True)
        self.emit(ended)
        if path is not None:
            self.emit(ev.Offloaded("tool_result", path, 1, size, False))
        if after is not None and after != before:
            self.emit(ev.TasksChanged(after))

    def _may_wait(self, plan: Planned) -> bool:
        """Whether the result may go to disk with the record of the model call that it leads to:
        that of the step's last call, which a restart would simply make again, or of any while the
        answer that asked for them waits too."""
        return self.toolbox.harmless(plan) and (self.log.holding or len(self.log.now.calls()) == 1)

    def _block(
        self, plan: Planned, outcome: ToolOutcome, text: str, path: str | None, size: int
    ) -> ToolResultBlock:
        part = {**ours(outcome), "op_id": plan.op_id}
        if path is not None:
            part |= {"offload": path, "whole_bytes": size}
        return _result(
            plan.call,
            outcome.state,
            [_text(text), *outcome.data],
            plain({**outcome.metadata, "slipway": part}),
        )

    async def answer(self, reply_id: str, call: ToolCallBlock, outcome: ToolOutcome) -> None:
        """The result of a call that a person (or another program) answered."""
        plan = Planned(call, op_of(call), {}, "answered", "read", outcome, by="person")
        await self.finish(reply_id, plan, outcome, 0.0, self.engine.allowance(1))

    async def close_open(self, reply_id: str, state: str) -> None:
        """Give every open call of the reply a result that says why there is none."""
        calls = self.log.now.calls()
        if not calls:
            return
        records: list[NewRecord] = []
        ops: list[OpUpdate] = []
        events: list[ev.Event] = []
        known = {o.op_id: o for o in await self.log.journal.operations()}
        for call in calls:
            op_id = op_of(call)
            started = op_id in self._started
            if op_id in known:
                started = started or known[op_id].state == "intent"
            effect = known[op_id].effect if op_id in known else "read"
            text = open_text(started, effect)
            block = result_block(call, text, "interrupted")
            records.append(
                NewRecord(
                    "tool.result",
                    {
                        "reply_id": reply_id,
                        "op_id": op_id,
                        "block": block.model_dump(),
                        "seconds": 0,
                    },
                )
            )
            ops.append(OpUpdate(op_id, "cancelled", call.name, call.id, effect))
            events.append(ev.ToolFinished(reply_id, op_id, "interrupted", block, 0.0))
        await self.log.append(*records, ops=ops)
        for event in events:
            self.emit(event)


def _told(ours: dict[str, Any]) -> dict[str, Any]:
    """What a tool told beside its text that the fold needs."""
    read = ours.get("read")
    more = {name: ours[name] for name in ("groups", "commands") if ours.get(name) is not None}
    return {"read": read if isinstance(read, dict) else {}, **more}


def open_text(started: bool, effect: str) -> str:
    """What the model reads of a call without an outcome."""
    if not started:
        return (
            "<system-reminder>Interrupted by the person before this call started.</system-reminder>"
        )
    if effect in ("read", "idempotent"):
        return "<system-reminder>Interrupted by the person; the call was stopped.</system-reminder>"
    return (
        "<system-reminder>Interrupted by the person while this call ran: it was stopped, and what "
        "it had done by then stays done. Check before you repeat it.</system-reminder>"
    )


def result_block(call: ToolCallBlock, text: str, state: ToolResultState) -> ToolResultBlock:
    """A result of ours for a call that gave none."""
    return _result(call, state, [_text(text)], {"slipway": {"op_id": op_of(call)}})


def _text(text: str) -> TextBlock:
    return TextBlock.made(id=new_id(), created_at=now_iso(), text=text)


def _result(
    call: ToolCallBlock,
    state: ToolResultState,
    output: list[TextBlock | DataBlock],
    metadata: dict[str, Any],
) -> ToolResultBlock:
    return ToolResultBlock.made(
        {"op_id": op_of(call)},  # of ours, beside what the model declares
        id=call.id,
        created_at=now_iso(),
        name=call.name,
        state=state,
        output=output,
        metadata=metadata,
    )


def _whole_note(staged: Staged, size: int, op_id: str) -> str:
    ways = "read it with Read, search it with Grep, or use " if staged.file else "read it with "
    return (
        f"\n<system-reminder>This result was too long for the context window. The whole result "
        f"({size:,} bytes) is in {staged.path}; {ways}context_read with ref {op_id!r}."
        f"</system-reminder>"
    )


def ours(outcome: ToolOutcome | ToolResultBlock) -> dict[str, Any]:
    """What a tool of ours tells the loop beside its result."""
    part = outcome.metadata.get("slipway")
    return cast(dict[str, Any], part) if isinstance(part, dict) else {}


def plain(value: Any) -> Any:
    """``value`` as JSON gives it back: lists for tuples, texts for keys."""
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {str(k): v if type(v) in _LEAVES else plain(v) for k, v in items}
    if isinstance(value, list | tuple):
        return [v if type(v) in _LEAVES else plain(v) for v in cast("list[Any]", value)]
    return value


_LEAVES = frozenset({str, int, float, bool, type(None)})
