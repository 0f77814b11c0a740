"""What a background command printed, live while it runs."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.core.tools.background import Command
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.texts import MonoText

from .commands_bar import state_words
from .foreign import ForeignBox, visible

BLOCKS = 5_000  # lines that are kept; the file has all of them


class CommandDialog(Dialog):
    """``show_output`` once, then ``add`` with each piece and ``show_state`` when it ends."""

    def __init__(self, parent: QWidget | None, command: Command) -> None:
        super().__init__(parent, lambda: tr("Output of {name}", name=command.id), width=760)
        self.command = command
        line = Label(visible(command.command)[0][:2000], role="mono", wrap=True, select=True)
        self.body.addWidget(line)
        self.state = Label("", role="small", tone="muted")
        self.body.addWidget(self.state)
        self.text = MonoText(margin=10)
        self.text.setReadOnly(True)
        self.text.setProperty("bare", True)
        self.text.setMaximumBlockCount(BLOCKS)
        self.text.setAccessibleName(tr("Output of {name}", name=command.id))
        self.text.setPlaceholderText(tr("Nothing was printed yet"))
        frame = ForeignBox(self.text)
        frame.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        follow(frame, setMinimumHeight=380)
        self.body.addWidget(frame, 1)
        if command.path:
            where = tr("All of it is in {path}", path=visible(command.path)[0])
            self.body.addWidget(Label(where, role="caption", tone="faint", wrap=True, select=True))
        self.stop = Button(lambda: tr("Stop"), glyph="square")
        self.aside(self.stop)
        self.add_button(
            Button(lambda: tr("Close"), variant="primary"), run=self.accept, default=True
        )
        self.show_state(command, live=False)

    def show_output(self, text: str) -> None:
        """Everything that is known of the output."""
        self.text.clear()
        self.add(text)

    def add(self, text: str) -> None:
        """More output; the view stays at the end when it was there."""
        bar = self.text.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = self.text.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        cursor.insertText(visible(text)[0])
        if at_end:
            bar.setValue(bar.maximum())

    def show_state(self, command: Command, *, live: bool) -> None:
        """How it is with the command now."""
        self.command = command
        running = command.ended is None
        words = state_words(command)
        self.state.set_source(tr("Running for {time}", time=words) if running else words)
        self.stop.setVisible(live and running)
