"""The sessions that are open in the window: one view model each, alive while another is shown."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.foreign import workspace_of
from desktop_app.core.agent.groups import off_tools
from desktop_app.core.catalog import CatalogEvent, ModelsChanged, RescueTold, WorkspacesChanged
from desktop_app.core.context.tokens import ClassCounter
from desktop_app.core.errors import SlipwayError
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.add_skill import add_skill
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.ui.bridge import after_paint
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.chat.vm_history import PAGE
from desktop_app.ui.tools.entries import skill_entries, tool_entries
from desktop_app.ui.transcript.model import TranscriptModel

_log = logging.getLogger(__name__)
KEPT = 8  # idle sessions whose view model is kept


class Desk(QObject):
    """Opens sessions and keeps them. ``shown(vm, sources)`` is emitted at once, with an empty
    transcript; its history follows."""

    shown = Signal(object, object)  # ChatViewModel, ChatSources
    sourcesChanged = Signal(object, object)  # the same, of a session whose workspace changed
    rescueTold = Signal(object)  # RescueTold
    modelsChanged = Signal()  # more is known of them
    dropped = Signal(object)  # ChatViewModel: its view can go
    failed = Signal(object)  # SlipwayError

    def __init__(
        self,
        service: Slipway,
        parent: QObject | None = None,
        before_opening: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """``before_opening`` is awaited between showing a session's end and opening it: what is to
        be seen first."""
        super().__init__(parent)
        self.service = service
        self._before_opening = before_opening
        self._open: OrderedDict[SessionKey, tuple[ChatViewModel, ChatSources]] = OrderedDict()
        self._tasks = Tasks(self._task_failed)
        self._counter = ClassCounter()
        self._unlisten = service.listen(self._catalog)
        self.current: SessionKey | None = None

    def _catalog(self, event: CatalogEvent) -> None:
        if isinstance(event, ModelsChanged):
            self.modelsChanged.emit()
        elif isinstance(event, RescueTold):
            self.rescueTold.emit(event)
        elif isinstance(event, WorkspacesChanged):
            # All of them: the news of one workspace replaces a look that another one's began.
            self._tasks.replace(self._look_at_workspaces(), name="workspaces")

    async def _look_at_workspaces(self) -> None:
        """A folder went away or came back, was trusted or renamed: pages hear of it."""
        for key, (vm, old) in list(self._open.items()):
            try:
                new = await self.sources(key)
            except (KeyError, SlipwayError):
                continue  # forgotten meanwhile: the list says so
            same = (old.missing, old.workspace_name, old.trusted) == (
                new.missing,
                new.workspace_name,
                new.trusted,
            )
            if same or key not in self._open:
                continue
            new.current_model, new.agent = old.current_model, old.agent
            new.mcp, new.groups, new.writable = old.mcp, old.groups, old.writable
            new.set_tool, new.tools_off = old.set_tool, old.tools_off
            self._open[key] = (vm, new)
            self.sourcesChanged.emit(vm, new)

    def count(self, text: str) -> int:
        """Estimated tokens of a short text."""
        return round(self._counter.count(text))

    def open(self, key: SessionKey) -> None:
        """Show a session; what runs in the one shown before goes on."""
        self.current = key
        if (known := self._open.get(key)) is not None:
            self._open.move_to_end(key)
            self.shown.emit(*known)
            return
        self._tasks.replace(self._load(key), name="open session")

    async def _load(self, key: SessionKey) -> None:
        try:
            shown = await self._glance(key)
            conversation = await self.service.conversation(key)
            sources = self._open[key][1] if key in self._open else await self.sources(key)
            if self.current == key and (key in self._open or not shown):
                _complete(sources, conversation)
                if shown:
                    self.sourcesChanged.emit(self._open[key][0], sources)
                else:
                    self._show(key, sources)
                self._open[key][0].open(conversation)
                await self._trim()
        except KeyError:
            self.failed.emit(SlipwayError("session.missing", id=key.session_id))
        except SlipwayError as error:
            self.failed.emit(error)
        finally:
            # Shown, and then another one was wanted or it could not be opened.
            found = self._open.get(key)
            if found is not None and found[0].conversation is None:
                del self._open[key]
                self._tasks.start(self._put_away(key, found[0]), name="close session")

    async def _glance(self, key: SessionKey) -> bool:
        """Show the end of a session at once; opening it takes longer. Whether that was possible."""
        glance = await self.service.glance(key, PAGE)
        if glance is None:
            return False
        sources = await self.sources(key)
        if self.current != key:
            return False
        vm = self._show(key, sources)
        await asyncio.sleep(0)  # a page that binds and a history are two turns of the loop
        vm.glance(glance.title, glance.history)
        if self._before_opening is not None:
            await self._before_opening()
        await after_paint(self)
        return True

    def _show(self, key: SessionKey, sources: ChatSources) -> ChatViewModel:
        rows = TranscriptModel()
        vm = ChatViewModel(rows, parent=self)
        rows.setParent(vm)
        self._open[key] = (vm, sources)
        self.shown.emit(vm, sources)
        return vm

    async def sources(self, key: SessionKey) -> ChatSources:
        """What the chat page needs of the session's workspace."""
        placed = await self.service.placement(key)
        workspace = await self.service.workspace(placed.workspace_id)
        info = workspace.info

        async def tools() -> list[Any]:
            return tool_entries(await workspace.list_tools(), self.count)

        async def skills() -> list[Any]:
            found = await workspace.list_skills(agent_id=key.agent_id)
            off = await self.service.skills_off(placed.workspace_id, key.agent_id)
            return skill_entries(found, self.count, off)

        async def set_skill(folder: str, enabled: bool) -> None:
            await self.service.set_skill_enabled(placed.workspace_id, key.agent_id, folder, enabled)

        async def bring_skill(folder: Path) -> None:
            await add_skill(workspace, folder)

        missing = info.state in ("missing", "unreadable", "error")
        return ChatSources(
            workspace_name=info.name,
            workspace_kind=info.backend,
            backend=None if missing else workspace.get_backend(),
            local=info.backend == "local",
            missing=_why_not(info),
            agent="" if workspace_of(key) else self.service.agents.get(key.agent_id).name,
            models=self.service.models.list,
            count=self.count,
            tools=tools,
            skills=skills,
            set_skill=set_skill,
            add_skill=bring_skill,
            trusted=info.trusted,
            scopes=info.generation == "C",
            inside=info.backend != "local",
        )

    async def _trim(self) -> None:
        """Let the oldest idle sessions go; running and waiting ones stay."""
        for key, (vm, _sources) in list(self._open.items()):
            if len(self._open) <= KEPT:
                return
            still = vm.activity == "idle" and vm.queued is None and not vm.commands_running
            if key != self.current and still:
                await self.drop(key)

    async def drop(self, key: SessionKey) -> None:
        """Close a session's view model (its conversation too)."""
        found = self._open.pop(key, None)
        if found is None:
            return
        await self._put_away(key, found[0])
        if self.current == key:
            self.current = None

    async def _put_away(self, key: SessionKey, vm: ChatViewModel) -> None:
        self.dropped.emit(vm)
        await vm.close()
        await self.service.close_conversation(key)
        vm.deleteLater()

    def take_over(self, key: SessionKey) -> None:
        """Write here what another window or program has open."""
        self._tasks.start(self._take_over(key), name="take over")

    async def _take_over(self, key: SessionKey) -> None:
        await self.drop(key)
        try:
            await self.service.take_over(key)
        except SlipwayError as error:
            self.failed.emit(error)
            return
        self.open(key)

    def reopen(self, keys: Sequence[SessionKey]) -> None:
        """What is open of these is of a workspace that is at another place now."""
        self._tasks.start(self._reopen(keys), name="open sessions again")

    async def _reopen(self, keys: Sequence[SessionKey]) -> None:
        shown = self.current
        for key in keys:
            await self.drop(key)
        if shown is not None and shown in keys and self.current is None:
            self.open(shown)

    def forget(self, key: SessionKey) -> None:
        """The session was trashed or its workspace forgotten."""
        self._tasks.start(self.drop(key), name="close session")

    def busy(self) -> list[ChatViewModel]:
        """View models with a run under way."""
        return [vm for vm, _ in self._open.values() if vm.activity == "running"]

    def commands_running(self) -> int:
        """How many commands run in the background of the open sessions."""
        return sum(vm.commands_running for vm, _ in self._open.values())

    async def close(self) -> None:
        """Stop watching; runs are stopped by the service."""
        self._unlisten()
        await self._tasks.close()
        for vm, _sources in self._open.values():
            await vm.close()
        self._open.clear()

    def _task_failed(self, name: str, error: BaseException) -> None:
        _log.error("%s failed", name, exc_info=error)
        detail = f"{type(error).__name__}: {error}"
        self.failed.emit(SlipwayError("internal.failed", what=name, error=detail))


def _why_not(info: WorkspaceInfo) -> tuple[str, dict[str, Any]] | None:
    """Why nothing can be sent in a workspace: it is not there, or another program may use it."""
    if info.state == "error":  # of a machine: its own reason
        return str(info.params.get("code") or "workspace.failed"), {"reason": "", **info.params}
    if info.state in ("missing", "unreadable"):
        return f"workspace.{info.state}", {"path": info.folder}
    if info.state == "readonly" and "code" in info.params:
        return str(info.params["code"]), info.params
    return None


def _complete(sources: ChatSources, conversation: Any) -> None:
    """What only an opened conversation knows."""
    sources.current_model = lambda: _model_of(conversation)
    sources.writable = conversation.writable
    if isinstance(conversation, SessionConversation):
        sources.agent = conversation.agent_name  # as it was called when the session began
        sources.mcp, sources.groups = conversation.mcp, conversation.toolbox.groups.groups
        sources.set_tool = conversation.set_tool
        sources.tools_off = lambda: off_tools(conversation.state)


def _model_of(conversation: Any) -> ModelInfo | None:
    try:
        return getattr(conversation, "model_info", None)  # one that is only read has none
    except SlipwayError:
        return None
