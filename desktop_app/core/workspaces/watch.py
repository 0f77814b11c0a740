"""Noticing that something changed in a workspace's folder, for lists that are on the screen.

A folder on this computer is watched by the system, each directory by itself: a recursive watch
would also take every directory of ``node_modules`` and the like, which are left out here. Over
``CAP`` directories, or past the system's limit, only what is visible is looked at from time to
time, and ``code`` says ``watch.too_many``. A remote backend is always looked at.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing, suppress
from typing import Literal, Protocol

from desktop_app.core.errors import WorkspaceError

from .backend import Backend

CAP = 30_000  # directories
IGNORED = frozenset(
    {".git", ".hg", ".svn", ".jj", ".idea", ".gradle", ".terraform", ".cache", ".next"}
    | {"node_modules", "bower_components", ".venv", "venv", "target", "dist", "build"}
    | {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
    | {".tox", ".nox", ".eggs"}
)
POLL_SECONDS = 2.0
STEP_MS = 200  # the watcher's own pause; a thread that wakes five times a second costs nothing
CHECK_MS = 3000  # without changes, how often the folder itself is looked for


def directories(root: str, cap: int = CAP) -> list[str] | None:
    """``root`` and every directory below that is worth watching; None when there are more than
    ``cap``. Links are not followed. Blocking."""
    found = [root]
    for path in found:  # grows while we walk it: breadth first
        with suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                if entry.name not in IGNORED and entry.is_dir(follow_symlinks=False):
                    found.append(entry.path)
            if len(found) > cap:
                return None
    return found


Report = Callable[[set[str]], None]


class Notifier(Protocol):
    """What we use of watchfiles' watcher."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None
    ) -> set[tuple[int, str]] | str: ...

    def close(self) -> None: ...


class FolderWatch:
    """``changes`` yields the directories (relative to the folder, ``.`` for itself) in which
    something changed. ``show`` tells which ones are on the screen, for when only those are looked
    at. ``mode`` is how it is done now, ``code`` why it is not better."""

    def __init__(
        self, backend: Backend, *, cap: int = CAP, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self._backend = backend
        self._root = backend.cwd
        self._cap = cap
        self._poll_seconds = poll_seconds
        self._visible: set[str] = {"."}
        self._stop = threading.Event()
        self._wake = asyncio.Event()
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self.mode: Literal["off", "watch", "poll"] = "off"
        self.code: str | None = None

    def show(self, visible: Iterable[str]) -> None:
        """Directories on the screen, relative to the folder."""
        self._visible = {".", *visible}

    async def changes(self) -> AsyncGenerator[frozenset[str]]:
        """Until it is closed. A folder that goes away is a change of ``.``, its return too."""
        if self._backend.kind == "local":
            async with aclosing(self._watched()) as changes:
                async for changed in changes:
                    yield changed
        async with aclosing(self._polled()) as changes:
            async for changed in changes:
                yield changed

    # -- by the system -----------------------------------------------------------------------

    async def _watched(self) -> AsyncGenerator[frozenset[str]]:
        """Ends when the system cannot do it."""
        loop = asyncio.get_running_loop()
        self._stop.clear()
        ended = asyncio.Event()

        def call(event: asyncio.Event) -> None:
            with suppress(RuntimeError):  # the loop is gone
                loop.call_soon_threadsafe(event.set)

        def report(paths: set[str]) -> None:
            if not paths:
                return
            with self._lock:
                self._changed |= paths
            call(self._wake)

        def main() -> None:
            try:
                self._watch(report)
            finally:
                call(ended)
                call(self._wake)

        threading.Thread(target=main, name="slipway-watch", daemon=True).start()
        try:
            while not ended.is_set():
                await self._wake.wait()
                self._wake.clear()
                with self._lock:
                    changed, self._changed = frozenset(self._changed), set()
                if changed:
                    yield changed
        finally:
            self._stop.set()

    def _watch(self, report: Report) -> None:
        """In a thread, until told to stop; returns when there is too much to watch."""
        known: set[str] | None = None
        old: tuple[Notifier, set[str]] | None = None
        while not self._stop.is_set():
            if not os.path.isdir(self._root):
                if known != set():
                    known = set()  # whatever comes back is new
                    report({"."})
                self._stop.wait(self._poll_seconds)
                continue
            started = time.monotonic()
            opened = self._open()
            if old is not None:  # the new one watches already: nothing is missed in between
                self._report_events(old[0].watch(1, 1, 1, self._stop), old[1], report)
                old[0].close()
                old = None
            if opened is None:
                if self.code is not None:
                    return
                continue
            watcher, watched = opened
            self.mode = "watch"
            now = set(directories(self._root, self._cap) or watched)
            new = now - (watched if known is None else known)
            known = now
            report({self._relative(os.path.dirname(path)) for path in new})
            report({self._relative(path) for path in new})
            if now <= watched:
                self._follow(watcher, watched, time.monotonic() - started, report)
            old = watcher, watched
        if old is not None:
            old[0].close()

    def _open(self) -> tuple[Notifier, set[str]] | None:
        """A watcher of all directories there are; None when it cannot be, with ``code``, or when
        they are just changing."""
        from watchfiles._rust_notify import RustNotify

        paths = directories(self._root, self._cap)
        if paths is None:
            self.code = "watch.too_many"
            return None
        try:
            return RustNotify(paths, False, False, 300, False, True), set(paths)
        except FileNotFoundError:  # one of them went away meanwhile
            return None
        except OSError:  # the system's limit of watches
            self.code = "watch.too_many"
            return None

    def _follow(self, watcher: Notifier, watched: set[str], cost: float, report: Report) -> None:
        """Report changes until the set of directories is another one. Watching anew takes ``cost``
        seconds: while directories keep coming it is done for a fifth of the time at most."""
        identity = self._identity()
        until = 0.0
        while not until or time.monotonic() < until:
            wait = max(1, int((until - time.monotonic()) * 1000)) if until else CHECK_MS
            raw = watcher.watch(1000, STEP_MS, wait, self._stop)
            if raw in ("stop", "signal"):
                return
            structure = self._report_events(raw, watched, report)
            here = self._identity()
            if here != identity:
                return
            if structure and not until:
                until = time.monotonic() + 4 * cost

    def _identity(self) -> int:
        """Tells the folder from another one that took its place; 0 when there is none."""
        try:
            return os.stat(self._root).st_ino
        except OSError:
            return 0

    def _report_events(
        self, raw: set[tuple[int, str]] | str, watched: set[str], report: Report
    ) -> bool:
        """Whether a directory came or went."""
        if isinstance(raw, str):
            return False
        changed: set[str] = set()
        structure = False
        for _, path in raw:
            parent, name = os.path.split(path)
            if name in IGNORED or name.startswith(".slipway-"):
                continue
            changed.add(self._relative(parent if parent in watched else path))
            structure = structure or path in watched or os.path.isdir(path)
        report(changed)
        return structure

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")

    # -- by looking --------------------------------------------------------------------------

    async def _polled(self) -> AsyncGenerator[frozenset[str]]:
        self.mode = "poll"
        known: dict[str, frozenset[tuple[str, str]]] = {}
        while True:
            changed: set[str] = set()
            for path in sorted(self._visible):
                listing = await self._listing(path)
                if known.get(path, listing) != listing:
                    changed.add(path)
                known[path] = listing
            for path in set(known) - self._visible:
                del known[path]
            if changed:
                yield frozenset(changed)
            await asyncio.sleep(self._poll_seconds)

    async def _listing(self, path: str) -> frozenset[tuple[str, str]]:
        """Names and versions; of a directory the name alone, its own content may not be shown."""
        found: set[tuple[str, str]] = set()
        try:
            async with aclosing(self._backend.scandir(path)) as batches:
                async for batch in batches:
                    for info in batch:
                        found.add((info.name, "" if info.kind == "dir" else info.version))
        except WorkspaceError as error:
            return frozenset({("", error.code)})
        return frozenset(found)
