"""What the agent can use: built-in tools, MCP servers, skills, and what each costs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.context.types import Breakdown
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import sentences, tr
from desktop_app.ui.tools.costs import Costs
from desktop_app.ui.tools.entries import SkillEntry, ToolEntry
from desktop_app.ui.tools.mcp_panel import McpPanel
from desktop_app.ui.tools.skills_panel import SkillsPanel
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.toggles import SegmentedControl

from .tool_list import ToolList

log = logging.getLogger(__name__)
_SOON_MS = 400  # changes of the context come in flocks
PARTS = ("tools", "servers", "skills")


class ToolsPanel(Live, QWidget):
    """Three parts behind one control."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: list[ToolEntry] = []
        self._skills: list[SkillEntry] = []
        self._error: SlipwayError | None = None
        self._sources = ChatSources()
        self._used: Callable[[], Breakdown | None] = lambda: None
        self._costs = Costs()
        self._tasks = Tasks(self._failed)
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self.refresh)
        self.tools = ToolList(self._why_empty)
        self.total = Label("", role="caption", tone="muted", wrap=True)
        self.servers = McpPanel()
        self.skills = SkillsPanel(adds=True)
        self.part = SegmentedControl(lambda: tr("What to show"))
        self._stack = QStackedWidget()
        for widget in (self.tools, self.servers, self.skills):
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
        self.servers.costs = lambda: self._costs
        self.servers.changed.connect(self._count)
        self.skills.switched.connect(self._switch_skill)
        self.skills.addWanted.connect(self._choose_skill)
        self.tools.switched.connect(self._switch_tool)
        self.retranslate()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 10, 0, 0), setSpacing=8)
        row = QHBoxLayout()
        follow(row, setContentsMargins=(12, 0, 12, 0))
        row.addWidget(self.part)
        row.addStretch(1)
        column.addLayout(row)
        follow(self.total, setContentsMargins=(16, 0, 14, 0))
        column.addWidget(self.total)
        column.addWidget(self._stack, 1)

    def _why_empty(self) -> str:
        if self._error is not None:
            return describe(self._error.code, self._error.params).reason
        return tr("This agent can only talk.")

    def show_part(self, part: str) -> None:
        """ "tools", "servers" or "skills", as they are now: files change beside the program."""
        self.part.set_value(part)
        self._stack.setCurrentIndex(PARTS.index(part))
        self.refresh()

    def note_change(self) -> None:
        """What goes with a request may be something else now: a skill that came, groups that the
        agent switched. It is read while it is seen, else when it is seen next."""
        if self.isVisible():
            self._soon.start()

    def bind(
        self, sources: ChatSources, used: Callable[[], Breakdown | None] = lambda: None
    ) -> None:
        """Show what another session's agent has; ``used`` says who uses its window."""
        self._sources, self._used, self._costs = sources, used, Costs(used())
        self._tools, self._skills, self._error = [], [], None
        self.skills.tell("")
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
            if sources is self._sources:
                self._error = error
                self.retranslate()
            return
        if sources is not self._sources:
            return
        off = sources.tools_off()
        costs = self._costs = Costs(self._used())
        self._tools = [
            replace(t, enabled=t.name not in off, tokens=_or(costs.tool(t.name), t.tokens))
            for t in tools
        ]
        self._tools += _own(costs, {t.name for t in tools})
        self._skills = [replace(s, tokens=_or(costs.skill(s.name), s.tokens)) for s in skills]
        self._error = None
        self.retranslate()
        self.servers.refresh()  # what they printed since

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._soon.start()

    def _switch_skill(self, folder: str, on: bool) -> None:
        sources = self._sources
        self._tasks.start(self._switching(sources, sources.set_skill(folder, on)), name="skill")

    def _choose_skill(self) -> None:
        """The system's folder dialog, then the skill."""
        dialog = QFileDialog(self.window(), tr("Choose a folder with a SKILL.md"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(self.add_skill)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def add_skill(self, folder: str) -> None:
        """Copy a skill of this computer into the workspace."""
        self._tasks.start(self._adding(self._sources, Path(folder)), name="add skill")

    async def _adding(self, sources: ChatSources, folder: Path) -> None:
        said = ""
        try:
            await sources.add_skill(folder)
        except SlipwayError as error:
            words = describe(error.code, error.params)
            said = sentences(words.title, words.reason, words.fix)
        if sources is self._sources:
            self.skills.tell(said)
            await self._load(sources)
            if not said:
                self.skills.choose(folder.name)

    def _switch_tool(self, name: str, on: bool) -> None:
        sources = self._sources
        self._tasks.start(self._switching(sources, sources.set_tool(name, on)), name="tool")

    async def _switching(self, sources: ChatSources, work: Awaitable[None]) -> None:
        try:
            await work
        except SlipwayError as error:
            log.warning("it could not be switched: %s", error)
        if sources is self._sources:
            await self._load(sources)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("inspector task %s failed", name, exc_info=error)

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.servers.close_tasks()

    def retranslate(self) -> None:
        self.tools.show_tools(self._tools, live=self._sources.writable)
        self.skills.show_skills(self._skills)
        self._count()

    def _count(self) -> None:
        """What all of it costs, as the gauge has it. What was switched since it was counted is
        put right; groups that are off cost nothing."""
        costs = self._costs
        off = {group.name for group in self._sources.groups() if not group.active}
        wanted = [(t.tokens, t.enabled, costs.tool(t.name) is not None) for t in self._tools]
        for skill in self._skills:
            on = skill.problem is None and skill.enabled
            wanted.append((skill.tokens, on, costs.skill(skill.name) is not None))
        for server in self.servers.servers:
            for tool in server.tools:
                on = tool.enabled and server.name not in off
                there = costs.tool(tool.name) is not None
                wanted.append((self.servers.tokens(tool), on, there))
        moved = sum(n if on else -n for n, on, there in wanted if on != there)
        n = max(0, costs.total + moved)
        if costs.measured and not moved:
            self.total.set_source(tr("{n} tokens in every request, measured", n=figures.tokens(n)))
        else:
            self.total.set_source(tr("{n} tokens in every request, estimated", n=figures.tokens(n)))
        self.total.setVisible(n > 0)


def _own(costs: Costs, known: set[str]) -> list[ToolEntry]:
    """What a session brings by itself and is in the prompt: ways to groups and to what has left."""
    words = {
        "reset_tools": tr("Switches the tools of servers on and off."),
        "context_search": tr("Finds what has left the context."),
        "context_read": tr("Reads what has left the context."),
    }
    return [
        ToolEntry(name, words.get(name, ""), tokens, fixed=True)
        for name, tokens in costs.tools().items()
        if name not in known
    ]


def _or(known: int | None, guess: int) -> int:
    return guess if known is None else known
