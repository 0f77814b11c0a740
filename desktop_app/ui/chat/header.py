"""The head of the chat page: workspace and title, rename in place, find, export, more."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import icon, theme
from desktop_app.ui.widgets.badge import Badge
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import IconButton
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.labels import ElidedLabel
from desktop_app.ui.widgets.menu import Menu, context_menu
from desktop_app.ui.widgets.painting import hline
from desktop_app.ui.widgets.texts import TypedLine

_KIND_ICONS = {"local": "folder", "docker": "container", "e2b": "cloud"}


class TitleLabel(ElidedLabel):
    """The title; a double click (or F2, Enter) edits it."""

    editRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, role="title")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.editRequested.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.editRequested.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            hline(QPainter(self), 0, self.width(), self.height() - 1, theme().color("focus"))


class Crumb(ElidedLabel):
    """The workspace's name; a click goes to it."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, tone="muted")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class ChatHeader(Live, QWidget):
    """44 high. ``renamed(title)`` when a person gave the session another name."""

    renamed = Signal(str)
    findRequested = Signal()
    exportRequested = Signal()
    compactRequested = Signal()
    previewRequested = Signal()
    workspaceClicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._renamable = True
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(16, 0, 10, 1))
        follow(row, setSpacing=6)
        self._kind = Glyph("folder", "muted", 16)
        self.workspace = Crumb()
        self.workspace.clicked.connect(self.workspaceClicked)
        follow(self.workspace, setMaximumWidth=180)
        self._chevron = Glyph("chevron-right", "faint", 14)
        self.title = TitleLabel()
        self.title.editRequested.connect(self.begin_rename)
        self.editor = TypedLine(role="title")
        self.editor.setMaxLength(200)
        self.editor.installEventFilter(self)
        self.editor.returnPressed.connect(self._commit)
        self.editor.editingFinished.connect(self._commit)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.title)
        self._stack.addWidget(self.editor)
        self._stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.find_button = IconButton("search", lambda: tr("Find in this session"), keys="Ctrl+F")
        self.find_button.clicked.connect(self.findRequested)
        self.export = IconButton("download", lambda: tr("Export as Markdown"))
        self.export.clicked.connect(self.exportRequested)
        self.more = IconButton("ellipsis", lambda: tr("More"))
        self.more.clicked.connect(self._open_menu)
        for widget in (self._kind, self.workspace, self._chevron):
            row.addWidget(widget)
        row.addWidget(self._stack, 1)
        self.agent = Badge("", glyph="bot")
        self.agent.hide()
        row.addWidget(self.agent)
        for widget in (self.find_button, self.export, self.more):
            row.addWidget(widget)
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        self.setFixedHeight(theme().size("page-header"))

    def retranslate(self) -> None:
        self.editor.setAccessibleName(tr("Name of the session"))
        self.title.setToolTip("")
        self._show_title()

    def set_workspace(self, name: str, kind: str) -> None:
        self._kind.set_glyph(_KIND_ICONS.get(kind, "folder"))
        self.workspace.set_source(name)
        for widget in (self._kind, self.workspace, self._chevron):
            widget.setVisible(bool(name))

    def set_agent(self, name: str) -> None:
        """Who answers; the built-in one is not named."""
        self.agent.set_badge(name, glyph="bot")
        self.agent.setToolTip(tr("The agent of this session"))
        self.agent.setVisible(bool(name) and name != "Assistant")

    def set_title(self, title: str, *, renamable: bool = True) -> None:
        self._plain = title
        self._renamable = renamable
        self._show_title()

    _plain = ""

    def _show_title(self) -> None:
        self.title.set_source(self._plain or tr("New session"))

    # -- renaming ---------------------------------------------------------------------------

    def begin_rename(self) -> None:
        """Edit the title in its place."""
        if not self._renamable:
            return
        self.editor.setText(self._plain)
        self._stack.setCurrentWidget(self.editor)
        self.editor.selectAll()
        self.editor.setFocus()

    def _commit(self) -> None:
        if self._stack.currentWidget() is not self.editor:
            return
        self._stack.setCurrentWidget(self.title)
        title = " ".join(self.editor.text().split())
        if title and title != self._plain:
            self.renamed.emit(title)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            watched is self.editor
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Escape
        ):
            self._stack.setCurrentWidget(self.title)
            self.title.setFocus()
            return True
        return False

    # -- more -------------------------------------------------------------------------------

    def menu(self) -> Menu:
        """What "more" offers."""
        menu = context_menu(self)
        rename = menu.addAction(icon("pencil"), tr("Rename"), self.begin_rename)
        rename.setEnabled(self._renamable)
        preview = menu.addAction(
            icon("eye"), tr("Preview a compaction…"), self.previewRequested.emit
        )
        preview.setEnabled(self._renamable)
        compact = menu.addAction(
            icon("fold-vertical"), tr("Compact now"), self.compactRequested.emit
        )
        compact.setEnabled(self._renamable)
        menu.addSeparator()
        menu.addAction(icon("search"), tr("Find in this session"), self.findRequested.emit)
        menu.addAction(icon("download"), tr("Export as Markdown"), self.exportRequested.emit)
        return menu

    def _open_menu(self) -> None:
        self.menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        metrics = QFontMetrics(theme().font("body"))
        self.workspace.setVisible(
            bool(self.workspace.text()) and self.width() > metrics.averageCharWidth() * 50
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("surface"))
        hline(painter, 0, self.width(), self.height() - 1, theme().color("border"))
