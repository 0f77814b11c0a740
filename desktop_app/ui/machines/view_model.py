"""What the Workspaces page does, without a widget."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from desktop_app.core.context.tokens import ClassCounter
from desktop_app.core.errors import SlipwayError
from desktop_app.core.machines import Loss, Verb
from desktop_app.core.neighbours import Neighbour
from desktop_app.core.overview import AGENT, Overview
from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.e2b.sandbox import Found
from desktop_app.core.workspaces.remote.managed import Progress, looking
from desktop_app.ui.bridge import Coalescer
from desktop_app.ui.doing import Doing
from desktop_app.ui.tools.entries import SkillEntry, skill_entries
from desktop_app.ui.tools.source import ServerSource

from .table_model import TableModel

_log = logging.getLogger(__name__)
TELL_MS = 250  # figures of machines come about once a second each; the eye needs no more than this
TICK_MS = 30_000  # "41 min" becomes "40 min"
HOUR = 3600


class MachinesViewModel(Doing):
    """The rows of the table, live; start, pause, stop, extend, rebuild, remove, each in a task."""

    loaded = Signal()
    changed = Signal(object)  # set of workspace ids
    busyChanged = Signal(
        str
    )  # workspace id: something is done with its machine, or is not any more
    progressed = Signal(str, object)  # workspace id, Progress
    orphansFound = Signal(object)  # list[Found]
    neighboursFound = Signal(object)  # list[Neighbour]
    removed = Signal(str)
    happened = Signal(str)  # workspace id: its last events are others
    rescued = Signal(str, str, int, object)  # name, folder, files, bytes
    uploaded = Signal(str, list)  # a folder's name, what could not be brought
    copied = Signal(str, list)  # path on this computer, what could not be brought

    def __init__(self, service: Slipway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self.overview = Overview(service, service.servers_up)
        self.rows = TableModel(self)
        self.orphans: list[Found] = []
        self.neighbours: list[Neighbour] = []
        self._counter = ClassCounter()
        self.listed = False
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._seen: set[str] = set()
        self._current = ""
        self._gone: set[str] = set()
        self._soon: Coalescer[OverviewRow] = Coalescer(self, self._put, TELL_MS)
        self._unlisten = self.overview.listen(self._heard)
        self._unhear = service.happenings.listen(self.happened.emit)
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self.rows.retranslate)

    # -- rows ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Load the rows; once, when the page is first wanted."""
        self._tick.start()
        self._run(self._load(), "list workspaces")

    async def _load(self) -> None:
        rows = await self.overview.load()
        self._soon.clear()
        self.rows.replace(rows)
        self.listed = True
        self.loaded.emit()

    def _heard(self, rows: list[OverviewRow], gone: list[str]) -> None:
        self._gone |= set(gone)
        for row in rows:
            self._soon.push(row)
        if gone and not rows:
            self._put([])

    def _put(self, rows: list[OverviewRow]) -> None:
        gone, self._gone = self._gone, set()
        newest = {row.id: row for row in rows if row.id not in gone}
        self.rows.put(newest.values(), gone)
        self.changed.emit({*newest, *gone})

    def see(self, workspace_ids: Iterable[str]) -> None:
        """These rows can be seen."""
        self._seen = set(workspace_ids)
        self._watch()

    def set_current(self, workspace_id: str) -> None:
        """The one whose detail is shown."""
        self._current = workspace_id
        self._watch()

    def _watch(self) -> None:
        seen = self._seen | ({self._current} if self._seen and self._current else set[str]())
        self.overview.watch(seen)

    def row(self, workspace_id: str) -> OverviewRow | None:
        return self.rows.row(workspace_id)

    async def known(self, workspace_id: str) -> OverviewRow | None:
        """Its row; before the list was read, what the catalogue says of it."""
        if (row := self.row(workspace_id)) is not None:
            return row
        found = await self.service.summary(workspace_id)
        if found is None:
            return None
        info, sessions = found.info, await self.service.index.count(workspace_id)
        return OverviewRow(
            workspace_id,
            info.name,
            info.backend,
            info.state,
            sessions=sessions,
            theirs=info.foreign,
        )

    # -- machines --------------------------------------------------------------------------------

    def busy(self, workspace_id: str) -> bool:
        return workspace_id in self._busy

    def do(self, workspace_id: str, verb: Verb | Literal["discard"]) -> None:
        """Start, pause, stop, rebuild, remove, or ``discard`` (remove after a rescue copy); one
        thing at a time for each machine."""
        if workspace_id not in self._busy:
            work = self._do(workspace_id, verb)
            self._busy[workspace_id] = self._tasks.start(work, name=f"{verb} {workspace_id}")
            self.busyChanged.emit(workspace_id)

    async def _do(self, workspace_id: str, verb: Verb | Literal["discard"]) -> None:
        try:
            workspace = await self.service.machines.of(workspace_id)
            forget = None
            if workspace is not None:
                forget = workspace.watch_progress(lambda p: self._progress(workspace_id, p))
            try:
                if verb == "discard":
                    await self.service.machines.discard(workspace_id)
                else:
                    await self.service.machines.do(workspace_id, verb)
            finally:
                if forget is not None:
                    forget()
            if verb in ("remove", "discard"):
                await self.service.forget_workspace(workspace_id)
                self.removed.emit(workspace_id)
        except SlipwayError as error:
            self.failed.emit(error)
        finally:
            self._busy.pop(workspace_id, None)
            self.busyChanged.emit(workspace_id)

    def _progress(self, workspace_id: str, progress: Progress) -> None:
        self.progressed.emit(workspace_id, progress)

    def cancel(self, workspace_id: str) -> None:
        """End what is being done with a machine."""
        if (task := self._busy.get(workspace_id)) is not None:
            task.cancel()

    def retry(self, workspace_id: str) -> None:
        """Look at it again, after looking for the engine again."""
        self._run(self._retry(workspace_id), "look again")

    async def _retry(self, workspace_id: str) -> None:
        await self.service.try_again(workspace_id)

    def keep_key(self, key: str) -> None:
        """Keep the E2B key, and look at all sandboxes again."""
        self._run(self._keep_key(key), "keep a key")

    async def _keep_key(self, key: str) -> None:
        await self.service.places.keep_key(key)
        for row in self.rows.rows():
            if row.kind == "e2b":
                await self.service.refresh_workspace(row.id)
        self.look_for_orphans()

    def extend(self, workspace_id: str, seconds: int = HOUR) -> None:
        """A sandbox's lease ends ``seconds`` from now."""
        self._run(self.service.machines.extend(workspace_id, seconds), "extend")

    def rescue(self, workspace_id: str) -> None:
        """Copy what the agent keeps in a machine onto this computer."""
        self._run(self._rescue(workspace_id), "rescue copy")

    async def _rescue(self, workspace_id: str) -> None:
        folder, moved = await self.service.machines.rescue(workspace_id)
        row = self.row(workspace_id)
        name = row.name if row is not None else folder.name
        self.rescued.emit(name, str(folder), moved.files, moved.bytes)

    def change(self, workspace_id: str, spec: Any, *, rebuild: bool) -> None:
        """Other settings; ``rebuild`` makes a new machine of them at once."""
        self._run(self._change(workspace_id, spec, rebuild), "change settings")

    async def _change(self, workspace_id: str, spec: Any, rebuild: bool) -> None:
        await self.service.machines.change(workspace_id, spec)
        if rebuild:
            self.do(workspace_id, "rebuild")

    def forget(self, workspace_id: str) -> None:
        """Out of the list; what is in it stays."""
        self._run(self._forget(workspace_id), "forget")

    async def _forget(self, workspace_id: str) -> None:
        await self.service.forget_workspace(workspace_id)
        self.removed.emit(workspace_id)

    async def loss(self, workspace_id: str) -> Loss:
        """What removing or rebuilding would take away; unknown where nothing answers."""
        try:
            return await self.service.machines.loss(workspace_id)
        except SlipwayError:
            return Loss(None, rescued=await self.service.machines.rescued(workspace_id))

    # -- what its agents can use -----------------------------------------------------------------

    async def server_source(self, workspace_id: str) -> ServerSource:
        """Its MCP servers; what is added is everybody's in it. SlipwayError."""
        workspace = await self.service.workspace(workspace_id)
        manager = await self.service.servers_of(workspace_id)

        async def after() -> None:
            await self.service.reload_servers(workspace_id)

        return ServerSource(
            manager,
            count=self._count,
            trusted=workspace.info.trusted,
            writable=workspace.info.state == "ready",
            scopes=False,
            starts=manager.started,
            inside=workspace.info.backend != "local",
            after=after,
        )

    async def skills(self, workspace_id: str, agent_id: str = AGENT) -> list[SkillEntry]:
        """Those that an agent has in it, or could have. SlipwayError."""
        workspace = await self.service.workspace(workspace_id)
        with looking():
            found = await workspace.list_skills(agent_id=agent_id)
        off = await self.service.skills_off(workspace_id, agent_id)
        return skill_entries(found, self._count, off)

    async def set_skill(self, workspace_id: str, agent_id: str, folder: str, on: bool) -> None:
        await self.service.set_skill_enabled(workspace_id, agent_id, folder, on)

    def _count(self, text: str) -> int:
        return round(self._counter.count(text))

    # -- sandboxes without an owner --------------------------------------------------------------

    def look_for_orphans(self) -> None:
        """Ask E2B, if there is a key; quiet when it does not answer."""
        self._tasks.replace(self._look_for_orphans(), name="look for sandboxes")

    async def _look_for_orphans(self) -> None:
        kept, _place = await self.service.places.key_kept()
        if not kept:
            return
        try:
            self.orphans = await self.service.machines.without_owner()
        except SlipwayError as error:
            _log.info("sandboxes cannot be listed: %s", error)
            return
        self.orphansFound.emit(self.orphans)

    def end_orphan(self, sandbox_id: str) -> None:
        """End a sandbox that no workspace here has, for ever."""
        self._run(self._end_orphan(sandbox_id), "end a sandbox")

    async def _end_orphan(self, sandbox_id: str) -> None:
        try:
            await self.service.machines.end_without_owner(sandbox_id)
        finally:
            await self._look_for_orphans()

    # -- machines of AgentScope ------------------------------------------------------------------

    def look_for_neighbours(self) -> None:
        """Ask the engine and E2B for machines that AgentScope made; quiet when none answers."""
        self._tasks.replace(self._look_for_neighbours(), name="look for machines of AgentScope")

    async def _look_for_neighbours(self) -> None:
        self.neighbours = await self.service.machines.neighbours()
        self.neighboursFound.emit(self.neighbours)

    def add_neighbour(self, found: Neighbour) -> None:
        """A row for a machine of AgentScope's."""
        self._run(self._add_neighbour(found), "add a machine of AgentScope")

    async def _add_neighbour(self, found: Neighbour) -> None:
        try:
            await self.service.machines.add_neighbour(found)
        finally:
            await self._look_for_neighbours()

    def open_anyway(self, workspace_id: str) -> None:
        """A machine of AgentScope's may be changed from now on: the person says so."""
        self._run(self.service.open_anyway(workspace_id), "open anyway")

    # -- the end ---------------------------------------------------------------------------------

    async def close(self) -> None:
        self._unlisten()
        self._unhear()
        self._tick.stop()
        self._soon.clear()
        await self._tasks.close()
        await self.overview.close()
