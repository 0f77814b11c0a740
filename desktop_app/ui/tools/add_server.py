"""The dialog that declares an MCP server: a command or an address, and its secrets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_app.core.mcp.names import proposed_name
from desktop_app.core.mcp.scopes import Scope
from desktop_app.core.workspaces.mcp_write import NewServer
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.fields import Field
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.texts import MonoText
from desktop_app.ui.widgets.toggles import Check, SegmentedControl

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_PAIR = re.compile(r"\s*([^\s=:]+)\s*[=:]\s?(.*)")


class AddServerDialog(Dialog):
    """``server()`` and ``scope()`` after it was accepted. ``taken`` are names in use; ``scopes``
    False where the file knows no scopes; ``inside``: it will run in a container or sandbox."""

    def __init__(
        self,
        parent: QWidget | None,
        taken: Sequence[str] = (),
        *,
        scopes: bool = True,
        inside: bool = False,
    ) -> None:
        super().__init__(parent, lambda: tr("Add an MCP server"), width=520, tall=True)
        self._taken = set(taken)
        self._named = False
        self.what = Field(
            lambda: tr("Command or address"), placeholder="npx -y @example/server  ·  https://…"
        )
        self.name = Field(lambda: tr("Name"), placeholder="server")
        self.pairs = MonoText()
        self.pairs.setTabChangesFocus(True)
        follow(self.pairs, setFixedHeight=72)
        self.hidden = Field(lambda: tr("A secret"), placeholder="TOKEN=…")
        self.hidden.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.show_it = Check(lambda: tr("Show it"))
        self.scope_of = SegmentedControl(lambda: tr("For"))
        self.scope_of.set_choices(
            [
                ("workspace", lambda: tr("Workspace")),
                ("agent", lambda: tr("Agent")),
                ("session", lambda: tr("This session")),
            ]
        )
        self._label(lambda: tr("Command or address"), self.what)
        self.note = Label("", role="caption", tone="muted", wrap=True)
        self.body.addWidget(self.note)
        self._label(lambda: tr("Name"), self.name)
        self._label(lambda: tr("Variables or headers, one a line"), self.pairs)
        self._label(lambda: tr("A secret"), self.hidden)
        self.body.addWidget(self.show_it)
        if scopes:
            self._label(lambda: tr("For"), self.scope_of)
        self.body.addWidget(
            Label(lambda: _runs_where(inside), role="small", tone="muted", wrap=True)
        )
        self.body.addStretch(1)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.ok = Button(lambda: tr("Add and start"), variant="primary")
        self.add_button(self.ok, run=self._accept, default=True)
        self.what.edit.textChanged.connect(self._looked)
        self.name.edit.textEdited.connect(self._name_edited)
        self.show_it.toggled.connect(self._show_secret)
        self.retranslate()
        self.what.setFocus()

    def retranslate(self) -> None:
        super().retranslate()
        if hasattr(self, "pairs"):
            self.pairs.setAccessibleName(tr("Variables or headers, one a line"))
            self.pairs.setPlaceholderText("NAME=value")
            self._looked()

    def _label(self, words, widget: QWidget) -> None:
        label = Label(words, role="small", tone="muted")
        label.setBuddy(widget)
        self.body.addWidget(label)
        self.body.addWidget(widget)

    def _show_secret(self, on: bool) -> None:
        modes = QLineEdit.EchoMode
        self.hidden.edit.setEchoMode(modes.Normal if on else modes.Password)

    def _name_edited(self) -> None:
        self._named = True
        self._looked()

    # -- what was entered ---------------------------------------------------------------------

    def _looked(self) -> None:
        """Say what would be done, and propose a name, while the person types."""
        words = self._words()
        url = self._url()
        if url:
            self.note.set_source(tr("A server at an address."))
        elif words:
            shown = " · ".join(words)
            self.note.set_source(tr("Would run: {command}", command=shown))
        else:
            self.note.set_source(tr("The command that starts it, or where it is."))
        if not self._named:
            self.name.edit.setText(proposed_name(words, url))
        self.ok.setEnabled(bool(words or url) and bool(self.name.text().strip()))
        self.fit_later()  # a long command takes a second line

    def _url(self) -> str:
        text = self.what.text().strip()
        return text if text.startswith(("http://", "https://")) else ""

    def _words(self) -> list[str]:
        text = self.what.text().strip()
        if self._url() or not text:
            return []
        try:
            return shlex.split(text)
        except ValueError:
            return text.split()

    def _given(self) -> tuple[dict[str, str], str]:
        """The pairs, and the first line that is none."""
        made: dict[str, str] = {}
        for line in (*self.pairs.toPlainText().splitlines(), self.hidden.text()):
            if not line.strip():
                continue
            found = _PAIR.fullmatch(line)
            if found is None:
                return made, line
            made[found[1]] = found[2]
        return made, ""

    def _accept(self) -> None:
        name = self.name.text().strip()
        if not _NAME.fullmatch(name):
            self.name.set_error(lambda: tr("Letters, digits, “_” and “-” only."))
            return
        if name in self._taken:
            self.name.set_error(lambda: tr("This name is taken."))
            return
        self.name.set_error("")
        _, wrong = self._given()
        if wrong:
            self.hidden.set_error(lambda: tr("Each line must be NAME=value."))
            return
        self.accept()

    def server(self) -> NewServer:
        pairs, _ = self._given()
        name, url = self.name.text().strip(), self._url()
        if url:
            return NewServer(name, url=url, headers=pairs)
        return NewServer(name, tuple(self._words()), env=pairs)

    def scope(self) -> Scope:
        match self.scope_of.value():
            case "agent":
                return "agent"
            case "session":
                return "session"
            case _:
                return "workspace"


def _runs_where(inside: bool) -> str:
    if inside:
        return tr(
            "It runs inside the container or sandbox, which must have its program. What you enter "
            "is written into the workspace's .mcp file in clear text."
        )
    return tr(
        "It runs on this computer with your rights. What you enter is written into "
        "the workspace's .mcp file in clear text."
    )
