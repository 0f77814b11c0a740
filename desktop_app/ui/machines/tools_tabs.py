"""What the agents of one workspace can use: its MCP servers and its skills."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.agents import DEFAULT_AGENT, AgentEntry
from desktop_app.core.workspaces.remote.managed import looking
from desktop_app.ui.i18n import tr
from desktop_app.ui.tools.entries import SkillEntry
from desktop_app.ui.tools.mcp_panel import McpPanel
from desktop_app.ui.tools.skills_panel import SkillsPanel
from desktop_app.ui.tools.source import ServerSource
from desktop_app.ui.widgets import Act, Choice, EmptyState, Label
from desktop_app.ui.widgets.base import Text, follow


class WhileUp(QStackedWidget):
    """A page that needs the workspace's files; while its machine stands still, the way to start
    it."""

    startWanted = Signal()

    def __init__(self, page: QWidget, glyph: str, title: Text) -> None:
        super().__init__()
        self.stopped = EmptyState(
            glyph,
            title,
            lambda: tr("Starting it changes nothing in them."),
            [Act("start", lambda: tr("Start"), "play")],
        )
        self.stopped.action.connect(lambda _id: self.startWanted.emit())
        self.addWidget(page)
        self.addWidget(self.stopped)

    def set_up(self, up: bool) -> None:
        self.setCurrentIndex(0 if up else 1)


class ServersTab(WhileUp):
    """The declared MCP servers. They run for a session: those of an open one are shown as they
    are, else only what is declared, and nothing is started."""

    def __init__(self) -> None:
        self.panel = McpPanel()
        super().__init__(self.panel, "plug", lambda: tr("Its servers can be seen while it runs"))
        self._shown: ServerSource | None = None

    def bind(self, source: ServerSource | None) -> None:
        """None: its machine stands still."""
        self.set_up(source is not None)
        if source is not self._shown:
            self._shown = source
            with looking():  # what is asked for from here on never brings a machine up
                self.panel.bind(source or ServerSource())

    async def close_tasks(self) -> None:
        await self.panel.close_tasks()


class SkillsTab(WhileUp):
    """The skills of one agent, with the switch for each. ``switched(folder, on)``; ``agentChosen``
    asks for those of another agent: each has its own folder of them."""

    switched = Signal(str, bool)
    agentChosen = Signal(str)

    def __init__(self) -> None:
        self.panel = SkillsPanel(wide=True)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.whose = QWidget()
        row = QHBoxLayout(self.whose)
        follow(row, setContentsMargins=(16, 6, 16, 2), setSpacing=8)
        label = Label(lambda: tr("Skills of"), role="small", tone="muted")
        self.agents = Choice(lambda: tr("Skills of"))
        label.setBuddy(self.agents)
        row.addWidget(label)
        row.addWidget(self.agents)
        row.addStretch(1)
        column.addWidget(self.whose)
        column.addWidget(self.panel, 1)
        super().__init__(page, "book-open", lambda: tr("Its skills can be seen while it runs"))
        self.panel.switched.connect(self.switched)
        self.agents.chosen.connect(self.agentChosen)
        self.whose.hide()

    def agent(self) -> str:
        """Whose skills are shown."""
        return self.agents.value() or DEFAULT_AGENT

    def show_agents(self, agents: list[AgentEntry]) -> None:
        """Those to choose among beside the built-in one; the chosen one stays if it is there."""
        words: list[tuple[str, Text]] = [(DEFAULT_AGENT, lambda: tr("Assistant"))]
        words += [(one.id, one.name) for one in agents]
        now = self.agent()
        self.agents.set_choices(words, now if now in dict(words) else DEFAULT_AGENT)
        self.whose.setVisible(bool(agents))

    def show_skills(self, skills: list[SkillEntry] | None) -> None:
        """None: its machine stands still."""
        self.set_up(skills is not None)
        self.panel.show_skills(skills or [])
