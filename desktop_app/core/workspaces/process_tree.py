"""Ending a process with everything it started.

The process leads a session of its own. What it started may leave that group (``setsid``) or even
its tree (a daemon's double fork), so the kill goes to the group, to the descendants known before,
and to whatever still carries our mark in its environment. All functions block.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

MARK = "SLIPWAY_RUN"
TERM_SECONDS = 0.3  # between asking and killing: time for git to remove its lock files
DRAIN_SECONDS = 2.0


def group_members(pgid: int) -> list[psutil.Process]:
    """Processes still in a group whose leader ended: what a command left in the background."""
    if sys.platform == "win32":
        return []
    try:
        os.killpg(pgid, 0)
    except (ProcessLookupError, PermissionError):
        return []
    import psutil

    found: list[psutil.Process] = []
    for proc in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if os.getpgid(proc.pid) == pgid:
                found.append(proc)
    return found


def end_group(pgid: int, mark: str) -> int:
    """Kill what is in a group and carries ``mark``: of a command that ended, whatever it left and
    what that started since. How many processes that were."""
    ended: set[int] = set()
    for _ in range(3):  # what forks while we kill is met in the next round
        carrying = {proc.pid for proc in marked(mark)}
        found = [p for p in group_members(pgid) if p.pid in carrying] if carrying else []
        if not found:
            break
        ended.update(proc.pid for proc in found)
        kill_all(found)
    return len(ended)


def kill_tree(proc: subprocess.Popen[bytes], mark: str) -> None:
    """Ask, then kill: the group, its descendants, and strays that carry ``mark``. Blocking."""
    import psutil

    known: list[psutil.Process] = []
    with suppress(psutil.Error):
        known = psutil.Process(proc.pid).children(recursive=True)
    if sys.platform == "win32":
        proc.kill()
    elif proc.returncode is None:  # collected already: its number may be somebody else's
        _signal_group(proc.pid, signal.SIGTERM)
        for child in known:
            with suppress(psutil.Error):
                child.terminate()
        # Not collected before the group got its last signal: the number stays ours.
        _wait_unreaped(proc.pid, TERM_SECONDS)
        _signal_group(proc.pid, signal.SIGKILL)
    for _ in range(3):  # what forks while we kill is met in the next round
        if not (known := [*known, *marked(mark)]):
            break
        kill_all(known)
        known = []
    with suppress(subprocess.TimeoutExpired):
        proc.wait(DRAIN_SECONDS)


def _signal_group(pgid: int, sig: int) -> None:
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pgid, sig)


def _wait_unreaped(pid: int, seconds: float) -> None:
    """Wait for a child's end without collecting it."""
    if sys.platform == "win32":
        return
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return
        except ChildProcessError:
            return
        time.sleep(0.005)


def kill_all(processes: list[psutil.Process]) -> None:
    import psutil

    for child in processes:
        with suppress(psutil.Error):  # psutil checks the start time: a reused pid is left alone
            child.kill()


def end_marked(marks: list[str]) -> int:
    """Kill what still carries one of ``marks``; how many processes that were."""
    ended: set[int] = set()
    for _ in range(3):  # what forks while we kill is met in the next round
        if not (found := marked(*marks)):
            break
        ended.update(proc.pid for proc in found)
        kill_all(found)
    return len(ended)


def marked(*marks: str) -> list[psutil.Process]:
    """Living processes whose environment carries one of our marks."""
    import psutil

    wanted = {mark for mark in marks if mark}
    found: list[psutil.Process] = []
    me = os.getpid()
    for proc in psutil.process_iter() if wanted else ():
        if proc.pid == me:
            continue
        with suppress(psutil.Error, OSError):
            if proc.environ().get(MARK) in wanted and proc.status() != psutil.STATUS_ZOMBIE:
                found.append(proc)
    return found
