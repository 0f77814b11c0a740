"""The view model of one conversation: plain methods in, past-tense signals and row changes out.

It owns the tasks of its conversation. A run goes on while no page shows it: pages come and go
(``ChatPage.bind``), the view model stays until ``close``.

At most one batch a frame reaches the transcript and the gauges (``Coalescer``); what a batch does
to one row is merged before it is handed on.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

from desktop_app.core.agent.base import Attachment, Decision
from desktop_app.core.agent.policy import Policy
from desktop_app.core.agent.request_shapes import Answered
from desktop_app.core.context.compaction import decide
from desktop_app.core.errors import SlipwayError
from desktop_app.core.events import Event
from desktop_app.core.ids import now_us
from desktop_app.core.models.base import Effort, effort_of
from desktop_app.core.state import Mode
from desktop_app.ui import i18n

from .items import CompactionItem, NoticeItem, ReplyItem, ToolItem, UserItem
from .vm_context import ChatContext
from .vm_shapes import Draft, Queued, RowSink, crash_params
from .ways import ways_of_turn

log = logging.getLogger(__name__)

__all__ = ["ChatViewModel", "Draft", "Queued", "RowSink"]


class ChatViewModel(ChatContext):
    """One session as the chat page sees it."""

    # -- talking ----------------------------------------------------------------------------

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Start a turn; while one is under way the message is queued instead."""
        if not (text.strip() or attachments):
            return
        if self.busy or self.conversation is None:
            self.queue(text, attachments)
            return
        names = tuple(a.name for a in attachments)
        self._fold.put(UserItem("x:sent", text, now_us(), names))
        self._apply()
        self._sent = (text, tuple(attachments))
        conversation = self.conversation
        self._start(lambda: conversation.send(text, attachments))

    def queue(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Keep one message until the run ends; more text joins it as a new paragraph."""
        if self.queued is not None:
            text = f"{self.queued.text}\n\n{text}" if text else self.queued.text
            attachments = (*self.queued.attachments, *attachments)
        self.queued = Queued(text, tuple(attachments))
        self.queueChanged.emit()

    def take_queued(self) -> Queued | None:
        """Take the queued message back, to edit or to drop it."""
        queued, self.queued = self.queued, None
        if queued is not None:
            self.queueChanged.emit()
        return queued

    def send_queued(self) -> None:
        """Send the queued message now: the run under way is stopped first."""
        if self.queued is None:
            return
        if self.busy:
            self._last_reason = "send_queued"
            self.stop()
        else:
            self._send_queued()

    def _send_queued(self) -> None:
        if (queued := self.take_queued()) is not None:
            self.send(queued.text, queued.attachments)

    def stop(self) -> None:
        """Stop the run, or give up what waits. What was written stays."""
        conversation = self.conversation
        if conversation is None or self.stopping:
            return
        self._decisions.clear()
        if self._running:
            self.stopping = True
            self.activityChanged.emit()
            self._background.start(self._guarded(conversation.stop()), name="stop")
        elif conversation.activity == "parked" and conversation.pending is not None:
            reply_id = conversation.pending.reply_id
            self._start(lambda: conversation.interrupt(reply_id))

    def retry(self) -> None:
        """Go on after an error, an interruption or the limit of steps."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._start(conversation.go_on)

    def decide(
        self,
        op_id: str,
        *,
        allowed: bool,
        always: bool = False,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        """Answer one approval. While other calls of the turn still run the answer is held."""
        found = next((a for a in self.approvals if a.op_id == op_id), None)
        if found is None:
            return
        self.approvals.remove(found)
        self._decisions.append(Decision(op_id, allowed, arguments, always))
        item = self._fold.items.get(f"o:{op_id}")
        if arguments is not None and isinstance(item, ToolItem):
            item.set_input(arguments)
            self._fold.touch(item.id)
            self._apply()
        self.pendingChanged.emit()
        self._pump()

    def answer(self, op_id: str, answer: dict[str, Any]) -> None:
        """Answer a question of the agent."""
        conversation = self.conversation
        if conversation is None or conversation.pending is None or self._running:
            return
        reply_id = conversation.pending.reply_id
        self.questions = [q for q in self.questions if q.op_id != op_id]
        self.pendingChanged.emit()
        self._start(lambda: conversation.answer(reply_id, op_id, answer))

    def answer_request(self, request_id: str, answer: Answered) -> None:
        """Answer what a server asks. One that waits no more goes; one that will not do is told and
        stays."""
        conversation = self.conversation
        if conversation is None:
            return
        try:
            conversation.answer_request(request_id, answer)
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)
            if error.code == "request.bad_value":
                return
        self.requests = [r for r in self.requests if r.id != request_id]
        self.requestsChanged.emit()

    def _pump(self) -> None:
        """Hand held decisions on as soon as the run is parked."""
        conversation = self.conversation
        if conversation is None or self._running or not self._decisions:
            return
        if conversation.pending is None:
            self._decisions.clear()
            return
        reply_id, decisions = conversation.pending.reply_id, list(self._decisions)
        self._decisions.clear()
        self._start(lambda: conversation.decide(reply_id, decisions))

    # -- background commands ------------------------------------------------------------------

    def stop_command(self, command_id: str) -> None:
        """End a background command."""
        if (conversation := self.conversation) is not None and self.writable:
            work = conversation.stop_command(command_id)
            self._background.start(self._guarded(work), name="stop command")

    # -- settings of the session ------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        if (conversation := self.conversation) is not None:
            self._background.start(
                self._then(conversation.set_mode(mode), self.modeChanged.emit), name="mode"
            )

    def set_model(self, model_id: str) -> None:
        if (conversation := self.conversation) is not None:
            self._background.start(
                self._then(conversation.set_model(model_id), self._model_set), name="model"
            )

    @property
    def effort(self) -> Effort | None:
        """How hard the session's models think; None: as each is set."""
        return self.conversation.effort if self.conversation is not None else None

    def set_effort(self, effort: str) -> None:
        """Empty: as the model is set."""
        if (conversation := self.conversation) is not None:
            work = conversation.set_effort(effort_of(effort))
            self._background.start(self._then(work, self.modelChanged.emit), name="effort")

    @property
    def own_policy(self) -> Policy | None:
        """What compaction does by itself in this session alone; None: as its agent is set."""
        return self.conversation.own_policy if self.conversation is not None else None

    @property
    def by_itself(self) -> bool:
        """Whether the next call over the danger mark compacts without being asked."""
        if (held := self.conversation) is None or not held.policy().by_itself:
            return False
        return self.breakdown is None or decide(self.breakdown, held.state) != "offer"

    def set_policy(self, policy: Policy | None) -> None:
        if (conversation := self.conversation) is not None:
            work = conversation.set_policy(policy)
            self._background.start(self._then(work, self.measure_again), name="compaction policy")

    def _model_set(self) -> None:
        self.modelChanged.emit()
        self.measure_again()

    def rename(self, title: str) -> None:
        title = " ".join(title.split())
        if (conversation := self.conversation) is not None and title and title != self.title:
            self._background.start(self._guarded(conversation.set_title(title)), name="title")

    async def _then(self, work: Any, done: Callable[[], Any]) -> None:
        await self._guarded(work)
        done()

    # -- runs -------------------------------------------------------------------------------

    def _start(self, make: Callable[[], AsyncIterator[Event]]) -> None:
        if self._running:
            return
        self._running = True
        self._last_reason = ""
        self._fold.remove("x:error")
        self._apply()
        self._emit_run_state()
        self._background.start(self._consume(make), name="run")

    async def _consume(self, make: Callable[[], AsyncIterator[Event]]) -> None:
        try:
            # The protocol says iterator; every run is a generator, which must be closed.
            stream = cast("AsyncGenerator[Event, None]", make())
            async with aclosing(stream) as events:
                async for event in events:
                    self._batches.push(event)
        except SlipwayError as error:
            self._batches.flush()
            self._run_failed(error.code, error.params)
        finally:
            self._batches.flush()
            self._run_ended()

    def _run_failed(self, code: str, params: dict[str, Any]) -> None:
        self._give_back()
        ways = ways_of_turn(code, params, "retry")
        self._fold.put(NoticeItem("x:error", "danger", code, params, ways))
        self._last_reason = "error"
        self._apply()

    def _give_back(self) -> None:
        """A message that never became durable goes back to where it was written."""
        if self._sent is not None:
            text, attachments = self._sent
            self._sent = None
            self._fold.remove("x:sent")
            self.sendFailed.emit(text, attachments)

    def _run_ended(self) -> None:
        self._running = self.stopping = False
        self.waiting.ended()
        self.compacting = False
        self._give_back()
        self._fold.remove("x:compaction")
        self._apply()
        self._take_pending()
        self._take_commands()
        self._emit_run_state()
        if self._decisions:
            self._pump()
        elif not self.busy:
            reason = self._last_reason
            self.finished.emit(reason)
            if self.queued is not None and reason in ("completed", "exceed_max_iters"):
                self._send_queued()

    def _task_failed(self, name: str, error: BaseException) -> None:
        if name == "run":
            log.error("chat task run failed", exc_info=error)
            self._run_failed("run.crashed", crash_params(error))
        else:
            super()._task_failed(name, error)

    def set_expanded(self, row_id: str, expanded: bool) -> None:
        """The person opened or closed a row; it stays so."""
        item = self._fold.items.get(row_id)
        if isinstance(item, ToolItem | ReplyItem):
            item.expanded = expanded

    def compaction(self, row_id: str) -> CompactionItem | None:
        item = self._fold.items.get(row_id)
        return item if isinstance(item, CompactionItem) else None

    async def close(self) -> None:
        """Stop what runs and let go of the conversation; what happened is durable afterwards."""
        i18n.notifier.changed.disconnect(self.retranslate)
        conversation = self.conversation
        if conversation is not None and self._running:
            await self._guarded(conversation.stop())
        if self._deaf is not None:
            self._deaf()
            self._deaf = None
        await self._background.close()
        self._batches.flush()
        self.conversation = None
