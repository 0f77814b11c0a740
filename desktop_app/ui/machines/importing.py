"""The button that takes in what exists already: a folder, workspaces of AgentScope, copies."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog

from desktop_app.core.errors import SlipwayError
from desktop_app.core.importing import Candidate, below, copies
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import icon
from desktop_app.ui.widgets import Button, Menu
from desktop_app.ui.widgets.base import Text

from .import_dialog import ImportDialog
from .view_model import MachinesViewModel


class ImportButton(Button):
    """``folderWanted``: open one folder; ``reviewWanted``: look at machines that were found;
    ``imported(n)`` so many workspaces are in the list; ``nothing(words)`` there was none."""

    folderWanted = Signal()
    reviewWanted = Signal()
    imported = Signal(int)
    nothing = Signal(str)

    def __init__(self, vm: MachinesViewModel) -> None:
        super().__init__(lambda: tr("Import"), variant="ghost", glyph="download")
        self._vm = vm
        self._tasks = Tasks(lambda _name, error: vm.failed.emit(error))
        menu = Menu(parent=self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)
        self._fill()

    def _fill(self) -> None:
        menu = self.menu()
        if menu is None:
            return
        menu.clear()
        menu.addAction(icon("folder-open"), tr("Open a folder…"), self.folderWanted.emit)
        menu.addAction(icon("folders"), tr("AgentScope's workspaces in a folder…"), self._choose)
        menu.addAction(icon("life-buoy"), tr("A rescue copy…"), self._copies)
        found = menu.addAction(
            icon("container"), tr("AgentScope's containers and sandboxes…"), self.reviewWanted.emit
        )
        found.setEnabled(bool(self._vm.neighbours))

    # -- workspaces of AgentScope ----------------------------------------------------------------

    def _choose(self) -> None:
        dialog = QFileDialog(self.window(), tr("The folder in which AgentScope keeps workspaces"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(self.look_below)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def look_below(self, folder: str) -> None:
        """Offer the workspaces of AgentScope that are in a folder."""
        self._run(self._below(folder))

    async def _below(self, folder: str) -> None:
        found = await below(self._vm.service, folder)
        if not found:
            self.nothing.emit(tr("There is no workspace of AgentScope in that folder."))
            return
        await self._offer(
            found,
            lambda: tr("Import from AgentScope"),
            lambda: tr(
                "They are used where they are and opened restricted: nothing in them runs before "
                "you trust them."
            ),
            all_on=True,
        )

    # -- rescue copies ---------------------------------------------------------------------------

    def _copies(self) -> None:
        self._run(self._offer_copies())

    async def _offer_copies(self) -> None:
        found = await copies(self._vm.service)
        if not found:
            self.nothing.emit(tr("There is no rescue copy on this computer yet."))
            return
        await self._offer(
            found,
            lambda: tr("Rescue copies"),
            lambda: tr(
                "Sessions, data and skills that were copied out of containers and sandboxes. A "
                "copy is a folder of this computer: it can be read without the machine."
            ),
            all_on=False,
        )

    async def _offer(
        self, found: Sequence[Candidate], title: Text, words: Text, *, all_on: bool
    ) -> None:
        dialog = ImportDialog(self.window(), title, words, found, all_on=all_on)
        taken = dialog.chosen if await show(dialog, keep=True) else []
        dialog.deleteLater()
        for one in taken:
            copy = one.kind == "copy"
            name = tr("Copy of {name}", name=one.name) if copy else one.name
            await self._vm.service.add_folder(one.folder, trusted=False, name=name)
        if taken:
            self.imported.emit(len(taken))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.replace(self._guarded(work), name="import")

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SlipwayError as error:
            self._vm.failed.emit(error)

    async def close_tasks(self) -> None:
        await self._tasks.close()
