"""What a machine is made of, to be changed: at once, or from the next machine on."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Button, Label, Line
from desktop_app.ui.widgets.base import follow

from .docker_form import DockerForm
from .e2b_form import E2BForm


class SettingsTab(QWidget):
    """``saved(spec, rebuild)``. What was typed stays until another workspace is shown."""

    saved = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.form: DockerForm | E2BForm | None = None
        self._shown: tuple[str, Any] = ("", None)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        column.addWidget(self.area, 1)
        column.addWidget(Line())
        foot = QHBoxLayout()
        follow(foot, setContentsMargins=(16, 6, 16, 6), setSpacing=8)
        self.note = Label(
            self._when,
            role="small",
            tone="muted",
        )
        foot.addWidget(self.note, 1)
        self.rebuild = Button(lambda: tr("Save and rebuild…"))
        self.rebuild.clicked.connect(lambda: self._save(rebuild=True))
        self.save = Button(lambda: tr("Save"), variant="primary")
        self.save.clicked.connect(lambda: self._save(rebuild=False))
        foot.addWidget(self.rebuild)
        foot.addWidget(self.save)
        column.addLayout(foot)

    def _when(self) -> str:
        if isinstance(self.form, E2BForm):
            return tr("The template and variables hold from the next sandbox on.")
        return tr("Image, folder and limits hold from the next machine on.")

    def show_spec(self, workspace_id: str, spec: DockerSpec | E2BSpec) -> None:
        """The settings that are in force."""
        if self._shown == (workspace_id, spec):
            return
        self._shown = (workspace_id, spec)
        if isinstance(spec, DockerSpec):
            self.form = DockerForm(spec)
        else:
            self.form = E2BForm(spec, with_key=False)
        self.note.set_source(self._when)
        holder = QWidget()
        holder.setProperty("ground", "surface")
        row = QHBoxLayout(holder)
        follow(row, setContentsMargins=(16, 12, 16, 12))
        inside = QVBoxLayout()
        inside.addWidget(self.form)
        inside.addStretch(1)
        row.addLayout(inside, 3)
        row.addStretch(1)
        self.area.setWidget(holder)  # the former form goes with its holder

    def _save(self, *, rebuild: bool) -> None:
        spec = self.form.spec() if self.form is not None else None
        if spec is not None:
            self.saved.emit(spec, rebuild)
