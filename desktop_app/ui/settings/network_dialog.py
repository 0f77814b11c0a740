"""How models are reached: proxy, hosts without one, certificates of one's own, how long to wait."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_app.core.models.network import DIRECT, SYSTEM, is_proxy, password_name, proxy_url
from desktop_app.core.models.trusted import Trusted, trusted_of, without
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Button, Choice, Field, IconButton, Label
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import Dialog, FactRow
from desktop_app.ui.widgets.labels import ElidedLabel

from .certificate_dialog import in_lines

OWN = "own"
STALLS = (30, 60, 180, 600, 1800)  # seconds


class NetworkDialog(Dialog):
    """``saved(values)``: settings by name. ``passwordTyped(name, password)``: the proxy's password,
    and its name in the keyring. ``get`` gives a setting's value."""

    saved = Signal(dict)
    passwordTyped = Signal(str, str)

    def __init__(self, parent: QWidget | None, get: Callable[[str], Any]) -> None:
        super().__init__(parent, lambda: tr("Network"), width=560, gap=10, tall=True)
        proxy = str(get("proxy"))
        self._build_proxy(proxy)
        self.without = Field(
            lambda: tr("Without proxy"), placeholder="intranet.example, 10.0.0.0/8"
        )
        self.without.edit.setText(str(get("no_proxy")))
        self._row(lambda: tr("Without proxy"), self.without)
        self._build_certificates(str(get("ca_file")))
        self._kept: Any = get("trusted_certificates")
        self._build_trusted()
        self.stall = Choice(lambda: tr("Silence limit"))
        stalls = sorted({*STALLS, int(get("stall_seconds"))})
        choices: list[tuple[str, Text]] = [(str(n), lambda n=n: _seconds(n)) for n in stalls]
        self.stall.set_choices(choices, str(get("stall_seconds")))
        self._row(lambda: tr("Silence limit"), self.stall)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.save = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.save, run=self._save, default=True)
        self._chosen()

    def _build_proxy(self, proxy: str) -> None:
        self.proxy = Choice(lambda: tr("Proxy"))
        kinds: list[tuple[str, Text]] = [
            (SYSTEM, lambda: tr("As the system says")),
            (DIRECT, lambda: tr("None")),
            (OWN, lambda: tr("This one")),
        ]
        self.proxy.set_choices(kinds, proxy if proxy in (SYSTEM, DIRECT) else OWN)
        self.proxy.chosen.connect(lambda _value: self._chosen())
        self._row(lambda: tr("Proxy"), self.proxy)
        self.address = Field(lambda: tr("Address"), placeholder="http://proxy.example:3128")
        self.address.edit.setText("" if proxy in (SYSTEM, DIRECT) else proxy)
        self.address.edit.textChanged.connect(lambda _text: self._chosen())
        note = Label(
            lambda: tr("http, https, socks5 or socks5h; with a user name as in http://name@host."),
            role="caption",
            tone="faint",
            wrap=True,
        )
        self.address_row = FactRow(lambda: tr("Address"), _stack(self.address, note))
        self.body.addWidget(self.address_row)
        self.password = Field(
            lambda: tr("Password"), placeholder=lambda: tr("Kept where keys are kept")
        )
        self.password.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.password_row = FactRow(lambda: tr("Password"), self.password)
        self.body.addWidget(self.password_row)

    def _build_certificates(self, ca_file: str) -> None:
        self.ca_file = Field(
            lambda: tr("Own certificates"), placeholder=lambda: tr("A file in PEM format")
        )
        self.ca_file.edit.setText(ca_file)
        choose = Button(lambda: tr("Browse…"), glyph="folder-open")
        choose.clicked.connect(self._choose_file)
        line = QWidget()
        row = QHBoxLayout(line)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        row.addWidget(self.ca_file, 1)
        row.addWidget(choose)
        line.setFocusProxy(self.ca_file)
        note = Label(
            lambda: tr("Trusted beside those of the system, for models only."),
            role="caption",
            tone="faint",
            wrap=True,
        )
        self._row(lambda: tr("Own certificates"), _stack(line, note))

    def _build_trusted(self) -> None:
        """Certificates of single hosts; removed ones are gone when it is saved."""
        self.trusted: dict[str, TrustedRow] = {}
        for one in trusted_of(self._kept):
            row = self.trusted[one.at] = TrustedRow(one)
            row.removed.connect(self._remove_trusted)
        if self.trusted:
            holder = QWidget()
            column = QVBoxLayout(holder)
            follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
            for row in self.trusted.values():
                column.addWidget(row)
            self.trusted_row = FactRow(lambda: tr("Trusted by you"), holder)
            self.body.addWidget(self.trusted_row)

    def _remove_trusted(self, at: str) -> None:
        self._kept = without(self._kept, at)
        self.trusted.pop(at).setVisible(False)
        self.trusted_row.setVisible(bool(self.trusted))
        self.save.setFocus()
        self.fit_later()

    def _row(self, label: Text, control: QWidget) -> None:
        self.body.addWidget(FactRow(label, control))

    def _chosen(self) -> None:
        """Show what belongs to the choice."""
        own = self.proxy.value() == OWN
        self.address_row.setVisible(own)
        text = self.address.text().strip()
        self.password_row.setVisible(own and "@" in text)
        self.adjustSize()

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, tr("Choose a file with certificates"))
        dialog.setNameFilters([tr("Certificates (*.pem *.crt *.cer)"), tr("All files (*)")])
        dialog.fileSelected.connect(self.ca_file.edit.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self) -> None:
        own, address = self.proxy.value() == OWN, self.address.text().strip()
        good = not own or is_proxy(address)
        self.address.set_error("" if good else tr("Not the address of a proxy."))
        problem = certificate_problem(self.ca_file.text().strip())
        self.ca_file.set_error(problem)
        if not good or problem:
            return
        proxy = proxy_url(address) if own else self.proxy.value()
        values = {
            "proxy": proxy,
            "no_proxy": self.without.text().strip(),
            "ca_file": os.path.expanduser(self.ca_file.text().strip()),
            "stall_seconds": int(self.stall.value()),
            "trusted_certificates": self._kept,
        }
        if own and self.password.text() and (name := password_name(proxy)):
            self.passwordTyped.emit(name, self.password.text())
        self.saved.emit(values)
        self.accept()


class TrustedRow(QWidget):
    """One trusted certificate. ``removed(host)``"""

    removed = Signal(str)

    def __init__(self, one: Trusted) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(Label(one.at, role="strong"))
        parts = [p for p in (one.subject, one.since) if p]
        if parts:
            column.addWidget(ElidedLabel(" · ".join(parts), role="caption", tone="faint"))
        column.addWidget(Label(in_lines(one.mark), role="mono-small", tone="muted", select=True))
        row.addLayout(column, 1)
        self.cross = IconButton("x", lambda: tr("Do not trust {name} any more", name=one.at))
        self.cross.clicked.connect(lambda: self.removed.emit(one.at))
        row.addWidget(self.cross, 0, Qt.AlignmentFlag.AlignTop)


def certificate_problem(path: str) -> str:
    """Why a file will not do as one with certificates, in words; empty when it will, or there is
    none."""
    if not path:
        return ""
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cafile=os.path.expanduser(path))
    except ssl.SSLError:
        return tr("There is no certificate in PEM format in it.")
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _seconds(count: int) -> str:
    if count % 60:
        return trn("{n} second", "{n} seconds", count)
    minutes = count // 60
    return trn("{n} minute", "{n} minutes", minutes)


def _stack(control: QWidget, note: QWidget) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=2)
    column.addWidget(control)
    column.addWidget(note)
    holder.setFocusProxy(control)
    return holder
