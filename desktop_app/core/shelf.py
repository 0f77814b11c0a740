"""The workspaces of one data folder: opened once each, listed, looked at again, put away.

``Slipway`` (``core/service.py``) is this and the sessions that belong to them; what is done with
folders of this computer alone is ``folders.py``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from .agent.foreign import foreign_key
from .catalog import (
    CatalogEvent,
    SessionState,
    SessionSummary,
    WorkspacesChanged,
    WorkspaceSummary,
)
from .errors import SlipwayError, WorkspaceError
from .happenings import Happenings
from .paths import Paths
from .places import Places, part
from .secrets import Secrets
from .sessions.appdb import AppDb, WorkspaceRow
from .sessions.base import SessionKey
from .sessions.index import Index, SessionRow
from .sessions.sqlite import SqliteJournalStore
from .spending import Spending
from .workspaces.base import WorkspaceInfo
from .workspaces.e2b.workspace import E2BWorkspace
from .workspaces.local_workspace import LocalWorkspace
from .workspaces.manager import WorkspaceManager
from .workspaces.remote.managed import ManagedWorkspace, Progress, looking

log = logging.getLogger(__name__)

USER = "local"  # the person at this computer, as AgentScope's user_id
OPENING = 8  # workspaces that a list opens at the same time
LISTED = 500  # sessions of a workspace that a tree shows; the Sessions page shows all

_UNENDED: dict[str, SessionState] = {"parked": "parked", "open": "interrupted"}  # by the index

STATE_CODES = {
    "missing": "workspace.missing",
    "unreadable": "workspace.unreadable",
    "error": "workspace.failed",
}


def why_not(workspace: LocalWorkspace) -> WorkspaceError:
    """Why nothing can be done in a workspace whose state says so. A machine's own reason comes
    before "did not open"."""
    info = workspace.info
    params = {key: value for key, value in info.params.items() if key != "code"}
    told = info.state == "error" or info.params.get("code") == "workspace.theirs_gone"
    if told and info.backend != "local":
        return WorkspaceError(str(info.params.get("code")), retryable=True, **params)
    reason = str(info.params.get("code", ""))
    return WorkspaceError(STATE_CODES[info.state], path=info.folder, reason=reason)


class Shelf:
    """See the module. Safe to use from one event loop."""

    def __init__(self, paths: Paths, db: AppDb, index: Index, secrets: Secrets) -> None:
        self.paths = paths
        self.db = db
        self.index = index
        self.store = SqliteJournalStore(paths.data / "journals")
        self.places = Places(paths, secrets, tools)
        self.manager: WorkspaceManager[LocalWorkspace] = WorkspaceManager(self._opened, ttl=None)
        self.happenings = Happenings(paths.state / "happenings.jsonl")
        self.spending = Spending(paths.data / "spent.json")
        self._told: dict[str, str] = {}  # workspace id -> the state that listeners know
        self._had: dict[str, str] = {}  # workspace id -> the machine that the catalogue knows of
        self._live: dict[SessionKey, SessionState] = {}
        self._listeners: list[Callable[[CatalogEvent], None]] = []

    def listen(self, listener: Callable[[CatalogEvent], None]) -> Callable[[], None]:
        """Hear what changes in the lists; returns the way to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, event: CatalogEvent) -> None:
        """Tell everybody who listens."""
        for listener in list(self._listeners):
            listener(event)

    async def list_workspaces(self) -> list[WorkspaceSummary]:
        """All workspaces in the person's order, each with its newest sessions."""
        turn = asyncio.Semaphore(OPENING)

        async def one(row: WorkspaceRow) -> WorkspaceSummary:
            async with turn:
                return await self._summary(row)

        return list(await asyncio.gather(*(one(row) for row in await self.db.workspaces())))

    async def summary(self, workspace_id: str) -> WorkspaceSummary | None:
        """One of the list; None for one that is not in it (any more)."""
        try:
            row = await self.db.workspace(workspace_id)
        except KeyError:
            return None
        return await self._summary(row) if row.forgotten_us is None else None

    async def _summary(self, row: WorkspaceRow) -> WorkspaceSummary:
        rows = await self.index.rows(row.id, limit=LISTED)
        away = await self._elsewhere(rows)
        sessions = [self._session_summary(r, elsewhere=r.key in away) for r in rows]
        try:
            workspace = await self._workspace(row)
        except WorkspaceError as error:  # of a kind that another version knows: listed with why
            return WorkspaceSummary(_closed(row, error), tuple(sessions))
        if workspace.info.foreign and workspace.info.state in ("ready", "readonly"):
            ours = [*await self.db.placements(row.id), *await self.db.placements(trashed=True)]
            known = {placed.key.session_id for placed in ours}
            with looking():
                theirs = await foreign_sessions(workspace)
            sessions += [s for s in theirs if s.key.session_id not in known]
        self._state_seen(row.id, workspace)
        await self._remember(row.id, workspace)
        return WorkspaceSummary(workspace.info, tuple(sessions))

    async def _elsewhere(self, rows: Sequence[SessionRow]) -> set[SessionKey]:
        """Of those whose turn has no end and that are not open here: the ones that another process
        writes."""
        doubted = [r.key for r in rows if r.state in _UNENDED and r.key not in self._live]
        if not doubted:
            return set()

        def look() -> set[SessionKey]:
            return {key for key in doubted if self.store.held_elsewhere(key)}

        return await asyncio.to_thread(look)

    def _session_summary(self, row: SessionRow, *, elsewhere: bool = False) -> SessionSummary:
        state = self._live.get(row.key) or _UNENDED.get(row.state, "idle")
        if elsewhere:
            state = "elsewhere"
        return SessionSummary(
            row.key, row.workspace_id, row.title, row.last_us or row.created_us, state, row.pinned
        )

    async def _opened(self, workspace_id: str) -> LocalWorkspace:
        row = await self.db.workspace(workspace_id)
        workspace = await self.places.make(row)
        for agent_id, folders in skills_off(row.config).items():
            workspace.set_skills_off(agent_id, folders)
        left = row.config.get("left_ns")
        workspace.set_left(left if isinstance(left, int) else 0)
        if isinstance(workspace, ManagedWorkspace):
            workspace.had = self._had[workspace_id] = str(row.config.get("machine") or "")
        await workspace.initialize()
        if isinstance(workspace, ManagedWorkspace):
            self._follow_machine(workspace_id, workspace)
        return workspace

    async def _remember(self, workspace_id: str, workspace: LocalWorkspace) -> None:
        """Which machine it has, so that one which is gone when it is opened again is told. Where it
        cannot be kept that is all that is lost: whoever lists or ends goes on."""
        if not isinstance(workspace, ManagedWorkspace):
            return
        if self._had.get(workspace_id, "") == workspace.had:
            return
        self._had[workspace_id] = workspace.had
        try:
            await self.db.configure(workspace_id, machine=workspace.had)
        except (SlipwayError, KeyError) as error:
            log.info("which machine a workspace has is not kept: %s", error)

    async def open_anyway(self, workspace_id: str) -> WorkspaceInfo:
        """Write in a workspace that another program may be using: the person says so, for as long
        as this program runs."""
        workspace = await self.workspace(workspace_id)
        await workspace.open_anyway()
        self.tell(WorkspacesChanged(workspace_id))
        return workspace.info

    async def leave(self, workspace_id: str) -> None:
        """Remember what we wrote last in a workspace of another program, so that it is not taken
        for theirs when it is opened again."""
        workspace = self.manager.cached(workspace_id)
        if workspace is None or not workspace.info.foreign or not (left := await workspace.left()):
            return
        await self.db.configure(workspace_id, left_ns=left)

    def _follow_machine(self, workspace_id: str, workspace: ManagedWorkspace) -> None:
        """Tell each stage of a machine that is brought up, whoever asked for it."""
        stage = ""

        def heard(progress: Progress) -> None:
            nonlocal stage
            if progress.stage != stage:
                stage = progress.stage
                self.tell(WorkspacesChanged(workspace_id))

        workspace.watch_progress(heard)

    async def _workspace(self, row: WorkspaceRow) -> LocalWorkspace:
        return await self.manager.get_workspace(row.id)

    async def workspace(self, workspace_id: str) -> LocalWorkspace:
        """The opened workspace; KeyError for an id that is not there."""
        return await self.manager.get_workspace(workspace_id)

    async def refresh_workspace(self, workspace_id: str) -> WorkspaceInfo:
        """Look at a workspace again: deleted, moved, back."""
        workspace = await self.workspace(workspace_id)
        before = workspace.info
        info = await workspace.refresh()
        if info != before:
            self.tell(WorkspacesChanged(workspace_id))
        return info

    async def try_again(self, workspace_id: str) -> WorkspaceInfo:
        """Look at it anew, its engine too, since a person says that it may work now. WorkspaceError
        with why while it does not."""
        workspace = await self.workspace(workspace_id)
        if workspace.info.backend == "docker":
            await self.places.engines.forget()
        info = await self.refresh_workspace(workspace_id)
        if info.state in STATE_CODES:
            raise why_not(workspace)
        return info

    async def look_again(self, workspace_ids: Sequence[str]) -> None:
        """Notice folders that went away or came back; cheap enough for every few seconds."""
        for workspace_id in workspace_ids:
            workspace = self.manager.cached(workspace_id)
            if workspace is None:
                continue
            changed = await workspace.changed()
            if changed:
                await workspace.refresh()
            # An operation of a run may have noticed it before us.
            self._state_seen(workspace_id, workspace, elsewhere=changed)

    def _state_seen(
        self, workspace_id: str, workspace: LocalWorkspace, *, elsewhere: bool = False
    ) -> None:
        """Whoever sees a new state first tells everybody else. ``elsewhere``: it was changed by
        somebody else."""
        state = "in_use" if workspace.held else workspace.info.state
        params = workspace.info.params
        self.happenings.saw(workspace_id, workspace.info.state, params, elsewhere=elsewhere)
        self._count_cost(workspace_id, workspace)
        former = self._told.get(workspace_id)
        self._told[workspace_id] = state
        if former is not None and former != state:
            self.tell(WorkspacesChanged(workspace_id))

    def _count_cost(self, workspace_id: str, workspace: LocalWorkspace) -> None:
        if isinstance(workspace, E2BWorkspace) and workspace.machine.status != "failed":
            machine = workspace.machine
            self.spending.see(
                workspace_id,
                running=machine.status == "running",
                started_us=machine.started_us,
                ends_us=machine.ends_us,
                price=workspace.spec.price,
            )

    async def put_away(self) -> None:
        """Close every workspace: containers stop, sandboxes pause, and what they cost is kept."""
        opened = self.manager.opened()
        for workspace_id, workspace in opened.items():
            await self._remember(workspace_id, workspace)
        await self.manager.close_all()
        for workspace_id, workspace in opened.items():
            if isinstance(workspace, E2BWorkspace) and self.spending.of(workspace_id).running:
                self.spending.see(workspace_id, running=False, price=workspace.spec.price)
        await self.spending.close()
        await self.happenings.close()

    async def skills_off(self, workspace_id: str, agent_id: str) -> list[str]:
        """The skills that an agent does not get in a workspace, by directory name."""
        row = await self.db.workspace(workspace_id)
        return skills_off(row.config).get(agent_id, [])

    async def set_skill_enabled(
        self, workspace_id: str, agent_id: str, folder: str, enabled: bool
    ) -> None:
        """Give an agent a skill of a workspace or not, from its next step on."""
        row = await self.db.workspace(workspace_id)
        off = skills_off(row.config)
        mine = [name for name in off.get(agent_id, []) if name != folder]
        off[agent_id] = mine if enabled else [*mine, folder]
        await self.db.configure(workspace_id, skills_off={agent_id: off[agent_id]})
        (await self.workspace(workspace_id)).set_skills_off(agent_id, off[agent_id])
        self.tell(WorkspacesChanged(workspace_id))

    async def rename_workspace(self, workspace_id: str, name: str) -> None:
        await self.db.rename_workspace(workspace_id, name)
        (await self.workspace(workspace_id)).set_name(name)
        self.tell(WorkspacesChanged(workspace_id))


def _closed(row: WorkspaceRow, error: WorkspaceError) -> WorkspaceInfo:
    return WorkspaceInfo(
        id=row.id,
        name=row.name,
        backend=row.backend,
        folder=row.folder or "",
        root=row.root or "",
        generation="C",
        trusted=row.trusted,
        foreign=False,
        state="error",
        params={**error.params, "code": error.code},
    )


def skills_off(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """By agent, the directories of skills that are switched off, from a workspace's config."""
    kept: dict[str, list[str]] = {}
    for agent_id, folders in part(config, "skills_off").items():
        listed = cast(list[Any], folders) if isinstance(folders, list) else []
        kept[agent_id] = [name for name in listed if isinstance(name, str)]
    return kept


def tools() -> list[Any]:
    from .tools.registry import builtin_tools

    return list(builtin_tools())


async def foreign_sessions(workspace: LocalWorkspace) -> list[SessionSummary]:
    """Sessions that another program left in a workspace: read-only history."""
    found: dict[str, int] = {}
    try:
        for entry in await workspace.list_offloads():
            found[entry.session_id] = max(found.get(entry.session_id, 0), entry.modified_us)
    except SlipwayError as error:
        log.info("the sessions of a workspace cannot be listed: %s", error)
    keys: Sequence[tuple[str, int]] = sorted(found.items(), key=lambda item: -item[1])
    return [
        SessionSummary(
            foreign_key(USER, workspace.info.id, session_id),
            workspace.info.id,
            session_id,
            us,
            "readonly",
            foreign=True,
        )
        for session_id, us in keys
        if session_id
    ]
