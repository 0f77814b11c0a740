"""The settings dialog. A change takes effect at once and is told by ``changed(name, value)``; who
owns the settings stores it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Button, Choice, Label, SegmentedControl
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import Dialog, FactRow

_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)


class SettingsDialog(Dialog):
    """Language, look, size, density, motion, default model. ``get`` gives a setting's value by
    name; ``models`` are (id, name) of those that can be chosen; ``place`` is the file, shown so
    that it can be found. ``keysWanted``: to see where keys are kept."""

    changed = Signal(str, object)
    keysWanted = Signal()

    def __init__(
        self,
        parent: QWidget | None,
        get: Callable[[str], Any],
        *,
        models: Sequence[tuple[str, str]] = (),
        place: str = "",
    ) -> None:
        super().__init__(parent, lambda: tr("Settings"), width=520, gap=10, tall=True)
        self._controls: dict[str, Choice | SegmentedControl] = {}
        self._look(get)
        if models:
            self._group(lambda: tr("New sessions"))
            names: list[tuple[str, Text]] = list(models)
            self._choice("model", lambda: tr("Model"), names, get)
        self._group(lambda: tr("Keys"))
        self.keys = Button(lambda: tr("Where keys are kept…"), glyph="key-round")
        self.keys.clicked.connect(self.keysWanted.emit)
        self.body.addWidget(FactRow(lambda: tr("Kept in"), self.keys))
        if place:
            self.aside(Label(place, role="caption", tone="faint", select=True))
        close = Button(lambda: tr("Close"), variant="primary")
        self.add_button(close, run=self.accept, default=True)
        next(iter(self._controls.values())).setFocus()

    def _look(self, get: Callable[[str], Any]) -> None:
        self._group(lambda: tr("Look and language"))
        self._choice("language", lambda: tr("Language"), self._languages(), get)
        self._segments(
            "scheme",
            lambda: tr("Look"),
            [
                ("system", lambda: tr("System"), "monitor"),
                ("light", lambda: tr("Light"), "sun"),
                ("dark", lambda: tr("Dark"), "moon"),
            ],
            get,
        )
        sizes: list[tuple[str, Text]] = [(str(n), f"{n}%") for n in _SIZES]
        self._choice("font_size", lambda: tr("Font size"), sizes, get)
        self._segments(
            "density",
            lambda: tr("Density"),
            [
                ("comfortable", lambda: tr("Comfortable")),
                ("compact", lambda: tr("Compact")),
            ],
            get,
        )
        self._segments(
            "motion",
            lambda: tr("Motion"),
            [
                ("system", lambda: tr("System")),
                ("full", lambda: tr("Full")),
                ("reduced", lambda: tr("Reduced")),
            ],
            get,
        )

    def _languages(self) -> list[tuple[str, Text]]:
        own: list[tuple[str, Text]] = list(i18n.LANGUAGES.items())
        return [("system", lambda: tr("Like the system")), *own]

    def _group(self, title: Text) -> None:
        holder = QVBoxLayout()
        follow(holder, setContentsMargins=(0, 6, 0, 0))
        holder.addWidget(Label(title, role="semibold"))
        self.body.addLayout(holder)

    def _choice(
        self,
        name: str,
        label: Text,
        choices: list[tuple[str, Text]],
        get: Callable[[str], Any],
    ) -> None:
        control = Choice(label)
        control.set_choices(choices, str(get(name)))
        control.chosen.connect(lambda value: self._tell(name, value))
        self._add(name, label, control)

    def _segments(
        self,
        name: str,
        label: Text,
        choices: Sequence[tuple[str, Text] | tuple[str, Text, str]],
        get: Callable[[str], Any],
    ) -> None:
        control = SegmentedControl(label, big=True)
        control.set_choices(choices, str(get(name)))
        control.changed.connect(lambda value: self._tell(name, value))
        self._add(name, label, control)

    def _add(self, name: str, label: Text, control: Choice | SegmentedControl) -> None:
        self._controls[name] = control
        self.body.addWidget(FactRow(label, control))

    def control(self, name: str) -> Choice | SegmentedControl:
        """The control of a setting."""
        return self._controls[name]

    def _tell(self, name: str, value: str) -> None:
        self.changed.emit(name, int(value) if name == "font_size" else value)
