"""Asking where keys are to be kept on a system whose keyring does not keep them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.secrets import Secrets
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Button, Label, Radio
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.card import Glyph

from .passphrase import PassphraseFields, WorkDialog


class KeyChoiceDialog(WorkDialog):
    """An encrypted file, which it makes, or this run only. Accepted when there is a file."""

    def __init__(self, parent: QWidget | None, secrets: Secrets, *, silent: bool = False) -> None:
        super().__init__(parent, lambda: tr("Where are keys kept?"), width=520)
        self._secrets = secrets
        row = QHBoxLayout()
        follow(row, setSpacing=12)
        row.addWidget(Glyph("key-round", "info", 20), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        follow(words, setSpacing=6)
        heading: Text = (
            (lambda: tr("The system's keyring did not take the key"))
            if silent
            else (lambda: tr("This system has no keyring for keys"))
        )
        words.addWidget(Label(heading, role="title", wrap=True))
        text = lambda: tr("Choose where they go. The settings have it too, under Keys.")  # noqa: E731
        words.addWidget(Label(text, wrap=True))
        row.addLayout(words, 1)
        self.body.addLayout(row)
        self.in_file = Radio(lambda: tr("In a key file, encrypted with a passphrase"))
        self.in_file.setChecked(True)
        self.session = Radio(lambda: tr("Nowhere: they last until the program ends"))
        self.fields = PassphraseFields("make")
        self.fields.changed.connect(self.fit_later)
        self._add(
            self.in_file,
            lambda: tr(
                "The program asks for the passphrase once in each run. Without it nobody opens the "
                "file: who forgets it enters the keys anew."
            ),
            self.fields,
        )
        self._add(self.session, lambda: tr("Nothing is written. Enter them again next time."))
        self.in_file.toggled.connect(self._chosen)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(lambda: tr("Keep the key"), variant="primary")
        self.add_button(self.go, run=self._go, default=True)
        self.fields.first.edit.setFocus()

    def _add(self, radio: Radio, note: Text, more: QWidget | None = None) -> None:
        self.body.addWidget(radio)
        below = QVBoxLayout()
        follow(below, setContentsMargins=(24, 0, 0, 0), setSpacing=8)
        below.addWidget(Label(note, role="small", tone="muted", wrap=True))
        if more is not None:
            below.addWidget(more)
        self.body.addLayout(below)

    def _chosen(self, in_file: bool) -> None:
        self.fields.setVisible(in_file)
        self.fit_later()

    def _go(self) -> None:
        if self.session.isChecked():
            self.reject()
        elif self.fields.good():
            self.begin(self._secrets.make_file(self.fields.first.text()))
        else:
            self.fit_later()
