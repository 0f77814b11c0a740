"""The end of what a server wrote to its standard error, in bounded memory."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import TextIO

KEEP = 64 << 10  # bytes of the tail
_PIECE = 64 << 10


class Ring:
    """The newest ``keep`` bytes of a stream, and how many there were in all. Thread-safe."""

    def __init__(self, keep: int = KEEP) -> None:
        self._keep = keep
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._lock = threading.Lock()
        self.total = 0

    def add(self, data: bytes) -> None:
        with self._lock:
            self.total += len(data)
            if len(data) >= self._keep:
                self._pieces.clear()
                self._pieces.append(data[-self._keep :])
                self._size = self._keep
                return
            self._pieces.append(data)
            self._size += len(data)
            while self._size - len(self._pieces[0]) >= self._keep:
                self._size -= len(self._pieces.popleft())

    def note(self, text: str) -> None:
        """A line of our own among the server's."""
        self.add(f"{text}\n".encode())

    def text(self, lines: int = 200) -> str:
        """The last lines; what is no UTF-8 is replaced."""
        with self._lock:
            data = b"".join(self._pieces)[-self._keep :]
        return "\n".join(data.decode("utf-8", "replace").splitlines()[-lines:])

    def last_line(self) -> str:
        """The last line that is not empty, at most 300 characters."""
        for line in reversed(self.text(20).splitlines()):
            if line.strip():
                return line.strip()[:300]
        return ""


def drained_pipe(ring: Ring, name: str) -> TextIO:
    """A file to hand a child process as its standard error; what is written to it goes into
    ``ring`` until every writer closed it. Close the returned file once the child has it.

    A thread reads it, because a pipe that nobody reads stops the writer, and because reading a
    pipe asynchronously works differently on every system."""
    read, write = os.pipe()

    def drain() -> None:
        try:
            while data := os.read(read, _PIECE):
                ring.add(data)
        except OSError:
            pass
        finally:
            os.close(read)

    threading.Thread(target=drain, name=f"mcp stderr {name}", daemon=True).start()
    return os.fdopen(write, "w", encoding="utf-8", errors="replace")
