"""What an E2B workspace is made of, as a form; the same for a new one and for its settings."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.e2b.spec import TEMPLATE, E2BSpec
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Field, Label, SegmentedControl, figures
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import FactRow

from .parts import FOLD, Fold, PairsField, choice

LEASES = (900, 3600, 14_400, 28_800, 86_400)  # seconds


class E2BForm(QWidget):
    """``spec()`` gives what was entered, or None with the reason at its field; ``key()`` what was
    typed as the account's key. ``keyChanged`` follows its typing."""

    keyChanged = Signal()

    def __init__(
        self,
        spec: E2BSpec | None = None,
        *,
        with_key: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        spec = spec or E2BSpec()
        self._column = QVBoxLayout(self)
        follow(self._column, setContentsMargins=(0, 0, 0, 0), setSpacing=10)
        self._with_key = with_key
        self._build_key()
        self.template = Field(lambda: tr("Template"), placeholder=TEMPLATE, text=spec.template)
        self._row(lambda: tr("Template"), self.template)
        self._build_lease(spec)
        self._build_price(spec)
        self.more = Fold(lambda: tr("More settings"))
        self._column.addWidget(FactRow("", self.more, outdent=FOLD))
        self.env = PairsField()
        self.env.set_pairs(dict(spec.env))
        self.advanced = FactRow(
            lambda: tr("Environment"),
            self.env,
            lambda: tr("Values are kept with your keys and given to the sandbox."),
        )
        self._column.addWidget(self.advanced)
        self.advanced.hide()
        self.more.folded.connect(self.fold)

    def _row(self, label: Text, control: QWidget, hint: Text = "") -> None:
        self._column.addWidget(FactRow(label, control, hint))

    def _build_key(self) -> None:
        self._key = Field(lambda: tr("Key"), placeholder="e2b_…")
        self._key.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.edit.textChanged.connect(lambda _text: self.keyChanged.emit())
        self.kept = Label("", role="caption", tone="faint", wrap=True)
        holder = QWidget()
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=3)
        column.addWidget(self._key)
        column.addWidget(self.kept)
        holder.setFocusProxy(self._key)
        row = FactRow(lambda: tr("Key"), holder)
        row.setVisible(self._with_key)
        self._column.addWidget(row)

    def _build_lease(self, spec: E2BSpec) -> None:
        leases = sorted({*LEASES, spec.timeout})
        self.lease = choice(
            lambda: tr("Lease"),
            [(str(n), lambda n=n: figures.duration(n)) for n in leases],
            str(spec.timeout),
        )
        self._row(
            lambda: tr("Lease"),
            self.lease,
            lambda: tr("A sandbox in use is extended; free accounts have one hour at most."),
        )
        self.over = SegmentedControl(lambda: tr("When it is over"))
        ways: list[tuple[str, Text]] = [
            ("pause", lambda: tr("Pause")),
            ("end", lambda: tr("End")),
        ]
        self.over.set_choices(ways, "pause" if spec.auto_pause else "end")
        self._row(
            lambda: tr("When it is over"),
            self.over,
            lambda: tr("Paused: the disk stays as it is. Ended: all files in it are gone."),
        )
        self.rescue = SegmentedControl(lambda: tr("Rescue copy"))
        whether: list[tuple[str, Text]] = [("on", lambda: tr("On")), ("off", lambda: tr("Off"))]
        self.rescue.set_choices(whether, "on" if spec.rescue else "off")
        self._row(
            lambda: tr("Rescue copy"),
            self.rescue,
            lambda: tr(
                "Sessions, data and skills are copied onto this computer before it ends for good."
            ),
        )
        self.internet = SegmentedControl(lambda: tr("Internet"))
        on_off: list[tuple[str, Text]] = [("on", lambda: tr("On")), ("off", lambda: tr("Off"))]
        self.internet.set_choices(on_off, "on" if spec.internet else "off")
        self._row(lambda: tr("Internet"), self.internet)

    def _build_price(self, spec: E2BSpec) -> None:
        self.price = Field(
            lambda: tr("Price per hour"),
            placeholder=lambda: tr("US dollars, for instance 0.10"),
            text=f"{spec.price:g}" if spec.price else "",
        )
        self._row(
            lambda: tr("Price per hour"),
            self.price,
            lambda: tr("E2B tells no price. The cost in lists is estimated from a price you set."),
        )

    def fold(self, on: bool) -> None:
        self.advanced.setVisible(on)
        self.updateGeometry()

    def key(self) -> str:
        return self._key.text().strip()

    def set_kept(self, kept: str, place: str) -> None:
        """Where the account's key is, and where a new one would be."""
        if kept and not self.key():
            said: Text = lambda: tr("There is one. Enter another to replace it.")  # noqa: E731
        elif place == "keyring":
            said = lambda: tr("Kept in the system's keyring.")  # noqa: E731
        elif place == "file":
            said = lambda: tr("Kept in your key file.")  # noqa: E731
        else:
            said = lambda: tr("There is no keyring here: you choose where it is kept.")  # noqa: E731
        self.kept.set_source(said)

    def spec(self) -> E2BSpec | None:
        """What was entered; None with the reason at its field."""
        env = self.env.pairs()
        if env is None:
            self.more.open()
            return None
        try:
            price = float(self.price.text().strip().lstrip("$").replace(",", ".") or 0)
        except ValueError:
            price = -1.0
        spec = E2BSpec(
            self.template.text().strip() or TEMPLATE,
            int(self.lease.value()),
            self.over.value() == "pause",
            self.internet.value() == "on",
            env,
            price,
            rescue=self.rescue.value() == "on",
        )
        try:
            spec.check()
        except WorkspaceError as error:
            self.set_error(str(error.params.get("field", "")))
            return None
        self.set_error("")
        return spec

    def set_error(self, name: str) -> None:
        """Say at a field that its value cannot be used; empty: nowhere."""
        self.template.set_error(tr("Not the name of a template.") if name == "template" else "")
        self.price.set_error(tr("Not a price between 0 and 1000.") if name == "price" else "")
