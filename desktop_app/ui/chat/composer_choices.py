"""What a person chooses in the composer: the model, the permission mode, how hard it thinks."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from desktop_app.core.models.base import EFFORTS, Effort, ModelInfo
from desktop_app.core.state import Mode
from desktop_app.ui.i18n import mark, tr
from desktop_app.ui.theme import icon
from desktop_app.ui.widgets.buttons import Button

from . import figures
from .sources import model_label

MODES: tuple[Mode, ...] = ("default", "accept_edits", "explore", "dont_ask", "bypass")
_MODE_ICONS: dict[Mode, str] = {
    "default": "shield",
    "accept_edits": "file-pen",
    "explore": "compass",
    "dont_ask": "shield-x",
    "bypass": "shield-off",
}


def mode_name(mode: Mode) -> str:
    """The name of a permission mode."""
    match mode:
        case "default":
            return tr("Ask first")
        case "accept_edits":
            return tr("Accept edits")
        case "explore":
            return tr("Explore")
        case "dont_ask":
            return tr("Refuse quietly")
        case "bypass":
            return tr("Allow everything")


def mode_words(mode: Mode) -> str:
    """What a permission mode does, in one sentence."""
    match mode:
        case "default":
            return tr("Reads freely inside the workspace; asks before it writes or runs a command")
        case "accept_edits":
            return tr("Also writes inside the workspace without asking")
        case "explore":
            return tr("Only reads; nothing is written or run")
        case "dont_ask":
            return tr("What would be asked is refused instead")
        case "bypass":
            return tr("Asks only before what is dangerous")


class ModeButton(Button):
    """The permission mode, with a menu that says what each does and leads to the rules."""

    chosen = Signal(str)
    rulesWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.mode: Mode = "default"
        super().__init__(
            lambda: mode_name(self.mode), parent, variant="ghost", small=True, glyph="shield"
        )
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.retranslate()

    def retranslate(self) -> None:
        super().retranslate()
        self.setAccessibleName(tr("Permissions: {mode}", mode=mode_name(self.mode)))
        self.setToolTip(mode_words(self.mode))
        self.updateGeometry()

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self.set_glyph(_MODE_ICONS[mode])
        self.retranslate()

    def _fill(self) -> None:
        self._menu.clear()
        for mode in MODES:
            action = self._menu.addAction(icon(_MODE_ICONS[mode]), mode_name(mode))
            action.setToolTip(mode_words(mode))
            action.setStatusTip(mode_words(mode))
            action.setCheckable(True)
            action.setChecked(mode == self.mode)
            action.triggered.connect(lambda _=False, m=mode: self.chosen.emit(m))
        self._menu.addSeparator()
        rules = self._menu.addAction(icon("list-checks"), tr("Rules…"))
        rules.setToolTip(tr("What is refused, asked or allowed in this session"))
        rules.triggered.connect(lambda _=False: self.rulesWanted.emit())


class ModelButton(Button):
    """The model, with a menu of those that can be used; ``manageWanted`` asks for more of them."""

    chosen = Signal(str)
    manageWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.model: ModelInfo | None = None
        self.models: Callable[[], list[ModelInfo]] = list
        super().__init__(self._name, parent, variant="ghost", small=True, glyph="cpu")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.retranslate()

    def _name(self) -> str:
        return model_label(self.model) if self.model is not None else tr("No model")

    def retranslate(self) -> None:
        super().retranslate()
        self.setAccessibleName(tr("Model: {name}", name=self._name()))
        self.setToolTip(model_words(self.model) if self.model else tr("No model is set up"))
        self.updateGeometry()

    def set_model(self, model: ModelInfo | None) -> None:
        self.model = model
        self.retranslate()

    def open(self) -> None:
        """Show the menu, as a click does."""
        self._menu.popup(self.mapToGlobal(self.rect().topLeft()))

    def _fill(self) -> None:
        self._menu.clear()
        for model in self.models():
            action: QAction = self._menu.addAction(f"{model.name}\t{figures.window(model.window)}")
            action.setToolTip(model_words(model))
            action.setCheckable(True)
            action.setChecked(self.model is not None and model.id == self.model.id)
            action.triggered.connect(lambda _=False, m=model.id: self.chosen.emit(m))
        self._menu.addSeparator()
        self._menu.addAction(icon("settings"), tr("Manage models…"), self.manageWanted.emit)


def model_words(model: ModelInfo) -> str:
    """A model in one sentence."""
    parts = [tr("Context window of {n} tokens", n=figures.window(model.window))]
    if model.offline:
        parts.append(tr("works offline"))
    if not model.is_ai:
        parts.append(tr("rules, no AI"))
    return " · ".join(parts)


_EFFORT_NAMES: dict[Effort, str] = {
    "low": mark("Low"),
    "medium": mark("Medium"),
    "high": mark("High"),
}
_EFFORT_LABELS: dict[Effort | None, str] = {
    None: mark("Effort: default"),
    "low": mark("Effort: low"),
    "medium": mark("Effort: medium"),
    "high": mark("Effort: high"),
}


class EffortButton(Button):
    """How hard the model thinks, with a menu; there only where the model takes it. ``chosen`` has
    an effort, or nothing: as the model is set."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.effort: Effort | None = None
        self._of_model: Effort | None = None
        super().__init__(self._label, parent, variant="ghost", small=True, glyph="brain-circuit")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.setVisible(False)
        self.retranslate()

    def _label(self) -> str:
        return tr(_EFFORT_LABELS[self.effort or self._of_model])

    def retranslate(self) -> None:
        super().retranslate()
        self.setAccessibleName(self._label())
        self.setToolTip(
            tr("How long the model thinks before it answers; more takes more time and tokens")
        )
        self.updateGeometry()

    def show_effort(self, model: ModelInfo | None, effort: Effort | None) -> None:
        """``effort`` is the session's own choice."""
        self.effort = effort
        self._of_model = model.effort if model is not None else None
        self.setVisible(model is not None and model.efforts)
        self.retranslate()

    def _fill(self) -> None:
        self._menu.clear()
        own = tr(_EFFORT_NAMES[self._of_model]) if self._of_model else tr("its own default")
        self._add(tr("As the model is set: {effort}", effort=own), None)
        self._menu.addSeparator()
        for effort in EFFORTS:
            self._add(tr(_EFFORT_NAMES[effort]), effort)

    def _add(self, words: str, effort: Effort | None) -> None:
        action = self._menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(effort == self.effort)
        action.triggered.connect(lambda _=False: self.chosen.emit(effort or ""))
