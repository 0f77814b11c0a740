"""What runs in the background of the session: a quiet card above the composer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.core.ids import now_us
from desktop_app.core.tools.background import Command
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.badge import StateGlyph, StateName
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import IconButton
from desktop_app.ui.widgets.card import Card, Glyph
from desktop_app.ui.widgets.labels import ElidedLabel, Label

from . import figures
from .foreign import visible
from .tool_words import one_line

ROWS = 4  # seen at once; the rest scrolls


def state_words(command: Command) -> str:
    """How it is with a command, in a few words with its time."""
    ended = command.ended
    if ended is None:
        return figures.whole_seconds(max(0, now_us() - command.started_us) / 1_000_000)
    match ended.why:
        case "exit" if ended.code is not None and ended.code < 0:
            words = tr("signal {n}", n=-ended.code)
        case "exit":
            words = tr("exit {code}", code=ended.code)
        case "timeout":
            words = tr("timed out")
        case "agent" | "person":
            words = tr("stopped")
        case "closed":
            words = tr("ended with the session")
        case "flood":
            words = tr("stopped: too much output")
        case "failed":
            words = tr("failed")
        case "lost":
            return tr("ended with the program, outcome unknown")
    return f"{words} · {figures.duration(ended.seconds)}"


def state_glyph(command: Command) -> StateName:
    ended = command.ended
    if ended is None:
        return "running"
    match ended.why:
        case "exit":
            return "done" if ended.code == 0 else "failed"
        case "agent" | "person" | "closed":
            return "idle"
        case _:
            return "warning"


class _Row(QWidget):
    """One command: state, line, time, output, stop."""

    def __init__(self, shown: Callable[[str], None], stopped: Callable[[str], None]) -> None:
        super().__init__()
        self.command: Command | None = None
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(12, 0, 6, 0), setSpacing=8)
        self.glyph = StateGlyph("none")
        self.line = ElidedLabel("", role="mono-small")
        self.state = Label("", role="small", tone="muted")
        self.output = IconButton(
            "scroll-text", lambda: tr("Output of {name}", name=self._name()), small=True
        )
        self.stop = IconButton("square", lambda: tr("Stop {name}", name=self._name()), small=True)
        row.addWidget(self.glyph)
        row.addWidget(self.line, 1)
        for widget in (self.state, self.output, self.stop):
            row.addWidget(widget)
        room = self.stop.sizePolicy()
        room.setRetainSizeWhenHidden(True)  # the column of buttons stays one
        self.stop.setSizePolicy(room)
        self.output.clicked.connect(lambda: self.command and shown(self.command.id))
        self.stop.clicked.connect(lambda: self.command and stopped(self.command.id))
        follow(self, setFixedHeight=28)

    def _name(self) -> str:
        return self.command.id if self.command is not None else ""

    def show_command(self, command: Command, *, live: bool) -> None:
        self.command = command
        self.line.set_source(one_line(visible(command.command)[0]))
        self.stop.setVisible(live and command.ended is None)
        self.output.retranslate()
        self.stop.retranslate()
        self.tick()

    def tick(self) -> None:
        """The time goes on."""
        if self.command is not None:
            self.glyph.set_state(state_glyph(self.command), "")
            self.state.set_source(state_words(self.command))
            spoken = f"{self.command.id}, {self.line.text()}, {self.state.text()}"
            self.setAccessibleName(spoken)


class CommandsBar(Card):
    """``outputWanted(id)`` and ``stopWanted(id)`` for one command; ``dismissed`` puts those aside
    that have ended."""

    outputWanted = Signal(str)
    stopWanted = Signal(str)
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands: list[Command] = []
        self._live = True
        self.rows: list[_Row] = []
        # The card's own line stays seen.
        follow(self.body, setContentsMargins=(1, 2, 1, 4), setSpacing=0)
        self.words = ElidedLabel("", role="small", tone="muted")
        self.dismiss = IconButton("x", lambda: tr("Put aside what has ended"), small=True)
        self.dismiss.clicked.connect(self.dismissed)
        room = self.dismiss.sizePolicy()
        room.setRetainSizeWhenHidden(True)  # the line is as high without it
        self.dismiss.setSizePolicy(room)
        head = QHBoxLayout()
        follow(head, setContentsMargins=(12, 0, 6, 0), setSpacing=8)
        head.addWidget(Glyph("terminal", "muted", 14))
        head.addWidget(self.words, 1)
        head.addWidget(self.dismiss)
        self.body.addLayout(head)
        inside = QWidget()
        inside.setProperty("ground", "raised")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidgetResizable(True)
        self._area.setWidget(inside)
        self.body.addWidget(self._area)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._tick = QTimer(self, interval=1000)
        self._tick.timeout.connect(self._ticked)
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(theme().px(400), super().sizeHint().height())

    def show_commands(self, commands: Sequence[Command], *, live: bool) -> None:
        """Show these; ``live``: they can be stopped here."""
        self._commands, self._live = list(commands), live
        while len(self.rows) > len(self._commands):
            self.rows.pop().deleteLater()
        while len(self.rows) < len(self._commands):
            row = _Row(self.outputWanted.emit, self.stopWanted.emit)
            self.rows.append(row)
            self._column.addWidget(row)
        for row, command in zip(self.rows, self._commands, strict=True):
            row.show_command(command, live=live)
        self.retranslate()
        self.setVisible(bool(self._commands))
        self._ticking()

    def retranslate(self) -> None:
        if not hasattr(self, "_tick"):
            return
        n = sum(c.ended is None for c in self._commands)
        self.words.set_source(
            trn("{n} command in the background", "{n} commands in the background", n)
            if n
            else tr("Ended in the background")
        )
        self.dismiss.setVisible(n < len(self._commands))
        for row in self.rows:
            row.tick()
        self.restyle()

    def restyle(self) -> None:
        if hasattr(self, "_area"):
            shown = min(ROWS, len(self._commands))
            self._area.setFixedHeight(shown * theme().px(28))

    def _ticked(self) -> None:
        for row in self.rows:
            if row.command is not None and row.command.ended is None:
                row.tick()

    def _ticking(self) -> None:
        if self.isVisible() and any(c.ended is None for c in self._commands):
            self._tick.start()
        else:
            self._tick.stop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ticking()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()
