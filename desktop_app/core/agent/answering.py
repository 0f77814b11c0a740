"""What a person answers to a reply that waits: decisions, answers, or that it is given up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.errors import SessionError
from desktop_app.core.interchange import Answer, read
from desktop_app.core.messages import ToolCallBlock, ToolResultBlock
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.tools.base import ToolOutcome

from .answers import decided
from .assembly import parse_arguments
from .base import Decision
from .driving import Driving
from .finding import op_of
from .toolbox import approval_from


async def _nothing() -> AsyncIterator[ev.Event]:
    """A run of no events."""
    for event in ():
        yield event


class Answering(Driving):
    """Each answer is durable before anything follows from it; another reply's id is refused."""

    def decide(self, reply_id: str, decisions: Sequence[Decision]) -> AsyncIterator[ev.Event]:
        self._check_reply(reply_id)
        for decision in decisions:
            waiting = self.log.now.waiting.get(decision.op_id)
            if waiting is None or waiting.approval is None:
                raise SessionError("run.not_waiting", op_id=decision.op_id)

        async def work() -> None:
            await self._record_decisions(reply_id, decisions)
            await self._drive(reply_id, resumed=True)

        return self._stream.start(self._told(work, reply_id), f"turn {reply_id}")

    def answer(self, reply_id: str, op_id: str, answer: dict[str, Any]) -> AsyncIterator[ev.Event]:
        self._check_reply(reply_id)
        waiting = self.log.now.waiting.get(op_id)
        if waiting is None or waiting.questions is None:
            raise SessionError("run.not_waiting", op_id=op_id)

        async def work() -> None:
            body = {"reply_id": reply_id, "op_id": op_id, "answer": answer}
            await self.log.append(NewRecord("question.answered", body))
            for call in self.log.now.calls():
                if op_of(call) == op_id:
                    await self._answer_call(reply_id, call, answer)
            await self._drive(reply_id, resumed=True)

        return self._stream.start(self._told(work, reply_id), f"turn {reply_id}")

    def interrupt(self, reply_id: str) -> AsyncIterator[ev.Event]:
        self._check_reply(reply_id)

        async def work() -> None:
            await self._settle()
            self._stream.emit(ev.RunFinished(reply_id, "interrupted"))

        return self._stream.start(self._told(work, reply_id), f"interrupt {reply_id}")

    def take(self, event: dict[str, Any]) -> AsyncIterator[ev.Event]:
        """What another program answers, as AgentScope's input events say it: a confirmation of
        some or all calls (their input may be edited, rules added), results of calls that are
        executed elsewhere, an interruption (of a reply that does not wait: nothing happens).
        SessionError ``event.unknown`` and as ``decide``, ``answer`` and ``interrupt``."""
        given = read(event)
        if given.kind == "interrupt" and not self.log.now.waiting:
            return _nothing()
        self._check_reply(given.reply_id)
        ops = self._waiting_ops(given)
        if given.kind == "interrupt":
            return self.interrupt(given.reply_id)
        if given.kind == "confirm":
            decisions = [self._decision(given, call_id, op_id) for call_id, op_id in ops.items()]
            return self.decide(given.reply_id, decisions)

        async def work() -> None:
            for call in self.log.now.calls():
                if ops.get(call.id) == op_of(call):
                    block: ToolResultBlock = given.calls[call.id]
                    outcome = ToolOutcome(block.text(), block.state, metadata=dict(block.metadata))
                    await self.executor.answer(given.reply_id, call, outcome)
            await self._drive(given.reply_id, resumed=True)

        return self._stream.start(self._told(work, given.reply_id), f"turn {given.reply_id}")

    def _waiting_ops(self, given: Answer) -> dict[str, str]:
        """Our operations of the calls that an answer names; SessionError ``run.not_waiting`` for
        one that does not wait for such an answer."""
        ops: dict[str, str] = {}
        for call in self.log.now.calls():
            waiting = self.log.now.waiting.get(op_of(call))
            asked = given.kind == "confirm"
            if waiting is not None and (waiting.approval is not None) == asked:
                ops.setdefault(call.id, op_of(call))
        for call_id in given.calls:
            if call_id not in ops:
                raise SessionError("run.not_waiting", op_id=call_id)
        return {call_id: ops[call_id] for call_id in given.calls}

    def _decision(self, given: Answer, call_id: str, op_id: str) -> Decision:
        waiting = self.log.now.waiting[op_id]
        asked = approval_from(waiting.approval or {})
        changed = parse_arguments(given.arguments[call_id])
        if changed is None:
            raise SessionError("event.unknown", kind="USER_CONFIRM_RESULT")
        always = any(rule.get("tool_name") == asked.name for rule in given.rules)
        edited = changed if changed != asked.arguments else None
        return Decision(op_id, bool(given.calls[call_id]), edited, always)

    def _check_reply(self, reply_id: str) -> None:
        self._check_free()
        waiting = self.log.now.waiting
        if not waiting:
            raise SessionError("run.not_parked")
        if any(w.reply_id != reply_id for w in waiting.values()):
            raise SessionError("run.wrong_reply", reply_id=reply_id)

    async def _record_decisions(self, reply_id: str, decisions: Sequence[Decision]) -> None:
        records, ops = decided(self.log.now, reply_id, decisions)
        waiting = [w.approval for w in self.log.now.waiting.values() if w.approval is not None]
        self.toolbox.decided(map(approval_from, waiting))
        await self.log.append(*records, ops=ops)
        for d in decisions:
            self._stream.emit(ev.ApprovalDecided(reply_id, d.op_id, d.allowed, "person"))

    async def _answer_call(
        self, reply_id: str, call: ToolCallBlock, answer: dict[str, Any]
    ) -> None:
        tool: Any = self.toolbox.tools[call.name]
        args = parse_arguments(call.input) or {}
        await self.executor.answer(reply_id, call, tool.result(args, answer))
