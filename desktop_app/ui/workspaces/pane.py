"""The side list: head with actions, the tree, search; and the dialogs it opens."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import icon
from desktop_app.ui.widgets import (
    Act,
    ConfirmDialog,
    EmptyState,
    IconButton,
    Label,
    Line,
    Menu,
    SearchField,
    TextPrompt,
)
from desktop_app.ui.widgets.base import Live, follow

from .folder_questions import FolderQuestions
from .tree_view import WorkspaceTree
from .view_model import WorkspacesViewModel


class WorkspacesPane(Live, QWidget):
    """List, create, rename, trust, forget; every destructive thing says what is kept."""

    openSession = Signal(object)  # SessionKey
    newWanted = Signal()  # a workspace of any kind
    forgetMachineWanted = Signal(str)  # a workspace's id: of one that has a machine
    agentsWanted = Signal()  # to be made and changed
    toast = Signal(str, str, object)  # text, action label, what the action does

    def __init__(self, model: WorkspacesViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.setProperty("ground", "bg")
        self.tasks = Tasks(lambda _name, error: model.failed.emit(error))
        self.folders = FolderQuestions(self, model)
        self._build()
        model.sessionOpened.connect(self._opened)
        model.sessionTrashed.connect(self._trashed)
        model.loaded.connect(self._loaded)
        self._open_id = ""
        self.retranslate()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 4, 0, 8), setSpacing=4)
        head = QHBoxLayout()
        follow(head, setContentsMargins=(12, 0, 8, 0), setSpacing=2)
        self.heading = Label(lambda: tr("Workspaces"), role="small-semibold", tone="muted")
        head.addWidget(self.heading, 1)
        self.filter_button = IconButton(
            "list-filter", lambda: tr("Filter the list"), small=True, checkable=True
        )
        self.filter_button.toggled.connect(self._filter_toggled)
        head.addWidget(self.filter_button)
        self.add_button = IconButton("plus", lambda: tr("Add a workspace or session"), small=True)
        self.add_button.clicked.connect(self._add_menu)
        head.addWidget(self.add_button)
        column.addLayout(head)
        self.search = SearchField(lambda: tr("Filter workspaces and sessions"))
        self.search.searched.connect(self._filter)
        self.search.leaving.connect(self._into_list)
        self.search_row = QWidget()
        row = QHBoxLayout(self.search_row)
        follow(row, setContentsMargins=(8, 0, 8, 4))
        row.addWidget(self.search)
        self.search_row.hide()
        column.addWidget(self.search_row)
        self.tree = WorkspaceTree(self.model.model)
        self.tree.sessionChosen.connect(lambda s: self.openSession.emit(s.key))
        self.tree.workspaceChosen.connect(self._workspace_clicked)
        self.tree.menuWanted.connect(self._menu)
        self.tree.renameWanted.connect(self.rename)
        self.tree.removeWanted.connect(self.remove)
        column.addWidget(self.tree, 1)
        self.empty = EmptyState(
            "folder-open",
            lambda: tr("No workspace yet"),
            lambda: tr("Open a folder, and an agent can work on the files in it."),
            [Act("open", lambda: tr("Open a folder")), Act("demo", lambda: tr("Try the demo"))],
        )
        self.empty.action.connect(self._empty_action)
        self.empty.hide()
        column.addWidget(self.empty, 1)
        self._foot = QVBoxLayout()
        self._foot.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._foot)

    def add_foot(self, widget: QWidget) -> None:
        """A widget below the list, under a line."""
        self._foot.addWidget(Line())
        holder = QVBoxLayout()
        follow(holder, setContentsMargins=(8, 4, 8, 0))
        holder.addWidget(widget)
        self._foot.addLayout(holder)

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Workspaces"))
        self.model.model.retranslate()

    def _loaded(self) -> None:
        none = not self.model.workspaces
        self.tree.setVisible(not none)
        self.empty.setVisible(none)
        self._mark()

    def _opened(self, key: SessionKey) -> None:
        self.openSession.emit(key)

    def mark_open(self, key: SessionKey | None) -> None:
        """The session that the chat shows now."""
        self._open_id = key.session_id if key else ""
        self.model.open_key = key
        if key:
            self.tree.select_session(key.session_id)

    def _filter_toggled(self, on: bool) -> None:
        self.search_row.setVisible(on)
        if on:
            self.search.setFocus()
        else:
            self.search.clear()
            self._filter("")

    def _filter(self, text: str) -> None:
        self.model.filter(text)
        self._mark()

    def _mark(self) -> None:
        """The open session is marked again after its row went and came."""
        if self._open_id:
            self.tree.select_session(self._open_id)

    def _into_list(self) -> None:
        self.tree.setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.filter_button.isChecked():
            self.filter_button.setChecked(False)
            self._into_list()
        else:
            super().keyPressEvent(event)

    def _empty_action(self, name: str) -> None:
        self.folders.choose_folder() if name == "open" else self.model.open_demo()

    def _workspace_clicked(self, ws: WorkspaceSummary) -> None:
        index = self.model.model.find_workspace(ws.info.id)
        if not ws.info.trusted and ws.info.foreign and not self.tree.isExpanded(index):
            self.folders.review_trust(ws)
        self.tree.setExpanded(index, not self.tree.isExpanded(index))

    # -- adding ---------------------------------------------------------------------------------

    def _add_menu(self) -> None:
        menu = Menu(parent=self)
        menu.addAction(icon("plus"), tr("New workspace…"), self.newWanted.emit)
        menu.addAction(icon("folder-open"), tr("Open a folder…"), self.folders.choose_folder)
        current = self.workspace_at_hand()
        new = menu.addAction(icon("message-square-plus"), tr("New session"))
        new.setEnabled(current is not None)
        if current is not None:
            new.triggered.connect(lambda: self.model.new_session(current.info.id))
            menu.addMenu(self.agents_menu(current.info.id, menu))
        menu.addSeparator()
        menu.addAction(icon("sparkles"), tr("Try the demo"), self.model.open_demo)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.add_button.mapToGlobal(QPoint(0, self.add_button.height() + 2)))

    def agents_menu(self, workspace_id: str, parent: QWidget) -> Menu:
        """A new session with one of the agents, and the way to make another agent."""
        menu = Menu(lambda: tr("New session with"), parent)
        menu.setIcon(icon("bot"))
        agents, start = self.model.service.agents, self.model.new_session
        menu.addAction(icon("bot"), tr("Assistant"), lambda: start(workspace_id))
        for one in agents.others():
            name = one.name.replace("&", "&&")
            menu.addAction(icon("bot"), name, lambda a=one.id: start(workspace_id, a))
        menu.addSeparator()
        menu.addAction(icon("pencil"), tr("Agents…"), self.agentsWanted.emit)
        return menu

    def workspace_at_hand(self) -> WorkspaceSummary | None:
        """The workspace of the current row, of the open session, or the first one."""
        item = self.tree.current()
        if isinstance(item, WorkspaceSummary):
            return item
        wanted = item.workspace_id if isinstance(item, SessionSummary) else ""
        rows = self.model.workspaces
        return next((w for w in rows if w.info.id == wanted), rows[0] if rows else None)

    # -- a row's menu -----------------------------------------------------------------------------

    def _menu(self, item: WorkspaceSummary | SessionSummary | None, at: QPoint) -> None:
        menu = Menu(parent=self)
        if isinstance(item, WorkspaceSummary):
            self._workspace_menu(menu, item)
        elif isinstance(item, SessionSummary):
            self._session_menu(menu, item)
        else:
            menu.addAction(icon("folder-open"), tr("Open a folder…"), self.folders.choose_folder)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def _workspace_menu(self, menu: Menu, ws: WorkspaceSummary) -> None:
        info = ws.info
        new = menu.addAction(icon("message-square-plus"), tr("New session"))
        new.triggered.connect(lambda: self.model.new_session(info.id))
        new.setEnabled(info.state in ("ready", "stopped", "paused"))
        menu.addMenu(self.agents_menu(info.id, menu)).setEnabled(new.isEnabled())
        if info.backend != "local":
            self._machine_menu(menu, ws)
        folder = menu.addAction(icon("folder-open"), tr("Show the folder"))
        folder.triggered.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(info.folder)))
        folder.setEnabled(info.state not in ("missing", "unreadable"))
        folder.setVisible(info.backend == "local")
        if info.backend == "local" and info.state in ("missing", "unreadable"):
            menu.addAction(
                icon("search"), tr("Say where it is…"), lambda: self.folders.locate(info.id)
            )
        if not info.trusted:
            trust = menu.addAction(icon("shield-check"), tr("Trust…"))
            trust.triggered.connect(lambda: self.folders.review_trust(ws))
        if info.generation != "C" and info.backend == "local" and info.trusted:
            move = menu.addAction(icon("package-open"), tr("Move to the newer layout…"))
            move.triggered.connect(lambda: self.folders.migrate(ws))
            move.setEnabled(info.state in ("ready", "readonly"))
        menu.addSeparator()
        menu.addAction(icon("pencil"), tr("Rename…"), lambda: self.rename(ws))
        menu.addAction(icon("x"), tr("Forget…"), lambda: self.remove(ws))

    def _machine_menu(self, menu: Menu, ws: WorkspaceSummary) -> None:
        """Start, pause, stop: what its machine's state allows."""
        model, info = self.model, ws.info
        menu.addSeparator()
        words = {"paused": tr("Resume"), "error": tr("Try again")}.get(info.state, tr("Start"))
        start = menu.addAction(icon("play"), words, lambda: model.machine(info.id, "start"))
        start.setEnabled(info.state in ("stopped", "paused", "error"))
        pause = menu.addAction(icon("pause"), tr("Pause"), lambda: model.machine(info.id, "pause"))
        pause.setEnabled(info.state in ("ready", "readonly"))
        if info.backend == "docker":  # a sandbox has no other way to stand still than to pause
            stop = menu.addAction(
                icon("square"), tr("Stop"), lambda: model.machine(info.id, "stop")
            )
            stop.setEnabled(info.state in ("ready", "readonly", "paused"))
        menu.addSeparator()

    def _session_menu(self, menu: Menu, session: SessionSummary) -> None:
        menu.addAction(
            icon("message-square"), tr("Open"), lambda: self.openSession.emit(session.key)
        )
        if session.foreign:
            menu.addAction(
                icon("message-square-plus"),
                tr("Continue in a new session"),
                lambda: self.model.continue_session(session.key),
            )
            return
        words = tr("Unpin") if session.pinned else tr("Pin to the top")
        menu.addAction(
            icon("pin"), words, lambda: self.model.pin_session(session.key, not session.pinned)
        )
        menu.addAction(icon("pencil"), tr("Rename…"), lambda: self.rename(session))
        menu.addSeparator()
        trash = menu.addAction(icon("trash-2"), tr("Move to trash"), lambda: self.remove(session))
        trash.setProperty("danger", True)

    def rename(self, item: WorkspaceSummary | SessionSummary) -> None:
        self.tasks.replace(self._rename(item), name="rename")

    async def _rename(self, item: WorkspaceSummary | SessionSummary) -> None:
        if isinstance(item, SessionSummary) and item.foreign:
            return
        workspace = isinstance(item, WorkspaceSummary)
        dialog = TextPrompt(
            self.window(),
            title=tr("Rename workspace") if workspace else tr("Rename session"),
            label=tr("Name"),
            text=item.info.name if isinstance(item, WorkspaceSummary) else item.title,
        )
        if not await show(dialog, keep=True):
            return
        text = dialog.text()
        dialog.deleteLater()
        if isinstance(item, WorkspaceSummary):
            self.model.rename_workspace(item.info.id, text)
        else:
            self.model.rename_session(item.key, text)

    def remove(self, item: WorkspaceSummary | SessionSummary) -> None:
        if isinstance(item, SessionSummary):
            if not item.foreign:
                self.model.trash_session(item)
            return
        if item.info.backend == "local":
            self.tasks.replace(self._forget(item), name="forget")
        else:
            self.forgetMachineWanted.emit(item.info.id)

    async def _forget(self, ws: WorkspaceSummary) -> None:
        sessions = sum(not s.foreign for s in ws.sessions)
        kept = [tr("The folder and all files in it")]
        if sessions:
            kept.append(
                trn(
                    "{n} session, listed again when the folder is opened again",
                    "{n} sessions, listed again when the folder is opened again",
                    sessions,
                )
            )
        dialog = ConfirmDialog(
            self.window(),
            title=tr("Forget {name}?", name=ws.info.name),
            text=tr("The workspace leaves this list. Nothing is deleted."),
            action=tr("Forget"),
            kept=kept,
        )
        if await show(dialog):
            self.model.forget_workspace(ws.info.id)

    def _trashed(self, session: SessionSummary) -> None:
        title = session.title or tr("New session")
        self.toast.emit(
            tr("Moved to the trash: {title}", title=title),
            tr("Undo"),
            lambda: self.model.restore_session(session),
        )

    async def close_tasks(self) -> None:
        await self.tasks.close()
