"""Slipway without a window: workspaces, sessions and conversations of one data folder.

Everything that the window shows can be done from here. Open it with ``Slipway.open``; what lists
show is told through ``listen``.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from .agent.carry import carry
from .agent.conversation import SessionConversation
from .agent.foreign import workspace_of
from .agents import DEFAULT_AGENT, Agents
from .catalog import SessionsChanged, SessionSummary, WorkspacesChanged
from .context.ratios import Ratios
from .conversations import Conversations
from .errors import SlipwayError
from .folders import NewPlace
from .ids import new_id, now_us
from .paths import Paths, ensure
from .places import part
from .rescuing import Rescuer
from .sessions.appdb import AppDb, Placement
from .sessions.base import SessionKey
from .sessions.index import Hit, Index
from .shelf import LISTED, USER, why_not
from .workspaces.base import WorkspaceInfo

log = logging.getLogger(__name__)


class Slipway(Conversations):
    """See the module. Safe to use from one event loop."""

    def __init__(self, paths: Paths, db: AppDb, index: Index, on_error: Any) -> None:
        super().__init__(paths, db, index, on_error)
        self.agents = Agents(db)
        self.rescuer = Rescuer(self, self.machines.rescue)

    @classmethod
    async def open(
        cls, paths: Paths, *, on_error: Callable[[str, BaseException], None] | None = None
    ) -> Slipway:
        """Open the data folder; makes it when it is not there. Raises SessionError ``appdb.*``,
        ``disk.*``. The index is brought up to date in the background."""
        await asyncio.to_thread(ensure, paths.data)
        await asyncio.to_thread(ensure, paths.cache)
        db = await AppDb.open(paths.data / "app.db")
        index = await Index.open(paths.cache / "index.db")
        self = cls(paths, db, index, on_error or _log_error)
        if any(notice.code == "appdb.damaged" for notice in db.notices):
            await db.rebuild(self.store)
        await self.library.load()
        await self.happenings.load()
        await self.spending.load()
        self.ratios = await asyncio.to_thread(Ratios, paths.data / "token-ratios.json")
        placed = [*await db.placements(), *await db.placements(trashed=True)]
        await self.agents.load(p.key for p in placed)
        await index.place(placed)
        ending = asyncio.to_thread(self.places.left.end_of_the_dead)
        self._tasks.start(ending, name="end what a dead program left running")
        self._tasks.start(self._catch_up(), name="bring the index up to date")
        self.rescuer.start()
        return self

    async def _catch_up(self) -> None:
        if await self.index.rebuild(self.store):
            self.tell(WorkspacesChanged())

    # -- workspaces ----------------------------------------------------------------------------

    async def trust(self, workspace_id: str, trusted: bool = True) -> None:
        await self.db.trust_workspace(workspace_id, trusted)
        (await self.workspace(workspace_id)).set_trusted(trusted)
        await self.reload_servers(workspace_id)
        self.tell(WorkspacesChanged(workspace_id))

    async def move_workspace(self, place: NewPlace) -> WorkspaceInfo:
        """Go on in the folder that ``new_place`` looked at: sessions, rules and name stay. What was
        trusted stays so where it is the same folder, or one that brings nothing."""
        row = await self.db.workspace(place.workspace_id)
        await self._close_sessions(row.id)
        trusted = row.trusted and (place.own or not place.brings)
        await self.db.move_workspace(row.id, place.folder, trusted)
        await self.manager.close(row.id)
        self.happenings.add(row.id, "moved", folder=place.folder)
        info = (await self.workspace(row.id)).info
        self.tell(WorkspacesChanged(row.id))
        return info

    async def _close_sessions(self, workspace_id: str) -> None:
        for key in list(self._open):
            if (await self.placement(key)).workspace_id == workspace_id:
                await self.close_conversation(key)

    async def forget_workspace(self, workspace_id: str) -> None:
        """Take it out of the list: its folder and its sessions' journals stay."""
        await self._close_sessions(workspace_id)
        await self.leave(workspace_id)
        await self.db.forget_workspace(workspace_id)
        try:
            await self.manager.close(workspace_id)
        finally:  # it is out of the list also when its machine could not be put away
            self.tell(WorkspacesChanged(workspace_id))

    # -- sessions ------------------------------------------------------------------------------

    def first_model(self, agent_id: str) -> str:
        """The model that a new session of an agent begins with: its own, while there is one of
        that name, else the one for all."""
        own = self.agents.model_of(agent_id)
        return own if any(m.id == own for m in self.models.list()) else self.default_model

    async def new_session(
        self,
        workspace_id: str,
        *,
        agent_id: str = DEFAULT_AGENT,
        begin: Mapping[str, Any] | None = None,
    ) -> SessionKey:
        """A new, empty session in a workspace. ``begin`` is what its agent begins with (as
        ``Agents.begin`` gives it), None: as the agent is now."""
        row = await self.db.workspace(workspace_id)
        workspace = await self._workspace(row)
        if workspace.info.state in ("missing", "unreadable", "error"):
            raise why_not(workspace)
        key = SessionKey(USER, agent_id, new_id())
        config: dict[str, Any] = {
            "workspace_id": workspace_id,
            "folder": row.folder,
            "model": self.first_model(agent_id),
            "mode": (self.agents.get(agent_id).mode or "default") if row.trusted else "explore",
            **(self.agents.begin(agent_id) if begin is None else begin),
        }
        if row.backend != "local":  # enough to list it again, should the catalogue be lost
            kept = {row.backend: part(row.config, row.backend)}
            config["workspace"] = {"backend": row.backend, "name": row.name, "config": kept}
        journal = await self.store.create(key, config)
        await journal.close()
        placed = Placement(key, workspace_id, created_us=now_us())
        await self.db.place(placed)
        await self.index.place([placed])
        self.agents.saw(key)
        await self.db.use_workspace(workspace_id)
        self.tell(SessionsChanged(workspace_id, key.session_id))
        return key

    async def continue_session(self, key: SessionKey, before: int | None = None) -> SessionKey:
        """A new session that begins with what is whole of another one: another program's, a
        damaged one, one of ours with the records ``before`` one of its own. The old one is left
        as it is; a branch of one that can be written has a number before its name."""
        source = await self.conversation(key)
        agent_id = DEFAULT_AGENT if workspace_of(key) is not None else key.agent_id
        placed = await self.placement(key)
        begin = source.begun_with if isinstance(source, SessionConversation) else None
        new = await self.new_session(placed.workspace_id, agent_id=agent_id, begin=begin)
        journal = await self.store.open(new)
        try:
            title = await self._numbered(source.title, placed) if source.writable else ""
            await carry(source, journal, before=before, title=title)
            await self.index.refresh(journal)
        finally:
            await journal.close()
        await self._replaced(new)
        return new

    async def _numbered(self, title: str, placed: Placement) -> str:
        """``(2) Title``, or with the first number that no session of the workspace has: in front,
        where a narrow list cuts nothing off."""
        if not title:
            return ""
        base = re.sub(r"^\(\d+\) ", "", title)
        taken = {row.title for row in await self.index.rows(placed.workspace_id, limit=LISTED)}
        return next(t for n in count(2) if (t := f"({n}) {base}") not in taken)

    async def rename_session(self, key: SessionKey, title: str) -> None:
        conversation = await self.conversation(key)
        await conversation.set_title(title)

    async def pin_session(self, key: SessionKey, pinned: bool) -> None:
        await self.db.pin(key, pinned)
        await self._replaced(key)

    async def trash_session(self, key: SessionKey) -> None:
        """Into the trash; ``restore_session`` takes it out again."""
        await self.close_conversation(key)
        await self.db.trash(key)
        await self._replaced(key)

    async def restore_session(self, key: SessionKey) -> None:
        await self.db.restore(key)
        await self._replaced(key)

    async def trash(self, limit: int = LISTED) -> list[SessionSummary]:
        """Sessions in the trash, newest first."""
        rows = await self.index.rows(None, trashed=True, limit=limit)
        found = [replace(self._session_summary(row), state="idle") for row in rows]
        return sorted(found, key=lambda s: -s.updated_us)

    async def purge_session(self, key: SessionKey) -> None:
        """Remove a session of the trash for good: journal, large values, its text in the index, and
        what it offloaded into its workspace while that can be written. The person's own files
        stay. SessionError ``session.not_trashed``, ``journal.in_use``."""
        placed = await self.db.placement(key)
        await self.close_conversation(key)
        await self.db.purge(key, self.store)
        await self.index.forget(key)
        try:
            workspace = await self.workspace(placed.workspace_id)
            await workspace.purge_session(agent_id=key.agent_id, session_id=key.session_id)
        except (SlipwayError, KeyError) as error:
            log.info("offloads of a purged session stay: %s", error)
        self.tell(SessionsChanged(placed.workspace_id, key.session_id))

    async def _replaced(self, key: SessionKey) -> None:
        placed = await self.db.placement(key)
        await self.index.place([placed])
        self.tell(SessionsChanged(placed.workspace_id, key.session_id))

    async def search(self, text: str, workspace_id: str | None = None) -> list[Hit]:
        """Places in all sessions that have every word of ``text``."""
        return await self.index.search(text, workspace_id)

    # -- the end -------------------------------------------------------------------------------

    async def close(self, seconds: float = 10.0) -> list[str]:
        """Stop every run, close every file; names of tasks that would not end."""
        left = await self._close_conversations(seconds)
        await asyncio.to_thread(self.ratios.save)
        await self.library.close()
        await self.rescuer.close()
        await self.machines.close()
        for workspace_id in self.manager.opened():
            await self.leave(workspace_id)
        await self.put_away()
        await self.places.close()
        await self.index.close()
        await self.db.close()
        return left


def _log_error(name: str, error: BaseException) -> None:
    log.error("%s failed", name, exc_info=error)
