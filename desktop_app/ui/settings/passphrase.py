"""Typing a passphrase: a new one twice, the one that opens the key file, another in its place."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_app.core.errors import SecretsError, SlipwayError
from desktop_app.core.secrets import LEAST, Secrets
from desktop_app.core.tasks import Tasks
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import sentences, tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Check, Field, Label
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import Dialog

Kind = Literal["make", "unlock", "change"]


class PassphraseFields(QWidget):
    """``former`` (of ``change``), ``first``, and ``again`` for a new one. ``changed``: something
    was typed; what is shown as wrong is not any more."""

    changed = Signal()

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind: Kind = kind
        self._column = QVBoxLayout(self)
        follow(self._column, setContentsMargins=(0, 0, 0, 0), setSpacing=4)
        self.former = self._field(lambda: tr("Present passphrase")) if kind == "change" else None
        new = kind != "unlock"
        name: Text = (lambda: tr("New passphrase")) if new else (lambda: tr("Passphrase"))
        self.first = self._field(name)
        self.again = self._field(lambda: tr("Once more")) if new else None
        self.shown = Check(lambda: tr("Show what I type"))
        self.shown.toggled.connect(self._show)
        self._column.addSpacing(theme().px(2))
        row = QHBoxLayout()
        row.addWidget(self.shown)
        row.addStretch(1)
        self._column.addLayout(row)
        self.setFocusProxy(self.fields[0])

    @property
    def fields(self) -> list[Field]:
        return [f for f in (self.former, self.first, self.again) if f is not None]

    def _field(self, name: Text) -> Field:
        label = Label(name, role="small", tone="muted")
        field = Field(name)
        field.edit.setEchoMode(QLineEdit.EchoMode.Password)
        field.edit.textEdited.connect(self._edited)
        label.setBuddy(field.edit)
        if self._column.count():
            self._column.addSpacing(theme().px(4))
        self._column.addWidget(label)
        self._column.addWidget(field)
        return field

    def _show(self, on: bool) -> None:
        mode = QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password
        for field in self.fields:
            field.edit.setEchoMode(mode)

    def _edited(self) -> None:
        for field in self.fields:
            field.set_error("")
        self.changed.emit()

    def good(self) -> bool:
        """Whether what was typed can be tried; else the field that will not do says why."""
        new, text = self.again is not None, self.first.text()
        short = len(text) < LEAST if new else not text
        wrong = self.again is not None and self.again.text() != text
        least: Text = lambda: tr("At least {n} characters.", n=LEAST)  # noqa: E731
        needed: Text = lambda: tr("The passphrase is needed.")  # noqa: E731
        self.first.set_error((least if new else needed) if short else "")
        if self.again is not None:
            other: Text = lambda: tr("That is another one.")  # noqa: E731
            self.again.set_error(other if wrong and not short else "")
        empty = self.former is not None and not self.former.text()
        if self.former is not None:
            self.former.set_error(needed if empty else "")
        return not (short or wrong or empty)

    def refuse(self, error: SlipwayError) -> None:
        """Say at its field why what was typed did not do."""
        wrong = error.code == "secrets.passphrase" and self.former is not None
        field = self.former if wrong and self.former is not None else self.first

        def why() -> str:
            words = describe_error(error)
            if error.code == "secrets.passphrase":
                return sentences(words.title)
            return sentences(words.title, words.reason, words.fix)

        field.set_error(why)
        field.edit.selectAll()
        field.edit.setFocus()

    def clear(self) -> None:
        """Nothing of it stays in the fields."""
        for field in self.fields:
            field.edit.clear()


class WorkDialog(Dialog):
    """A dialog whose button starts something that takes a moment (``begin``): accepted when it was
    done, and where it failed ``fields`` say why and nothing was changed."""

    fields: PassphraseFields
    go: Button

    def __init__(self, parent: QWidget | None, title: Text, *, width: int) -> None:
        super().__init__(parent, title, width=width)
        self._tasks = Tasks(self._failed)
        self.finished.connect(lambda _code: self._end())

    def begin(self, work: Coroutine[Any, Any, object]) -> None:
        self.go.setEnabled(False)
        self.fields.setEnabled(False)
        self._tasks.replace(self._carry_out(work), name="passphrase")

    async def _carry_out(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        finally:
            self.fields.setEnabled(True)
            self.go.setEnabled(True)
        self.accept()

    def _failed(self, _name: str, error: BaseException) -> None:
        if self.isVisible():
            slipway = isinstance(error, SlipwayError)
            self.fields.refuse(
                error if slipway else SecretsError("internal.failed", what="", error=str(error))
            )
            self.fit_later()

    def _end(self) -> None:
        self.fields.clear()


class PassphraseDialog(WorkDialog):
    """Makes the key file, opens it, or gives it another passphrase."""

    def __init__(self, parent: QWidget | None, kind: Kind, secrets: Secrets) -> None:
        titles: dict[Kind, Callable[[], str]] = {
            "make": lambda: tr("Make a key file"),
            "unlock": lambda: tr("Unlock the key file"),
            "change": lambda: tr("Change the passphrase"),
        }
        acts: dict[Kind, Callable[[], str]] = {
            "make": lambda: tr("Make it"),
            "unlock": lambda: tr("Unlock"),
            "change": lambda: tr("Change it"),
        }
        super().__init__(parent, titles[kind], width=440)
        self._secrets, self._kind = secrets, kind
        self.body.addWidget(Label(titles[kind], role="title", wrap=True))
        self.body.addWidget(Label(lambda: _text(kind), wrap=True))
        self.fields = PassphraseFields(kind)
        self.fields.changed.connect(self.fit_later)
        self.body.addWidget(self.fields)
        later: Text = (lambda: tr("Not now")) if kind == "unlock" else (lambda: tr("Cancel"))
        self.add_button(Button(later), run=self.reject)
        self.go = Button(acts[kind], variant="primary")
        self.add_button(self.go, run=self._go, default=True)
        self.fields.fields[0].edit.setFocus()

    def _go(self) -> None:
        if not self.fields.good():
            self.fit_later()
            return
        secrets, fields = self._secrets, self.fields
        if self._kind == "make":
            self.begin(secrets.make_file(fields.first.text()))
        elif self._kind == "unlock":
            self.begin(secrets.unlock_file(fields.first.text()))
        elif fields.former is not None:
            self.begin(secrets.change_passphrase(fields.former.text(), fields.first.text()))


def _text(kind: Kind) -> str:
    if kind == "unlock":
        return tr("Your keys lie in it. It stays open until the program ends or you lock it.")
    if kind == "change":
        return tr("The keys stay the same. The former passphrase opens nothing any more.")
    return tr(
        "Keys are kept in it encrypted. Only the passphrase opens it, once in each run: who "
        "forgets it enters the keys anew."
    )
