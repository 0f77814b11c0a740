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


DRIVERS = {"start": start_driver}


def main() -> int:
    program.Program = Watched  # type: ignore[misc]
    return cli.main([])


if __name__ == "__main__":
    raise SystemExit(main())
