"""What a Docker workspace is made of, as a form; the same for a new one and for its settings."""

from __future__ import annotations

import os
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.docker.spec import BASE_IMAGE, DockerSpec
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Check, Field, Label, SegmentedControl
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import FactRow

from .parts import FOLD, Fold, PairsField, PathField, choice, packages

CPUS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MEMORY = (512, 1024, 2048, 4096, 8192, 16384)  # MiB
PIDS = (128, 256, 512, 1024, 4096)
NODES = ("20", "22", "24")


class DockerForm(QWidget):
    """``spec()`` gives what was entered, or None with the reason at its field."""

    def __init__(self, spec: DockerSpec | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        spec = spec or DockerSpec()
        self._start = spec
        self._column = QVBoxLayout(self)
        follow(self._column, setContentsMargins=(0, 0, 0, 0), setSpacing=10)
        self._common(spec)
        self._limits(spec)
        self.more = Fold(lambda: tr("More settings"))
        self._column.addWidget(FactRow("", self.more, outdent=FOLD))
        self.advanced = QWidget()
        self.advanced.hide()
        self._column.addWidget(self.advanced)
        self._whole = False
        self.more.folded.connect(self.fold)

    def _row(self, label: Text, control: QWidget, hint: Text = "") -> None:
        self._column.addWidget(FactRow(label, control, hint))

    def _common(self, spec: DockerSpec) -> None:
        self.mount = PathField(
            lambda: tr("Folder"),
            lambda: tr("Choose a folder for the container"),
            folder=True,
            placeholder=lambda: tr("None: files live in the container"),
        )
        self.mount.field.edit.setText(spec.mount)
        self.fate = Label("", role="caption", tone="faint", wrap=True)
        holder = QWidget()
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=3)
        column.addWidget(self.mount)
        column.addWidget(self.fate)
        holder.setFocusProxy(self.mount)
        self._row(lambda: tr("Folder"), holder)
        self.mount.field.edit.textChanged.connect(lambda _text: self._say_fate())
        self._say_fate()
        self.image = Field(lambda: tr("Base image"), placeholder=BASE_IMAGE, text=spec.base_image)
        self._row(
            lambda: tr("Base image"),
            self.image,
            lambda: tr("Needs Python 3.8 or newer. Built on once, then used again."),
        )
        self.packages = Field(
            lambda: tr("Python packages"), placeholder="numpy pandas>=2", text=_line(spec.packages)
        )
        self._row(lambda: tr("Python packages"), self.packages)
        self.network = SegmentedControl(lambda: tr("Network"))
        on_off: list[tuple[str, Text]] = [("on", lambda: tr("On")), ("off", lambda: tr("Off"))]
        self.network.set_choices(on_off, "on" if spec.network else "off")
        self._row(
            lambda: tr("Network"),
            self.network,
            lambda: tr(
                "On: programs in it reach the internet and what your computer reaches. "
                "Off: nothing, also no packages that the agent wants to install."
            ),
        )

    def _say_fate(self) -> None:
        if self.mount.text():
            self.fate.set_tone("faint")
            self.fate.set_source(
                lambda: tr("Shown at /workspace. Its files stay when the container goes.")
            )
        else:
            self.fate.set_tone("warning")
            self.fate.set_source(
                lambda: tr("Files live only in the container: they go when it is removed.")
            )

    def _limits(self, spec: DockerSpec) -> None:
        cores = float(os.cpu_count() or 1)
        cpus = sorted({n for n in CPUS if n <= max(cores, 2.0)} | {spec.cpus})
        self.cpus = choice(
            lambda: tr("Processors"),
            [(f"{n:g}", lambda n=n: _cores(n)) for n in cpus],
            f"{spec.cpus:g}",
        )
        memory = sorted({*MEMORY, spec.memory})
        self.memory = choice(
            lambda: tr("Memory"),
            [(str(n), lambda n=n: _memory(n)) for n in memory],
            str(spec.memory),
        )
        pids = sorted({*PIDS, spec.pids})
        self.pids = choice(
            lambda: tr("Processes"),
            [(str(n), lambda n=n: trn("{n} process", "{n} processes", n)) for n in pids],
            str(spec.pids),
        )
        line = QWidget()
        row = QHBoxLayout(line)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        for one in (self.cpus, self.memory, self.pids):
            row.addWidget(one, 1)
        line.setFocusProxy(self.cpus)
        self._row(lambda: tr("Limits"), line)

    def _build_advanced(self) -> None:
        """What is under "More", once it is wanted."""
        if self._whole:
            return
        self._whole, spec = True, self._start
        above, self._column = self._column, QVBoxLayout(self.advanced)
        follow(self._column, setContentsMargins=(0, 0, 0, 0), setSpacing=10)
        nodes: list[tuple[str, Text]] = [("", lambda: tr("None"))]
        self.node = choice(lambda: tr("Node.js"), [*nodes, *((n, n) for n in NODES)], spec.node)
        self._row(lambda: tr("Node.js"), self.node)
        self.env = PairsField()
        self.env.set_pairs(dict(spec.env))
        self._row(
            lambda: tr("Environment"),
            self.env,
            lambda: tr("Values are kept with your keys, not in the image."),
        )
        self.ca = PathField(
            lambda: tr("Own certificates"),
            lambda: tr("Choose a file with certificates"),
            folder=False,
            placeholder=lambda: tr("A file in PEM format"),
            filters=lambda: tr("Certificates (*.pem *.crt *.cer)"),
        )
        self.ca.field.edit.setText(spec.ca_bundle)
        self._row(lambda: tr("Own certificates"), self.ca)
        self.user = Field(
            lambda: tr("User"), placeholder=lambda: tr("Yours, as uid:gid"), text=spec.user
        )
        self._row(lambda: tr("User"), self.user)
        self.capabilities = Field(
            lambda: tr("Capabilities"),
            placeholder="NET_BIND_SERVICE",
            text=_line(spec.capabilities),
        )
        self._row(
            lambda: tr("Capabilities"),
            self.capabilities,
            lambda: tr("All are dropped; what is named here is given back."),
        )
        self.privileges = Check(lambda: tr("Programs may gain rights (sudo)"))
        self.privileges.setChecked(spec.new_privileges)
        self._row("", self.privileges)
        self._column = above

    def fold(self, on: bool) -> None:
        """Show what is rarely changed."""
        self._build_advanced()
        self.advanced.setVisible(on)
        self.updateGeometry()

    # -- what was entered ------------------------------------------------------------------------

    def spec(self) -> DockerSpec | None:
        """What was entered; None with the reason at its field."""
        self._build_advanced()
        env = self.env.pairs()
        if env is None:
            self.more.open()
            return None
        values: dict[str, Any] = {
            "base_image": self.image.text().strip() or BASE_IMAGE,
            "packages": packages(self.packages.text()),
            "node": self.node.value(),
            "env": env,
            "mount": os.path.expanduser(self.mount.text()),
            "user": self.user.text().strip(),
            "cpus": float(self.cpus.value()),
            "memory": int(self.memory.value()),
            "pids": int(self.pids.value()),
            "network": self.network.value() == "on",
            "init": self._start.init,
            "new_privileges": self.privileges.isChecked(),
            "capabilities": tuple(self.capabilities.text().replace(",", " ").split()),
            "ca_bundle": os.path.expanduser(self.ca.text()),
        }
        spec = DockerSpec(**values)
        try:
            spec.check()
        except WorkspaceError as error:
            self.set_error(str(error.params.get("field", "")))
            return None
        self.set_error("")
        return spec

    def set_error(self, name: str) -> None:
        """Say at a field that its value cannot be used; empty: nowhere."""
        self._build_advanced()
        fields = {
            "base_image": (self.image, lambda: tr("Not the name of an image.")),
            "packages": (self.packages, lambda: tr("Not the names of Python packages.")),
            "mount": (self.mount.field, lambda: tr("Not a whole path of a folder here.")),
            "user": (self.user, lambda: tr("Two numbers, as in 1000:1000.")),
            "capabilities": (self.capabilities, lambda: tr("Names such as NET_RAW.")),
        }
        for key, (field, why) in fields.items():
            field.set_error(why if key == name else "")
            if key == name:
                field.setFocus()
        if name == "env":
            self.env.set_error(tr("A value cannot hold more than one line."))
        if name in ("user", "capabilities", "env"):
            self.more.open()


def _line(values: tuple[str, ...]) -> str:
    return " ".join(values)


def _cores(n: float) -> str:
    return tr("1 core") if n == 1 else tr("{n} cores", n=f"{n:g}")


def _memory(mib: int) -> str:
    if mib < 1024:
        return tr("{n} MB memory", n=mib)
    return tr("{n} GB memory", n=f"{mib / 1024:g}")
