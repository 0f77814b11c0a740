"""From the start of the process to a window that can be used, and what it costs when nothing is
done, beside a bare PySide6 window.

The bare window is the least that can take a key and show it: a ``QApplication`` and one text field.
Ours is the real program in a data folder with workspaces, sessions and a conversation of a few
hundred messages: it is ready when the tree, the newest message and a typed key have been painted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import ROOT, against, limit
from tests.benchmarks.home import prepare

ROUNDS = 9
SETTLED = 8.0  # seconds after which the collector has settled and nothing is under way
IDLE = 10.0

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


def environment(home: str) -> dict[str, str]:
    """As a person's: compiled modules are kept, no display is needed."""
    env = {**os.environ, "SLIPWAY_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


class Window:
    """A child process with a window, until ``ready``."""

    def __init__(self, args: list[str], home: str) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, *args],
            cwd=ROOT,
            env=environment(home),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.marks = self._marks()

    def _marks(self) -> dict[str, float]:
        """Milliseconds from the start of the process to each mark."""
        assert self.process.stdout is not None
        found: dict[str, float] = {}
        for line in self.process.stdout:
            said = json.loads(line)
            found[said["mark"]] = (said["at"] - self.started) * 1000
            if said["mark"] == "ready":
                return found
        raise RuntimeError(f"the window ended before it was ready: {found}")

    def idle(self) -> tuple[float, float]:
        """MiB of resident memory and percent of one core while nothing is done."""
        import psutil

        process = psutil.Process(self.process.pid)
        time.sleep(SETTLED)
        before = process.cpu_times()
        time.sleep(IDLE)
        after = process.cpu_times()
        used = after.user + after.system - before.user - before.system
        return process.memory_info().rss / 2**20, used / IDLE * 100

    def end(self) -> None:
        assert self.process.stdout is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.stdout.close()


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
                window.end()
                if n:  # the first compiles and fills the file cache
                    times.append(window.marks["ready"])
        memory: dict[Any, float] = {}
        for which in ready:
            window = which(home)
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
