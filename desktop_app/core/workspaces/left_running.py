"""What commands left running in the background, in a file: should the program die, the next one
ends it, as this one would have done in order.

One file for each running program, which holds its lock as long as it lives: one whose lock can be
had is a dead program's. A line for each command that ended and left something: its group, and the
mark in its processes' environment. The number of a group may be somebody else's later; the mark is
nobody else's. All functions block.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import uuid
from contextlib import suppress
from pathlib import Path

from desktop_app.core.filelock import try_lock
from desktop_app.core.paths import ensure

from .process_tree import end_group

logger = logging.getLogger(__name__)


class LeftRunning:
    """The files in ``folder``. One that cannot be written costs the next program its knowledge, not
    this one its command."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{uuid.uuid4().hex}.jsonl"
        self._lock = threading.Lock()
        self._fd = -1

    def note(self, group: int, mark: str) -> None:
        """A command of this program ended, and some of its ``group`` still runs."""
        line = json.dumps({"group": group, "mark": mark}) + "\n"
        try:
            with self._lock:
                if self._fd < 0:
                    ensure(self._folder)
                    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
                    self._fd = os.open(self._path, flags, 0o600)
                    try_lock(self._fd)
                os.write(self._fd, line.encode())
        except OSError as error:
            logger.warning("what a command left running was not noted: %s", error.strerror)

    def end_of_the_dead(self) -> int:
        """End what programs that died left running; how many processes there were."""
        ended = 0
        for path in sorted(self._folder.glob("*.jsonl")) if self._folder.is_dir() else ():
            if path != self._path:
                with suppress(OSError):
                    ended += self._end_of(path)
        if ended:
            logger.info("ended %d processes that a dead program left running", ended)
        return ended

    def _end_of(self, path: Path) -> int:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if not try_lock(fd):
                return 0  # its program lives
            ended = 0
            for line in path.read_text("utf-8", "replace").splitlines():
                with suppress(ValueError, KeyError, TypeError):  # cut by the death
                    found = json.loads(line)
                    ended += end_group(int(found["group"]), str(found["mark"]))
            path.unlink(missing_ok=True)
            return ended
        finally:
            os.close(fd)

    def close(self) -> None:
        """Everything was ended in order."""
        with self._lock, suppress(OSError):
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
                self._path.unlink(missing_ok=True)
