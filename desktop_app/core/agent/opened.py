"""What an opened session holds, and what is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.errors import ModelError, SessionError
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.models.base import ChatModel, Effort, ModelInfo, effort_of
from desktop_app.core.sessions.base import Journal, NewRecord, SessionKey
from desktop_app.core.state import AgentState, PermissionContext
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.base import FileVersions, ToolContext
from desktop_app.core.workspaces.outbox import Outbox

from .answers import with_rule
from .base import Activity, History, Pending, Question, Spent
from .commands import SessionCommands
from .engine import ContextEngine
from .execute import Executor
from .groups import ToolGroups
from .log import SessionLog
from .past import Past
from .policies import policy_from
from .policy import Policy
from .recall import recall_tools
from .recovery import Recovered
from .requests import Answered, Request, Requests
from .room import Room
from .servers import Servers
from .setting import Setting
from .shown import history_of
from .stream import RunStream
from .toolbox import Toolbox, approval_from


class Opened:
    """The parts of a conversation. ``engine``, ``room``, ``executor`` and ``outbox`` are there once
    it is open."""

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
            self.recount,
        )
        self.past = Past(journal)
        groups = ToolGroups(
            [*setting.tools, *recall_tools(self.past)],
            self._servers.tools,
            lambda: self.log.now.state,
        )
        self.toolbox = Toolbox(groups, self._tool_context, self._servers)
        self.commands = SessionCommands(self.log, setting.workspace, tasks, self._stream.emit)
        self._requests = Requests(
            self.log,
            self._stream.emit,
            tasks,
            self.model,
            lambda: self.permissions,
            self._add_rule,
        )
        if setting.mcp is not None and journal.info.writable:
            setting.mcp.ask = self._requests.ask
        self.engine: ContextEngine
        self.room: Room
        self.executor: Executor
        self.outbox: Outbox

    # -- what is known -----------------------------------------------------------------------

    @property
    def mcp(self) -> McpManager | None:
        """The session's MCP servers; None where there can be none."""
        return self._servers.manager

    @property
    def key(self) -> SessionKey:
        return self.log.journal.info.key

    @property
    def agent_name(self) -> str:
        """Who answers, under the name that it had when the session began."""
        return self._setting.agent.name

    @property
    def begun_with(self) -> dict[str, Any]:
        """What the session's first record keeps of its agent, for one that goes on from it."""
        config = self.log.now.config
        return {name: config[name] for name in ("agent_name", "instructions") if name in config}

    @property
    def activity(self) -> Activity:
        if not self.writable:
            return "idle"  # whatever runs or waits there is another window's
        if self._stream.running:
            return "running"
        return "parked" if self.log.now.waiting else "idle"

    @property
    def asked(self) -> frozenset[str]:
        return frozenset(self.log.now.waiting)

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
    def model_id(self) -> str:
        """The model that this session wants, whether there is one of that name or not."""
        return self.log.now.model or self._setting.default_model

    @property
    def effort(self) -> Effort | None:
        """What the person chose for this session; None: as its model is set."""
        return effort_of(self.log.now.effort)

    @property
    def own_policy(self) -> Policy | None:
        """What the person set of compaction for this session alone; None: as its agent is set."""
        return policy_from(self.log.now.policy)

    def policy(self) -> Policy:
        """What compaction does by itself here."""
        return self.own_policy or self._setting.compaction()

    @property
    def model_info(self) -> ModelInfo:
        if (infos := self._setting.infos) is not None:
            return infos(self.model_id)
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

    @property
    def requests(self) -> tuple[Request, ...]:
        return self._requests.pending

    def answer_request(self, request_id: str, answer: Answered) -> None:
        self._requests.answer(request_id, answer)

    def listen(self, listener: Callable[[ev.Event], None]) -> Callable[[], None]:
        """Hear every event of this conversation; returns the way to stop."""
        self._stream.listeners.append(listener)
        return lambda: self._stream.listeners.remove(listener)

    def model(self) -> ChatModel:
        return self._setting.models(self.model_id)

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

    async def recount(self) -> None:
        """Look at instructions, skills and tools again, and tell what they cost now. A turn under
        way does so by itself before its next call."""
        if self._stream.running:
            return
        await self.engine.refresh()
        self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

    async def _add_rule(self, rule: dict[str, Any]) -> None:
        context = with_rule(self.permissions, rule)
        body = {"permission_context": context.model_dump()}
        await self.log.append(NewRecord("permissions", body), draft=None)

    def _check_writable(self) -> None:
        if not self.writable:
            code, params = self.why_readonly or ("journal.readonly", {})
            raise SessionError("session.readonly", why=code, **params)

    def _check_free(self) -> None:
        self._check_writable()
        if self._stream.running:
            raise SessionError("run.busy")
        self._setting.workspace.check_free()

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
            holds=self._holds,
            commands=self.commands,
        )

    def _holds(self, tool: str, text: str) -> bool:
        """Whether a result of ``tool`` that begins with all of ``text`` is in the live history."""
        return any(
            result.name == tool and result.text().startswith(text)
            for msg in reversed(self.state.context)
            for result in msg.tool_results()
        )
