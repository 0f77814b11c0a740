"""Turns of Qt's loop by the thread's CPU time: what slots, events and painting cost together.

``LoopWatch`` sees callbacks that asyncio runs; this sees everything that the window's thread does
between two waits. A turn may hold many callbacks, so it is an upper bound.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QAbstractEventDispatcher, Qt

from desktop_app.core.loopwatch import LoopWatch


class TurnWatch(LoopWatch):
    """As ``LoopWatch``; the longest turn of Qt's loop is in ``longest_turn``, in milliseconds."""

    def start(self) -> TurnWatch:
        self.longest_turn = 0.0
        self._before = time.thread_time()
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.aboutToBlock.connect(self._block, Qt.ConnectionType.DirectConnection)
        super().start()
        return self

    def stop(self) -> None:
        super().stop()
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is not None:
            dispatcher.aboutToBlock.disconnect(self._block)

    def _block(self) -> None:
        now = time.thread_time()  # stands still while the loop waits
        self.longest_turn = max(self.longest_turn, (now - self._before) * 1e3)
        self._before = now
