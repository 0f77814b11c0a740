"""Quiet bars above the composer: compaction is offered, something is being done."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QElapsedTimer, QRectF, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Breakdown
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.badge import StateGlyph
from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.buttons import Button, IconButton
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.labels import ElidedLabel
from desktop_app.ui.widgets.painting import box

from . import figures
from .gauges import full_words


class OfferBar(Live, QWidget):
    """The alert mark was passed: compact now, or not. It demands nothing."""

    accepted = Signal()
    previewed = Signal()
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._breakdown: Breakdown | None = None
        self._draft = ""
        self._proposal: Proposal | None = None
        self._why: tuple[str, dict[str, Any]] = ("", {})
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(12, 0, 6, 0), setSpacing=8)
        row.addWidget(Glyph("fold-vertical", "muted", 16))
        self.words = ElidedLabel("")
        row.addWidget(self.words, 1)
        self.preview = Button(lambda: tr("Preview…"), small=True)
        self.preview.clicked.connect(self.previewed)
        self.go = Button(lambda: tr("Compact now"), small=True, variant="ghost")
        self.go.clicked.connect(self.accepted)
        self.later = IconButton("x", lambda: tr("Not now"), small=True)
        self.later.clicked.connect(self.dismissed)
        row.addWidget(self.preview)
        row.addWidget(self.go)
        row.addWidget(self.later)
        follow(self, setFixedHeight=36)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()

    def set_breakdown(self, breakdown: Breakdown | None) -> None:
        self._breakdown = breakdown
        self.retranslate()

    def set_draft(
        self, state: str, proposal: Proposal | None, why: tuple[str, dict[str, Any]]
    ) -> None:
        """What is prepared: "working", "ready" with ``proposal``, "failed" and why, or nothing."""
        self._draft, self._proposal, self._why = state, proposal, why
        self.retranslate()

    def retranslate(self) -> None:
        if self._breakdown is None:
            return
        full = full_words(self._breakdown)
        self.words.set_source(tr("{one} {two}", one=full, two=self._draft_words()))

    def _draft_words(self) -> str:
        proposal = self._proposal
        if self._draft == "working":
            return tr("A proposal is being prepared…")
        if self._draft == "ready" and proposal is not None:
            return tr(
                "A proposal is ready: {before} to {after} tokens",
                before=figures.tokens(proposal.record.before),
                after=figures.tokens(proposal.record.after),
            )
        if self._draft == "failed":
            return tr("No proposal came about: {why}", why=describe(*self._why).title)
        return tr("Task, constraints and pending items stay.")

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        rect = QRectF(self.rect())
        box(QPainter(self), rect, theme().radius("card"), color("raised"), color("border-strong"))


class ActivityLine(Live, QWidget):
    """What the run is doing while nothing else shows it, with the time it has taken. It appears
    after 300 ms and costs a repaint a second."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(2, 0, 2, 0), setSpacing=8)
        self._glyph = StateGlyph("none")
        self.words = ElidedLabel("", role="small", tone="faint")
        row.addWidget(self._glyph)
        row.addWidget(self.words, 1)
        follow(self, setFixedHeight=22)
        self._text: Text = ""
        self._since = QElapsedTimer()
        self._before = 0.0
        self._delay = QTimer(self, singleShot=True, interval=300)
        self._delay.timeout.connect(self.show)
        self._tick = QTimer(self, interval=1000)
        self._tick.timeout.connect(self.retranslate)
        self.hide()

    def set_activity(self, text: Text, seconds: float = 0.0) -> None:
        """Say what is being done, and for how long it has been; empty when nothing is."""
        words = say(text)
        if not words:
            self._delay.stop()
            self.hide()
        elif words != say(self._text):
            self._since.restart()
            self._before = seconds
            if not self.isVisible():
                self._delay.start()
        self._text = text
        self.retranslate()

    def retranslate(self) -> None:
        words = say(self._text)
        if not words:
            return
        seconds = self._before + (self._since.elapsed() / 1000 if self._since.isValid() else 0.0)
        if seconds >= 2:
            words = f"{words} · {figures.whole_seconds(seconds)}"
        self.words.set_source(words)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._glyph.set_state("busy")
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._glyph.set_state("none")
        self._tick.stop()
