"""The tabs of a workspace's detail: each gets what it shows when it comes into view, and lets go of
it when it goes."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import SlipwayError
from desktop_app.core.overview_row import OverviewRow
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
    trustWanted = Signal(str, dict, object)  # of a server's certificate

    def __init__(self, detail: Detail, vm: MachinesViewModel) -> None:
        super().__init__(detail)
        self._detail, self._vm = detail, vm
        self._tasks = Tasks(lambda _name, error: vm.failed.emit(error))
        self._asked: tuple[str, str] = ("", "")  # workspace and tab that were asked for
        for name in ("files", "logs", "servers", "skills", "settings"):
            tab = "mcp" if name == "servers" else name
            detail.add_tab(tab, lambda name=name: getattr(self, name))
        detail.tabChosen.connect(lambda _tab: self.show_tab())
        detail.set_tabs(["overview"])

    # Each is made when it is first chosen.

    @cached_property
    def files(self) -> FilesTab:
        tab = FilesTab(self._detail.stack)
        tab.startWanted.connect(self.startWanted)
        tab.failed.connect(self._vm.failed)
        tab.copied.connect(self._vm.copied)
        tab.uploaded.connect(self._vm.uploaded)
        return tab

    @cached_property
    def logs(self) -> LogsTab:
        return LogsTab(self._detail.stack)

    @cached_property
    def servers(self) -> ServersTab:
        tab = ServersTab()
        tab.startWanted.connect(self.startWanted)
        tab.panel.trustWanted.connect(self.trustWanted)
        return tab

    @cached_property
    def skills(self) -> SkillsTab:
        tab = SkillsTab()
        tab.startWanted.connect(self.startWanted)
        tab.switched.connect(self._switch_skill)
        tab.agentChosen.connect(lambda _id: self._read_again())
        return tab

    @cached_property
    def settings(self) -> SettingsTab:
        tab = SettingsTab(self._detail.stack)
        tab.saved.connect(self.saved)
        return tab

    def _made(self, name: str) -> bool:
        return name in vars(self)

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
        if tab == "logs" or self._made("logs"):
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
            if self._made("servers"):
                self.servers.bind(None)
            if self._made("skills"):
                self.skills.show_skills(None)
        else:
            self._tasks.replace(self._read(*wanted), name="read what it has")

    async def _read(self, workspace_id: str, tab: str) -> None:
        try:
            if tab == "mcp":
                self.servers.bind(await self._vm.server_source(workspace_id))
            else:
                self.skills.show_agents(self._vm.service.agents.others())
                agent = self.skills.agent()
                self.skills.show_skills(await self._vm.skills(workspace_id, agent))
        except SlipwayError as error:
            self._vm.failed.emit(error)

    def _read_again(self) -> None:
        if self._asked[0]:
            self._tasks.replace(self._read(*self._asked), name="read what it has")

    def _switch_skill(self, folder: str, on: bool) -> None:
        work = self._switched(self._asked[0], self.skills.agent(), folder, on)
        self._tasks.start(work, name="switch a skill")

    async def _switched(self, workspace_id: str, agent: str, folder: str, on: bool) -> None:
        await self._vm.set_skill(workspace_id, agent, folder, on)
        if self._asked == (workspace_id, "skills"):
            await self._read(workspace_id, "skills")

    async def close_tasks(self) -> None:
        await self._tasks.close()
        for name in ("files", "logs", "servers"):
            if self._made(name):
                await getattr(self, name).close_tasks()
