"""The tabs of a workspace's detail: each gets what it shows when it comes into view, and lets go of
it when it goes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import SlipwayError
from desktop_app.core.overview import OverviewRow
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.docker.workspace import DockerWorkspace
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from desktop_app.core.workspaces.remote.managed import ManagedWorkspace

from .detail import Detail
from .files_tab import FilesTab
from .logs_tab import LogsTab
from .settings_tab import SettingsTab
from .tools_tabs import ServersTab, SkillsTab
from .view_model import MachinesViewModel

TABS = {
    "local": ["overview", "files", "mcp", "skills"],
    "docker": ["overview", "files", "logs", "mcp", "skills", "settings"],
    "e2b": ["overview", "files", "mcp", "skills", "settings"],  # a sandbox has no log of its own
}


class DetailTabs(QObject):
    """Fills ``detail``. ``startWanted``: its machine must run for what a tab shows; ``saved(spec,
    rebuild)`` other settings."""

    startWanted = Signal()
    saved = Signal(object, bool)

    def __init__(self, detail: Detail, vm: MachinesViewModel) -> None:
        super().__init__(detail)
        self._detail, self._vm = detail, vm
        self._tasks = Tasks(lambda _name, error: vm.failed.emit(error))
        self._asked: tuple[str, str] = ("", "")  # workspace and tab that were asked for
        self.files, self.logs, self.settings = FilesTab(), LogsTab(), SettingsTab()
        self.servers, self.skills = ServersTab(), SkillsTab()
        pages = {
            "files": self.files,
            "logs": self.logs,
            "mcp": self.servers,
            "skills": self.skills,
            "settings": self.settings,
        }
        for name, page in pages.items():
            detail.add_tab(name, page)
        for page in (self.files, self.servers, self.skills):
            page.startWanted.connect(self.startWanted)
        self.files.failed.connect(vm.failed)
        self.files.copied.connect(vm.copied)
        self.skills.switched.connect(self._switch_skill)
        self.settings.saved.connect(self.saved)
        detail.tabChosen.connect(lambda _tab: self.show_tab())
        detail.set_tabs(["overview"])

    def show_row(self, row: OverviewRow) -> None:
        """Which tabs there are, how much is in them, and what the one in view shows."""
        names = TABS.get(row.kind, ["overview"])
        if row.theirs:  # AgentScope's: there is nothing that could be set here
            names = [name for name in names if name != "settings"]
        self._detail.set_tabs(names)
        for name, count in (("mcp", row.servers), ("skills", row.skills)):
            self._detail.tabs.set_count(name, str(count) if count else "")
        self.show_tab()

    def show_tab(self) -> None:
        row, tab = self._detail.row, self._detail.tab()
        workspace = self._vm.service.manager.cached(row.id) if row is not None else None
        managed = workspace if isinstance(workspace, ManagedWorkspace) else None
        up = row is not None and row.up
        if tab == "files":
            self.files.bind(workspace if up else None)
        self.logs.follow(managed if tab == "logs" else None, up=up)
        ours = isinstance(managed, DockerWorkspace | E2BWorkspace)
        if tab == "settings" and row is not None and ours:
            self.settings.show_spec(row.id, managed.spec)
        self._show_tools(row if up else None, tab)

    def _show_tools(self, row: OverviewRow | None, tab: str) -> None:
        """Servers and skills are read when the tab comes into view, not with each change of the
        row."""
        wanted = (row.id, tab) if row is not None and tab in ("mcp", "skills") else ("", tab)
        if wanted == self._asked:
            return
        self._asked = wanted
        if not wanted[0]:
            self._tasks.cancel("read what it has")
            self.servers.bind(None)
            self.skills.show_skills(None)
        else:
            self._tasks.replace(self._read(*wanted), name="read what it has")

    async def _read(self, workspace_id: str, tab: str) -> None:
        try:
            if tab == "mcp":
                self.servers.bind(await self._vm.server_source(workspace_id))
            else:
                self.skills.show_skills(await self._vm.skills(workspace_id))
        except SlipwayError as error:
            self._vm.failed.emit(error)

    def _switch_skill(self, folder: str, on: bool) -> None:
        self._tasks.start(self._switched(self._asked[0], folder, on), name="switch a skill")

    async def _switched(self, workspace_id: str, folder: str, on: bool) -> None:
        await self._vm.set_skill(workspace_id, folder, on)
        if self._asked == (workspace_id, "skills"):
            await self._read(workspace_id, "skills")

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.files.close_tasks()
        await self.logs.close_tasks()
        await self.servers.close_tasks()
