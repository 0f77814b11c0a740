"""All workspaces with their figures: what the table over every backend shows.

Rows come from the catalogue at once. What must be asked for (skills, offloads, servers, the load of
a machine) is asked only of those that are ``watch``ed, and never of a machine that stands still:
looking starts nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from .catalog import CatalogEvent, ModelsChanged, WorkspacesChanged, WorkspaceSummary
from .errors import SlipwayError
from .hearing import Hearing
from .ids import now_us
from .overview_row import OverviewRow, engine_name, with_machine
from .sessions.appdb import WorkspaceRow
from .shelf import Shelf
from .spending import HOUR_US, month_of, month_start_us
from .tasks import Tasks
from .workspaces.local_workspace import LocalWorkspace
from .workspaces.remote.managed import ManagedWorkspace, Usage, looking

log = logging.getLogger(__name__)

SETTLE_SECONDS = 0.1  # what changes within this is looked at once
LOOK_SECONDS = 5.0  # how often watched machines are looked at: somebody else may have stopped one
HEARD_LOOKS = 12  # one in so many looks at those whose engine tells by itself
DETAIL_SECONDS = 60.0  # how old counted skills and offloads may get
DISK_SECONDS = 300.0  # and what an engine must walk through all files for
POINTS = 360  # measurements of a machine that are kept for its charts
AGENT = "default"  # who answers in a new session


Listener = Callable[[list[OverviewRow], list[str]], None]


class Overview:
    """See the module. ``servers_up(workspace_id)`` says how many MCP servers of open sessions are
    connected. Listeners hear of rows that changed and of ids that went."""

    def __init__(self, shelf: Shelf, servers_up: Callable[[str], int]) -> None:
        self._shelf = shelf
        self._servers_up = servers_up
        self._rows: dict[str, OverviewRow] = {}
        self._points: dict[str, deque[Usage]] = {}
        self._names: dict[str, str] = {}  # by address of an engine
        self._agents: dict[str, set[str]] = {}
        self._detailed: dict[str, float] = {}  # loop time of the last count
        self._weighed: dict[str, float] = {}  # and of the last look at the disk
        self._watched: set[str] = set()
        self._dirty: set[str] = set()
        self._all = False
        self._listeners: list[Listener] = []
        self._tasks = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))
        self._streams: dict[str, asyncio.Task[None]] = {}
        self._settling: asyncio.TimerHandle | None = None
        self._unlisten = shelf.listen(self._heard)
        self._stale: set[str] = set()  # changed while nobody saw them
        self._hearing = Hearing(shelf.places, self._engine_told, self._hearing_turned)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear of changes; returns the way to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self, rows: list[OverviewRow], gone: list[str]) -> None:
        for listener in list(self._listeners):
            listener(rows, gone)

    # -- rows ------------------------------------------------------------------------------------

    async def load(self) -> list[OverviewRow]:
        """All workspaces in the person's order, from the catalogue."""
        listed = await self._shelf.list_workspaces()
        kept = {row.id: row for row in await self._shelf.db.workspaces()}
        rows: dict[str, OverviewRow] = {}
        for summary in listed:
            if (row := kept.get(summary.info.id)) is not None:
                rows[row.id] = self._row(row, summary)
        gone = [workspace_id for workspace_id in self._rows if workspace_id not in rows]
        changed = [row for row in rows.values() if self._rows.get(row.id) != row]
        self._rows = rows
        if changed or gone:
            self._tell(changed, gone)
        self._follow()
        return list(rows.values())

    def row(self, workspace_id: str) -> OverviewRow | None:
        return self._rows.get(workspace_id)

    def month_cost(self, at_us: int | None = None) -> float:
        """Estimated US dollars of all sandboxes in this month, also of those that are gone."""
        at = now_us() if at_us is None else at_us
        began = month_start_us(at)
        running = (r for r in self._rows.values() if r.price and r.spent_us and r.up)
        since = sum(r.price * max(0, at - max(r.spent_us, began)) / HOUR_US for r in running)
        return self._shelf.spending.in_month(month_of(at)) + since

    def points(self, workspace_id: str) -> list[Usage]:
        """What was measured of a watched machine, oldest first."""
        return list(self._points.get(workspace_id, ()))

    def _row(self, row: WorkspaceRow, summary: WorkspaceSummary) -> OverviewRow:
        info, old = summary.info, self._rows.get(row.id)
        self._agents[row.id] = {AGENT, *(s.key.agent_id for s in summary.sessions if not s.foreign)}
        states = [session.state for session in summary.sessions]
        known = old or OverviewRow(row.id, row.name, row.backend, info.state)
        now = replace(
            known,
            name=info.name,
            state=info.state,
            params=dict(info.params),
            folder=info.folder if row.backend == "local" else (row.folder or ""),
            trusted=info.trusted,
            sessions=len(states),
            running=states.count("running"),
            waiting=states.count("parked"),
            servers_up=self._servers_up(row.id),
            used_us=max([row.last_used_us, *(s.updated_us for s in summary.sessions)]),
        )
        workspace = self._shelf.manager.cached(row.id)
        if isinstance(workspace, ManagedWorkspace):
            now = with_machine(now, workspace)
            account = self._shelf.spending.of(row.id)
            now = replace(
                now,
                engine=self._names.get(now.engine, now.engine),
                spent=account.usd,
                spent_us=account.seen_us if account.running else 0,
            )
        return now if now.up else replace(now, cpu=None, memory=None, servers_up=0)

    # -- what changes ----------------------------------------------------------------------------

    def _heard(self, event: CatalogEvent) -> None:
        if isinstance(event, ModelsChanged):
            return
        if isinstance(event, WorkspacesChanged) and event.workspace_id is None:
            self._all = True
        elif event.workspace_id is not None:
            self._dirty.add(event.workspace_id)
        if self._settling is None:
            loop = asyncio.get_running_loop()
            self._settling = loop.call_later(SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        self._settling = None
        self._tasks.start(self._catch_up(), name="bring rows up to date")

    async def _catch_up(self) -> None:
        dirty, self._dirty = self._dirty, set()
        every, self._all = self._all, False
        if every or any(one not in self._rows for one in dirty):
            await self.load()
            return
        changed: list[OverviewRow] = []
        gone: list[str] = []
        for workspace_id in dirty:
            summary = await self._shelf.summary(workspace_id)
            # Asked after what may take long: a workspace that left meanwhile is not brought back.
            kept = await self._kept(workspace_id)
            if summary is None or kept is None:
                gone.append(workspace_id)
                self._forget(workspace_id)
                continue
            was = old.state if (old := self._rows.get(workspace_id)) is not None else ""
            row = self._row(kept, summary)
            if row != self._rows.get(workspace_id):
                self._rows[workspace_id] = row
                changed.append(row)
            self._detailed.pop(workspace_id, None)
            if row.state != was:
                self._weighed.pop(workspace_id, None)
        if changed or gone:
            self._tell(changed, gone)
        self._follow()
        await self._detail(dirty & self._watched)

    async def _kept(self, workspace_id: str) -> WorkspaceRow | None:
        """What the catalogue has of a workspace that is in the list."""
        try:
            row = await self._shelf.db.workspace(workspace_id)
        except KeyError:
            return None
        return row if row.forgotten_us is None else None

    def _forget(self, workspace_id: str) -> None:
        self._rows.pop(workspace_id, None)
        self._points.pop(workspace_id, None)
        self._agents.pop(workspace_id, None)
        self._weighed.pop(workspace_id, None)
        self._watched.discard(workspace_id)

    # -- what is watched -------------------------------------------------------------------------

    def watch(self, workspace_ids: Iterable[str]) -> None:
        """These can be seen: their figures are kept fresh, those of others are let be."""
        wanted = set(workspace_ids)
        if wanted == self._watched:
            return
        self._watched = wanted
        self._follow()
        if any((row := self._rows.get(one)) and row.kind == "docker" for one in wanted):
            self._hearing.start()
        if wanted:
            self._tasks.replace(self._look(), name="look at what is seen")
        else:
            self._tasks.cancel("look at what is seen")
            self._hearing.stop()

    def _engine_told(self, workspace_id: str) -> None:
        """A container changed: a row that is seen is looked at now, others when they are seen."""
        if workspace_id in self._watched:
            self._tasks.start(self._look_at({workspace_id}), name="look at what was told")
        elif workspace_id in self._rows:
            self._stale.add(workspace_id)

    def _hearing_turned(self) -> None:
        """What happened while nothing was heard was not told."""
        self._tasks.replace(self._look_at(self._told_by_engine()), name="look at containers")

    def _told_by_engine(self) -> set[str]:
        """Those seen whose engine tells of them: containers that we made."""
        rows = {one: self._rows.get(one) for one in self._watched}
        return {one for one, row in rows.items() if row and row.kind == "docker" and not row.theirs}

    async def _look_at(self, workspace_ids: set[str]) -> None:
        self._stale -= workspace_ids
        with looking():
            await self._shelf.look_again(sorted(workspace_ids))

    async def _name_engines(self) -> None:
        """What answers at the addresses of Docker engines, once for each address."""
        rows = [row for row in self._rows.values() if row.kind == "docker" and "://" in row.engine]
        if not any(row.engine not in self._names for row in rows):
            return
        for one in await self._shelf.places.engines.report():
            if one.error is None:
                self._names[one.endpoint.url] = engine_name(one)
        for row in rows:
            self._names.setdefault(row.engine, row.engine)  # nothing answers: the address says most
            self._change(row.id, engine=self._names[row.engine])

    async def _look(self) -> None:
        await self._name_engines()
        await self._look_at(self._stale & self._watched)
        turn = 0
        while True:
            await self._detail(set(self._watched))
            await self._weigh(set(self._watched))
            await asyncio.sleep(LOOK_SECONDS)
            turn += 1
            told = self._hearing.on and turn % HEARD_LOOKS != 0
            await self._look_at(self._watched - (self._told_by_engine() if told else set[str]()))

    async def _detail(self, workspace_ids: set[str]) -> None:
        """Count what is in the workspaces, where it was not counted lately."""
        now = asyncio.get_running_loop().time()
        for workspace_id in sorted(workspace_ids):
            row, workspace = self._rows.get(workspace_id), self._shelf.manager.cached(workspace_id)
            if row is None or workspace is None or not row.up:
                continue
            if now - self._detailed.get(workspace_id, -DETAIL_SECONDS) < DETAIL_SECONDS:
                continue
            self._detailed[workspace_id] = now
            try:
                with looking():
                    counted = await _count(workspace, self._agents.get(workspace_id, {AGENT}))
            except SlipwayError as error:
                log.info("a workspace could not be counted: %s", error)
                continue
            self._change(workspace_id, **counted, servers_up=self._servers_up(workspace_id))

    async def _weigh(self, workspace_ids: set[str]) -> None:
        """Ask engines for the disk that machines take, where it was not asked lately."""
        now = asyncio.get_running_loop().time()
        for workspace_id in sorted(workspace_ids):
            workspace = self._shelf.manager.cached(workspace_id)
            if not isinstance(workspace, ManagedWorkspace) or workspace_id not in self._rows:
                continue
            if now - self._weighed.get(workspace_id, -DISK_SECONDS) < DISK_SECONDS:
                continue
            self._weighed[workspace_id] = now
            try:
                size = await workspace.disk()
            except SlipwayError as error:
                log.info("the disk of a machine is not known: %s", error)
                continue
            if size is not None:
                self._change(workspace_id, disk=size)

    def _change(self, workspace_id: str, **figures: Any) -> None:
        old = self._rows.get(workspace_id)
        if old is None:
            return
        new = replace(old, **figures)
        if new != old:
            self._rows[workspace_id] = new
            self._tell([new], [])

    def _follow(self) -> None:
        """Measure the machines that run and are seen, and no others."""
        wanted = {
            one
            for one in self._watched
            if (row := self._rows.get(one)) is not None and row.up and row.kind != "local"
        }
        for gone in self._streams.keys() - wanted:
            self._streams.pop(gone).cancel()
        for new in wanted - self._streams.keys():
            self._streams[new] = self._tasks.start(self._measure(new), name=f"measure {new}")

    async def _measure(self, workspace_id: str) -> None:
        workspace = self._shelf.manager.cached(workspace_id)
        if not isinstance(workspace, ManagedWorkspace):
            return
        points = self._points.setdefault(workspace_id, deque(maxlen=POINTS))
        try:
            async with aclosing(workspace.usage()) as items:
                async for usage in items:
                    points.append(usage)
                    disk: dict[str, Any] = {}
                    if usage.disk is not None:
                        disk = {"disk": usage.disk, "disk_limit": usage.disk_limit}
                    self._change(workspace_id, cpu=usage.cpu, memory=usage.memory, **disk)
        except SlipwayError as error:
            log.info("a machine cannot be measured: %s", error)
        finally:
            if self._streams.get(workspace_id) is asyncio.current_task():
                del self._streams[workspace_id]

    async def close(self) -> None:
        """Let go of everything; idempotent."""
        self._unlisten()
        self._unlisten = lambda: None
        if self._settling is not None:
            self._settling.cancel()
        self._watched.clear()
        await self._hearing.close()
        await self._tasks.close()


async def _count(workspace: LocalWorkspace, agents: Iterable[str]) -> dict[str, Any]:
    """Skills and servers of all agents that have sessions in it, and what was offloaded."""
    skills = 0
    for agent_id in sorted(agents):
        skills += len(await workspace.list_skills(agent_id=agent_id))
    offloads = await workspace.list_offloads()
    declared = {one.name for one in (await workspace.mcp_file()).all() if one.error is None}
    return {
        "skills": skills,
        "offloaded": sum(entry.bytes for entry in offloads),
        "servers": len(declared),
    }
