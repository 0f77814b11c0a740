"""The sessions of one data folder that are open: one conversation each, and what it needs.

``Slipway`` (``core/service.py``) is this and what a person does with sessions.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .agent.base import History
from .agent.conversation import Agent, SessionConversation, Setting, history_of
from .agent.foreign import ForeignConversation, open_source, workspace_of
from .agent.policy import Policy
from .catalog import ModelsChanged, SessionsChanged
from .context.ratios import Ratios
from .errors import SessionError, SlipwayError
from .events import (
    CompactionFinished,
    Event,
    RequestAnswered,
    RequestAsked,
    RunFinished,
    RunParked,
    RunStarted,
    TitleChanged,
    ToolFinished,
)
from .folders import Folders
from .machines import Machines
from .mcp.manager import McpManager
from .mcp.runner import Runner
from .models.library import ModelLibrary
from .models.registry import DEFAULT_MODEL, Models
from .paths import Paths
from .secrets import KeyFile, Secrets
from .sessions.appdb import AppDb, Placement
from .sessions.base import SessionKey
from .sessions.index import Index
from .shelf import USER, tools
from .tasks import Tasks
from .workspaces.base import Offloader
from .workspaces.local_workspace import LocalWorkspace
from .workspaces.remote.managed import ManagedWorkspace

log = logging.getLogger(__name__)

AnyConversation = SessionConversation | ForeignConversation

PROMPT = (
    "You are a careful assistant that works on the files of one folder for the person you talk "
    "with. Look before you change something, change only what was asked, and say what you did. "
    "Answer in the person's language."
)


@dataclass(frozen=True, slots=True)
class Glance:
    """A session as it can be shown before it is opened."""

    title: str
    history: History


class Conversations(Folders, ABC):
    """See the module. Safe to use from one event loop."""

    def __init__(self, paths: Paths, db: AppDb, index: Index, on_error: Any) -> None:
        keys = KeyFile(paths.data / "keys.json")
        secrets = Secrets(references=paths.config / "key-variables.json", file=keys)
        super().__init__(paths, db, index, secrets)
        self.models = Models()
        self.library = ModelLibrary(
            paths.config / "models.json",
            self.models,
            secrets=secrets,
            efforts=paths.data / "model-efforts.json",
        )
        self.machines = Machines(self)
        self.default_model = DEFAULT_MODEL
        self.ratios = Ratios()
        self.policy: Callable[[str], Policy] = lambda agent_id: Policy()  # of an agent
        # What keeps a session's offloads in its workspace's place; None: nothing else does.
        self.offloader: Callable[[SessionKey], Offloader | None] = lambda key: None
        self._tasks = Tasks(on_error)
        # Whoever asked for a conversation hears why it did not open; nobody else has to.
        self._openings = Tasks(lambda name, error: log.info("%s: %r", name, error))
        self._mcp = Runner()
        self._open: dict[SessionKey, asyncio.Task[AnyConversation]] = {}
        self._steal: set[SessionKey] = set()  # to be taken over at the next opening
        self._warm: asyncio.Task[None] | None = None

    @abstractmethod
    async def continue_session(self, key: SessionKey, before: int | None = None) -> SessionKey:
        """A new session that begins with what another one has; a conversation's way to fork."""

    async def placement(self, key: SessionKey) -> Placement:
        """Where a session belongs; KeyError when it is not known."""
        if (workspace_id := workspace_of(key)) is not None:
            await self.db.workspace(workspace_id)
            return Placement(key, workspace_id, title=key.session_id)
        return await self.db.placement(key)

    async def glance(self, key: SessionKey, limit: int) -> Glance | None:
        """The newest records of a session that is not open and whose last turn ended in order: what
        a window can show while the session is being opened. None for all others."""
        if key in self._open:
            return None
        try:
            placed = await self.db.placement(key)
            journal = await self.store.open(key, write=False)
        except (KeyError, SessionError):
            return None
        try:
            if journal.info.why not in (None, "journal.readonly"):
                return None
            history = await history_of(journal, limit=limit)
        except SessionError:
            return None
        finally:
            await journal.close()
        ended = history.entries and history.entries[-1].kind == "turn.finished"
        return Glance(placed.title, history) if ended else None

    async def conversation(self, key: SessionKey) -> AnyConversation:
        """The opened conversation, the same object until it is closed. One that another process
        holds opens read-only, as do those of other programs. KeyError when there is none."""
        opening = self._open.get(key)
        if opening is None or (opening.done() and opening.exception() is not None):
            name = f"open {key.session_id}"
            opening = self._openings.start(self._open_conversation(key), name=name)
            self._open[key] = opening
        try:
            return await asyncio.shield(opening)
        except BaseException:
            if opening.done():
                self._open.pop(key, None)
            raise

    async def _open_conversation(self, key: SessionKey) -> AnyConversation:
        placed = await self.placement(key)
        workspace = await self.workspace(placed.workspace_id)
        await asyncio.shield(self.warm())
        if workspace_of(key) is not None:
            return ForeignConversation(key, await open_source(workspace, key.session_id))
        steal = key in self._steal
        self._steal.discard(key)
        journal = await self.store.open(key, steal=steal)
        try:
            setting = Setting(
                Agent(id=key.agent_id, prompt=PROMPT),  # and as it began: see ``begun``
                workspace,
                self.models.get,
                self.default_model,
                await workspace.list_tools(),
                self._servers(workspace, key),
                infos=self.models.info,
                ratios=self.ratios,
                compaction=lambda: self.policy(key.agent_id),
                fork=lambda before: self.continue_session(key, before),
                offloader=self.offloader(key),
            )
            conversation = await SessionConversation.open(journal, setting, self._tasks)
        except BaseException:
            await journal.close()
            raise
        conversation.listen(lambda e: self._heard(key, placed.workspace_id, conversation, e))
        if conversation.activity == "parked":
            self._live[key] = "parked"
            self.tell(SessionsChanged(placed.workspace_id, key.session_id))
        return conversation

    def _heard(
        self, key: SessionKey, workspace_id: str, conversation: SessionConversation, event: Event
    ) -> None:
        match event:
            case RunStarted():
                self._live[key] = "running"
            case RunParked():
                self._live[key] = "parked"
                self._tasks.start(self._settle(key, workspace_id), name="refresh the index")
            case RequestAsked():
                self._live[key] = "parked"
            case RequestAnswered() if self._live.get(key) == "parked":
                self._live[key] = "parked" if conversation.requests else "running"
            case RunFinished():
                self._live.pop(key, None)
                self._tasks.start(self._settle(key, workspace_id), name="refresh the index")
                self._tasks.start(asyncio.to_thread(self.ratios.save), name="save token ratios")
            case CompactionFinished(record):
                counted = {"before": record.before, "after": record.after}
                self.happenings.add(workspace_id, "compacted", **counted)
                return
            case ToolFinished(state="error"):
                # Perhaps the folder is gone: the list says so at once.
                self._tasks.start(self.look_again([workspace_id]), name="look at a workspace")
                return
            case TitleChanged(title):
                self._tasks.start(self._retitle(key, workspace_id, title), name="save a title")
                return
            case _:
                return
        self.tell(SessionsChanged(workspace_id, key.session_id))

    async def _settle(self, key: SessionKey, workspace_id: str) -> None:
        opening = self._open.get(key)
        conversation = opening.result() if opening is not None and opening.done() else None
        if isinstance(conversation, SessionConversation):
            try:
                await self.index.refresh(conversation.log.journal)
            except SessionError as error:
                log.info("a session's row could not be refreshed: %s", error)
        self.tell(SessionsChanged(workspace_id, key.session_id))

    async def _retitle(self, key: SessionKey, workspace_id: str, title: str) -> None:
        await self.db.set_title(key, title)
        await self.index.place([await self.db.placement(key)])
        self.tell(SessionsChanged(workspace_id, key.session_id))

    async def take_over(self, key: SessionKey) -> AnyConversation:
        """Open a session for writing that another window or process holds; what that one writes
        next is refused."""
        await self.close_conversation(key)
        self._steal.add(key)
        return await self.conversation(key)

    async def close_conversation(self, key: SessionKey) -> None:
        """Stop what runs in it and let its journal go; idempotent."""
        opening = self._open.pop(key, None)
        if opening is None:
            return
        try:
            conversation = await opening
        except (SlipwayError, KeyError):
            return
        await conversation.close()
        self._live.pop(key, None)

    async def _close_conversations(self, seconds: float) -> list[str]:
        """All of them, and their MCP servers; names of tasks that would not end."""
        for key in list(self._open):
            await self.close_conversation(key)
        left = [*await self._openings.close(seconds), *await self._tasks.close(seconds)]
        await self._mcp.close()
        return left

    # -- their MCP servers --------------------------------------------------------------------

    def _servers(self, workspace: LocalWorkspace, key: SessionKey) -> McpManager:
        """The MCP servers of a session. What a container declares never runs on this computer."""
        if isinstance(workspace, ManagedWorkspace):
            return self.machines.servers(workspace, key, self._mcp)
        return McpManager(
            workspace,
            self._mcp,
            key.agent_id,
            key.session_id,
            secrets=self.library.secrets,
            route=self.library.connections.route,
        )

    def _running_servers(self, workspace_id: str) -> list[McpManager]:
        """Those of the sessions that are open in a workspace."""
        found: list[McpManager] = []
        for opening in self._open.values():
            if not opening.done() or opening.cancelled() or opening.exception() is not None:
                continue
            manager = getattr(opening.result(), "mcp", None)
            if isinstance(manager, McpManager) and manager.workspace_id == workspace_id:
                found.append(manager)
        return found

    def servers_up(self, workspace_id: str) -> int:
        """How many of a workspace's MCP servers are connected in its open sessions."""
        managers = self._running_servers(workspace_id)
        return len(frozenset[str]().union(*(one.connected for one in managers)))

    async def servers_of(self, workspace_id: str) -> McpManager:
        """The MCP servers of a workspace: those of a session that is open in it (one that started
        them first), else what is declared, which nothing starts."""
        running = self._running_servers(workspace_id)
        if running:
            return max(running, key=lambda one: one.started)
        return self._servers(await self.workspace(workspace_id), SessionKey(USER, "default", ""))

    async def reload_servers(self, workspace_id: str) -> None:
        """Have every open session of a workspace read its declarations again."""
        for key, opening in list(self._open.items()):
            if (await self.placement(key)).workspace_id == workspace_id:
                conversation = await asyncio.shield(opening)
                if isinstance(conversation, SessionConversation) and conversation.mcp is not None:
                    await conversation.mcp.reload()

    # -- what they need, ahead of time --------------------------------------------------------

    def warm(self) -> asyncio.Task[None]:
        """Load what the first session needs, beside the loop; once."""
        if self._warm is None:
            loading = asyncio.to_thread(_load_lazily)
            self._warm = self._tasks.start(loading, name="load what turns need")
        return self._warm

    def warm_models(self) -> asyncio.Task[None]:
        """Start what calls of the default model and of the open sessions' need, beside the loop."""
        wanted = {self.default_model}
        done = [o for o in self._open.values() if o.done() and not o.cancelled()]
        for conversation in (o.result() for o in done if o.exception() is None):
            if isinstance(conversation, SessionConversation):
                wanted.add(conversation.model_id)
        return self._tasks.start(self._warm_models(wanted), name="warm the models process")

    async def _warm_models(self, wanted: set[str]) -> None:
        await self.library.warm(wanted)
        await self.learn_models()

    async def learn_models(self) -> None:
        """Find out what is not known yet of the models; ``ModelsChanged`` tells of it."""
        if await self.library.learn():
            self.tell(ModelsChanged())


def _load_lazily() -> None:
    """What the first session needs and the first window does not: importing and preparing it
    takes tens of milliseconds, so it happens beside the loop."""
    from .messages import Msg
    from .models import guide
    from .state import AgentState

    assert guide.GuideModel  # hundreds of patterns
    tools()
    state = AgentState(context=[Msg.user("")])
    AgentState.model_validate_json(state.to_json())
