"""One opened session in one opened workspace, as the window or a script holds it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.context.types import Breakdown, CompactionRecord
from desktop_app.core.errors import ModelError, SessionError, SlipwayError
from desktop_app.core.ids import new_id
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.messages import HintBlock, Msg, TextBlock, ToolCallBlock
from desktop_app.core.models.base import ChatModel, ModelInfo
from desktop_app.core.sessions.base import Journal, NewRecord, Record, SessionKey
from desktop_app.core.state import AgentState, Mode, PermissionContext
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.base import FileVersions, ToolContext
from desktop_app.core.workspaces.outbox import Outbox

from .answers import attachment_blocks, decided, with_rule
from .assembly import parse_arguments
from .base import Activity, Attachment, Decision, History, HistoryEntry, Pending, Question, Spent
from .engine import ContextEngine
from .execute import Executor
from .fold import op_of
from .groups import ToolGroups
from .log import SessionLog
from .permissions import Permissions
from .recovery import Recovered, recover
from .run import Turn, TurnParts
from .servers import Servers
from .setting import Agent, Setting
from .stream import RunStream
from .titles import better_title
from .toolbox import Toolbox, approval_from

logger = logging.getLogger(__name__)

GO_ON = (
    "<system-reminder>Your answer broke off here. The person asks you to go on: continue from "
    "where it stopped, without repeating what is there.</system-reminder>"
)
FOLLOW_SECONDS = 30.0  # one wait for the writer's next record; it ends as soon as one comes

SHOWN = (
    "user.message",
    "assistant.message",
    "tool.result",
    "approval.decided",
    "question.answered",
    "compaction",
    "compaction.undone",
    "turn.finished",
    "recovered",
)


async def history_of(
    journal: Journal, *, before: int | None = None, limit: int | None = None
) -> History:
    """The newest ``limit`` records that a window shows, before record ``before``."""
    records = await journal.read(before=before, limit=limit, newest_first=True, kinds=SHOWN)
    entries = [entry_of(r) for r in reversed(records)]
    return History(entries, limit is None or len(records) < limit)


class SessionConversation:
    """Implements ``core.agent.base.Conversation``. Made by ``open``."""

    def __init__(self, journal: Journal, setting: Setting, tasks: Tasks) -> None:
        self._setting = setting
        self._stream = RunStream(tasks)
        self._tasks = tasks
        self.log = SessionLog(journal, self._stream.emit)
        self._files = FileVersions()
        self.recovered: Recovered | None = None
        self._follower: asyncio.Task[None] | None = None
        self._servers = Servers(
            setting.mcp,
            tasks,
            journal.info.key.session_id,
            lambda: self._stream.running,
            self._recount,
        )
        groups = ToolGroups(
            setting.tools,
            self._servers.tools,
            lambda: self.state.tool_context.activated_groups,
        )
        self.toolbox = Toolbox(groups, self._tool_context)
        self.engine: ContextEngine
        self.executor: Executor
        self.outbox: Outbox

    @classmethod
    async def open(cls, journal: Journal, setting: Setting, tasks: Tasks) -> SessionConversation:
        """Replay the journal; when it is ours to write, recover what a dead process left."""
        self = cls(journal, setting, tasks)
        await self.log.load()
        if journal.info.writable:
            self.recovered = await recover(self.log)
        self._files.seen = self.log.now.files
        workspace: Any = setting.workspace
        self.outbox = Outbox(journal, workspace, on_change=self._delivered)
        self.engine = ContextEngine(
            self.log,
            self.model,
            self.toolbox,
            setting.workspace,
            self.outbox,
            setting.agent.prompt,
            setting.agent.id,
        )
        await self.engine.refresh()
        self.executor = Executor(
            self.log,
            self.toolbox,
            self.engine,
            lambda call_id, data: self.outbox.stage_raw_result(
                self.state.session_id, call_id, data
            ),
            self._stream.emit,
            self._task_list,
        )
        if journal.info.writable:
            await self.outbox.load()
            self.log.written.append(self.outbox.add)
            tasks.start(self.outbox.run(), name=f"outbox {journal.info.key.session_id}")
        elif journal.info.why == "journal.in_use":
            name = f"follow {journal.info.key.session_id}"
            self._follower = tasks.start(self._follow(), name=name)
        self._servers.watch()
        return self

    @property
    def mcp(self) -> McpManager | None:
        """The session's MCP servers; None where there can be none."""
        return self._servers.manager

    async def _recount(self) -> None:
        await self.engine.refresh()
        self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

    async def _follow(self) -> None:
        """Show what the writer, in another window or process, adds."""
        journal = self.log.journal
        try:
            while True:
                head = self.log.now.head
                if await journal.wait_for_change(head, FOLLOW_SECONDS) <= head:
                    continue
                title, tasks = self.title, self._task_list()
                records = await self.log.follow()
                shown = [entry_of(r) for r in records if r.kind in SHOWN]
                if shown:
                    self._stream.emit(ev.Notice("followed", {"entries": shown}))
                self._stream.emit(ev.Saved(self.log.now.head, self.log.now.last_us))
                if self.title != title:
                    self._stream.emit(ev.TitleChanged(self.title))
                if self._task_list() != tasks:
                    self._stream.emit(ev.TasksChanged(self._task_list()))
                self._stream.emit(ev.ContextChanged(await self.breakdown()))
        except SlipwayError as error:
            logger.info("a session is not followed any more: %s", error)

    def _delivered(self) -> None:
        """The outbox moved: tell how much is still on its way."""
        self._stream.emit(
            ev.Notice("outbox", {"pending": self.outbox.pending(), "error": _code(self.outbox)})
        )

    # -- what is known -----------------------------------------------------------------------

    @property
    def key(self) -> SessionKey:
        return self.log.journal.info.key

    @property
    def activity(self) -> Activity:
        if not self.writable:
            return "idle"  # whatever runs or waits there is another window's
        if self._stream.running:
            return "running"
        return "parked" if self.log.now.waiting else "idle"

    @property
    def title(self) -> str:
        return self.log.now.title

    @property
    def writable(self) -> bool:
        return self.log.journal.info.writable

    @property
    def why_readonly(self) -> tuple[str, dict[str, Any]] | None:
        info = self.log.journal.info
        return (info.why or "journal.readonly", info.params) if not info.writable else None

    @property
    def state(self) -> AgentState:
        return self.log.now.state

    @property
    def permissions(self) -> PermissionContext:
        return self.state.permission_context

    @property
    def model_info(self) -> ModelInfo:
        if (infos := self._setting.infos) is not None:
            return infos(self.log.now.model or self._setting.default_model)
        return self.model().info

    @property
    def resumable(self) -> str | None:
        """The reply that ended early and can be continued with ``go_on``."""
        now = self.log.now
        if self.activity != "idle" or not self.writable:
            return None
        if now.open_reply is not None:
            return now.open_reply
        tail = now.state.context[-1] if now.state.context else None
        if tail is not None and tail.role == "assistant" and tail.finished_reason != "completed":
            return tail.id
        return (
            now.state.reply_context.reply_id if tail is not None and tail.role == "user" else None
        )

    @property
    def pending(self) -> Pending | None:
        waiting = list(self.log.now.waiting.values())
        if not waiting or self._stream.running or not self.writable:
            return None
        return Pending(
            waiting[0].reply_id,
            tuple(approval_from(w.approval) for w in waiting if w.approval is not None),
            tuple(Question(w.op_id, w.questions) for w in waiting if w.questions is not None),
        )

    def listen(self, listener: Callable[[ev.Event], None]) -> Callable[[], None]:
        """Hear every event of this conversation; returns the way to stop."""
        self._stream.listeners.append(listener)
        return lambda: self._stream.listeners.remove(listener)

    def model(self) -> ChatModel:
        return self._setting.models(self.log.now.model or self._setting.default_model)

    def _fallback(self) -> ChatModel | None:
        """The model that answers when the session's cannot; None without one."""
        wanted = self.model().info.fallback
        try:
            return self._setting.models(wanted) if wanted else None
        except ModelError:
            return None

    @property
    def spent(self) -> Spent | None:
        now = self.log.now
        return Spent(now.turn_cost or 0.0, now.cost) if now.cost is not None else None

    async def history(self, *, before: int | None = None, limit: int | None = None) -> History:
        return await history_of(self.log.journal, before=before, limit=limit)

    def draft(self) -> str:
        """Recovery turned it into a message already; kept for read-only sessions."""
        return ""

    async def breakdown(self) -> Breakdown:
        return await self.engine.breakdown()

    async def compactions(self) -> list[CompactionRecord]:
        return list(self.log.now.compactions)

    # -- turns -------------------------------------------------------------------------------

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[ev.Event]:
        self._check_free()
        if self.log.now.waiting:
            raise SessionError("run.parked")
        blocks = attachment_blocks(attachments)
        msg = Msg.user(text, blocks=blocks)
        reply_id = new_id()

        async def work() -> None:
            await self._save_unsaved()
            await self._settle()
            body = {"reply_id": reply_id, "msg": msg.model_dump()}
            await self.log.append(NewRecord("user.message", body))
            self._stream.emit(ev.UserMessage(msg))
            await self._drive(reply_id)

        return self._stream.start(self._told(work, reply_id), f"turn {reply_id}")

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

    def go_on(self) -> AsyncIterator[ev.Event]:
        self._check_free()
        reply_id = self.resumable
        if reply_id is None:
            raise SessionError("run.nothing_to_continue")

        async def work() -> None:
            await self._drive(reply_id, resumed=True)

        return self._stream.start(self._told(work, reply_id), f"turn {reply_id}")

    async def stop(self) -> None:
        await self._stream.stop()

    def compact(self) -> AsyncIterator[ev.Event]:
        self._check_free()

        async def work() -> None:
            await self.engine.compact("manual", self._stream.emit)
            self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

        return self._stream.start(work, "compact")

    async def undo_compaction(self) -> list[ev.Event]:
        self._check_free()
        events: list[ev.Event] = [await self.engine.undo()]
        events.append(ev.ContextChanged(await self.engine.breakdown()))
        for event in events:
            self._stream.emit(event)
        return events

    # -- settings of the session -------------------------------------------------------------

    async def set_mode(self, mode: Mode) -> None:
        context = self.permissions.model_copy(deep=True)
        context.mode = mode
        await self._save_permissions(context)

    async def add_rule(self, rule: dict[str, Any]) -> None:
        await self._save_permissions(with_rule(self.permissions, rule))

    async def remove_rule(self, rule: dict[str, Any]) -> None:
        context = self.permissions.model_copy(deep=True)
        Permissions(context).remove(rule)
        await self._save_permissions(context)

    async def _save_permissions(self, context: PermissionContext) -> None:
        body = {"permission_context": context.model_dump()}
        await self.log.append(NewRecord("permissions", body), draft=None)

    async def set_model(self, model_id: str) -> None:
        self._check_free()
        self._setting.models(model_id)
        await self.log.append(NewRecord("model", {"model": model_id}))
        self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

    async def set_title(self, title: str) -> None:
        title = " ".join(title.split())[:200]
        if title:
            body = {"title": title, "by": "person"}
            await self.log.append(NewRecord("title", body), draft=None)
            self._stream.emit(ev.TitleChanged(title))

    async def close(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
        await self.stop()
        await self._servers.close()
        try:
            await self.log.save_unsaved()
        except SlipwayError as error:
            logger.error("what happened last could not be saved: %s", error)
        await self.log.journal.close()

    # -- inside ------------------------------------------------------------------------------

    def _check_free(self) -> None:
        if not self.writable:
            code, params = self.why_readonly or ("journal.readonly", {})
            raise SessionError("session.readonly", why=code, **params)
        if self._stream.running:
            raise SessionError("run.busy")

    def _check_reply(self, reply_id: str) -> None:
        self._check_free()
        waiting = self.log.now.waiting
        if not waiting:
            raise SessionError("run.not_parked")
        if any(w.reply_id != reply_id for w in waiting.values()):
            raise SessionError("run.wrong_reply", reply_id=reply_id)

    def _told(self, work: Callable[[], Any], reply_id: str) -> Callable[[], Any]:
        """Errors before or after the turn proper become its end, so that nobody waits in vain."""

        async def told() -> None:
            try:
                await work()
            except SlipwayError as error:
                params = {**error.params, "retryable": error.retryable}
                self._stream.emit(ev.RunFinished(reply_id, "error", error.code, params))

        return told

    async def _drive(self, reply_id: str, *, resumed: bool = False) -> None:
        await self._save_unsaved()
        if resumed and self.log.now.open_reply is None:
            # Going on after an end: the same reply is open again.
            self.log.now.open_reply = reply_id
        if resumed:
            await self._hint_to_go_on(reply_id)
        await self._servers.start(self.log.now.calls())
        parts = TurnParts(
            self.log,
            self.model(),
            self.toolbox,
            lambda: Permissions(self.permissions, self._setting.workspace.get_backend().cwd),
            self.engine,
            self.executor,
            self._setting.agent.name,
            self._past_calls,
            self._setting.agent.max_iterations,
            self._fallback,
            self._setting.sleep,
        )
        await Turn(parts, reply_id, self._stream.emit).drive(resumed=resumed)
        await self._name_it()
        await self.log.save_snapshot()

    async def _hint_to_go_on(self, reply_id: str) -> None:
        """An answer that broke off in a text needs a word after it: models expect to be spoken to
        last."""
        tail = self.state.context[-1] if self.state.context else None
        if tail is None or tail.id != reply_id or not tail.content:
            return
        if isinstance(tail.content[-1], TextBlock):
            hint = HintBlock(hint=GO_ON, source="slipway")
            body = {
                "reply_id": reply_id,
                "name": self._setting.agent.name,
                "blocks": [hint.model_dump()],
                "finish": "hint",
            }
            await self.log.append(NewRecord("assistant.message", body))

    async def _save_unsaved(self) -> None:
        """Save what a full disk refused; results that nobody has seen yet are told."""
        saved = await self.log.save_unsaved()
        results = [entry_of(r) for r in saved if r.kind == "tool.result"]
        if results:
            self._stream.emit(ev.Notice("followed", {"entries": results}))

    async def _settle(self) -> None:
        """Close what an earlier turn left open, before something new begins."""
        reply_id = self.log.now.open_reply
        if reply_id is None:
            return
        await self.executor.close_open(reply_id, "interrupted")
        body: dict[str, Any] = {"reply_id": reply_id, "reason": "interrupted", "params": {}}
        await self.log.append(NewRecord("turn.finished", body))

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

    async def _name_it(self) -> None:
        """A title, where a better one than the present can be had."""
        record = await better_title(self.log.now, self.engine.collect)
        if record is not None:
            await self.log.append(record)
            self._stream.emit(ev.TitleChanged(str(record.body["title"])))

    def _task_list(self) -> list[dict[str, Any]]:
        return [t.model_dump() for t in self.state.tasks_context.tasks]

    def _tool_context(self, op_id: str) -> ToolContext:
        info = self._setting.workspace.info
        reply_id = self.log.now.open_reply or ""
        return ToolContext(
            backend=self._setting.workspace.get_backend(),
            root=info.root,
            session_id=self.state.session_id,
            agent_id=self._setting.agent.id,
            op_id=op_id,
            files=self._files,
            tasks=self.state.tasks_context.tasks,
            emit=lambda stream, text: self._stream.emit(
                ev.ToolOutput(reply_id, op_id, stream, text)
            ),
            skills=self.engine.skills,
            images=self.model().info.images,
        )

    def _past_calls(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for msg in self.state.context:
            for block in msg.content:
                if (
                    isinstance(block, ToolCallBlock)
                    and block.name == name
                    and block.state == "finished"
                    and (args := parse_arguments(block.input))
                ):
                    found.append(args)
        return found


def entry_of(record: Record) -> HistoryEntry:
    return HistoryEntry(record.seq, record.kind, record.ts_us, record.raw)


def _code(outbox: Outbox) -> str | None:
    return outbox.error.code if outbox.error is not None else None


__all__ = ["Agent", "SessionConversation", "Setting"]
