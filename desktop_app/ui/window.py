"""The window: composes the pages, owns the commands. No business rule lives here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QEvent, QSettings, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from desktop_app import __version__
from desktop_app.core.catalog import WorkspaceSummary
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.settings.settings import Settings
from desktop_app.ui.chat.inspector import Inspector
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.status import ChatStatus
from desktop_app.ui.commands import Commands
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import tr
from desktop_app.ui.palette.palette import Palette
from desktop_app.ui.theme import theme
from desktop_app.ui.welcome.page import RECENT, Recent, WelcomePage
from desktop_app.ui.widgets import RailButton, ToastHost
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.workspaces.pane import WorkspacesPane
from desktop_app.ui.workspaces.view_model import WorkspacesViewModel
from desktop_app.ui.workspaces.when import short_ago

if TYPE_CHECKING:
    from desktop_app.ui.machines.page import MachinesPage

from .desk import Desk
from .frame import FieldButton, Rail, StatusBar, TopBar
from .window_areas import INSPECTOR, PANE, PANE_LEAST, SideAreas
from .window_commands import EVERYTHING_KEY, PALETTE_KEY, register
from .window_dialogs import WindowDialogs
from .window_session import ShownSession


class MainWindow(Live, QWidget):
    """One window. ``closing`` is emitted when the person closes it; whoever composed the program
    then shuts down and calls ``really_close``."""

    closing = Signal()
    settingsWanted = Signal()
    modelsWanted = Signal()
    keysWanted = Signal()
    settingChosen = Signal(str, object)

    def __init__(self, service: Slipway, settings: Settings, geometry: QSettings) -> None:
        super().__init__()
        self.service = service
        self.settings = settings
        self._geometry = geometry
        self._done = False
        self.areas = SideAreas(self, geometry)
        self.setObjectName("mainWindow")
        self.setAcceptDrops(True)
        self.workspaces = WorkspacesViewModel(service, self)
        self.desk = Desk(service, self, self.workspaces.settled)
        self.top = TopBar(PALETTE_KEY)
        self.rail = Rail()
        self.pane = WorkspacesPane(self.workspaces)
        self.chat = ChatPage()
        self.welcome = WelcomePage()
        self.inspector = Inspector()
        self.status = StatusBar()
        self.chat_status = ChatStatus()
        self.toasts = ToastHost(self)
        self.toasts.above = self.chat.composer
        self.commands = Commands(self, settings.get("keys"))
        self.machines: MachinesPage | None = None  # made when it is first wanted
        self.palette_box = Palette(self, self.commands)
        self.dialogs = WindowDialogs(self)
        self.shown = ShownSession(self)
        self._remember = QTimer(self, singleShot=True, interval=2_000)
        self._remember.timeout.connect(self.save_recent)
        self._build()
        theme().changed.connect(
            self.areas.rescale
        )  # after the areas, whose least widths change first
        self._wire()
        self.commands.recent = list(settings.get("recent_commands"))
        self.commands.ran.connect(lambda _id: self._remember.start())
        register(self)
        self.retranslate()
        self._restore()

    # -- building -------------------------------------------------------------------------------

    def _build(self) -> None:
        self.everything = FieldButton(lambda: tr("Find in everything"), EVERYTHING_KEY)
        self.pane.add_foot(self.everything)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.chat)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        for widget in (self.pane, self.pages, self.inspector):
            self.split.addWidget(widget)
        self.split.setStretchFactor(1, 1)
        px = theme().px
        follow(self.pane, setMinimumWidth=PANE_LEAST, setMaximumWidth=400)
        self.split.setSizes([px(PANE), px(860), px(INSPECTOR)])
        self.inspector.hide()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addWidget(self.split, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top)
        column.addLayout(row, 1)
        column.addWidget(self.status)
        self.status.add(self.chat_status)
        self.rail.add("chat", RailButton("message-square", lambda: tr("Chat")))
        self.rail.add("machines", RailButton("boxes", lambda: tr("Workspaces"), keys="Ctrl+2"))
        self.rail.add("settings", RailButton("settings", lambda: tr("Settings")), bottom=True)
        self.rail.set_current("chat")
        self.setMinimumSize(640, 420)

    def _wire(self) -> None:
        self.top.field.clicked.connect(lambda: self.palette_box.open())
        self.everything.clicked.connect(lambda: self.dialogs.find_everywhere())
        self.rail.chosen.connect(self._rail_chosen)
        self.pane.openSession.connect(self.open_session)
        self.pane.newWanted.connect(self.dialogs.new_workspace)
        self.pane.forgetMachineWanted.connect(self._forget_machine)
        self.pane.agentsWanted.connect(self.dialogs.open_agents)
        self.pane.toast.connect(self._toast_with)
        self.workspaces.failed.connect(self.show_error)
        self.workspaces.loaded.connect(self._loaded)
        self.workspaces.sessionForgotten.connect(self.shown.forgotten)
        self.workspaces.workspaceForgotten.connect(self.shown.workspace_forgotten)
        self.workspaces.workspaceMoved.connect(self.shown.workspace_moved)
        self.desk.shown.connect(self.shown.show)
        self.desk.sourcesChanged.connect(self.shown.sources_changed)
        self.desk.dropped.connect(self.shown.dropped)
        self.desk.modelsChanged.connect(self.models_changed)
        self.desk.failed.connect(self.show_error)
        self.desk.rescueTold.connect(self.dialogs.rescue_told)
        self.chat.notified.connect(self._notified)
        self.chat.titleChanged.connect(lambda _title: self.title_it())
        self.chat.stateChanged.connect(self.commands.refresh)
        self.chat.actionRequested.connect(self.shown.way_out)
        self.chat.trustWanted.connect(self.dialogs.trust_in_session)
        self.chat.inspectorRequested.connect(self.areas.open)
        self.chat.sessionRequested.connect(self.open_session)
        self.inspector.tools.servers.trustWanted.connect(self.dialogs.trust_server)
        self.inspector.compactionRequested.connect(self.chat.compaction.view)
        self.inspector.offloadsRequested.connect(self.chat.work.offloads.open)
        self.inspector.context.xray.modesWanted.connect(lambda: self.dialogs.compaction_modes())
        self.chat.workspaceRequested.connect(self.pane.tree.setFocus)
        self.inspector.showRequested.connect(self.chat.show_row)
        self.inspector.mentionRequested.connect(self.chat.mention)
        self.inspector.closeRequested.connect(lambda: self.areas.set_inspector(False))
        self.chat.composer.model.manageWanted.connect(self.modelsWanted.emit)
        self.chat_status.gaugeClicked.connect(lambda: self.areas.open("context"))
        self.welcome.openFolder.connect(self._open_folder)
        self.welcome.openDemo.connect(self.workspaces.open_demo)
        self.welcome.openRecent.connect(self.open_workspace)
        self.welcome.actWanted.connect(lambda _model: self.modelsWanted.emit())
        self.welcome.languageChosen.connect(lambda v: self.settingChosen.emit("language", v))
        self.welcome.schemeChosen.connect(lambda v: self.settingChosen.emit("scheme", v))

    def start(self) -> None:
        """Load the lists; called once the window is shown."""
        self.workspaces.start()
        self.dialogs.look_at_computer()

    # -- sessions -------------------------------------------------------------------------------

    def open_session(self, key: SessionKey) -> None:
        self._geometry.setValue("session", [key.user_id, key.agent_id, key.session_id])
        self.desk.open(key)

    def rename_at_hand(self) -> None:
        """The row of the list when that has the keyboard, else the session that is shown."""
        item = self.pane.tree.current() if self.pane.tree.hasFocus() else None
        if item is not None:
            self.pane.rename(item)
        else:
            self.chat.header.begin_rename()

    def last_session(self) -> SessionKey | None:
        """The session that was open when the window was last used."""
        parts = self._geometry.value("session")
        if isinstance(parts, list) and len(parts) == 3:
            return SessionKey(*(str(p) for p in parts))
        return None

    def show_welcome(self) -> None:
        """No session: the page with the first steps."""
        self.shown.bind(None, ChatSources())
        # The first steps have a side of their own; a list of nothing beside it says nothing.
        self.turn_to(self.welcome)
        self.welcome.side.setVisible(not self.workspaces.workspaces)
        self.pane.mark_open(None)
        self.title_it()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.ActivationChange:
            self.workspaces.set_active(self.isActiveWindow())
        super().changeEvent(event)

    def _loaded(self) -> None:
        """The list came: the welcome page's recent ones, and the last session once."""
        self.welcome.set_recent([_recent(w) for w in self.workspaces.workspaces[:RECENT]])
        if self.pages.currentWidget() is self.welcome:
            self.show_welcome()
        self.commands.refresh()

    def _open_folder(self, folder: str = "") -> None:
        if folder:
            self.workspaces.open_folder(folder)
        else:
            self.pane.folders.choose_folder()

    def open_workspace(self, workspace_id: str) -> None:
        """The newest session of a workspace, or a first one."""
        for ws in self.workspaces.workspaces:
            if ws.info.id == workspace_id:
                mine = [s for s in ws.sessions if not s.foreign]
                if mine:
                    self.open_session(mine[0].key)
                else:
                    self.workspaces.new_session(workspace_id)

    # -- commands -------------------------------------------------------------------------------

    def running(self) -> bool:
        """Whether the session shown has a run under way or waiting."""
        return self.chat.vm is not None and self.chat.vm.activity != "idle"

    def shows_session(self) -> bool:
        return self.chat.vm is not None

    def rests(self) -> bool:
        """Whether a session is shown in which nothing runs or waits."""
        return self.shows_session() and not self.running()

    def with_vm(self, what: str) -> None:
        """Call a method of the shown session's view model, if there is one."""
        if self.chat.vm is not None:
            getattr(self.chat.vm, what)()

    def new_session(self) -> None:
        """A new session in the workspace at hand."""
        ws: WorkspaceSummary | None = self.pane.workspace_at_hand()
        if ws is not None:
            self.workspaces.new_session(ws.info.id)

    def _rail_chosen(self, name: str) -> None:
        if name == "settings":
            self.settingsWanted.emit()
        elif name == "machines":
            self.show_machines()
        else:
            self.show_chat()
        self._mark_rail()

    def _mark_rail(self) -> None:
        here = self.machines is not None and self.pages.currentWidget() is self.machines
        self.rail.set_current("machines" if here else "chat")

    def _forget_machine(self, workspace_id: str) -> None:
        if self.machines is None:
            self.machines = self.dialogs.make_machines()
        self.machines.ask_forget(workspace_id)

    def show_machines(self, workspace_id: str = "") -> None:
        """The table of all workspaces; with an id, that one's detail."""
        if self.machines is None:
            self.machines = self.dialogs.make_machines()
        self.turn_to(self.machines)
        if workspace_id:
            self.machines.show_workspace(workspace_id)
        self.machines.table_focus()

    def show_chat(self) -> None:
        """Back to the session that was open, or to the first steps."""
        if self.chat.vm is not None:
            self.turn_to(self.chat)
        else:
            self.show_welcome()

    def turn_to(self, page: QWidget) -> None:
        self.pages.setCurrentWidget(page)
        if self.machines is not None:
            self.machines.status.setVisible(page is self.machines)
        self.chat_status.setVisible(page is not self.machines)
        self._mark_rail()
        self.areas.fit()
        self.title_it()
        self.commands.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.areas.fit()

    # -- telling --------------------------------------------------------------------------------

    def show_error(self, error: BaseException) -> None:
        """A failure beside a run, also one that was not foreseen: a toast that stays."""
        words = describe_error(error)
        text = f"{words.title}: {words.reason}" if words.reason else words.title
        self.toasts.show(text, "danger")

    def _notified(self, tone: str, title: str, text: str) -> None:
        self.toasts.show(f"{title}: {text}" if text else title, tone)  # type: ignore[arg-type]

    def _toast_with(self, text: str, act: str, run: Callable[[], object]) -> None:
        self.toasts.show(text, "info", act=act, run=run)

    def models_changed(self) -> None:
        """Models came, went, or are other ones now."""
        self.chat.face.model()
        self.chat_status.retranslate()
        self.dialogs.look_at_computer()

    def default_model_changed(self, former: str) -> None:
        """New sessions begin with another model than ``former``. One that is shown and in which
        nothing was said yet is such a one still."""
        vm, key, now = self.chat.vm, self.desk.current, self.chat.sources.current_model()
        if vm is not None and key is not None and vm.ready and vm.empty and vm.writable:
            first = self.service.first_model(key.agent_id)
            if now is not None and now.id == former and first != former:
                vm.set_model(first)
        self.models_changed()

    def retranslate(self) -> None:
        self.title_it()

    def title_it(self) -> None:
        vm = self.chat.vm
        name = vm.title if vm is not None else ""
        if self.machines is not None and self.pages.currentWidget() is self.machines:
            name = tr("Workspaces")
        self.setWindowTitle(f"{name} - Slipway" if name else "Slipway")

    # -- dropping a folder ----------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._folder_of(event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if folder := self._folder_of(event.mimeData().urls()):
            event.acceptProposedAction()
            self.workspaces.open_folder(folder)

    @staticmethod
    def _folder_of(urls: list[QUrl]) -> str:
        from PySide6.QtCore import QFileInfo

        paths = [u.toLocalFile() for u in urls if u.isLocalFile()]
        return paths[0] if len(paths) == 1 and QFileInfo(paths[0]).isDir() else ""

    # -- the end --------------------------------------------------------------------------------

    def _restore(self) -> None:
        shape: Any = self._geometry.value("window")
        if isinstance(shape, QByteArray):
            self.restoreGeometry(shape)
        else:
            # At first use as on the drawing board, or what the screen has room for with a frame.
            room = self.screen().availableGeometry().size() - QSize(8, 40)
            self.resize(QSize(theme().px(1440), theme().px(900)).boundedTo(room))
        self.areas.restore()

    def save_shape(self) -> None:
        """Remember where the window is and how it is parted."""
        if self._remember.isActive():
            self.save_recent()
        self._geometry.setValue("window", self.saveGeometry())
        self.areas.save()
        self._geometry.setValue("version", __version__)
        self._geometry.sync()

    def save_recent(self) -> None:
        """Keep which commands were used last. A settings file that could not be read is left as it
        is until the person changes a setting."""
        self._remember.stop()
        recent = list(self.commands.recent)
        if self.settings.problem is None and recent != self.settings.get("recent_commands"):
            self.settingChosen.emit("recent_commands", recent)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._done:
            super().closeEvent(event)
            return
        event.ignore()
        self.dialogs.close_window()

    def really_close(self) -> None:
        self._done = True
        self.close()

    async def close_parts(self) -> None:
        """End the tasks of pages and view models; the service is closed by who opened it."""
        await self.dialogs.close()
        if self.machines is not None:
            await self.machines.close_tasks()
        await self.workspaces.close()
        await self.pane.close_tasks()
        await self.desk.close()
        await self.chat.close_tasks()
        await self.inspector.close_tasks()


def _recent(ws: WorkspaceSummary) -> Recent:
    newest = max((s.updated_us for s in ws.sessions), default=0)
    missing = ws.info.state in ("missing", "unreadable")
    return Recent(ws.info.id, ws.info.name, ws.info.folder, short_ago(newest), missing)
