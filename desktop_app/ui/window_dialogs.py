"""What the window opens over itself: find in everything, the trash, help. Made at first use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from desktop_app.core.agent.policies import policy_of, with_policy
from desktop_app.core.catalog import RescueTold, SessionSummary
from desktop_app.core.errors import SlipwayError
from desktop_app.core.sessions.index import Hit
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm, show
from desktop_app.ui.chat.compaction.modes import ModesDialog
from desktop_app.ui.chat.composer_choices import MODES, mode_name
from desktop_app.ui.chat.sources import model_label
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import figures
from desktop_app.ui.workspaces.when import short_ago

if TYPE_CHECKING:
    from desktop_app.ui.chat.view_model import ChatViewModel
    from desktop_app.ui.sessions.everything import EverythingSearch
    from desktop_app.ui.sessions.hits import Place

    from .machines.page import MachinesPage
    from .window import MainWindow


class WindowDialogs(QObject):
    """Owns the tasks that wait for these dialogs."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._tasks = Tasks(self._failed)
        self.search: EverythingSearch | None = None

    def _failed(self, name: str, error: BaseException) -> None:
        detail = f"{type(error).__name__}: {error}"
        self._window.show_error(
            error
            if isinstance(error, SlipwayError)
            else SlipwayError("internal.failed", what=name, error=detail)
        )

    async def close(self) -> None:
        if self.search is not None:
            await self.search.close_tasks()
        await self._tasks.close()

    # -- the end ------------------------------------------------------------------------------

    def close_window(self) -> None:
        """Close the window; asks first where that would stop work or end commands."""
        desk = self._window.desk
        running, commands = len(desk.busy()), desk.commands_running()
        if running or commands:
            self._tasks.replace(self._ask_to_close(running, commands), name="close window")
        else:
            self._close()

    async def _ask_to_close(self, running: int, commands: int) -> None:
        parts: list[str] = []
        if running:
            words = trn(
                "{n} session is at work. It stops; what was said and done until then is kept.",
                "{n} sessions are at work. They stop; what was said and done until then is kept.",
                running,
            )
            parts.append(words)
        if commands:
            words = trn(
                "{n} command runs in the background. It ends with the program.",
                "{n} commands run in the background. They end with the program.",
                commands,
            )
            parts.append(words)
        title = tr("Quit and end what runs in the background?")
        sure = await confirm(
            self._window,
            title=tr("Quit and stop what is running?") if running else title,
            text="\n".join(parts),
            action=tr("Quit"),
            danger=True,
        )
        if sure:
            self._close()

    def _close(self) -> None:
        self._window.save_shape()
        self._window.closing.emit()

    # -- a new workspace ---------------------------------------------------------------------

    def warm(self) -> None:
        """Load what will be opened sooner or later, beside the loop."""
        load = asyncio.to_thread(__import__, "desktop_app.ui.machines.page")
        self._tasks.start(load, name="load a page")

    def make_machines(self) -> MachinesPage:
        """The page of all workspaces, made when it is first wanted."""
        from desktop_app.ui.machines.page import MachinesPage
        from desktop_app.ui.machines.view_model import MachinesViewModel

        window = self._window
        model = MachinesViewModel(window.service, window)
        page = MachinesPage(model, window.pages)
        model.failed.connect(window.show_error)
        model.rescued.connect(self._rescued)
        model.copied.connect(self._copied)
        model.uploaded.connect(self._uploaded)
        model.removed.connect(window.workspaces.workspaceForgotten.emit)
        page.openWanted.connect(window.open_workspace)
        page.newWanted.connect(self.new_workspace)
        page.folderWanted.connect(window.pane.folders.choose_folder)
        page.locateWanted.connect(window.pane.folders.locate)
        page.importing.imported.connect(self._imported)
        page.importing.nothing.connect(lambda words: window.toasts.show(words, "info"))
        page.demoWanted.connect(window.workspaces.open_demo)
        page.workShown.connect(window.show_machines)
        page.tabs.trustWanted.connect(self.trust_server)
        window.pages.addWidget(page)
        window.status.add(page.status)
        window.areas.arrange(page)
        page.start()
        return page

    def _rescued(
        self, name: str, folder: str, files: int, size: int, *, ends: bool = False
    ) -> None:
        """What was copied, and the way into it. ``ends``: because the machine ends soon."""
        text = trn(
            "Rescue copy of {n} file, {size}", "Rescue copy of {n} files, {size}", files,
            size=figures.size(size),
        )  # fmt: skip
        if ends:
            text = tr("“{name}” ends soon. {copy}", name=name, copy=text)
        self._window.toasts.show(
            text,
            "info",
            act=tr("Open the copy"),
            run=lambda: self._window.workspaces.open_copy(folder, tr("Copy of {name}", name=name)),
        )

    def rescue_told(self, told: RescueTold) -> None:
        """One that was made by itself, or could not be."""
        if told.error is not None:
            self._window.show_error(told.error)
        else:
            self._rescued(told.name, told.folder, told.files, told.bytes, ends=True)

    def _copied(self, path: str, left_out: list[str]) -> None:
        """Where a downloaded file or folder is; what could not be brought is told too."""
        name, folder = Path(path).name, str(Path(path).parent)
        text = tr("{name} was copied", name=name)
        if left_out:
            text = trn(
                "{name} was copied without {n} entry that may not be brought here: {first}",
                "{name} was copied without {n} entries that may not be brought here: {first} …",
                len(left_out),
                name=name,
                first=left_out[0],
            )
        self._window.toasts.show(
            text,
            "warning" if left_out else "success",
            act=tr("Show the folder"),
            run=lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder)),
        )

    def _imported(self, n: int) -> None:
        self._window.toasts.show(
            trn("{n} workspace is in the list now", "{n} workspaces are in the list now", n),
            "success",
        )

    def _uploaded(self, name: str, left_out: list[str]) -> None:
        """The tree shows what came; what did not is told."""
        if left_out:
            text = trn(
                "{name} was uploaded without {n} entry that cannot be brought: {first}",
                "{name} was uploaded without {n} entries that cannot be brought: {first} …",
                len(left_out),
                name=name,
                first=left_out[0],
            )
            self._window.toasts.show(text, "warning")

    def new_workspace(self) -> None:
        """The dialog for a folder, a container or a sandbox; then a session in what was made."""
        self._tasks.replace(self._new_workspace(), name="new workspace")

    async def _new_workspace(self) -> None:
        await asyncio.to_thread(__import__, "desktop_app.ui.machines.new_dialog")
        from desktop_app.ui.machines.making import Making
        from desktop_app.ui.machines.new_dialog import NewWorkspaceDialog

        window = self._window
        making = Making(window.service)
        dialog = NewWorkspaceDialog(window, making, None)
        await asyncio.sleep(0)  # the loop breathes between the frame and the form
        dialog.set_kind("docker")
        await asyncio.sleep(0)
        dialog.folderChosen.connect(window.workspaces.open_folder)
        dialog.made.connect(window.workspaces.new_session)
        try:
            await show(dialog, keep=True)
        finally:
            await making.close()
            dialog.deleteLater()
            making.deleteLater()

    # -- agents ------------------------------------------------------------------------------

    def open_agents(
        self, parent: QWidget | None = None, changed: Callable[[], object] | None = None
    ) -> None:
        """The agents, to be made and changed; ``changed`` hears of each change."""
        self._tasks.replace(self._open_agents(parent or self._window, changed), name="agents")

    async def _open_agents(self, parent: QWidget, changed: Callable[[], object] | None) -> None:
        from desktop_app.ui.settings.agents_dialog import AgentsDialog

        service = self._window.service
        models = [(info.id, model_label(info)) for info in service.models.list()]
        modes = [(mode, partial(mode_name, mode)) for mode in MODES if mode != "bypass"]
        dialog = AgentsDialog(parent, service.agents, models, modes)
        if changed is not None:
            dialog.changed.connect(changed)
        try:
            await show(dialog, keep=True)
        finally:
            await dialog.close_tasks()
            dialog.deleteLater()

    def choose_agent(self) -> None:
        """A new session in the workspace at hand, with an agent that is chosen in a menu."""
        window = self._window
        workspace = window.pane.workspace_at_hand()
        if workspace is None:
            return
        menu = window.pane.agents_menu(workspace.info.id, window)
        menu.aboutToHide.connect(menu.deleteLater)
        room = (window.size() - menu.sizeHint()) / 2
        menu.popup(window.mapToGlobal(QPoint(room.width(), room.height())))

    # -- find in everything -----------------------------------------------------------------

    def find_everywhere(self) -> None:
        """The field that looks through all sessions."""
        if self.search is None:
            from desktop_app.ui.sessions.everything import EverythingSearch

            service = self._window.service
            self.search = EverythingSearch(self._window, service.search, self._place)
            self.search.failed.connect(self._window.show_error)
            self.search.chosen.connect(self._found)
        self.search.open()

    def _place(self, hit: Hit) -> Place | None:
        from desktop_app.ui.sessions.hits import Place

        name = self._workspace_name(hit.workspace_id)
        return Place(name, short_ago(hit.last_us)) if name else None

    def _workspace_name(self, workspace_id: str) -> str:
        """Empty for one that is not in the list."""
        listed = self._window.workspaces.workspaces
        return next((w.info.name for w in listed if w.info.id == workspace_id), "")

    def _found(self, hit: Hit, query: str) -> None:
        from desktop_app.ui.sessions.everything import phrase

        if hit.seq == 0 or hit.role == "title":
            self._window.open_session(hit.key)
        else:
            self._window.shown.find_in(hit.key, phrase(hit, query), hit.seq)

    # -- trash ------------------------------------------------------------------------------

    def open_trash(self) -> None:
        self._tasks.replace(self._open_trash(), name="trash")

    async def _open_trash(self) -> None:
        from desktop_app.ui.sessions.trash import TrashDialog
        from desktop_app.ui.sessions.trash_model import TrashModel

        model = TrashModel(self._window.service, self._where)
        model.failed.connect(self._window.show_error)
        model.purged.connect(self._window.desk.forget)
        dialog = TrashDialog(self._window, model)
        try:
            await show(dialog, keep=True)
        finally:
            await dialog.close_tasks()
            dialog.deleteLater()
            model.deleteLater()

    def _where(self, session: SessionSummary) -> tuple[str, str]:
        return self._workspace_name(session.workspace_id), short_ago(session.updated_us)

    # -- help -------------------------------------------------------------------------------

    def open_keys(self) -> None:
        self._tasks.replace(self._open_keys(), name="keys")

    async def _open_keys(self) -> None:
        from desktop_app.ui.help.shortcuts import ShortcutsDialog

        await show(ShortcutsDialog(self._window, self._window.commands))

    def open_help(self, name: str) -> None:
        """A page of the help."""
        self._tasks.replace(self._open_help(name), name="help page")

    async def _open_help(self, name: str) -> None:
        from desktop_app.ui.help.page import HelpPage

        dialog = HelpPage(self._window, name)
        await dialog.load()
        await show(dialog)

    def open_about(self) -> None:
        self._tasks.replace(self._open_about(), name="about")

    async def _open_about(self) -> None:
        from desktop_app.ui.help.about import AboutDialog

        await show(AboutDialog(self._window, self._window.service.paths))

    def compaction_modes(self) -> None:
        """What compaction does by itself for the agent at hand."""
        vm = self._window.chat.vm
        if vm is not None and vm.conversation is not None:
            agent = vm.conversation.key.agent_id
            self._tasks.start(self._compaction_modes(agent, vm), name="compaction modes")

    async def _compaction_modes(self, agent_id: str, vm: ChatViewModel) -> None:
        kept, own = self._window.settings.get("compaction"), vm.own_policy
        limits = vm.breakdown.limits if vm.breakdown is not None else None
        dialog = ModesDialog(
            self._window,
            policy_of(kept, agent_id),
            own,
            here=vm.writable,
            limits=limits,
            models=self._window.service.models.list(),
        )
        if await show(dialog, keep=True):
            here = dialog.here.isChecked()
            if here:
                vm.set_policy(dialog.policy())
            else:
                value = with_policy(kept, agent_id, dialog.policy())
                self._window.settingChosen.emit("compaction", value)
                if own is not None:
                    vm.set_policy(None)
            vm.measure_again()  # the marks are in force at once
        dialog.deleteLater()

    def trust_in_session(self, code: str, params: dict[str, Any]) -> None:
        """Ask about the certificate that a turn failed at, and go on with it."""
        vm = self._window.chat.vm
        if vm is not None:
            self.trust(code, params, self._window, vm.retry)

    def trust_server(self, code: str, params: dict[str, Any], then: Callable[[], object]) -> None:
        """As ``trust``, for an MCP server's certificate."""
        self.trust(code, params, self._window, then)

    def trust(
        self, code: str, params: dict[str, Any], parent: QWidget, then: Callable[[], object]
    ) -> None:
        """Ask whether a certificate is trusted for its host; ``then`` once it is."""
        self._tasks.replace(self._trust(code, params, parent, then), name="trust")

    async def _trust(
        self, code: str, params: dict[str, Any], parent: QWidget, then: Callable[[], object]
    ) -> None:
        from desktop_app.ui.settings.certificate_dialog import CertificateDialog, doubted

        if doubted(params) is None:
            return
        dialog = CertificateDialog(parent, params, changed=code.endswith("_changed"))
        if await show(dialog, keep=True):
            kept = self._window.settings.get("trusted_certificates")
            self._window.settingChosen.emit("trusted_certificates", dialog.value(kept))
            then()
        dialog.deleteLater()

    def unlock_keys(self) -> None:
        """Ask for the passphrase of the key file, and go on with the turn that wanted a key."""
        self._tasks.replace(self._unlock_keys(), name="unlock keys")

    async def _unlock_keys(self) -> None:
        asks, vm = self._window.service.library.secrets.asks, self._window.chat.vm
        if asks is not None and await asks.unlock() and vm is not None:
            vm.retry()

    def show_logs(self) -> None:
        folder = self._window.service.paths.log.parent
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    # -- the first page ---------------------------------------------------------------------

    def look_at_computer(self) -> None:
        """Fill in what the welcome page says about this computer."""
        self._tasks.replace(self._look(), name="look at this computer")

    async def _look(self) -> None:
        from desktop_app.ui.welcome import checks

        service = self._window.service
        found = (m for m in service.models.list() if m.id == service.default_model and m.is_ai)
        name = next((m.name for m in found), "")
        seen = await asyncio.to_thread(checks.look, service.paths.data, name)
        self._window.welcome.set_checks(seen)
