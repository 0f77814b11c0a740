"""What compaction may do by itself, for one agent or for one of its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from desktop_app.core.agent.policy import CompactionMode, Policy
from desktop_app.core.context.marks import GAP, LEAST, MOST, CompactionSettings
from desktop_app.core.context.types import Limits
from desktop_app.core.models.base import ModelInfo
from desktop_app.ui.chat import figures
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog, FactRow
from desktop_app.ui.widgets.fields import Choice, Field
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.toggles import Radio, Switch

_MOST_TOKENS = 100_000_000


def _tokens(field: Field) -> int | None:
    text = field.edit.text().strip()
    return int(text) if text else None


def _problem_words(name: str) -> str:
    """Why the marks cannot be kept; ``name`` is the field that does not fit."""
    match name:
        case "window":
            return tr("A window has at least 1,024 tokens.")
        case "reserve":
            return tr("The reserve is a number of tokens.")
        case _:
            return tr(
                "The marks are too near to each other: down to, offered, done, each at least "
                "{gap} above the one before.",
                gap=figures.percent(GAP),
            )


class ModesDialog(Dialog):
    """Three modes, whether it is done at the danger mark, and where the marks are. ``policy`` is
    the agent's, ``own`` what was set for the session at hand alone. ``limits`` of the model at hand
    say what a mark comes to: marks are shares of what a request may hold, a gauge shows the whole
    window. ``policy()`` is what was chosen, ``here`` whether for this session alone."""

    def __init__(
        self,
        parent: QWidget | None,
        policy: Policy,
        own: Policy | None = None,
        *,
        here: bool = True,
        limits: Limits | None = None,
        models: Sequence[ModelInfo] = (),
    ) -> None:
        super().__init__(parent, lambda: tr("Compaction by itself"), width=460, tall=True)
        self._of_agent, self._own, self._limits = policy, own, limits
        self._models = list(models)
        self._add_where(here)
        self.here.setChecked(own is not None)
        self._add_modes()
        self.alert, self.danger, self.target = (QSpinBox() for _ in range(3))
        self._in_tokens = {spin: Label("", role="caption", tone="faint") for spin in self._spins()}
        self._add_marks()
        self._add_limits()
        self.notes = Choice(lambda: tr("Notes written by"))
        self.body.addWidget(FactRow(lambda: tr("Notes written by"), self.notes))
        self.wrong = Label("", tone="danger", wrap=True)
        self.body.addWidget(self.wrong)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.go, run=self.accept, default=True)
        for radio in self.radios.values():
            radio.toggled.connect(self._changed)
        self.here.toggled.connect(self._show_other)
        self._show(own or policy)

    def _add_where(self, here: bool) -> None:
        self.here = Switch(lambda: tr("Only for this session"))
        self.here.setEnabled(here)
        note = Label(
            lambda: tr("Otherwise for every session of this agent that has nothing of its own."),
            role="caption",
            tone="faint",
            wrap=True,
        )
        self._add_told(self.here, note)

    def _add_modes(self) -> None:
        self.radios: dict[CompactionMode, Radio] = {
            "automatic": Radio(lambda: tr("Automatic")),
            "ask": Radio(lambda: tr("Ask first")),
            "remind": Radio(lambda: tr("Remind only")),
        }
        notes = {
            "automatic": lambda: tr("Offered at the first mark, done at the second, visibly."),
            "ask": lambda: tr("Offered at the first mark, with a proposal ready to look at."),
            "remind": lambda: tr("A bar says that the window fills; nothing is prepared."),
        }
        for mode, radio in self.radios.items():
            note = Label(notes[mode], role="small", tone="muted", wrap=True)
            follow(note, setContentsMargins=(23, 0, 0, 0))
            self._add_told(radio, note)
        self.at_danger = Switch(lambda: tr("Compact at the danger mark anyway"))
        note = Label(
            lambda: tr(
                "Without it a request that would not fit is refused, with the reason, until "
                "you make room. Nothing is ever sent that is too long."
            ),
            role="caption",
            tone="faint",
            wrap=True,
        )
        self._add_told(self.at_danger, note)

    def _add_told(self, what: QWidget, note: Label) -> None:
        """A choice with what it means close below it, so that nobody reads it as the next one's."""
        column = QVBoxLayout()
        follow(column, setSpacing=3)
        column.addWidget(what)
        column.addWidget(note)
        self.body.addLayout(column)

    def _add_limits(self) -> None:
        as_it_says = lambda: tr("as the model says")  # noqa: E731
        self.window_field = Field(lambda: tr("Context window"), placeholder=as_it_says)
        self.reserve = Field(lambda: tr("Answer reserve"), placeholder=as_it_says)
        for field, name in (
            (self.window_field, lambda: tr("Context window")),
            (self.reserve, lambda: tr("Answer reserve")),
        ):
            field.edit.setValidator(QIntValidator(0, _MOST_TOKENS, field))
            field.edit.textChanged.connect(self._changed)
            self.body.addWidget(FactRow(name, field, lambda: tr("in tokens")))

    def _show(self, policy: Policy) -> None:
        self.radios[policy.mode].setChecked(True)
        self.at_danger.setChecked(policy.at_danger)
        self._show_models(policy.notes)
        marks = policy.marks
        for spin, share in (
            (self.alert, marks.alert),
            (self.danger, marks.danger),
            (self.target, marks.target),
        ):
            spin.setValue(round(100 * share))
        for field, tokens in ((self.window_field, marks.window), (self.reserve, marks.reserve)):
            field.edit.setText("" if tokens is None else str(tokens))
        self._changed()

    def _show_other(self, here: bool) -> None:
        """What holds there; a change that was begun for all is taken along to the session."""
        if not here:
            self._show(self._of_agent)
        elif self._own is not None:
            self._show(self._own)

    def _add_marks(self) -> None:
        for spin, name in (
            (self.alert, lambda: tr("Offered from")),
            (self.danger, lambda: tr("Done from")),
            (self.target, lambda: tr("Down to")),
        ):
            spin.setRange(round(100 * LEAST), round(100 * MOST))
            spin.setSuffix(" %")
            spin.lineEdit().setTextMargins(theme().px(6), 0, theme().px(6), 0)
            follow(spin, setFixedHeight="field")
            spin.setAccessibleName(name())
            spin.valueChanged.connect(self._changed)
            holder = QWidget()
            row = QHBoxLayout(holder)
            follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
            row.addWidget(spin)
            row.addWidget(self._in_tokens[spin], 1)
            holder.setFocusProxy(spin)
            self.body.addWidget(FactRow(name, holder))

    def _show_models(self, chosen: str) -> None:
        """The models to choose from; one that is not there any more keeps its name."""
        rows: list[tuple[str, Text]] = [("", lambda: tr("The session's own model"))]
        rows += [(m.id, m.name) for m in self._models]
        if chosen and chosen not in dict(rows):
            rows.append((chosen, chosen))
        self.notes.set_choices(rows, chosen)

    def _spins(self) -> tuple[QSpinBox, ...]:
        return (self.alert, self.danger, self.target)

    def _show_tokens(self, marks: CompactionSettings) -> None:
        """What each mark comes to for the model at hand, as the gauge shows it."""
        for spin, label in self._in_tokens.items():
            label.setVisible(self._limits is not None)
            if self._limits is None:
                continue
            window = marks.window or self._limits.window
            limits = replace(self._limits, window=window, kept=marks.reserve)
            of_usable = spin.value() / 100
            tokens = limits.mark(of_usable)
            share = figures.percent(tokens / window)
            words = tr("{n} tokens, {share} of the window", n=figures.tokens(tokens), share=share)
            label.set_source(words)
            spin.setToolTip(words)

    def _changed(self) -> None:
        # Automatic is never without it.
        policy = self.policy()
        self.at_danger.setEnabled(policy.mode != "automatic")
        wrong = policy.marks.problem()
        if wrong != "window":
            self._show_tokens(policy.marks)
        self.go.setEnabled(not wrong)
        self.wrong.setVisible(bool(wrong))
        self.wrong.set_source(_problem_words(wrong))

    def policy(self) -> Policy:
        mode: CompactionMode = "automatic"
        for name, radio in self.radios.items():
            if radio.isChecked():
                mode = name
        marks = CompactionSettings(
            self.alert.value() / 100,
            self.danger.value() / 100,
            self.target.value() / 100,
            _tokens(self.window_field),
            _tokens(self.reserve),
        )
        return Policy(mode, self.at_danger.isChecked(), marks, self.notes.value())
