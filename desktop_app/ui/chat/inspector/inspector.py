"""The inspector: one tab bar over four panels. A widget for the window's splitter."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import IconButton
from desktop_app.ui.widgets.painting import hline
from desktop_app.ui.widgets.toggles import TabBar

from .compactions_panel import CompactionsPanel
from .context_panel import ContextPanel
from .files_panel import FilesPanel
from .tools_panel import ToolsPanel

TABS = ("context", "files", "tools", "compactions")


class Inspector(Live, QWidget):
    """``showRequested(row_id)``: scroll the chat to a row. ``mentionRequested(path)``.
    ``closeRequested``: the button at the right of the tabs."""

    showRequested = Signal(str)
    mentionRequested = Signal(str)
    closeRequested = Signal()
    compactionRequested = Signal(str)  # look at this one of the log
    offloadsRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._sources = ChatSources()
        self._stale = set(TABS)
        self.setProperty("ground", "bg")
        self.tabs = TabBar()
        self.close_button = IconButton("panel-right", lambda: tr("Hide the inspector"))
        self.close_button.clicked.connect(self.closeRequested)
        head = QHBoxLayout()
        follow(head, setContentsMargins=(0, 0, 8, 0), setSpacing=0)
        head.addWidget(self.tabs, 1)
        head.addWidget(self.close_button)
        self.context = ContextPanel()
        self.files = FilesPanel()
        self.tools = ToolsPanel()
        self.compactions = CompactionsPanel()
        self._stack = QStackedWidget()
        for panel in (self.context, self.files, self.tools, self.compactions):
            self._stack.addWidget(panel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._stack, 1)
        self.tabs.changed.connect(self.show_tab)
        self.context.showRequested.connect(self._show_ref)
        self.context.tabRequested.connect(self.show_tab)
        self.context.xray.acts.toolsChanged.connect(lambda: self._stale.add("tools"))
        self.compactions.viewRequested.connect(self.compactionRequested)
        self.compactions.offloadsRequested.connect(self.offloadsRequested)
        self.files.mentionRequested.connect(self.mentionRequested)
        follow(self, setMinimumWidth="inspector-min", setMaximumWidth="inspector-max")
        self.tabs.set_tabs(
            [
                ("context", lambda: tr("Context")),
                ("files", lambda: tr("Files")),
                ("tools", lambda: tr("Tools")),
                ("compactions", lambda: tr("Compactions")),
            ]
        )

    def sizeHint(self) -> QSize:
        return QSize(theme().size("inspector"), theme().px(600))

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Show another session, or none. Panels that cost a listing wait until they are seen."""
        if self._vm is not None:
            self._vm.compactionsChanged.disconnect(self._count)
            self._vm.contextChanged.disconnect(self.tools.note_change)
        self._vm, self._sources = vm, sources
        if vm is not None:
            vm.compactionsChanged.connect(self._count)
            vm.contextChanged.connect(self.tools.note_change)
        self._stale = {"files", "tools"}
        self.context.bind(vm, sources)
        self.compactions.bind(vm)
        self._count()
        self._freshen(self.tab())

    def _count(self) -> None:
        n = len(self._vm.compactions) if self._vm is not None else 0
        self.tabs.set_count("compactions", str(n) if n else "")

    def tab(self) -> str:
        return self.tabs.value() or TABS[0]

    def show_tab(self, name: str) -> None:
        """Bring a panel to the front: "context", "files", "tools", "compactions"."""
        self.tabs.set_value(name)
        self._stack.setCurrentIndex(TABS.index(name))
        self._freshen(name)

    def _freshen(self, name: str) -> None:
        if name not in self._stale:
            return
        self._stale.discard(name)
        if name == "files":
            self.files.bind(self._vm, self._sources)
        elif name == "tools":
            vm = self._vm
            self.tools.bind(self._sources, lambda: vm.breakdown if vm is not None else None)

    def _show_ref(self, ref: str) -> None:
        row_id = self._vm.row_of(ref) if self._vm is not None else None
        if row_id is not None:
            self.showRequested.emit(row_id)

    async def close_tasks(self) -> None:
        """Cancel what is still being read."""
        await self.context.xray.acts.close_tasks()
        await self.files.close_tasks()
        await self.tools.close_tasks()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        y = self.tabs.height() - 1
        hline(painter, 0, self.width(), y, theme().color("border"))
