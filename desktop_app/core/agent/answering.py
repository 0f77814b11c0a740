"""What a person answers to a reply that waits: decisions, answers, or that it is given up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import ToolCallBlock
from desktop_app.core.sessions.base import NewRecord

from .answers import decided
from .assembly import parse_arguments
from .base import Decision
from .driving import Driving
from .finding import op_of


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

    def _check_reply(self, reply_id: str) -> None:
        self._check_free()
        waiting = self.log.now.waiting
        if not waiting:
            raise SessionError("run.not_parked")
        if any(w.reply_id != reply_id for w in waiting.values()):
            raise SessionError("run.wrong_reply", reply_id=reply_id)

    async def _record_decisions(self, reply_id: str, decisions: Sequence[Decision]) -> None:
        records, ops = decided(self.log.now, reply_id, decisions)
        await self.log.append(*records, ops=ops)
        for d in decisions:
            self._stream.emit(ev.ApprovalDecided(reply_id, d.op_id, d.allowed, "person"))

    async def _answer_call(
        self, reply_id: str, call: ToolCallBlock, answer: dict[str, Any]
    ) -> None:
        tool: Any = self.toolbox.tools[call.name]
        args = parse_arguments(call.input) or {}
        await self.executor.answer(reply_id, call, tool.result(args, answer))
