"""The short motion with which a row opens and closes: its height only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QVariantAnimation

from desktop_app.ui.theme import theme

if TYPE_CHECKING:
    from .view import TranscriptView


class Expander:
    """One motion at a time; another row that opens ends it."""

    def __init__(self, view: TranscriptView) -> None:
        self.view = view
        self._row_id = ""
        self._motion = QVariantAnimation(view)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._step)
        self._motion.finished.connect(self.finish)

    def start(self, row_id: str, before: int) -> None:
        """The row has its new content; show it growing or shrinking from ``before``."""
        self.finish()
        ms = theme().ms("expand")
        box = self.view.boxes.peek(row_id)
        if not ms or box is None or box.height == before or not self.view.isVisible():
            return
        self._row_id = row_id
        self._motion.setStartValue(before)
        self._motion.setEndValue(min(box.height, before + 2 * self.view.viewport().height()))
        self._motion.setDuration(ms)
        self._motion.start()

    def _step(self, height: int) -> None:
        box = self.view.boxes.peek(self._row_id)
        if box is not None and self._row_id:
            box.shown = int(height)
            self.view.relay(self._row_id)

    def finish(self) -> None:
        """Come to the end at once."""
        row_id, self._row_id = self._row_id, ""
        self._motion.stop()
        box = self.view.boxes.peek(row_id) if row_id else None
        if box is not None:
            box.shown = None
            self.view.relay(row_id)
