"""The tree of workspaces and sessions: keyboard, menus, tooltips."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QWidget

from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import RowDelegate
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.tree import Tree

from .tree_model import ItemRole, WorkspaceTreeModel

Index = QModelIndex | QPersistentModelIndex
_INDENT = 18
_OPEN = 400  # rows up to which workspaces open by themselves; what comes later opens by a click


class _Delegate(RowDelegate):
    """Workspaces 28 high, sessions 26. A session's state stands below its workspace's icon, so that
    all names begin at one line."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        name = "tree-session" if index.internalId() else "tree-workspace"
        return QSize(theme().px(80), theme().size(name))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.parent().isValid():
            option = QStyleOptionViewItem(option)
            rect: QRect = option.rect  # type: ignore[attr-defined]
            rect.setLeft(rect.left() - theme().px(_INDENT))
            option.rect = rect  # type: ignore[attr-defined]
        super().paint(painter, option, index)


class WorkspaceTree(Live, Tree):
    """Emits what the person wants done with a row; changes nothing itself."""

    sessionChosen = Signal(object)  # SessionSummary
    workspaceChosen = Signal(object)  # WorkspaceSummary
    menuWanted = Signal(object, QPoint)  # summary or None, global position
    renameWanted = Signal(object)
    removeWanted = Signal(object)

    def __init__(self, model: WorkspaceTreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "bg")
        self.viewport().setProperty("ground", "bg")
        self.setModel(model)
        self.setItemDelegate(_Delegate(self))
        self.setUniformRowHeights(False)
        self.setExpandsOnDoubleClick(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self.clicked.connect(self._clicked)
        self.doubleClicked.connect(lambda index: self.renameWanted.emit(index.data(ItemRole)))
        model.rowsInserted.connect(self._inserted)
        self._closed: set[str] = set()
        self._opened = 0  # rows below workspaces that opened by themselves
        self.collapsed.connect(lambda index: self._remember(index, closed=True))
        self.expanded.connect(lambda index: self._remember(index, closed=False))
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        self.setIndentation(theme().px(_INDENT))
        self.scheduleDelayedItemsLayout()
        super().restyle()

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Workspaces and sessions"))

    def _remember(self, index: QModelIndex, *, closed: bool) -> None:
        ws = index.data(ItemRole)
        if isinstance(ws, WorkspaceSummary):
            (self._closed.add if closed else self._closed.discard)(ws.info.id)

    def _inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        """Workspaces open by themselves unless the person closed them, as long as that is a list
        to look through: Qt lays out every row, seen or not."""
        model = self.model()
        came = (model.index(row, 0) for row in range(first, last + 1))
        for index in [parent] if parent.isValid() else came:
            ws = index.data(ItemRole)
            if not isinstance(ws, WorkspaceSummary) or ws.info.id in self._closed:
                continue
            if self.isExpanded(index) or self._opened > _OPEN:
                continue
            if ws.sessions:
                self._opened += len(ws.sessions)
                self.setExpanded(index, True)

    def select_session(self, session_id: str) -> None:
        """Show which session is open, without choosing it again."""
        model = self.model()
        assert isinstance(model, WorkspaceTreeModel)
        index = model.find(session_id)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def current(self) -> WorkspaceSummary | SessionSummary | None:
        return self.currentIndex().data(ItemRole)

    def _clicked(self, index: QModelIndex) -> None:
        item = index.data(ItemRole)
        if isinstance(item, SessionSummary):
            self.sessionChosen.emit(item)
        elif isinstance(item, WorkspaceSummary):
            self.workspaceChosen.emit(item)

    def _menu(self, at: QPoint) -> None:
        index = self.indexAt(at)
        self.menuWanted.emit(index.data(ItemRole), self.viewport().mapToGlobal(at))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # A right click asks what can be done; what is open stays marked.
        if event.button() != Qt.MouseButton.RightButton:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.current()
        key = event.key()
        if item is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._clicked(self.currentIndex())
        elif item is not None and key == Qt.Key.Key_F2:
            self.renameWanted.emit(item)
        elif item is not None and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removeWanted.emit(item)
        elif item is not None and key == Qt.Key.Key_Menu:
            below = self.visualRect(self.currentIndex()).bottomLeft()
            self.menuWanted.emit(item, self.viewport().mapToGlobal(below))
        else:
            super().keyPressEvent(event)
