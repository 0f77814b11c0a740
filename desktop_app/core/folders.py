"""Folders of this computer as workspaces: looked into before anything is opened, added, moved from
an older layout to the newest.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .catalog import WorkspacesChanged
from .errors import WorkspaceError
from .ids import new_id, now_us
from .resources import path as resource
from .sessions.appdb import WorkspaceRow
from .sessions.base import SessionKey
from .shelf import Shelf, foreign_sessions, tools, why_not
from .workspaces import migrate as moving
from .workspaces.base import Generation, WorkspaceInfo
from .workspaces.in_use import who_uses
from .workspaces.local_workspace import LocalWorkspace
from .workspaces.mcp_file import Pair


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What opening a folder would find, before anything is opened. ``commands`` are whole command
    lines that its MCP declarations would run."""

    folder: str
    name: str
    foreign: bool
    known: bool
    generation: Generation
    commands: tuple[str, ...] = ()
    skills: int = 0
    sessions: int = 0
    instructions: bool = False

    @property
    def asks(self) -> bool:
        """Whether a person must say first that it is trusted: another program wrote it, or it came
        with programs to be run or skills for the prompt, as a downloaded folder may."""
        return not self.known and (self.foreign or bool(self.commands or self.skills))


@dataclass(frozen=True, slots=True)
class NewPlace:
    """Where a person says that the folder of a workspace is now. ``own``: something is there that
    its sessions kept. ``brings``: programs to be run or skills for the prompt, as ``asks``."""

    workspace_id: str
    name: str
    folder: str
    own: bool
    brings: bool


class Folders(Shelf):
    """See the module. Safe to use from one event loop."""

    async def inspect_folder(self, folder: str) -> FolderReport:
        """What opening ``folder`` would find. WorkspaceError when it cannot be read."""
        path = str(Path(folder).expanduser().absolute())
        row = await self.db.workspace_of(path)
        probe = LocalWorkspace(path, id="probe", tools=tools)
        try:
            await probe.initialize()
            info = probe.info
            if info.state in ("missing", "unreadable", "error"):
                raise why_not(probe)
            would = await probe.would_run()
            return FolderReport(
                path,
                row.name if row else info.name,
                info.foreign,
                row is not None and row.forgotten_us is None,
                info.generation,
                tuple(shlex.join(c.command) or c.url for c in would.commands),
                len(would.skills),
                len(await foreign_sessions(probe)) if info.foreign else 0,
                would.instructions,
            )
        finally:
            await probe.close()

    async def add_folder(self, folder: str, *, trusted: bool, name: str = "") -> WorkspaceInfo:
        """Make a folder a workspace, or bring a forgotten one back with its sessions."""
        path = str(Path(folder).expanduser().absolute())
        row = await self.db.workspace_of(path)
        if row is None:
            row = WorkspaceRow(
                new_id(), name or Path(path).name or path, "local", path, trusted=trusted
            )
        elif row.forgotten_us is not None:
            await self.db.recall_workspace(row.id)
        row = replace(row, trusted=trusted or row.trusted, forgotten_us=None, last_used_us=now_us())
        await self.db.put_workspace(row)
        workspace = await self._workspace(row)
        workspace.set_trusted(row.trusted)
        info = await workspace.refresh()
        self.tell(WorkspacesChanged(row.id))
        return info

    async def new_place(self, workspace_id: str, folder: str) -> NewPlace:
        """Look whether ``folder`` can be where the folder of a workspace is now. WorkspaceError
        ``workspace.there`` while the old one can be read, ``workspace.taken`` when it is another
        workspace's, and why it cannot be used."""
        row = await self.db.workspace(workspace_id)
        path = str(Path(folder).expanduser().absolute())
        now = await (await self.workspace(workspace_id)).refresh()
        if row.backend != "local" or now.state not in ("missing", "unreadable"):
            raise WorkspaceError("workspace.there", path=now.folder)
        other = await self.db.workspace_of(path)
        if other is not None and other.id != workspace_id:
            raise WorkspaceError("workspace.taken", path=path, name=other.name)
        probe = LocalWorkspace(path, id="probe", tools=tools)
        try:
            await probe.initialize()
            if probe.info.state in ("missing", "unreadable", "error"):
                raise why_not(probe)
            would = await probe.would_run()
            there = {s.key.session_id for s in await foreign_sessions(probe)}
        finally:
            await probe.close()
        placed = [*await self.db.placements(row.id), *await self.db.placements(trashed=True)]
        own = any(p.workspace_id == row.id and p.key.session_id in there for p in placed)
        brings = probe.info.foreign or bool(would.commands or would.skills)
        return NewPlace(row.id, row.name, path, own, brings)

    async def make_demo(self) -> str:
        """A fresh copy of the demo's documents in the data folder; the folder's path."""
        target = self.paths.data / "workspaces" / "demo"

        def copy() -> str:
            import shutil

            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(resource("demo", "field-sales"), target)
            return str(target)

        return await asyncio.to_thread(copy)

    # -- an older layout ---------------------------------------------------------------------------

    async def migration(self, workspace_id: str) -> moving.Plan:
        """What moving a workspace of an older layout to the newest would do. WorkspaceError
        ``migrate.*``; that of ``in_use`` while another program may be using it;
        ``migrate.running`` while an agent of ours works in it."""
        workspace = await self.workspace(workspace_id)
        await self._require_alone(workspace)
        layout = workspace.layout
        return await asyncio.to_thread(moving.plan, layout.root, layout.generation)

    async def _require_alone(self, workspace: LocalWorkspace) -> None:
        info = workspace.info
        if info.state != "ready":
            workspace.check_free()
            raise WorkspaceError("workspace.readonly", retryable=True, path=info.folder)
        if info.backend != "local":
            raise WorkspaceError("migrate.not_here", path=info.folder)
        for key, state in self._live.items():
            if state == "running" and await self._belongs(key, info.id):
                raise WorkspaceError("migrate.running", retryable=True, path=info.folder)
        left = max(workspace.left_ns, await workspace.left())
        use = await asyncio.to_thread(who_uses, workspace.layout.root, left)
        if use is not None:
            raise WorkspaceError(use.code, retryable=True, path=info.folder, **use.params())

    async def _belongs(self, key: SessionKey, workspace_id: str) -> bool:
        try:
            return (await self.db.placement(key)).workspace_id == workspace_id
        except KeyError:
            return False

    async def migrate(
        self,
        made: moving.Plan,
        workspace_id: str,
        pairs: Sequence[Pair],
        progress: moving.Progress | None = None,
    ) -> str:
        """Do what ``made`` says; the backup's path. ``progress`` is called in a thread."""
        workspace = await self.workspace(workspace_id)
        await self._require_alone(workspace)
        backup = await asyncio.to_thread(moving.migrate, made, pairs, progress)
        workspace.wrote()
        await workspace.refresh()
        await self.leave(workspace_id)
        self.tell(WorkspacesChanged(workspace_id))
        return backup
