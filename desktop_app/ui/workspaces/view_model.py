"""What the tree of workspaces does, without a widget."""

from __future__ import annotations

import asyncio
import logging
import time

from PySide6.QtCore import QObject, QTimer, Signal

from desktop_app.core.agents import DEFAULT_AGENT
from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.core.folders import FolderReport, NewPlace
from desktop_app.core.machines import Verb
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui.doing import Doing

from .tree_model import WorkspaceTreeModel

_log = logging.getLogger(__name__)
LOOK_MS = 3_000  # a folder that went away is noticed within this, while the window is active
SOON_MS = 50  # what changes within this is listed at once
LOOKS = 2  # workspaces looked at each time, beside the one of the open session
REFRESH_MS = 60_000  # "5 min" becomes "6 min"


class WorkspacesViewModel(Doing):
    """Lists workspaces and sessions live and carries out what the person asks of them.

    Everything that may take time runs in a task; failures come out as ``failed(error)``.
    """

    sessionOpened = Signal(object)  # SessionKey
    workspaceAdded = Signal(str)
    sessionTrashed = Signal(object)  # SessionSummary, for the toast with undo
    sessionForgotten = Signal(object)  # SessionKey: no longer listed
    workspaceForgotten = Signal(str)
    workspaceMoved = Signal(str)
    placeDoubted = Signal(object)  # NewPlace: nothing of the workspace's own is there
    trustNeeded = Signal(object)  # FolderReport: the page asks before anything is opened
    loaded = Signal()

    def __init__(self, service: Slipway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self.model = WorkspaceTreeModel(self)
        self._listing: asyncio.Task[None] | None = None
        self.listed = False  # the list came at least once
        self._filter = ""
        self._all: list[WorkspaceSummary] = []
        self._unlisten = service.listen(lambda _event: self._changed())
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self.refresh)
        self._again = False  # something changed while the list was fetched
        self.open_key: SessionKey | None = None
        self._turn = 0
        self._look = QTimer(self)
        self._look.setInterval(LOOK_MS)
        self._look.timeout.connect(self.look)
        self._tick = QTimer(self)
        self._tick.setInterval(REFRESH_MS)
        self._tick.timeout.connect(self.model.retranslate)

    def start(self) -> None:
        """Load the list, and keep its times fresh."""
        self._tick.start()
        self.refresh()

    def set_active(self, active: bool) -> None:
        """The person looks at the window: folders that go away or come back are noticed."""
        if active:
            self.look()
            self._look.start()
        else:
            self._look.stop()

    def look(self) -> None:
        """Look at the workspace of the open session and at a few others in turn."""
        ids = [w.info.id for w in self._all]
        mine = [w.info.id for w in self._all if any(s.key == self.open_key for s in w.sessions)]
        turn = [ids[(self._turn + n) % len(ids)] for n in range(min(LOOKS, len(ids)))]
        self._turn += LOOKS
        if ids:
            wanted = list(dict.fromkeys([*mine, *turn]))
            self._tasks.replace(self._guarded(self.service.look_again(wanted)), name="look")

    @property
    def workspaces(self) -> list[WorkspaceSummary]:
        return self._all

    def refresh(self) -> None:
        self._listing = self._tasks.replace(self._refresh(), name="list workspaces")

    async def settled(self) -> None:
        """Wait for the list that is being fetched; whether it comes or fails."""
        if self._listing is not None:
            await asyncio.wait([self._listing])

    def _changed(self) -> None:
        """List anew soon; what changes meanwhile neither puts it off nor breaks it off."""
        if self._listing is not None and not self._listing.done():
            self._again = True
        elif not self._soon.isActive():
            self._soon.start(SOON_MS)

    async def _refresh(self) -> None:
        self._again = False
        began = time.monotonic()
        self._all = await self.service.list_workspaces()
        self.listed = True
        self._show()
        self.loaded.emit()
        if self._again:  # at most a fifth of the time goes into it
            took = (time.monotonic() - began) * 1000
            self._soon.start(max(SOON_MS, round(took * 4)))

    def filter(self, text: str) -> None:
        """Show only workspaces and sessions whose names contain ``text``."""
        self._filter = text.strip().casefold()
        self._show()

    def _show(self) -> None:
        needle = self._filter
        if not needle:
            self.model.replace(self._all)
            return
        rows: list[WorkspaceSummary] = []
        for ws in self._all:
            if needle in ws.info.name.casefold():
                rows.append(ws)
                continue
            hits = tuple(s for s in ws.sessions if needle in s.title.casefold())
            if hits:
                rows.append(WorkspaceSummary(ws.info, hits))
        self.model.replace(rows)

    # -- what the person asks -----------------------------------------------------------------

    def open_folder(self, folder: str) -> None:
        """Add a folder: at once when it holds nothing of anybody's, else after a look at it."""
        self._run(self._open_folder(folder), "open folder")

    async def _open_folder(self, folder: str) -> None:
        report = await self.service.inspect_folder(folder)
        if report.asks:
            self.trustNeeded.emit(report)
            return
        await self._add(report, trusted=True)

    def open_copy(self, folder: str, name: str) -> None:
        """Open a rescue copy, to be read: nothing in it starts."""
        self._run(self._open_copy(folder, name), "open a copy")

    async def _open_copy(self, folder: str, name: str) -> None:
        info = await self.service.add_folder(folder, trusted=False, name=name)
        await self._refresh()
        self.workspaceAdded.emit(info.id)
        sessions = next((w.sessions for w in self._all if w.info.id == info.id), ())
        if sessions:
            self.sessionOpened.emit(sessions[0].key)

    def add_inspected(self, report: FolderReport, *, trusted: bool) -> None:
        """After the person has seen what opening the folder would run."""
        self._run(self._add(report, trusted=trusted), "open folder")

    async def _add(self, report: FolderReport, *, trusted: bool) -> None:
        info = await self.service.add_folder(report.folder, trusted=trusted)
        await self._refresh()
        self.workspaceAdded.emit(info.id)
        sessions = next((w.sessions for w in self._all if w.info.id == info.id), ())
        mine = [s for s in sessions if not s.foreign]
        if mine:
            self.sessionOpened.emit(mine[0].key)
        elif info.trusted:
            self.sessionOpened.emit(await self.service.new_session(info.id))

    def open_demo(self) -> None:
        self._run(self._open_demo(), "open demo")

    async def _open_demo(self) -> None:
        report = await self.service.inspect_folder(await self.service.make_demo())
        await self._add(report, trusted=True)

    def new_session(self, workspace_id: str, agent_id: str = DEFAULT_AGENT) -> None:
        self._run(self._new_session(workspace_id, agent_id), "new session")

    async def _new_session(self, workspace_id: str, agent_id: str) -> None:
        key = await self.service.new_session(workspace_id, agent_id=agent_id)
        await self._refresh()
        self.sessionOpened.emit(key)

    def continue_session(self, key: SessionKey) -> None:
        """Go on from a session that can only be read, in a new one."""
        self._run(self._continue_session(key), "continue session")

    async def _continue_session(self, key: SessionKey) -> None:
        new = await self.service.continue_session(key)
        await self._refresh()
        self.sessionOpened.emit(new)

    def trust(self, workspace_id: str) -> None:
        self._run(self.service.trust(workspace_id), "trust")

    def machine(self, workspace_id: str, verb: Verb) -> None:
        """Start, pause or stop the machine of a workspace."""
        self._run(self.service.machines.do(workspace_id, verb), f"{verb} a machine")

    def open_anyway(self, key: SessionKey) -> None:
        """Write in the workspace of a session though another program may be using it."""
        self._run(self._open_anyway(key), "open anyway")

    def try_again(self, key: SessionKey) -> None:
        """Look anew at the workspace of a session."""
        self._run(self._try_again(key), "look again")

    async def _try_again(self, key: SessionKey) -> None:
        await self.service.try_again((await self.service.placement(key)).workspace_id)

    def locate(self, workspace_id: str, folder: str) -> None:
        """The person says where the folder of a workspace is now."""
        self._run(self._locate(workspace_id, folder), "locate a folder")

    async def _locate(self, workspace_id: str, folder: str) -> None:
        place = await self.service.new_place(workspace_id, folder)
        if place.own:
            await self._move(place)
        else:
            self.placeDoubted.emit(place)

    def move(self, place: NewPlace) -> None:
        """Go on in a folder, after the person was asked where there was a doubt."""
        self._run(self._move(place), "move a workspace")

    async def _move(self, place: NewPlace) -> None:
        await self.service.move_workspace(place)
        await self._refresh()
        self.workspaceMoved.emit(place.workspace_id)

    async def _open_anyway(self, key: SessionKey) -> None:
        await self.service.open_anyway((await self.service.placement(key)).workspace_id)

    def rename_workspace(self, workspace_id: str, name: str) -> None:
        if name.strip():
            self._run(self.service.rename_workspace(workspace_id, name.strip()), "rename")

    def forget_workspace(self, workspace_id: str) -> None:
        self._run(self._forget(workspace_id), "forget")

    async def _forget(self, workspace_id: str) -> None:
        await self.service.forget_workspace(workspace_id)
        self.workspaceForgotten.emit(workspace_id)

    def rename_session(self, key: SessionKey, title: str) -> None:
        if title.strip():
            self._run(self.service.rename_session(key, title.strip()), "rename")

    def pin_session(self, key: SessionKey, pinned: bool) -> None:
        self._run(self.service.pin_session(key, pinned), "pin")

    def trash_session(self, session: SessionSummary) -> None:
        self._run(self._trash(session), "trash")

    async def _trash(self, session: SessionSummary) -> None:
        await self.service.trash_session(session.key)
        self.sessionForgotten.emit(session.key)
        self.sessionTrashed.emit(session)

    def restore_session(self, session: SessionSummary) -> None:
        self._run(self._restore(session), "restore")

    async def _restore(self, session: SessionSummary) -> None:
        await self.service.restore_session(session.key)
        await self._refresh()
        self.sessionOpened.emit(session.key)

    async def close(self) -> None:
        self._unlisten()
        self._tick.stop()
        self._look.stop()
        self._soon.stop()
        await self._tasks.close()
