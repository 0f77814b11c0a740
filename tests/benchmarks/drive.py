"""The real program with eyes: ``python -m tests.benchmarks.drive start|typing`` in a SLIPWAY_HOME.

Everything that happens is what the program does; this only looks (event filters on three widgets,
a paint method that tells the time) and types. Nothing of it is in the program. Marks are lines of
JSON on standard output; times are of the monotonic clock, which all processes share.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from desktop_app import app as program
from desktop_app import cli


def mark(name: str, **fields: Any) -> None:
    print(json.dumps({"mark": name, "at": time.monotonic(), **fields}), flush=True)


class Watched(program.Program):
    """Starts looking at the window at the moment it exists."""

    driver: Any = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "window":
            self.driver = DRIVERS[sys.argv[1]](self)


def start_driver(run: Watched) -> Any:
    from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
    from PySide6.QtGui import QKeyEvent

    class Eyes(QObject):
        """Types one key as soon as there is something to type into; tells when the tree with its
        sessions, the newest message and the typed key have been painted."""

        def __init__(self) -> None:
            super().__init__(run.window)
            self.window = run.window
            self.left = {"tree", "tail", "key"}
            self.typed = False
            self.tree = self.window.pane.tree.viewport()
            self.edit = self.window.chat.composer.edit
            for widget in (self.window, self.tree, self.edit, self.edit.viewport()):
                widget.installEventFilter(self)

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            kind = event.type()
            if kind == QEvent.Type.Paint:
                if watched is self.window and not self.typed:
                    mark("window")
                QTimer.singleShot(0, lambda: self.look(watched))
            elif watched is self.edit and kind == QEvent.Type.Show and not self.typed:
                self.typed = True
                for what in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                    key = QKeyEvent(what, Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier, "x")
                    QCoreApplication.postEvent(self.edit, key)
            return False

        def look(self, painted: QObject) -> None:
            """What the paint that just ended has shown."""
            if not self.left:
                return
            view = self.window.chat.view
            if view is not None and "tail" in self.left:
                view.viewport().installEventFilter(self)
            if painted is self.tree and self.window.pane.tree.model().rowCount() >= 6:
                self.seen("tree")
            elif view is not None and painted is view.viewport() and view.rows.rowCount():
                bar = view.verticalScrollBar()
                if bar.value() == bar.maximum():
                    self.seen("tail")
            elif painted is self.edit.viewport() and "x" in self.edit.toPlainText():
                self.seen("key")

        def seen(self, what: str) -> None:
            if what not in self.left:
                return
            self.left.discard(what)
            mark(what)
            if not self.left:
                mark("ready")
                if len(sys.argv) > 2:
                    self.window.grab().save(sys.argv[2])

    return Eyes()


def typing_driver(run: Watched) -> Any:
    """Sends a message that a model answers with ``RATE`` tokens a second, types meanwhile, and
    tells how long each key took until it was painted."""
    from dataclasses import replace

    from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
    from PySide6.QtGui import QKeyEvent

    from desktop_app.core.models.registry import GUIDE
    from desktop_app.core.models.scripted import StreamModel
    from desktop_app.ui.chat.message_edit import MessageEdit

    model = StreamModel(1_000_000, RATE, info=replace(GUIDE, window=10_000_000))
    run.service.models.add(model.info, lambda: model)
    taken: list[float] = []
    sent: list[float] = []  # when the key that is under way was typed
    paint = MessageEdit.paintEvent

    def painted(edit: MessageEdit, event: Any) -> None:
        paint(edit, event)
        if sent and len(edit.toPlainText()) > len(taken):
            taken.append((time.perf_counter() - sent.pop()) * 1000)

    MessageEdit.paintEvent = painted  # type: ignore[method-assign]

    class Typist(QObject):
        def __init__(self) -> None:
            super().__init__(run.window)
            self.edit = run.window.chat.composer.edit
            self.timer = QTimer(self, interval=50)
            self.timer.timeout.connect(self.begin)
            self.timer.start()
            self.begun = (0, 0.0)

        def begin(self) -> None:
            """Wait for the session, then for the stream, then type."""
            vm = run.window.chat.vm
            if vm is None or vm.conversation is None or vm.breakdown is None:
                return
            if not vm.busy:
                vm.send("Tell me everything.", ())
            if model.sent > RATE:
                self.timer.stop()
                self.begun = model.sent, time.thread_time()
                self.timer = QTimer(self, interval=EVERY, timerType=Qt.TimerType.PreciseTimer)
                self.timer.timeout.connect(self.type)
                self.timer.start()

        def type(self) -> None:
            if sent:
                return  # the last key is still on its way: that is its latency, not this one's
            if len(taken) >= KEYS:
                self.timer.stop()
                tokens, cpu = model.sent - self.begun[0], time.thread_time() - self.begun[1]
                mark("typed", taken=taken, tokens=tokens, cpu=cpu)
                return
            letter = " " if len(taken) % 7 == 6 else "x"
            sent.append(time.perf_counter())
            for what in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                key = QKeyEvent(what, Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier, letter)
                QCoreApplication.postEvent(self.edit, key)

    return Typist()


RATE = 200
KEYS = 200
EVERY = 37  # milliseconds: beside the frames, so that keys meet every moment of one
DRIVERS = {"start": start_driver, "typing": typing_driver}


def main() -> int:
    program.Program = Watched  # type: ignore[misc]
    return cli.main([])


if __name__ == "__main__":
    raise SystemExit(main())
