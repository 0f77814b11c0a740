"""The built-in tools of the session's agent: what each does and costs, and its switch."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem
from PySide6.QtWidgets import QWidget

from desktop_app.ui.chat import figures, tool_words
from desktop_app.ui.i18n import tr
from desktop_app.ui.tools.entries import ToolEntry, first_sentence
from desktop_app.ui.tools.entry_list import EntryList
from desktop_app.ui.widgets.base import Text
from desktop_app.ui.widgets.rows import Role


class ToolList(EntryList[ToolEntry]):
    """``switched(name, on)``; ``why_empty`` says why there is none."""

    def __init__(self, why_empty: Text, parent: QWidget | None = None) -> None:
        self._live = True
        super().__init__(
            "wrench",
            lambda: tr("Tools"),
            lambda: tr("No tools"),
            why_empty,
            lambda: tr("Offered to the model in this session"),
            parent,
        )

    def show_tools(self, tools: list[ToolEntry], *, live: bool) -> None:
        """``live``: they can be switched; else they are only shown."""
        self._live = live
        self.show_entries(tools)

    def key(self, entry: ToolEntry) -> str:
        return entry.name

    def item(self, entry: ToolEntry) -> QStandardItem:
        item = QStandardItem(entry.name)
        item.setData(tool_words.icon(entry.name), Role.ICON)
        item.setData(first_sentence(entry.description), Role.DETAIL)
        item.setData(figures.tokens(entry.tokens) if entry.enabled else tr("off"), Role.TIME)
        item.setData(True, Role.STRONG)
        item.setToolTip(entry.description)
        state = "" if entry.enabled else f", {tr('off')}"
        item.setData(
            f"{entry.name}{state}, {entry.description}", Qt.ItemDataRole.AccessibleTextRole
        )
        return item

    def describe(self, entry: ToolEntry) -> None:
        self.name.set_source(entry.name)
        self.text.set_source(first_sentence(entry.description))
        self.switch.setChecked(entry.enabled)
        self.switch.setEnabled(self._live)
        self.switch.setVisible(not entry.fixed)
