"""What compaction may do by itself, for one agent."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop_app.core.agent.policy import CompactionMode, Policy
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.toggles import Radio, Switch


class ModesDialog(Dialog):
    """Three modes, and whether it is done at the danger mark. ``policy()`` is what was chosen."""

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
            radio.toggled.connect(self._changed)
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
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.go, run=self.accept, default=True)
        self._changed()

    def _changed(self) -> None:
        # Automatic is never without it.
        self.at_danger.setEnabled(self.policy().mode != "automatic")

    def policy(self) -> Policy:
        mode: CompactionMode = "automatic"
        for name, radio in self.radios.items():
            if radio.isChecked():
                mode = name
        return Policy(mode, self.at_danger.isChecked())
