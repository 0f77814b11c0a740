"""The fields of a server's form: made from its schema, checked while they are filled in."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.core.mcp.asks import Form
from desktop_app.core.mcp.forms import Field, check
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import fields as widgets
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.toggles import Check

from . import words

_NOTHING = "\0"  # the choice of nothing; no server's value holds a NUL that we send


class FormField(Live, QWidget):
    """One value: its title, what the server says of it, the control, what is wrong."""

    changed = Signal()

    def __init__(self, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = field
        self._touched = False
        self._column = column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=4)
        self._title = Label(self._heading, role="semibold", wrap=True, select=True)
        column.addWidget(self._title)
        if about := visible(field.description)[0]:
            column.addWidget(Label(about, role="small", tone="muted", wrap=True, select=True))
        self.edit: widgets.Field | None = None
        self.choice: widgets.Choice | None = None
        self.checks: list[tuple[str, Check]] = []
        self._error = Label("", role="caption", tone="danger", wrap=True)
        self._build()
        column.addWidget(self._error)
        self._error.hide()

    def _heading(self) -> str:
        name = visible(self.field.title)[0]
        return name if self.field.required else tr("{name} (optional)", name=name)

    def _build(self) -> None:
        field = self.field
        match field.kind:
            case "text" | "number" | "integer":
                start = "" if field.default is None else str(field.default)
                self.edit = widgets.Field(
                    lambda: visible(field.title)[0],
                    placeholder=lambda: words.limits(field),
                    text=start,
                )
                self.edit.edit.textChanged.connect(self._moved)
                self._column.addWidget(self.edit)
            case "choice":
                self.choice = widgets.Choice(lambda: visible(field.title)[0])
                listed: list[tuple[str, Any]] = [
                    (v, visible(label)[0].replace("&", "&&")) for v, label in field.options
                ]
                if field.default is None:
                    listed.insert(0, (_NOTHING, lambda: tr("Choose…")))
                self.choice.set_choices(
                    listed, _NOTHING if field.default is None else field.default
                )
                self.choice.chosen.connect(self._moved)
                self._column.addWidget(self.choice, 0, Qt.AlignmentFlag.AlignLeft)
            case "boolean":
                self._add_check("", tr("Yes"), bool(field.default))
            case "choices":
                for value, label in field.options:
                    shown = visible(label)[0].replace("&", "&&")
                    self._add_check(value, shown, value in (field.default or ()))

    def _add_check(self, value: str, label: str, on: bool) -> None:
        check = Check(label, name=f"{visible(self.field.title)[0]}: {label}")
        check.setChecked(on)
        check.toggled.connect(self._moved)
        self.checks.append((value, check))
        self._column.addWidget(check)

    def _moved(self, *_: object) -> None:
        self._touched = True
        if not self._error.isHidden() or (self.edit is not None and self.edit.edit.text()):
            self.show_wrong()
        self.changed.emit()

    def value(self) -> Any:
        """As the schema wants it; None where nothing was given. Text that is no number stays
        text, so that it is told."""
        field = self.field
        if self.edit is not None:
            text = self.edit.text()
            return _number(text.strip()) if field.kind in ("number", "integer") else text or None
        if self.choice is not None:
            value = self.choice.value()
            return None if value == _NOTHING else value
        if field.kind == "boolean":
            on = self.checks[0][1].isChecked()
            given = self._touched or field.required or field.default is not None
            return on if given else None
        chosen = [value for value, check in self.checks if check.isChecked()]
        return chosen or None

    def show_wrong(self) -> bool:
        """Say what is wrong; whether anything is."""
        found = check(self.field, self.value())
        said = words.wrong(*found) if found is not None else ""
        if self.edit is not None:
            self.edit.set_error(said)
        else:
            self._error.set_source(said)
            self._error.setVisible(bool(said))
        return found is not None

    def focus(self) -> None:
        target = self.edit or self.choice or (self.checks[0][1] if self.checks else None)
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)


class FormPart(QWidget):
    """All fields of a form."""

    def __init__(self, form: Form, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=10)
        self.fields = [FormField(field) for field in form.fields]
        for field in self.fields:
            column.addWidget(field)

    def content(self) -> dict[str, Any] | None:
        """The values by name; None, with what is wrong shown, when one will not do."""
        bad = [field for field in self.fields if field.show_wrong()]
        if bad:
            bad[0].focus()
            return None
        values = {f.field.name: f.value() for f in self.fields}
        return {name: value for name, value in values.items() if value is not None}


def _number(text: str) -> Any:
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
