"""The dialog for a new workspace: a folder, a Docker container, an E2B sandbox."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import get_args

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.doctor import Finding
from desktop_app.core.errors import SlipwayError
from desktop_app.core.workspaces.remote.managed import Progress
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Field, Label
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.dialogs import Dialog, FactRow

from .docker_form import DockerForm
from .doctor_card import DoctorCard
from .e2b_form import E2BForm
from .making import Kind, Making
from .parts import KindCard, PathField
from .progress_view import ProgressView

KINDS: tuple[Kind, ...] = get_args(Kind)
_FORM, _AROUND = 560, 260  # height of a form, and of what the dialog and the screen have around it
_KEY_MS = 600  # a key is looked at when its typing rests


class NewWorkspaceDialog(Dialog):
    """``folderChosen`` for a folder, which goes the way of every opened folder; ``made`` for a
    workspace whose machine is up. Without ``kind`` there is no form until ``set_kind``."""

    folderChosen = Signal(str)
    made = Signal(str)  # workspace id

    def __init__(
        self, parent: QWidget | None, making: Making, kind: Kind | None = "docker"
    ) -> None:
        super().__init__(parent, lambda: tr("New workspace"), width=660)
        self.making = making
        self._kind: Kind = kind or "docker"
        self._looked = QTimer(self, singleShot=True, interval=_KEY_MS)
        self._looked.timeout.connect(self.look)
        self._build()
        making.found.connect(self._found)
        making.progressed.connect(self._progressed)
        making.made.connect(self._made)
        making.stopped.connect(self._stopped)
        making.failed.connect(self._failed)
        if kind is not None:
            self.set_kind(kind)

    # -- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        self.kinds = {
            "folder": KindCard(
                "folder",
                lambda: tr("Folder"),
                lambda: tr("On this computer. The agent works on your files."),
            ),
            "docker": KindCard(
                "container",
                lambda: tr("Docker container"),
                lambda: tr("A box of its own with its own tools, on this computer."),
            ),
            "e2b": KindCard(
                "cloud",
                lambda: tr("E2B sandbox"),
                lambda: tr("A computer in the cloud. Pauses when it is not used."),
            ),
        }
        row = QHBoxLayout()
        follow(row, setSpacing=8)
        for name in KINDS:
            card = self.kinds[name]
            card.toggled.connect(self._chosen(name))
            row.addWidget(card, 1)
        self.body.addLayout(row)
        self.pages = QStackedWidget()
        self.body.addWidget(self.pages, 1)
        self._form()
        self.restyle()
        self.progress = ProgressView()
        self.pages.addWidget(self.progress)
        self.note = Label("", role="small", tone="muted")
        self.aside(self.note)
        self.cancel = Button(lambda: tr("Cancel"))
        self.add_button(self.cancel, run=self._cancel)
        self.go = Button(lambda: tr("Create"), variant="primary")
        self.add_button(self.go, run=self._create, default=True)

    def restyle(self) -> None:
        """All of a form is seen where the screen has room for it."""
        super().restyle()
        if hasattr(self, "area"):
            px = theme().px
            room = self.screen().availableGeometry().height() - px(_AROUND)
            self.area.setMinimumHeight(min(px(_FORM), max(room, px(200))))
            self._stand_off()

    def _stand_off(self) -> None:
        """Where the form scrolls, its fields stand off the bar."""
        px, scrolls = theme().px, self.area.verticalScrollBar().maximum() > 0
        self._fields.setContentsMargins(0, px(4), px(8) if scrolls else 0, 0)

    def _form(self) -> None:
        """Whoever holds is put in place before what it holds: the style of a subtree is worked out
        each time it finds a parent."""
        inside = QWidget()
        inside.setProperty("ground", "surface")
        self.area = area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.pages.addWidget(area)
        area.setWidget(inside)
        column = QVBoxLayout(inside)
        self._fields = column
        follow(column, setSpacing=10)
        area.verticalScrollBar().rangeChanged.connect(lambda *_: self._stand_off())
        self.name = Field(lambda: tr("Name"), placeholder="release-notes")
        self.name_row = FactRow(lambda: tr("Name"), self.name)
        column.addWidget(self.name_row)
        self.folder = PathField(
            lambda: tr("Folder"), lambda: tr("Open a folder as a workspace"), folder=True
        )
        self.folder_row = FactRow(
            lambda: tr("Folder"),
            self.folder,
            lambda: tr("It stays where it is. You see first what opening it would run."),
        )
        column.addWidget(self.folder_row)
        self._machine = QVBoxLayout()
        column.addLayout(self._machine)
        self.doctor = DoctorCard()
        self.doctor.again.connect(self.look)
        column.addWidget(self.doctor)
        column.addStretch(1)

    # A form is made when its kind is first chosen.

    @cached_property
    def docker(self) -> DockerForm:
        form = DockerForm(parent=self._machine.parentWidget())
        self._machine.addWidget(form)
        return form

    @cached_property
    def e2b(self) -> E2BForm:
        form = E2BForm(parent=self._machine.parentWidget())
        form.keyChanged.connect(self._looked.start)
        self._machine.addWidget(form)
        return form

    def _chosen(self, kind: Kind) -> Callable[[bool], None]:
        return lambda on: self.set_kind(kind) if on else None

    # -- what is chosen --------------------------------------------------------------------------

    def set_kind(self, kind: Kind) -> None:
        """Show the form of ``kind`` and look at what it needs."""
        self._kind = kind
        self.kinds[kind].setChecked(True)
        self.name_row.setVisible(kind != "folder")
        self.folder_row.setVisible(kind == "folder")
        for name in ("docker", "e2b"):
            if name == kind or name in vars(self):
                getattr(self, name).setVisible(name == kind)
        self.go.set_source(lambda: tr("Open") if kind == "folder" else tr("Create"))
        self.note.set_source(lambda: _note(kind))
        self.look()
        (self.folder if kind == "folder" else self.name).setFocus()

    def look(self) -> None:
        self._looked.stop()
        self.doctor.looking()
        self.making.look(self._kind, self.e2b.key() if self._kind == "e2b" else "")

    def _found(self, kind: Kind, findings: list[Finding]) -> None:
        if kind != self._kind:
            return
        self.doctor.show_findings(findings)
        for finding in findings:
            if finding.what == "key":
                self.e2b.set_kept(finding.params["kept"], finding.params["place"])

    # -- making ----------------------------------------------------------------------------------

    def _create(self) -> None:
        if self.pages.currentWidget() is self.progress:
            self._show_form()  # after a failure: back to what was entered
            return
        if self._kind == "folder":
            text = self.folder.text()
            self.folder.field.set_error("" if text else tr("Choose a folder."))
            if text:
                self.folderChosen.emit(text)
                self.accept()
            return
        name = self.name.text().strip()
        self.name.set_error("" if name else tr("A name is needed."))
        spec = self.docker.spec() if self._kind == "docker" else self.e2b.spec()
        if not name:
            self.name.setFocus()
        if name and spec is not None:
            self._show_progress()
            self.making.make(name, spec, self.e2b.key() if self._kind == "e2b" else "")

    def _show_progress(self) -> None:
        for card in self.kinds.values():
            card.setEnabled(False)
        self.progress.begin(self.name.text().strip())
        self.pages.setCurrentWidget(self.progress)
        self.go.hide()
        self.note.set_source(lambda: tr("What is built stays for the next time."))
        self.cancel.setFocus()

    def _show_form(self) -> None:
        for card in self.kinds.values():
            card.setEnabled(True)
        self.pages.setCurrentIndex(0)
        self.go.show()
        self.go.set_source(lambda: tr("Create"))
        self.cancel.setEnabled(True)
        self.note.set_source(lambda: _note(self._kind))
        self.look()

    def _progressed(self, steps: list[Progress]) -> None:
        self.progress.add(steps)

    def _made(self, workspace_id: str) -> None:
        self.made.emit(workspace_id)
        self.accept()

    def _stopped(self) -> None:
        self._show_form()

    def _failed(self, error: SlipwayError) -> None:
        if self.pages.currentWidget() is not self.progress:
            self._show_progress()
        self.progress.fail(error)
        if error.code.endswith(".spec"):
            self._show_form()
            form = self.docker if self._kind == "docker" else self.e2b
            form.set_error(str(error.params.get("field", "")))
            return
        self.go.set_source(lambda: tr("Back to the settings"))
        self.go.show()
        self.note.set_source("")
        self.go.setFocus()

    def _cancel(self) -> None:
        if self.making.busy:
            self.cancel.setEnabled(False)
            self.progress.stopping()
            self.making.cancel()
        else:
            self.reject()

    def reject(self) -> None:
        """Esc and the window's own button: what runs is ended first."""
        if self.making.busy:
            self._cancel()
        else:
            super().reject()


def _note(kind: Kind) -> str:
    if kind == "docker":
        return tr("No cost. It stops when Slipway is closed.")
    if kind == "e2b":
        return tr("Costs money at E2B while it runs.")
    return ""
