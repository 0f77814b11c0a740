"""What the agent can use: built-in tools, MCP servers, skills, and what each costs."""

from __future__ import annotations

import asyncio
import logging

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.chat import figures, tool_words
from desktop_app.ui.chat.sources import ChatSources, SkillEntry, ToolEntry, first_sentence
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.card import EmptyState
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.rows import Role
from desktop_app.ui.widgets.toggles import SegmentedControl

from .mcp_panel import McpPanel
from .skills_panel import SkillsPanel, skill_list

log = logging.getLogger(__name__)
PARTS = ("tools", "servers", "skills")


class ToolsPanel(Live, QWidget):
    """Three parts behind one control."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: list[ToolEntry] = []
        self._skills: list[SkillEntry] = []
        self._error: SlipwayError | None = None
        self._sources = ChatSources()
        self._tasks = Tasks(self._failed)
        self.model = QStandardItemModel(self)
        self.view = skill_list(QListView())
        self.view.setModel(self.model)
        self.total = Label("", role="caption", tone="muted", wrap=True)
        self._empty = EmptyState("wrench", lambda: tr("No tools"), self._why_empty)
        self.servers = McpPanel()
        self.skills = SkillsPanel()
        self.part = SegmentedControl(lambda: tr("What to show"))
        self._stack = QStackedWidget()
        built_in = QWidget()
        inner = QVBoxLayout(built_in)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self.view, 1)
        inner.addWidget(self._empty, 1)
        for widget in (built_in, self.servers, self.skills):
            self._stack.addWidget(widget)
        self._lay_out()
        self.part.set_choices(
            [
                ("tools", lambda: tr("Built in")),
                ("servers", lambda: tr("Servers")),
                ("skills", lambda: tr("Skills")),
            ]
        )
        self.part.changed.connect(self.show_part)
        self.servers.changed.connect(self._count)
        self.skills.switched.connect(self._switch_skill)
        self.retranslate()

    def _lay_out(self) -> None:
        px = theme().px
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(10), 0, 0)
        column.setSpacing(px(8))
        row = QHBoxLayout()
        row.setContentsMargins(px(12), 0, px(12), 0)
        row.addWidget(self.part)
        row.addStretch(1)
        column.addLayout(row)
        self.total.setContentsMargins(px(16), 0, px(14), 0)
        column.addWidget(self.total)
        column.addWidget(self._stack, 1)

    def _why_empty(self) -> str:
        if self._error is not None:
            return describe(self._error.code, self._error.params).reason
        return tr("This agent can only talk.")

    def show_part(self, part: str) -> None:
        """ "tools", "servers" or "skills"."""
        self.part.set_value(part)
        self._stack.setCurrentIndex(PARTS.index(part))

    def bind(self, sources: ChatSources) -> None:
        """Show what another session's agent has."""
        self._sources = sources
        self._tools, self._skills, self._error = [], [], None
        self.servers.bind(sources)
        self.retranslate()
        self.refresh()

    def refresh(self) -> None:
        """Read the lists again."""
        self._tasks.replace(self._load(self._sources), name="tools")

    async def _load(self, sources: ChatSources) -> None:
        try:
            tools, skills = await asyncio.gather(sources.tools(), sources.skills())
        except SlipwayError as error:
            self._error = error
            self.retranslate()
            return
        self._tools, self._skills, self._error = tools, skills, None
        self.retranslate()

    def _switch_skill(self, folder: str, on: bool) -> None:
        self._tasks.start(self._switching(self._sources, folder, on), name="switch a skill")

    async def _switching(self, sources: ChatSources, folder: str, on: bool) -> None:
        try:
            await sources.set_skill(folder, on)
        except SlipwayError as error:
            log.warning("a skill could not be switched: %s", error)
        if sources is self._sources:
            await self._load(sources)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("inspector task %s failed", name, exc_info=error)

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.servers.close_tasks()

    def retranslate(self) -> None:
        self.view.setAccessibleName(tr("Tools"))
        self.model.clear()
        self.view.setVisible(bool(self._tools))
        self._empty.setVisible(not self._tools)
        self._empty.text.retranslate()
        for tool in self._tools:
            self._add_tool(tool)
        self.skills.show_skills(self._skills)
        self._count()

    def _count(self) -> None:
        """What all of it costs: groups that are off cost nothing."""
        off = {group.name for group in self._sources.groups() if not group.active}
        n = sum(t.tokens for t in self._tools)
        n += sum(s.tokens for s in self._skills if s.problem is None and s.enabled)
        for server in self.servers.servers:
            if server.name not in off:
                n += sum(self.servers.tokens(t) for t in server.tools if t.enabled)
        self.total.set_source(tr("{n} tokens in every request", n=figures.tokens(n)))
        self.total.setVisible(n > 0)

    def _add_tool(self, tool: ToolEntry) -> None:
        item = QStandardItem(tool.name)
        item.setData(tool_words.icon(tool.name), Role.ICON)
        item.setData(first_sentence(tool.description), Role.DETAIL)
        item.setData(figures.tokens(tool.tokens), Role.TIME)
        item.setData(True, Role.STRONG)
        item.setToolTip(tool.description)
        item.setData(f"{tool.name}, {tool.description}", Qt.ItemDataRole.AccessibleTextRole)
        self.model.appendRow(item)
