"""The built-in tools of the session's agent: what each does and costs, and its switch."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from desktop_app.ui.chat import figures, tool_words
from desktop_app.ui.chat.sources import ToolEntry, first_sentence
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text
from desktop_app.ui.widgets.card import EmptyState, Line
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.rows import Role
from desktop_app.ui.widgets.toggles import Switch

from .skills_panel import skill_list


class ToolList(Live, QWidget):
    """A list, and below it the chosen tool with its switch. ``switched(name, on)``; ``why_empty``
    says why there is none."""

    switched = Signal(str, bool)

    def __init__(self, why_empty: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: list[ToolEntry] = []
        self._live = True
        px = theme().px
        self.model = QStandardItemModel(self)
        self.view = skill_list(QListView())
        self.view.setModel(self.model)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.empty = EmptyState("wrench", lambda: tr("No tools"), why_empty)
        self.name = Label("", role="semibold", wrap=True, select=True)
        self.text = Label("", role="small", wrap=True, select=True)
        self.switch = Switch(lambda: tr("Offered to the model in this session"))
        self.switch.clicked.connect(self._switch)
        self.detail = QWidget()
        inner = QVBoxLayout(self.detail)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(Line())
        body = QVBoxLayout()
        body.setContentsMargins(px(16), px(10), px(14), px(12))
        body.setSpacing(px(6))
        for widget in (self.name, self.text, self.switch):
            body.addWidget(widget)
        inner.addLayout(body)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        column.addWidget(self.detail)
        self.retranslate()

    def show_tools(self, tools: list[ToolEntry], *, live: bool) -> None:
        """``live``: they can be switched; else they are only shown."""
        self._tools, self._live = tools, live
        self.retranslate()

    def retranslate(self) -> None:
        self.view.setAccessibleName(tr("Tools"))
        chosen = self._current()
        self.model.clear()
        self.view.setVisible(bool(self._tools))
        self.empty.setVisible(not self._tools)
        self.empty.text.retranslate()
        for place, tool in enumerate(self._tools):
            self.model.appendRow(self._item(tool))
            if chosen is not None and tool.name == chosen.name:
                self.view.setCurrentIndex(self.model.index(place, 0))
        self._chosen(self.view.currentIndex())

    def _item(self, tool: ToolEntry) -> QStandardItem:
        item = QStandardItem(tool.name)
        item.setData(tool_words.icon(tool.name), Role.ICON)
        item.setData(first_sentence(tool.description), Role.DETAIL)
        item.setData(figures.tokens(tool.tokens) if tool.enabled else tr("off"), Role.TIME)
        item.setData(True, Role.STRONG)
        item.setToolTip(tool.description)
        state = "" if tool.enabled else f", {tr('off')}"
        item.setData(f"{tool.name}{state}, {tool.description}", Qt.ItemDataRole.AccessibleTextRole)
        return item

    def _current(self) -> ToolEntry | None:
        row = self.view.currentIndex().row()
        return self._tools[row] if 0 <= row < len(self._tools) else None

    def _chosen(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        row = index.row()
        tool = self._tools[row] if 0 <= row < len(self._tools) else None
        self.detail.setVisible(tool is not None)
        if tool is None:
            return
        self.name.set_source(tool.name)
        self.text.set_source(first_sentence(tool.description))
        self.switch.setChecked(tool.enabled)
        self.switch.setEnabled(self._live)

    def _switch(self, on: bool) -> None:
        if (tool := self._current()) is not None:
            self.switched.emit(tool.name, on)
