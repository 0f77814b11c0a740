"""The tools and skills of the agent, and what each costs in the context window."""

from __future__ import annotations

import asyncio
import logging

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

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
from desktop_app.ui.widgets.rows import Role, RowDelegate

log = logging.getLogger(__name__)


class ToolsPanel(Live, QWidget):
    """Two groups of two-line rows: name and tokens, then the description."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: list[ToolEntry] = []
        self._skills: list[SkillEntry] = []
        self._error: SlipwayError | None = None
        self._sources = ChatSources()
        self._tasks = Tasks(self._failed)
        self.model = QStandardItemModel(self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(self.view, two_line=True))
        self.view.setProperty("ground", "bg")
        self.view.viewport().setProperty("ground", "bg")
        self.view.setMouseTracking(True)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.total = Label("", role="caption", tone="muted", wrap=True)
        self._empty = EmptyState("wrench", lambda: tr("No tools"), self._why_empty)
        px = theme().px
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(10), 0, 0)
        column.setSpacing(px(6))
        self.total.setContentsMargins(px(16), 0, px(14), 0)
        column.addWidget(self.total)
        column.addWidget(self.view, 1)
        column.addWidget(self._empty, 1)
        self.retranslate()

    def _why_empty(self) -> str:
        if self._error is not None:
            return describe(self._error.code, self._error.params).reason
        return tr("This agent can only talk.")

    def bind(self, sources: ChatSources) -> None:
        """Show what another workspace offers."""
        self._sources = sources
        self._tools, self._skills, self._error = [], [], None
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

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("inspector task %s failed", name, exc_info=error)

    async def close_tasks(self) -> None:
        await self._tasks.close()

    def retranslate(self) -> None:
        self.view.setAccessibleName(tr("Tools and skills"))
        self.model.clear()
        some = bool(self._tools or self._skills)
        self.view.setVisible(some)
        self.total.setVisible(some)
        self._empty.setVisible(not some)
        self._empty.text.retranslate()
        n = sum(t.tokens for t in self._tools) + sum(
            s.tokens for s in self._skills if s.problem is None
        )
        self.total.set_source(tr("{n} tokens in every request", n=figures.tokens(n)))
        groups: dict[str, list[ToolEntry]] = {}
        for tool in self._tools:
            groups.setdefault(tool.group, []).append(tool)
        for group, tools in groups.items():
            self._head(group or tr("Built in"))
            for tool in tools:
                self._add_tool(tool)
        if self._skills:
            self._head(tr("Skills"))
            for skill in self._skills:
                self._add_skill(skill)

    def _head(self, words: str) -> None:
        item = QStandardItem(words)
        item.setData(True, Role.HEADER)
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.model.appendRow(item)

    def _add_tool(self, tool: ToolEntry) -> None:
        item = QStandardItem(tool.name)
        item.setData(tool_words.icon(tool.name), Role.ICON)
        item.setData(first_sentence(tool.description), Role.DETAIL)
        item.setData(figures.tokens(tool.tokens), Role.TIME)
        item.setData(True, Role.STRONG)
        item.setToolTip(tool.description)
        item.setData(f"{tool.name}, {tool.description}", Qt.ItemDataRole.AccessibleTextRole)
        self.model.appendRow(item)

    def _add_skill(self, skill: SkillEntry) -> None:
        item = QStandardItem(skill.name)
        item.setData(True, Role.STRONG)
        if skill.problem is None:
            item.setData("book-open", Role.ICON)
            item.setData(first_sentence(skill.description), Role.DETAIL)
            item.setData(figures.tokens(skill.tokens), Role.TIME)
            item.setToolTip(skill.description)
        else:
            words = describe(*skill.problem)
            item.setData("triangle-alert", Role.ICON)
            item.setData("warning", Role.ICON_TOKEN)
            item.setData(words.reason or words.title, Role.DETAIL)
            item.setData(tr("not loaded"), Role.TIME)
            item.setToolTip("\n".join(w for w in (words.title, words.reason, words.fix) if w))
        self.model.appendRow(item)
