"""A window in a process of its own, watched from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

from tests.benchmarks.figures import ROOT

SETTLED = 8.0  # seconds after which the collector has settled and nothing is under way
IDLE = 10.0


def environment(home: str) -> dict[str, str]:
    """As a person's: compiled modules are kept, no display is needed."""
    env = {**os.environ, "SLIPWAY_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


class Window:
    """A child process with a window that tells what it has shown."""

    def __init__(self, args: list[str], home: str) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, *args],
            cwd=ROOT,
            env=environment(home),
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait(self, name: str) -> dict[str, Any]:
        """The mark of that name; ``ms`` is its time from the start of the process."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said = json.loads(line)
            if said["mark"] == name:
                return {**said, "ms": (said["at"] - self.started) * 1000}
        raise RuntimeError(f"the window ended before it said {name}")

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
