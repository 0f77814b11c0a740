"""From the start of the process to a window that can be used, and what it costs when nothing is
done, beside a bare PySide6 window.

The bare window is the least that can take a key and show it: a ``QApplication`` and one text field.
Ours is the real program in a data folder with workspaces, sessions and a conversation of a few
hundred messages: it is ready when the tree, the newest message and a typed key have been painted.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import against, limit
from tests.benchmarks.home import prepare
from tests.benchmarks.window import Window

ROUNDS = 9

BARE = """
import json, time
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit

class Window(QPlainTextEdit):
    def paintEvent(self, event):
        super().paintEvent(event)
        if self.toPlainText():
            print(json.dumps({"mark": "ready", "at": time.monotonic()}), flush=True)
        else:
            key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier, "x")
            QCoreApplication.postEvent(self, key)

app = QApplication([])
window = Window()
window.resize(1440, 900)
window.show()
app.exec()
"""


def ours(home: str) -> Window:
    return Window(["-m", "tests.benchmarks.drive", "start"], home)


def bare(home: str) -> Window:
    return Window(["-c", BARE], home)


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as home:
        prepare(Path(home))
        ready: dict[Any, list[float]] = {ours: [], bare: []}
        for n in range(ROUNDS + 1):  # in turns, so that a busy moment meets both
            for which, times in ready.items():
                window = which(home)
                ready_ms = window.wait("ready")["ms"]
                window.end()
                if n:  # the first compiles and fills the file cache
                    times.append(ready_ms)
        memory: dict[Any, float] = {}
        for which in ready:
            window = which(home)
            window.wait("ready")
            memory[which], cpu = window.idle()
            window.end()
            if which is ours:
                busy = cpu
    # The best of each: everything else that runs on a machine only ever adds.
    name = "process start to first key, tree and last session painted"
    mine, base = min(ready[ours]), min(ready[bare])
    return [
        against(f"{name}, beside a bare window", mine, base, 4, "ms", "≤ 4 ×"),
        limit(name, mine, 600, "ms", "≤ 600 ms"),
        against("memory when idle", memory[ours], memory[bare], 2, "MiB", "≤ 2 ×"),
        limit("CPU when idle", busy, 0.5, "%", "≤ 0.5 %"),
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
