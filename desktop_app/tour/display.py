"""A display for the tour: the one that is there, a virtual one, or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Self

SIZE = "1440x900x24"


class Display:
    """``environment`` makes a child process use it; ``words`` says which one it is."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self.words = "this display"
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
            return self
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            return self
        server = shutil.which("Xvfb")
        if server is None:
            self.environment = {"QT_QPA_PLATFORM": "offscreen"}
            self.words = "no display at all (install Xvfb for a virtual one)"
            return self
        reading, writing = os.pipe()
        self._server = subprocess.Popen(
            [server, "-displayfd", str(writing), "-screen", "0", SIZE, "-nolisten", "tcp"],
            pass_fds=(writing,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading) as lines:
            number = lines.readline().strip()
        if not number:
            raise SystemExit("slipway tour: the virtual display did not start")
        self.environment = {"DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        self.words = f"a virtual display ({SIZE})"
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait(10)
