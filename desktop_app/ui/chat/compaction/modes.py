"""What compaction may do by itself, for one agent."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QSpinBox, QWidget

from desktop_app.core.agent.policy import CompactionMode, Policy
from desktop_app.core.context.marks import LEAST, MOST
from desktop_app.ui.chat import figures
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog, FactRow
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.toggles import Radio, Switch


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
        self.marks = policy.marks
        self.alert, self.danger = (QSpinBox() for _ in range(2))
        for spin, name, share in (
            (self.alert, lambda: tr("Offered from"), policy.marks.alert),
            (self.danger, lambda: tr("Done from"), policy.marks.danger),
        ):
            spin.setRange(round(100 * LEAST), round(100 * MOST))
            spin.setSuffix(" %")
            spin.setValue(round(100 * share))
            spin.setAccessibleName(name())
            spin.valueChanged.connect(self._changed)
            self.body.addWidget(FactRow(name, spin))
        self.wrong = Label("", tone="danger", wrap=True)
        self.body.addWidget(self.wrong)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.go, run=self.accept, default=True)
        for radio in self.radios.values():
            radio.toggled.connect(self._changed)
        self._changed()

    def _changed(self) -> None:
        # Automatic is never without it.
        policy = self.policy()
        self.at_danger.setEnabled(policy.mode != "automatic")
        wrong = policy.marks.problem()
        self.go.setEnabled(not wrong)
        self.wrong.setVisible(bool(wrong))
        self.wrong.set_source(
            tr(
                "The marks are too near to each other. Down to {target} is compacted.",
                target=figures.percent(policy.marks.target),
            )
        )

    def policy(self) -> Policy:
        mode: CompactionMode = "automatic"
        for name, radio in self.radios.items():
            if radio.isChecked():
                mode = name
        marks = replace(
            self.marks, alert=self.alert.value() / 100, danger=self.danger.value() / 100
        )
        return Policy(mode, self.at_danger.isChecked(), marks)
