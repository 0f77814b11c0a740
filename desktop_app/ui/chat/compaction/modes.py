"""What compaction may do by itself, for one agent."""

from __future__ import annotations

from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QSpinBox, QWidget

from desktop_app.core.agent.policy import CompactionMode, Policy
from desktop_app.core.context.marks import GAP, LEAST, MOST, CompactionSettings
from desktop_app.ui.chat import figures
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog, FactRow
from desktop_app.ui.widgets.fields import Field
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
    """Three modes, whether it is done at the danger mark, and where the marks are. ``policy()`` is
    what was chosen."""

    def __init__(self, parent: QWidget | None, policy: Policy) -> None:
        super().__init__(parent, lambda: tr("Compaction by itself"), width=460)
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
            self.body.addWidget(radio)
            note = Label(notes[mode], role="small", tone="muted", wrap=True)
            note.setContentsMargins(theme().px(23), 0, 0, theme().px(4))
            self.body.addWidget(note)
            radio.setChecked(policy.mode == mode)
        self.at_danger = Switch(lambda: tr("Compact at the danger mark anyway"))
        self.at_danger.setChecked(policy.at_danger)
        self.body.addWidget(self.at_danger)
        self.body.addWidget(
            Label(
                lambda: tr(
                    "Without it a request that would not fit is refused, with the reason, until "
                    "you make room. Nothing is ever sent that is too long."
                ),
                role="caption",
                tone="faint",
                wrap=True,
            )
        )
        self.alert, self.danger, self.target = (QSpinBox() for _ in range(3))
        self._add_marks(policy.marks)
        as_it_says = lambda: tr("as the model says")  # noqa: E731
        self.window_field = Field(lambda: tr("Context window"), placeholder=as_it_says)
        self.reserve = Field(lambda: tr("Kept for the answer"), placeholder=as_it_says)
        for field, name, tokens in (
            (self.window_field, lambda: tr("Context window"), policy.marks.window),
            (self.reserve, lambda: tr("Kept for the answer"), policy.marks.reserve),
        ):
            field.edit.setText("" if tokens is None else str(tokens))
            field.edit.setValidator(QIntValidator(0, _MOST_TOKENS, field))
            field.edit.textChanged.connect(self._changed)
            self.body.addWidget(FactRow(name, field, lambda: tr("in tokens")))
        self.wrong = Label("", tone="danger", wrap=True)
        self.body.addWidget(self.wrong)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.go, run=self.accept, default=True)
        for radio in self.radios.values():
            radio.toggled.connect(self._changed)
        self._changed()

    def _add_marks(self, marks: CompactionSettings) -> None:
        for spin, name, share in (
            (self.alert, lambda: tr("Offered from"), marks.alert),
            (self.danger, lambda: tr("Done from"), marks.danger),
            (self.target, lambda: tr("Down to"), marks.target),
        ):
            spin.setRange(round(100 * LEAST), round(100 * MOST))
            spin.setSuffix(" %")
            spin.lineEdit().setTextMargins(theme().px(6), 0, theme().px(6), 0)
            spin.setValue(round(100 * share))
            spin.setAccessibleName(name())
            spin.valueChanged.connect(self._changed)
            self.body.addWidget(FactRow(name, spin))

    def _changed(self) -> None:
        # Automatic is never without it.
        policy = self.policy()
        self.at_danger.setEnabled(policy.mode != "automatic")
        wrong = policy.marks.problem()
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
        return Policy(mode, self.at_danger.isChecked(), marks)
