"""What a person does with the machines of workspaces: makes, starts, stops, removes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from .catalog import WorkspacesChanged
from .errors import WorkspaceError
from .gateway.connection import GatewayConnection
from .gateway.machine import GatewayMachine
from .ids import new_id, now_us, safe_name
from .mcp.connection import Status
from .mcp.manager import McpManager
from .mcp.runner import Runner
from .mcp.spec import ServerSpec
from .neighbours import Neighbour, known_theirs, neighbours
from .places import RESCUED
from .sessions.appdb import WorkspaceRow
from .sessions.base import SessionKey
from .shelf import Shelf
from .tasks import Tasks
from .workspaces.base import WorkspaceInfo
from .workspaces.docker.spec import DockerSpec
from .workspaces.e2b.sandbox import Found, end, orphans
from .workspaces.e2b.spec import E2BSpec
from .workspaces.e2b.workspace import E2BWorkspace
from .workspaces.oserrors import raise_os
from .workspaces.remote.machine import Status as MachineStatus
from .workspaces.remote.managed import ManagedWorkspace, Tally
from .workspaces.remote.tree_tar import Moved

log = logging.getLogger(__name__)

Verb = Literal["start", "pause", "stop", "rebuild", "remove"]


@dataclass(frozen=True, slots=True)
class Loss:
    """What removing or rebuilding a machine would take away for ever. ``bytes`` is what was written
    in it, None when the engine does not say; ``kept`` is the folder whose files stay, ``rescued``
    the newest rescue copy. ``machine`` is its name at the engine, empty when there is none (or
    none was seen yet), ``status`` how it is, ``theirs`` whether AgentScope made it."""

    bytes: int | None
    kept: str = ""
    rescued: str = ""
    machine: str = ""
    status: MachineStatus = "failed"
    theirs: bool = False

    @property
    def nothing(self) -> bool:
        return self.bytes == 0


class Machines:
    """Of the workspaces that ``shelf`` keeps. Every change is told to its listeners."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._gateways: dict[str, GatewayMachine] = {}
        self._rescues: dict[str, asyncio.Task[tuple[Path, Moved]]] = {}
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))

    async def of(self, workspace_id: str) -> ManagedWorkspace | None:
        """The workspace when it has a machine; None for a folder."""
        workspace = await self._shelf.workspace(workspace_id)
        return workspace if isinstance(workspace, ManagedWorkspace) else None

    async def _needed(self, workspace_id: str) -> ManagedWorkspace:
        found = await self.of(workspace_id)
        if found is None:
            raise WorkspaceError("workspace.no_machine", name=workspace_id)
        return found

    async def create(self, name: str, spec: DockerSpec | E2BSpec) -> WorkspaceInfo:
        """A new workspace in a container or sandbox; nothing is started yet. WorkspaceError
        ``docker.spec``, ``docker.mount``, ``e2b.spec``."""
        row_id = new_id()
        row = await self._row(row_id, name, spec)
        await self._shelf.db.put_workspace(replace(row, last_used_us=now_us()))
        workspace = await self._shelf.workspace(row_id)
        self._shelf.tell(WorkspacesChanged(row_id))
        return workspace.info

    async def _row(self, row_id: str, name: str, spec: DockerSpec | E2BSpec) -> WorkspaceRow:
        if isinstance(spec, DockerSpec):
            return await self._shelf.places.docker_row(row_id, name, spec)
        return await self._shelf.places.e2b_row(row_id, name, spec)

    async def change(self, workspace_id: str, spec: DockerSpec | E2BSpec) -> WorkspaceInfo:
        """Other settings for a workspace; what is part of its machine holds from the next one on
        (``rebuild``)."""
        workspace = await self._needed(workspace_id)
        workspace.check_ours()
        old = await self._shelf.db.workspace(workspace_id)
        row = await self._row(workspace_id, old.name, spec)
        config = {**old.config, **row.config}
        await self._shelf.db.put_workspace(replace(old, folder=row.folder, config=config))
        workspace.set_spec(spec)
        self._shelf.tell(WorkspacesChanged(workspace_id))
        return workspace.info

    async def extend(self, workspace_id: str, seconds: int) -> WorkspaceInfo:
        """A sandbox's lease ends ``seconds`` from now. WorkspaceError ``e2b.*``."""
        workspace = await self._needed(workspace_id)
        if not isinstance(workspace, E2BWorkspace):
            raise WorkspaceError("workspace.no_lease", name=workspace.info.name)
        try:
            info = await workspace.extend(seconds)
            ends_us = workspace.machine.ends_us
            self._shelf.happenings.add(workspace_id, "extended", ends_us=ends_us)
            return info
        finally:
            self._shelf.tell(WorkspacesChanged(workspace_id))

    async def without_owner(self) -> list[Found]:
        """Sandboxes of ours in the account that no workspace here has: left by another computer or
        by a lost catalogue. WorkspaceError ``e2b.*``."""
        known = {row.id for row in await self._shelf.db.workspaces()}
        return await orphans(self._shelf.places.e2b, known)

    async def end_without_owner(self, sandbox_id: str) -> None:
        """End one of ``without_owner`` for ever, with its disk; one that a workspace here has is
        left alone. WorkspaceError ``e2b.*``."""
        if sandbox_id not in {one.id for one in await self.without_owner()}:
            raise WorkspaceError("e2b.gone", detail=sandbox_id)
        await end(self._shelf.places.e2b, sandbox_id)

    async def neighbours(self) -> list[Neighbour]:
        """Machines that AgentScope made and that are not in the list."""
        return await neighbours(self._shelf.places, known_theirs(await self._shelf.db.workspaces()))

    async def add_neighbour(self, found: Neighbour) -> WorkspaceInfo:
        """A workspace of the list for a machine of AgentScope's: read-only until the person says
        otherwise (``Shelf.open_anyway``), and not trusted. One in the list is left as it is, one
        that was forgotten comes back with its sessions."""
        db = self._shelf.db
        for row in [*await db.workspaces(), *await db.workspaces(forgotten=True)]:
            if (found.kind, found.id) in known_theirs([row]):
                await db.recall_workspace(row.id)
                self._shelf.tell(WorkspacesChanged(row.id))
                return (await self._shelf.workspace(row.id)).info
        row_id, spec = new_id(), found.spec()
        config = {found.kind: spec.kept()}
        row = WorkspaceRow(row_id, found.id[:80], found.kind, found.folder or None, config=config)
        await db.put_workspace(replace(row, last_used_us=now_us()))
        workspace = await self._shelf.workspace(row_id)
        self._shelf.tell(WorkspacesChanged(row_id))
        return workspace.info

    async def do(self, workspace_id: str, verb: Verb) -> WorkspaceInfo:
        """Change a machine's state. Cancelling a start or rebuild leaves what was made for the next
        time. WorkspaceError with the engine's reason."""
        workspace = await self._needed(workspace_id)
        try:
            return await getattr(workspace, verb)()
        finally:
            self._shelf.tell(WorkspacesChanged(workspace_id))

    async def rescue(self, workspace_id: str, tell: Tally | None = None) -> tuple[Path, Moved]:
        """Copy what the agent keeps in a machine (sessions, data, skills, declarations) into the
        data folder, proven by digests: whole, or not at all. The copy is a workspace root that can
        be opened like any folder, without the machine. Earlier copies stay. WorkspaceError
        ``workspace.nothing_kept`` and those of ``download``. Who asks while one is being made gets
        the same."""
        going = self._rescues.get(workspace_id)
        if going is None or going.done():
            work = self._rescue(workspace_id, tell)
            going = self._tasks.start(work, name=f"rescue copy {workspace_id}")
            self._rescues[workspace_id] = going
        return await asyncio.shield(going)

    async def _rescue(self, workspace_id: str, tell: Tally | None = None) -> tuple[Path, Moved]:
        workspace = await self._needed(workspace_id)
        await workspace.start()
        root = workspace.info.root
        if (await workspace.remote.stat_many([root]))[0] is None:
            raise WorkspaceError("workspace.nothing_kept", name=workspace.info.name)
        stamp = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        folder = self._copies(workspace_id) / stamp
        try:
            await asyncio.to_thread(folder.parent.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise_os(error, str(folder.parent))
        moved = await workspace.download(root, folder, tell=tell)
        counted = {"files": moved.files, "bytes": moved.bytes}
        self._shelf.happenings.add(workspace_id, "rescued", **counted)
        return folder, moved

    def _copies(self, workspace_id: str) -> Path:
        return self._shelf.paths.data / RESCUED / safe_name(workspace_id)

    async def rescued(self, workspace_id: str) -> str:
        """The folder of a workspace's newest rescue copy; empty when there is none."""

        def newest() -> str:
            folder = self._copies(workspace_id)
            return (
                max((str(one) for one in folder.iterdir()), default="") if folder.exists() else ""
            )

        return await asyncio.to_thread(newest)

    def gateway(self, workspace: ManagedWorkspace) -> GatewayMachine:
        """The gateway of a workspace's machine; started by the first server that needs it."""
        known = self._gateways.get(workspace.info.id)
        if known is None:
            known = GatewayMachine(workspace.remote, host=workspace)
            self._gateways[workspace.info.id] = known
        return known

    def servers(self, workspace: ManagedWorkspace, key: SessionKey, runner: Runner) -> McpManager:
        """The MCP servers of a session in a machine: they run there, behind its gateway."""
        gateway = self.gateway(workspace)

        def connect(spec: ServerSpec, on_change: Callable[[Status], None]) -> GatewayConnection:
            return GatewayConnection(spec, gateway, key.agent_id, key.session_id, on_change)

        return McpManager(workspace, runner, key.agent_id, key.session_id, connect=connect)

    async def close(self) -> None:
        """End the gateways and copies; the machines are put away by the shelf's manager."""
        await self._tasks.close()
        for gateway in self._gateways.values():
            await gateway.close()
        self._gateways.clear()

    async def loss(self, workspace_id: str) -> Loss:
        """What ``remove`` and ``rebuild`` would take away. Sessions and their history are in the
        program's own folder and stay in any case."""
        workspace = await self._needed(workspace_id)
        size, kept = await workspace.loss()
        machine = await workspace.look()
        rescued = await self.rescued(workspace_id)
        theirs = bool(workspace.theirs)
        return Loss(size, kept, rescued, machine.name, machine.status, theirs)

    async def discard(self, workspace_id: str) -> None:
        """Remove its machine for ever, after a rescue copy: what cannot be copied is not removed.
        Without a machine nothing is done. WorkspaceError ``workspace.not_ours`` for one of
        AgentScope's, the engine's reason, and those of ``rescue``."""
        workspace = await self._needed(workspace_id)
        workspace.check_ours()
        machine = await workspace.look()
        if machine.status == "absent":
            return
        if machine.status == "failed":
            raise WorkspaceError(machine.code, retryable=True, **(machine.params or {}))
        try:
            await self.rescue(workspace_id)
        except WorkspaceError as error:
            if error.code != "workspace.nothing_kept":
                raise
        await self.do(workspace_id, "remove")
