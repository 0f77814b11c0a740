"""Whether another program may be using a workspace right now.

AgentScope has no lock file, and its processes keep no file of a workspace open between two calls
(seen with 2.0.11), so nothing can prove that a folder is free. What is looked for, most certain
first:

- ``process``: a program that is not ours has a file of the workspace open (the log of a gateway,
  a command's output), or an AgentScope program works in the folder or names it in its arguments;
- ``since``: the workspace changed after an AgentScope program that still runs was started;
- ``fresh``: it changed within ``FRESH`` seconds, by whom is not known: the only sign there is of a
  service on another computer or in a container.

A program is AgentScope's when its command line says so, or when it is a Python whose loaded
libraries come from an environment with ``agentscope`` in it (Linux only). Changes that we made
ourselves do not count: ``left_ns`` is the newest one when we closed the workspace. Blocking.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

FRESH = 600.0  # seconds
SKEW = 600.0  # how far a time may lie ahead of our clock and still mean "just now"
KEEP = 5.0  # seconds for which one look at the processes serves every workspace
ENTRIES = 2_000  # directories looked at in one workspace
PARTS = (".mcp", "sessions", "data", "skills", ".agentscope")

Sign = Literal["process", "since", "fresh"]
CODES: dict[Sign, str] = {
    "process": "workspace.in_use",
    "since": "workspace.used_since",
    "fresh": "workspace.just_changed",
}


@dataclass(frozen=True, slots=True)
class Use:
    """Why a workspace may be in use. ``program`` and ``pid`` are empty and 0 for ``fresh``;
    ``path`` is what was changed or is open, ``seconds`` how long ago it changed."""

    sign: Sign
    path: str
    program: str = ""
    pid: int = 0
    seconds: int = 0

    @property
    def code(self) -> str:
        """The error's code, for its words."""
        return CODES[self.sign]

    def params(self) -> dict[str, Any]:
        """For ``WorkspaceInfo.params`` and the error's words."""
        return {
            "where": self.path,
            "program": self.program,
            "pid": self.pid,
            "minutes": max(1, self.seconds // 60),
        }


@dataclass(frozen=True, slots=True)
class Program:
    """A process that is not ours. ``started`` is in seconds since the epoch."""

    pid: int
    name: str
    theirs: bool  # whether it is an AgentScope program
    started: float
    line: tuple[str, ...] = field(default=(), repr=False)
    cwd: str = ""
    files: tuple[str, ...] = field(default=(), repr=False)


def who_uses(root: str, left_ns: int = 0) -> Use | None:
    """The strongest sign that another program uses the workspace at ``root``, or None."""
    real = os.path.realpath(root)
    programs = _programs()
    for program in programs:
        if (path := _holds(program, real)) is not None:
            return Use("process", path, program.name, program.pid)
    newest, path = newest_change(root)
    ago = time.time() - newest / 1e9
    if newest <= left_ns or ago < -SKEW:
        return None
    seconds = max(0, int(ago))
    for program in programs:
        if program.theirs and newest / 1e9 >= program.started:
            return Use("since", path, program.name, program.pid, seconds)
    return Use("fresh", path, seconds=seconds) if ago < FRESH else None


def newest_change(root: str) -> tuple[int, str]:
    """When AgentScope's parts of a workspace changed last, in nanoseconds, and which; 0 when there
    are none. At most ``ENTRIES`` directories of sessions and of skills are looked at."""
    newest, where = 0, ""
    for path in _watched(root):
        with suppress(OSError):
            changed = os.stat(path, follow_symlinks=False).st_mtime_ns
            if changed > newest:
                newest, where = changed, path
    return newest, where


def _watched(root: str) -> Iterator[str]:
    for part in PARTS:
        yield os.path.join(root, part)
    for part, inner in (("sessions", "context.jsonl"), ("skills", ".index")):
        try:
            with os.scandir(os.path.join(root, part)) as found:
                for _, entry in zip(range(ENTRIES), found, strict=False):
                    yield entry.path
                    yield os.path.join(entry.path, inner)
        except OSError:
            continue


def _holds(program: Program, root: str) -> str | None:
    """What of the workspace a program has in its hands."""
    for path in program.files:
        if any(_inside(path, os.path.join(root, part)) for part in PARTS):
            return path
    if not program.theirs:
        return None  # a shell or an editor in the folder is the person's own
    if program.cwd and _inside(program.cwd, root):
        return program.cwd
    return root if any(_names(word, root) for word in program.line) else None


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _names(word: str, root: str) -> bool:
    """``/ws``, ``--workdir=/ws`` and ``/ws:/workspace:rw``, not ``/ws-2``."""
    at = word.find(root)
    end = word[at + len(root) : at + len(root) + 1]
    return at >= 0 and end in ("", os.sep, ":", "'", '"', ",", ";", ")")


_lock = threading.Lock()
_seen: tuple[float, list[Program]] = (-KEEP, [])


def _programs() -> list[Program]:
    """Every process of this computer that may be asked and is not ours; kept for ``KEEP``."""
    global _seen
    with _lock:
        at, found = _seen
        if time.monotonic() - at < KEEP:
            return found
        found = list(_look())
        _seen = (time.monotonic(), found)
        return found


def forget() -> None:
    """Look at the processes anew the next time."""
    global _seen
    with _lock:
        _seen = (-KEEP, [])


def _look() -> Iterator[Program]:
    import psutil

    ours = {os.getpid()}
    with suppress(psutil.Error):
        ours |= {child.pid for child in psutil.Process().children(recursive=True)}
    me = psutil.Process().username()
    for process in psutil.process_iter():
        if process.pid in ours:
            continue
        with suppress(psutil.Error, OSError), process.oneshot():
            line = tuple(process.cmdline())
            mine = process.username() == me
            theirs = _says_so(line) or (mine and _loaded(process.pid, process.name()))
            cwd, files = "", ()
            if mine and sys.platform != "win32":  # on Windows a handle may hang who asks for it
                with suppress(psutil.Error, OSError):
                    files = tuple(file.path for file in process.open_files())
            if theirs:
                with suppress(psutil.Error, OSError):
                    cwd = process.cwd()
            if theirs or files:
                yield Program(
                    process.pid, process.name(), theirs, process.create_time(), line, cwd, files
                )


def _says_so(line: tuple[str, ...]) -> bool:
    return any("agentscope" in word or "_mcp_gateway_app" in word for word in line)


def _loaded(pid: int, name: str) -> bool:
    """Whether a Python process has libraries of an environment with AgentScope loaded."""
    if not sys.platform.startswith("linux") or not name.startswith(("python", "uvicorn", "gunic")):
        return False
    places: set[str] = set()
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for row in maps:
                at, cut, _ = row[row.find("/") :].partition("/site-packages/")
                if cut:
                    places.add(at + cut)
    except OSError:
        return False
    return any(os.path.isdir(os.path.join(place, "agentscope")) for place in places)
