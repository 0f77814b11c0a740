"""The Workspaces page: one table over every backend, and below it the detail of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.remote.managed import Progress
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import (
    Act,
    Button,
    EmptyState,
    Label,
    Line,
    Menu,
    TextPrompt,
)
from desktop_app.ui.widgets.base import Live, follow

from . import acts
from .columns import KIND_ICONS
from .detail import Detail
from .filter_bar import FilterBar
from .forgetting import ask_forget
from .importing import ImportButton
from .status import MachinesStatus
from .table_view import Table
from .tabs import DetailTabs
from .view_model import MachinesViewModel

_DETAIL = 300  # height of the detail in the drawing


class MachinesPage(Live, QWidget):
    """``openWanted(id)`` a session in a workspace; ``newWanted`` the dialog for a new one,
    ``folderWanted`` one folder to be opened."""

    openWanted = Signal(str)
    newWanted = Signal()
    folderWanted = Signal()
    locateWanted = Signal(str)  # where the folder of one is now
    demoWanted = Signal()
    workShown = Signal(str)  # something long began with one, whatever page asked for it

    def __init__(self, vm: MachinesViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.vm = vm
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._tasks = Tasks(lambda _name, error: vm.failed.emit(error))
        self.status = MachinesStatus()
        self._counts: tuple[int, ...] = ()
        self._totals = QTimer(self, singleShot=True, interval=500)
        self._totals.timeout.connect(self._count)
        self._build()
        vm.loaded.connect(self._loaded)
        vm.changed.connect(self._changed)
        vm.busyChanged.connect(self._refresh_detail)
        vm.happened.connect(self._refresh_detail)
        vm.progressed.connect(self._progressed)
        vm.removed.connect(lambda _id: self._totals.start())
        vm.rows.counted.connect(self._counted)
        self.retranslate()

    # -- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header())
        column.addWidget(Line())
        self.bar = FilterBar(self.vm)
        self.bar.changed.connect(self._which)
        self.bar.leaving.connect(self.table_focus)
        column.addWidget(self.bar)
        column.addWidget(Line())
        self.pages = QStackedWidget()
        column.addWidget(self.pages, 1)  # before what it holds: see NewWorkspaceDialog
        self.split = QSplitter(Qt.Orientation.Vertical, self.pages)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.pages.addWidget(self.split)
        self.table = Table(self.vm.rows)
        self.split.addWidget(self.table)
        self.table.seen.connect(self.vm.see)
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(self.openWanted.emit)
        self.table.removeWanted.connect(lambda one: self._ask(one, "forget"))
        self.table.menuWanted.connect(self._menu)
        self.detail = Detail(self.split)
        self.detail.wanted.connect(self._wanted)
        self.tabs = DetailTabs(self.detail, self.vm)
        self.tabs.startWanted.connect(lambda: self._wanted("start"))
        self.tabs.saved.connect(self._save)
        self.split.setStretchFactor(0, 1)
        self._sized = False
        self.detail.hide()

    # What is not there from the beginning is made when it is first needed.

    @cached_property
    def empty(self) -> EmptyState:
        shown = EmptyState(
            "boxes",
            lambda: tr("No workspaces yet"),
            lambda: tr(
                "A workspace is a folder, a container or a sandbox in which an agent works."
            ),
            [
                Act("new", lambda: tr("New workspace"), "plus"),
                Act("demo", lambda: tr("Try the demo")),
            ],
        )
        shown.action.connect(self._empty_action)
        self.pages.addWidget(shown)
        return shown

    @cached_property
    def none(self) -> EmptyState:
        shown = EmptyState(
            "search-x",
            lambda: tr("No workspace is like that"),
            lambda: tr("The filter hides all of them."),
            [Act("all", lambda: tr("Show all"))],
        )
        shown.action.connect(lambda _id: self.bar.show_all())
        self.pages.addWidget(shown)
        return shown

    def _header(self) -> QWidget:
        head = QWidget()
        follow(head, setFixedHeight="page-header")
        row = QHBoxLayout(head)
        follow(row, setContentsMargins=(16, 0, 12, 0), setSpacing=8)
        row.addWidget(Label(lambda: tr("Workspaces"), role="title"))
        self.total = Label("", tone="faint")
        row.addWidget(self.total)
        row.addStretch(1)
        self.importing = ImportButton(self.vm)
        self.importing.folderWanted.connect(self.folderWanted)
        self.importing.reviewWanted.connect(lambda: self.bar.found.review_them())
        row.addWidget(self.importing)
        self.new = Button(lambda: tr("New workspace"), variant="primary", glyph="plus")
        self.new.clicked.connect(lambda: self.newWanted.emit())
        row.addWidget(self.new)
        return head

    def retranslate(self) -> None:
        self.setAccessibleName(tr("Workspaces"))
        self._counts = ()
        self._count()
        self._refresh_detail(self.vm_current())

    # -- rows ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Load what is shown; called when the page is shown first."""
        self.vm.start()
        self.vm.look_for_orphans()
        self.vm.look_for_neighbours()

    def _loaded(self) -> None:
        self._count()
        self._choose_first()
        self.table._tell_seen()

    def _choose_first(self) -> None:
        if not self.table.current_id() and (first := self.vm.rows.first()) is not None:
            self.table.choose(first.id)

    def _counted(self) -> None:
        """How many there are is told at once, other totals a little later."""
        if self.vm.listed and (len(self.vm.rows.rows()),) != self._counts[:1]:
            self._count()
            self._choose_first()

    def _changed(self, ids: set[str]) -> None:
        if not self._totals.isActive():
            self._totals.start()
        if self.vm_current() in ids:
            self._refresh_detail(self.vm_current())

    def _count(self) -> None:
        rows = self.vm.rows.rows()
        kinds = self.vm.rows.kinds()
        counts = (len(rows), *(kinds[kind] for kind in KIND_ICONS))
        if counts != self._counts:
            self._counts = counts
            self.total.set_source(str(len(rows)) if rows else "")
            self.bar.set_counts(kinds)
        self.status.show_rows(rows, self.vm.overview.month_cost())
        self._which()

    def _which(self) -> None:
        """The table, or why there is none."""
        if self.vm.listed and not self.vm.rows.rows():
            self.pages.setCurrentWidget(self.empty)
        elif self.vm.rows.filtered and not self.vm.rows.rowCount():
            self.pages.setCurrentWidget(self.none)
        else:
            self.pages.setCurrentWidget(self.split)

    def arrangement(self) -> list[str]:
        """How the rows stand: grouped by, sorted by, which way."""
        column, up = self.table.order()
        return [self.bar.groups.value(), column, "up" if up else "down"]

    def arrange(self, kept: Sequence[str]) -> None:
        """Let rows stand as ``arrangement`` said."""
        if len(kept) == 3:
            self.bar.groups.set_value(kept[0])
            self.vm.rows.group(self.bar.groups.value())
            self.table.set_order(kept[1], kept[2] == "up")

    def table_focus(self) -> None:
        self.table.setFocus(Qt.FocusReason.TabFocusReason)

    def _empty_action(self, name: str) -> None:
        (self.newWanted if name == "new" else self.demoWanted).emit()

    # -- detail ----------------------------------------------------------------------------------

    def vm_current(self) -> str:
        return self.detail.row.id if self.detail.row is not None else ""

    def show_workspace(self, workspace_id: str) -> None:
        """Make a workspace the one whose detail is shown."""
        self.table.choose(workspace_id)

    def _choose(self, workspace_id: str) -> None:
        self.vm.set_current(workspace_id)
        self.detail.row = self.vm.row(workspace_id)
        self._show_detail()
        self._refresh_detail(workspace_id)

    def _show_detail(self) -> None:
        """Below the table while there is a row; as high as the drawing, until a person drags it."""
        self.detail.setVisible(self.detail.row is not None)
        if self.detail.row is not None and not self._sized and self.isVisible():
            self._sized = True
            below = theme().px(_DETAIL)
            self.split.setSizes([max(self.split.height() - below, below // 2), below])

    def _refresh_detail(self, workspace_id: str) -> None:
        if not workspace_id or workspace_id != self.vm_current():
            return
        row = self.vm.row(workspace_id)
        if row is None:
            self.detail.row = None
            self.detail.hide()
            return
        workspace = self.vm.service.manager.cached(workspace_id)
        machine = getattr(workspace, "machine", None)
        happened = self.vm.service.happenings.of(workspace_id)
        rescued = next((one for one in happened if one.what == "rescued"), None)
        self.detail.show_row(row, machine, busy=self.vm.busy(workspace_id), rescued=rescued)
        self.detail.overview.show_row(row, self.vm.overview.points(workspace_id), happened)
        self.tabs.show_row(row)

    def _save(self, spec: object, rebuild: bool) -> None:
        self._tasks.replace(self._saved(spec, rebuild), name="save settings")

    async def _saved(self, spec: object, rebuild: bool) -> None:
        """Keep the settings; a rebuild says first what goes."""
        row = self.vm.row(self.vm_current())
        if row is None:
            return
        if rebuild:
            loss = await self.vm.loss(row.id)
            rebuild = await acts.confirm_rebuild(self.window(), row, loss)
            if not rebuild:
                return
        self.vm.change(row.id, spec, rebuild=rebuild)

    def _progressed(self, workspace_id: str, progress: Progress) -> None:
        if workspace_id == self.vm_current():
            self.detail.show_progress(progress)

    # -- what is wanted --------------------------------------------------------------------------

    def _menu(self, workspace_id: str, at: QPoint) -> None:
        if workspace_id == self.vm_current():
            menu = Menu(parent=self)
            self.detail.fill_menu(menu)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(at)

    def _wanted(self, verb: str) -> None:
        one = self.vm_current()
        if not one:
            return
        doing: dict[str, Callable[[], object]] = {
            "open": lambda: self.openWanted.emit(one),
            "start": lambda: self.vm.do(one, "start"),
            "pause": lambda: self.vm.do(one, "pause"),
            "stop": lambda: self.vm.do(one, "stop"),
            "extend": lambda: self.vm.extend(one),
            "rescue": lambda: self.vm.rescue(one),
            "retry": lambda: self.vm.retry(one),
            "cancel": lambda: self.vm.cancel(one),
            "key": self._enter_key,
            "locate": lambda: self.locateWanted.emit(one),
            "open_anyway": lambda: self.vm.open_anyway(one),
        }
        if verb in doing:
            doing[verb]()
        else:
            self._ask(one, verb)

    def ask_forget(self, workspace_id: str) -> None:
        """From elsewhere: take a workspace out of the list."""
        self._ask(workspace_id, "forget")

    def _ask(self, workspace_id: str, verb: str) -> None:
        self._tasks.replace(self._asked(workspace_id, verb), name="ask")

    async def _asked(self, workspace_id: str, verb: str) -> None:
        """Say what goes and what stays; then do it."""
        row = await self.vm.known(workspace_id)
        if row is None:
            return
        if verb == "forget" and row.kind == "local":
            if await acts.confirm_forget(self.window(), row):
                self.vm.forget(workspace_id)
            return
        loss = await self.vm.loss(workspace_id)
        if verb == "forget":
            kept = acts.kept_of(row, loss)
            named = {"name": row.name, "kind": row.kind}
            sure, remove = await ask_forget(self.window(), loss=loss, kept=kept, **named)
            if remove:
                self.vm.do(workspace_id, "discard")
                self.workShown.emit(workspace_id)
            elif sure:
                self.vm.forget(workspace_id)
        elif verb == "remove" and await acts.confirm_remove(self.window(), row, loss):
            self.vm.do(workspace_id, "remove")
        elif verb == "rebuild" and await acts.confirm_rebuild(self.window(), row, loss):
            self.vm.do(workspace_id, "rebuild")

    def _enter_key(self) -> None:
        self._tasks.replace(self._ask_key(), name="ask for a key")

    async def _ask_key(self) -> None:
        """The key of the E2B account; kept where the system keeps secrets."""
        dialog = TextPrompt(
            self.window(), title=tr("The key of your E2B account"), label=tr("Key"), text=""
        )
        dialog.field.edit.setEchoMode(QLineEdit.EchoMode.Password)
        if await show(dialog, keep=True):
            self.vm.keep_key(dialog.text())
        dialog.deleteLater()

    async def close_tasks(self) -> None:
        self._totals.stop()
        await self._tasks.close()
        await self.importing.close_tasks()
        await self.tabs.close_tasks()
        await self.vm.close()
