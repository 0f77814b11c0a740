"""One item of the ledger, in a person's own words."""

from __future__ import annotations

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from desktop_app.ui.chat.foreign import ForeignBox
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import Label


class ItemEdit(Dialog):
    """Edits ``text``; ``changed()`` is the new one, empty when it is ``former`` again."""

    def __init__(self, parent: QWidget | None, text: str, former: str) -> None:
        super().__init__(parent, lambda: tr("Edit what is carried on"), width=480)
        self._former = former
        self.text = QPlainTextEdit(text)
        self.text.setProperty("bare", True)
        self.text.setTabChangesFocus(True)
        follow(self.text, setFixedHeight=120)
        self.text.setAccessibleName(tr("Edit what is carried on"))
        self.body.addWidget(
            Label(
                lambda: tr("It stands in the prompt as you write it, and is told to be yours."),
                tone="muted",
                wrap=True,
            )
        )
        self.body.addWidget(ForeignBox(self.text))
        self.original = Button(lambda: tr("Original text"), variant="ghost")
        self.original.clicked.connect(lambda: self.text.setPlainText(former))
        self.aside(self.original)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.go, run=self.accept, default=True)
        self.text.textChanged.connect(self._check)
        self.text.setFocus()

    def _check(self) -> None:
        self.go.setEnabled(bool(self.text.toPlainText().strip()))

    def changed(self) -> str:
        """The new text; empty when it is the original one."""
        text = self.text.toPlainText().strip()
        return "" if text == self._former.strip() else text
