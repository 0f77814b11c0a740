"""One turn: reason, act, until there is nothing left to do, or somebody has to decide.

A ``Turn`` works in a task of its own and speaks through ``emit``. Whatever ends it (the end, a
stop, an error, a pause), everything that happened is in the journal before it returns.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.context.counted import Counted
from desktop_app.core.errors import ModelError, SlipwayError
from desktop_app.core.ids import now_iso
from desktop_app.core.messages import FinishedReason, TextBlock, ToolCallBlock
from desktop_app.core.models.base import CUT, ChatModel, ModelRequest
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.tasks import Recurring
from desktop_app.core.tools.base import ToolOutcome

from .assembly import Assembly
from .calling import SHORTENED, TOO_LONG, Retries, cut_short, elsewhere
from .closing import closing
from .engine import ContextEngine
from .execute import Executor
from .finding import op_of
from .log import SessionLog
from .permissions import Permissions
from .room import Room
from .toolbox import Planned, Toolbox, approval_body

logger = logging.getLogger(__name__)

MAX_ITERATIONS = 50  # as AgentScope 2.0.11 (ReActConfig.max_iters)
SHOWN_SECONDS = 0.2  # between two tellings of who uses the window, while a turn hurries
DRAFT_SECONDS = 0.9  # a kill loses at most the last second of streamed text


@dataclass(slots=True)
class TurnParts:
    """What a turn works with. ``past_calls`` gives earlier calls of a tool, for "always"."""

    log: SessionLog
    model: ChatModel
    toolbox: Toolbox
    permissions: Callable[[], Permissions]
    engine: ContextEngine
    room: Room
    executor: Executor
    agent_name: str
    past_calls: Callable[[str], Sequence[dict[str, Any]]]
    max_iterations: int = MAX_ITERATIONS
    fallback: Callable[[], ChatModel | None] = lambda: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    news: Callable[[str, str], Awaitable[None]] | None = None  # (reply, agent), before a model call


class Turn:
    """Drives one reply from where the journal stands."""

    def __init__(self, parts: TurnParts, reply_id: str, emit: Callable[[ev.Event], None]) -> None:
        self.p = parts
        self.reply_id = reply_id
        self.emit = emit
        self._assembly: Assembly | None = None
        self._looked = False  # at the workspace, in this turn
        self._last = parts.max_iterations  # model call; who goes on after it gets as many again
        self._shown = -math.inf  # when it was told who uses the window

    async def drive(self, *, resumed: bool = False) -> None:
        """Run to the end, the next pause or the first error. A cancellation is a stop: it is
        absorbed, made durable, and reported as ``interrupted``."""
        self.emit(ev.RunStarted(self.reply_id, resumed))
        if resumed:
            now, most = self.p.log.now, self.p.max_iterations
            made = now.state.reply_context.cur_iter - bool(now.calls())  # whole steps
            self._last = made - made % most + most
        self.p.engine.stand_in = None
        self.p.toolbox.forget()
        try:
            async with Recurring(DRAFT_SECONDS, self._save_draft, name="drafts"):
                await self._loop()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            await self._interrupted()
        except SlipwayError as error:
            await self._failed(error)
        except Exception as error:
            logger.exception("a turn failed")
            await self._failed(
                SlipwayError("run.crashed", error=type(error).__name__, detail=str(error)[:500])
            )

    async def _loop(self) -> None:
        while True:
            if calls := self.p.log.now.calls():
                more = await self._act(calls)
                self.p.toolbox.forget()
                if not more:
                    return
                continue
            now = self.p.log.now
            iteration = now.state.reply_context.cur_iter + 1
            if iteration > self._last:
                await self._show_context()
                await self._finish("exceed_max_iters")
                return
            if not await self._reason(iteration):
                await self._show_context()
                await self._finish("completed")
                return

    # -- reasoning -------------------------------------------------------------------------

    async def _reason(self, iteration: int) -> bool:
        """One model call, journaled; whether there is something to do after it."""
        await self.p.room.make_room(fresh=not self._looked)
        self._looked = True
        if self.p.news is not None:  # what a compaction took away is news, too
            await self.p.news(self.reply_id, self.p.agent_name)
        started, assembly = await self._call(iteration)
        seconds = time.monotonic() - started
        blocks = assembly.blocks()
        self._assembly = None  # whole: kept even where it cannot be saved now
        counted = self.p.engine.observe(assembly.usage)
        record = self._assistant(assembly, blocks, seconds, assembly.reason, counted)
        calls = assembly.ready()
        self.p.toolbox.look_ahead(calls, self.p.permissions())
        # An answer that only reads small files goes to disk with what they say, a moment later.
        if not (self.p.toolbox.looking(calls) and self.p.log.hold(record)):
            await self.p.log.append(record, keep=True)
        self.emit(ev.ModelCallFinished(self.reply_id, assembly.usage, seconds, assembly.reason))
        for call in calls:
            self.emit(call)
        if counted is not None:
            await self.p.room.counted(counted.call)
        await self._show_context(soon=True)
        if assembly.reason in CUT and not calls:
            error = cut_short(assembly.reason, assembly.usage, blocks, self.p.engine.model.info)
            self.p.engine.seen(error)
            raise error  # kept; it is told, and goes on when the person says so
        return bool(calls)

    async def _call(self, iteration: int) -> tuple[float, Assembly]:
        """An answer that is whole, and when its call began. What fails before anything was shown
        is tried again, elsewhere or with a shorter prompt (``calling``)."""
        retries, shortened = Retries(), 0
        while True:
            request = await self.p.engine.request()
            await self._announce(iteration)
            assembly = self._assembly = Assembly(
                self.reply_id,
                lambda n: f"{self.reply_id[:16]}:{iteration}:{n}",
                self.p.toolbox.effect,
            )
            started = time.monotonic()
            try:
                await self._stream(request, assembly)
                await self._check_answer(assembly)
                return started, assembly
            except ModelError as error:
                if assembly.parts:
                    raise
                if error.code in TOO_LONG and shortened < SHORTENED:
                    shortened += 1
                    prompt, room = error.code == "model.overflow", self.p.room
                    if await (room.overflowed if prompt else room.answer_refused)(error):
                        continue
                    raise
                if (wait := retries.wait(error)) is not None:
                    await self._wait(error, wait, retries.done)
                    continue
                if self._fall_back(error):
                    retries = Retries()
                    await self.p.room.make_room()
                    continue
                raise

    async def _show_context(self, *, soon: bool = False) -> None:
        """Tell who uses the window; with ``soon`` only when it was not told a moment ago."""
        now = time.monotonic()
        if not soon or now - self._shown >= SHOWN_SECONDS:
            self._shown = now
            self.emit(ev.ContextChanged(await self.p.engine.breakdown()))

    async def _announce(self, iteration: int) -> None:
        sent = self.p.engine.sent
        info = sent.model.info
        body = {
            "reply_id": self.reply_id,
            "iteration": iteration,
            "model": self.p.model.info.id,  # the session's
            "by": info.id,
            "tokens": sent.total,
        }
        await self.p.log.append(NewRecord("model.request", body))
        await self._show_context(soon=True)
        self.emit(ev.ModelCallStarted(self.reply_id, info.name, sent.total, iteration))

    async def _wait(self, error: ModelError, seconds: float, tries: int) -> None:
        name = self.p.engine.model.info.name
        params = {"model": name, "why": error.code, "seconds": math.ceil(seconds), "tries": tries}
        self.emit(ev.Notice("model.retry", params))
        await self.p.sleep(seconds)

    def _fall_back(self, error: ModelError) -> bool:
        """Let the fallback model answer for the rest of this turn."""
        if self.p.engine.stand_in is not None or not elsewhere(error):
            return False
        model = self.p.fallback()
        if model is None:
            return False
        params = {"model": self.p.model.info.name, "other": model.info.name, "why": error.code}
        self.p.engine.stand_in = model
        self.emit(ev.Notice("model.fallback", params))
        return True

    def _assistant(
        self,
        assembly: Assembly,
        blocks: Sequence[Any],
        seconds: float,
        finish: str,
        counted: Counted | None = None,
    ) -> NewRecord:
        calls = [b for b in blocks if isinstance(b, ToolCallBlock)]
        info = self.p.engine.sent.model.info
        usage = assembly.usage
        cost = info.price.cost(usage) if info.price is not None and usage is not None else None
        return NewRecord(
            "assistant.message",
            {
                "reply_id": self.reply_id,
                "name": self.p.agent_name,
                "model": info.name,
                "cost": cost,
                "blocks": [b.model_dump() for b in blocks],
                "usage": usage.model_dump() if usage else None,
                "counted": counted.to_json() if counted is not None else None,
                "finish": finish,
                "seconds": round(seconds, 3),
                "ops": [op_of(c) for c in calls],
            },
            made_of={"blocks": blocks, "usage": usage},
        )

    async def _stream(self, request: ModelRequest, assembly: Assembly) -> None:
        async with closing(self.p.engine.sent.model.stream(request)) as parts:
            async for part in parts:
                for event in assembly.feed(part):
                    self.emit(event)
                if assembly.unsaved is not None:
                    raise assembly.unsaved

    async def _save_draft(self) -> None:
        """By the clock and not by what arrives: a stream that falls silent may be one that the
        program does not outlive. What goes wrong is for the stream to say."""
        assembly = self._assembly
        if assembly is not None and assembly.changed:
            assembly.changed = False
            try:
                await self.p.log.journal.save_draft(assembly.draft())
            except Exception as error:  # noqa: BLE001 - raised by the stream, whatever it is
                assembly.unsaved = error

    async def _check_answer(self, assembly: Assembly) -> None:
        """An empty or cut answer is told, never taken for an end."""
        name = self.p.engine.sent.model.info.name
        if not assembly.reason:
            raise ModelError("model.cut", retryable=True, model=name)
        if assembly.reason == "filter":
            raise ModelError("model.refused", model=name)
        if not assembly.parts and assembly.reason in CUT:
            raise cut_short(assembly.reason, assembly.usage, (), self.p.engine.model.info)
        if not assembly.parts:
            raise ModelError("model.empty", retryable=True, model=name)

    # -- acting ----------------------------------------------------------------------------

    async def _act(self, calls: Sequence[ToolCallBlock]) -> bool:
        """Run the open calls as far as allowed; False when the turn waits for the person."""
        now = self.p.log.now
        planned: list[Planned] = []
        permissions = self.p.permissions()
        await self.p.toolbox.bring([c for c in calls if now.decided.get(op_of(c)) is not False])
        for call in calls:
            op_id = op_of(call)
            decided = now.decided.get(op_id)
            if decided is False:
                planned.append(self._declined(call))
                continue
            planned.append(await self.p.toolbox.plan(call, permissions, approved=decided is True))
        ready: list[Planned] = []
        for plan in planned:
            if plan.fate in ("ask", "external"):
                break
            ready.append(plan)
        if ready:
            await self._execute(ready)
        waiting = planned[len(ready) :]
        if not waiting:
            return True
        await self._show_context()
        await self._ask([p for p in waiting if p.fate in ("ask", "external")], permissions)
        return False

    def _declined(self, call: ToolCallBlock) -> Planned:
        text = "The person declined this call. Do not repeat it; go on without it or ask."
        return Planned(call, op_of(call), {}, "answered", "read", ToolOutcome(text, "denied"))

    async def _ask(self, plans: Sequence[Planned], permissions: Permissions) -> None:
        records: list[NewRecord] = []
        ops: list[OpUpdate] = []
        events: list[ev.Event] = []
        for plan in plans:
            if plan.op_id in self.p.log.now.waiting:
                continue
            base = {"reply_id": self.reply_id, "op_id": plan.op_id}
            if plan.fate == "external":
                questions: list[dict[str, Any]] = plan.args.get("questions") or []
                records.append(NewRecord("question.asked", {**base, "questions": questions}))
                events.append(ev.QuestionAsked(self.reply_id, plan.op_id, questions))
            else:
                past = self.p.past_calls(plan.call.name)
                approval = await self.p.toolbox.approval(plan, permissions, past)
                body = {**base, "approval": approval_body(approval)}
                records.append(NewRecord("approval.asked", body))
                events.append(ev.ApprovalRequested(self.reply_id, approval))
            ops.append(self.p.executor.op(plan, "asking"))
        if records:
            await self.p.log.append(*records, ops=ops)
        for event in events:
            self.emit(event)
        self.emit(ev.RunParked(self.reply_id, tuple(self.p.log.now.waiting)))

    async def _execute(self, plans: Sequence[Planned]) -> None:
        """In order; neighbours that are safe beside each other run together. All of a step share
        what its results may bring into the context."""
        allowance = self.p.engine.allowance(len(plans))
        batch: list[Planned] = []
        for plan in [*plans, None]:
            if plan is not None and self.p.toolbox.concurrent(plan):
                batch.append(plan)
                continue
            if batch:
                await self.p.executor.run(self.reply_id, batch, allowance)
                batch = []
            if plan is not None:
                await self.p.executor.run(self.reply_id, [plan], allowance)
        await self._show_context(soon=True)

    # -- ends ------------------------------------------------------------------------------

    async def _finish(
        self, reason: FinishedReason, code: str | None = None, params: dict[str, Any] | None = None
    ) -> None:
        body = {
            "reply_id": self.reply_id,
            "reason": reason,
            "code": code,
            "params": params or {},
            "at": now_iso(),
        }
        await self.p.log.append(NewRecord("turn.finished", body))
        self.emit(ev.RunFinished(self.reply_id, reason, code, params or {}))

    async def _keep_partial(self, finish: str) -> None:
        """What was streamed before an end that came early stays; half a call does not."""
        assembly, self._assembly = self._assembly, None
        if assembly is None:
            return
        blocks = [
            b
            for b in assembly.blocks(whole_calls=False)
            if not (isinstance(b, TextBlock) and not b.text)
        ]
        if blocks:
            await self.p.log.append(self._assistant(assembly, blocks, 0.0, finish), keep=True)

    async def _interrupted(self) -> None:
        await self._keep_partial("interrupted")
        await self.p.executor.close_open(self.reply_id, "interrupted")
        await self._finish("interrupted")
        await self._show_context()

    async def _failed(self, error: SlipwayError) -> None:
        try:
            await self._keep_partial("error")
            await self.p.executor.close_open(self.reply_id, "interrupted")
            await self._finish("error", error.code, {**error.params, "retryable": error.retryable})
        except SlipwayError as second:
            # The journal itself fails (a full disk): the person still hears it.
            logger.error("a turn's end could not be saved: %s", second)
            self.emit(
                ev.RunFinished(
                    self.reply_id, "error", second.code, {**second.params, "unsaved": True}
                )
            )
