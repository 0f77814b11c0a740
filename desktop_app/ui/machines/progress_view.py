"""How far a machine is that is being made: stages, the engine's own lines, and why it failed."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.workspaces.remote.managed import Progress
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Label, NoticeCard, ProgressBar, figures
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.texts import MonoText

LINES = 2000  # of the engine's output that are kept in view


class ProgressView(Live, QWidget):
    """``begin``, then ``add`` what comes, then ``fail`` or nothing."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 8, 0, 0), setSpacing=8)
        head = QHBoxLayout()
        self.stage = Label("", role="semibold")
        self.time = Label("", role="small", tone="faint")
        head.addWidget(self.stage, 1)
        head.addWidget(self.time)
        column.addLayout(head)
        self.bar = ProgressBar()
        column.addWidget(self.bar)
        self.lines = MonoText()
        self.lines.setReadOnly(True)
        self.lines.setMaximumBlockCount(LINES)
        self.lines.setLineWrapMode(MonoText.LineWrapMode.NoWrap)
        column.addWidget(self.lines, 1)
        self._notice: NoticeCard | None = None
        self._column = column
        self._since = 0.0
        self._tick = QTimer(self, interval=1000)
        self._tick.timeout.connect(self._timed)
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        self.lines.setAccessibleName(tr("What the engine says"))

    def begin(self, name: str) -> None:
        self._clear_notice()
        self.lines.clear()
        self.stage.set_source(lambda: tr("Making {name}", name=name))
        self.bar.set_share(None)
        self.bar.show()
        self._since = time.monotonic()
        self._timed()
        self._tick.start()

    def add(self, steps: Sequence[Progress]) -> None:
        """Stages and lines, as they come."""
        from .words import stage

        for text in (step.text for step in steps if step.text):
            self.lines.appendPlainText(text)
        if steps:
            last = steps[-1]
            self.stage.set_source(lambda: stage(last))
            self.bar.set_share((last.step - 1) / last.steps if last.steps else None)

    def stopping(self) -> None:
        self.stage.set_source(lambda: tr("Stopping…"))

    def fail(self, error: SlipwayError) -> None:
        """Say why it did not come up."""
        self._tick.stop()
        self._clear_notice()
        words = describe_error(error)
        self._notice = NoticeCard("danger", words.title, words.reason, words.fix)
        self._column.insertWidget(0, self._notice)
        self.bar.hide()
        # When the card has taken its room: the reason is in the last lines.
        QTimer.singleShot(0, self.lines, self._to_the_end)
        self.stage.set_source(lambda: tr("What the engine said"))

    def _to_the_end(self) -> None:
        down, across = self.lines.verticalScrollBar(), self.lines.horizontalScrollBar()
        down.setValue(down.maximum())
        across.setValue(0)

    def _clear_notice(self) -> None:
        if self._notice is not None:
            self._column.removeWidget(self._notice)
            self._notice.deleteLater()
            self._notice = None

    def _timed(self) -> None:
        self.time.set_source(figures.duration(round(time.monotonic() - self._since)))

    def hideEvent(self, event) -> None:
        super().hideEvent(event)
        self._tick.stop()
