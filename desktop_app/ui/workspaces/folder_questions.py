"""What is asked about folders of this computer: which one, where it is now, whether it is trusted,
whether an older layout is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from desktop_app.core.catalog import WorkspaceSummary
from desktop_app.core.errors import SlipwayError
from desktop_app.core.folders import FolderReport, NewPlace
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import ConfirmDialog, TrustDialog

from .migrate_dialog import MigrateDialog
from .view_model import WorkspacesViewModel

if TYPE_CHECKING:
    from .pane import WorkspacesPane


class FolderQuestions:
    """Of ``pane``, whose window the dialogs belong to."""

    def __init__(self, pane: WorkspacesPane, model: WorkspacesViewModel) -> None:
        self._pane, self._model = pane, model
        model.trustNeeded.connect(self.ask_trust)
        model.placeDoubted.connect(self.ask_place)

    def choose_folder(self) -> None:
        """The system's folder dialog, then the workspace."""
        self._choose(tr("Open a folder as a workspace"), self._model.open_folder)

    def _choose(self, title: str, chosen: Callable[[str], None]) -> None:
        dialog = QFileDialog(self._pane.window(), title)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def locate(self, workspace_id: str) -> None:
        """The system's folder dialog: where the folder of a workspace is now."""
        ws = next((w for w in self._model.workspaces if w.info.id == workspace_id), None)
        if ws is not None:
            title = tr("Where is “{name}” now?", name=ws.info.name)
            self._choose(title, lambda folder: self._model.locate(workspace_id, folder))

    def ask_place(self, place: NewPlace) -> None:
        """Nothing of the workspace's own is in the folder that was chosen: is it meant?"""
        self._pane.tasks.replace(self._ask_place(place), name="ask for a place")

    async def _ask_place(self, place: NewPlace) -> None:
        kept = [tr("Its sessions and their whole history"), tr("All files in the folder")]
        lost: list[str] = []
        if place.brings:
            lost.append(tr("Trust: its skills and MCP servers wait until you have seen them"))
        dialog = ConfirmDialog(
            self._pane.window(),
            title=tr("Go on with {name} in this folder?", name=place.name),
            text=tr(
                "Nothing in “{path}” tells that it is the folder of “{name}”.",
                path=place.folder,
                name=place.name,
            ),
            action=tr("Go on there"),
            kept=kept,
            lost=lost,
        )
        if await show(dialog):
            self._model.move(place)

    def migrate(self, ws: WorkspaceSummary) -> None:
        """Ask, then move a workspace of an older layout; the toast leads to the copy."""
        self._pane.tasks.start(self._migrate(ws), name="migrate")

    async def _migrate(self, ws: WorkspaceSummary) -> None:
        service, workspace_id = self._model.service, ws.info.id
        try:
            plan = await service.migration(workspace_id)
        except SlipwayError as error:
            self._model.failed.emit(error)
            return
        dialog = MigrateDialog(
            self._pane.window(),
            name=ws.info.name,
            plan=plan,
            work=lambda pairs, progress: service.migrate(plan, workspace_id, pairs, progress),
            tasks=self._pane.tasks,
        )
        if await show(dialog):
            self._pane.toast.emit(
                tr("“{name}” has the newer layout", name=ws.info.name),
                tr("Show the copy"),
                lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(plan.backup)),
            )

    def ask_trust(self, report: FolderReport) -> None:
        self._pane.tasks.replace(self._ask_trust(report), name="trust")

    async def _ask_trust(self, report: FolderReport) -> None:
        trusted = await show(self._trust_dialog(report))
        self._model.add_inspected(report, trusted=bool(trusted))

    def review_trust(self, ws: WorkspaceSummary) -> None:
        """What is in it, and whether the person trusts it now."""
        self._pane.tasks.start(self._review_trust(ws), name="review trust")

    async def _review_trust(self, ws: WorkspaceSummary) -> None:
        report = await self._model.service.inspect_folder(ws.info.folder)
        if await show(self._trust_dialog(report)):
            self._model.trust(ws.info.id)

    def _trust_dialog(self, report: FolderReport) -> TrustDialog:
        notes = [tr("It came with a .slipway folder of its own.")]
        if report.foreign:
            notes = [tr("Written by an AgentScope program, generation {g}.", g=report.generation)]
        if report.skills:
            notes.append(
                trn(
                    "{n} skill would enter the prompt.",
                    "{n} skills would enter the prompt.",
                    report.skills,
                )
            )
        if report.sessions:
            notes.append(
                trn(
                    "{n} session can be read either way.",
                    "{n} sessions can be read either way.",
                    report.sessions,
                )
            )
        return TrustDialog(
            self._pane.window(),
            name=report.name,
            path=report.folder,
            commands=report.commands,
            notes=notes,
        )
