"""The head of a compaction: from how much to how much, as figures and as two bars."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Breakdown
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.gauges import most_words, usage_of
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.gauge import ContextGauge
from desktop_app.ui.widgets.labels import Label

from .words import delta_words


class Head(Live, QWidget):
    """``show_proposal`` fills it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._proposal: Proposal | None = None
        self.title = Label("", role="title")
        self.gain = Label("", tone="muted")
        self.now, self.after = (ContextGauge(thick=10, ground="surface") for _ in range(2))
        self.now_figure, self.after_figure = (Label("", role="strong") for _ in range(2))
        self.now_note, self.after_note = (Label("", role="small", tone="muted") for _ in range(2))
        line = QHBoxLayout()
        follow(line, setSpacing=8)
        line.addWidget(self.title)
        line.addWidget(self.gain, 0, Qt.AlignmentFlag.AlignBottom)
        line.addStretch(1)
        grid = QGridLayout()
        follow(grid, setHorizontalSpacing=12, setVerticalSpacing=4)
        rows = (
            (lambda: tr("Now"), self.now, self.now_figure, self.now_note),
            (lambda: tr("After"), self.after, self.after_figure, self.after_note),
        )
        for at, (name, bar, figure, note) in enumerate(rows):
            grid.addWidget(Label(name, tone="muted"), at, 0)
            for column, widget in enumerate((bar, figure, note), 1):
                grid.addWidget(widget, at, column)
        grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(16, 14, 16, 14), setSpacing=8)
        column.addLayout(line)
        column.addLayout(grid)
        self.retranslate()

    def show_proposal(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self.retranslate()

    def retranslate(self) -> None:
        if self._proposal is None:
            self.title.set_source(tr("What a compaction would do"))
            return
        before, after = self._proposal.before, self._proposal.after
        self.title.set_source(
            tr(
                "{before} to {after} tokens",
                before=figures.tokens(before.total),
                after=figures.tokens(after.total),
            )
        )
        forecast = before.forecast
        turns = (before.total - after.total) / forecast.per_turn if forecast else None
        self.gain.set_source(delta_words(before.total, after.total, turns))
        self._bar(self.now, self.now_figure, before)
        self._bar(self.after, self.after_figure, after)
        estimated = max(0, before.total - before.measured)
        now = tr("measured, {n} estimated", n=figures.tokens(estimated))
        now = now if before.measured else tr("estimated")
        most = most_words(before)
        self.now_note.set_source(tr("{one}, {two}", one=now, two=most) if most else now)
        self.after_note.set_source(tr("estimated, at most {n}", n=figures.tokens(after.upper)))

    def _bar(self, bar: ContextGauge, figure: Label, breakdown: Breakdown) -> None:
        bar.set_usage(usage_of(breakdown))
        figure.set_source(f"{figures.tokens(breakdown.total)} · {figures.percent(breakdown.share)}")
