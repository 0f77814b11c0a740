"""One process of the local backend: started, pumped and killed by a thread of its own.

A thread and plain pipes rather than asyncio's subprocess: starting a process can take many
milliseconds and must not hold the loop, and it works the same on every event loop (Qt's, too).
"""

from __future__ import annotations

import asyncio
import errno
import os
import selectors
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Literal

from desktop_app.core.errors import SlipwayError, WorkspaceError

from .backend import OutputChunk, ProcessExit
from .process_tree import DRAIN_SECONDS, MARK, group_members, kill_tree

if TYPE_CHECKING:
    import psutil

PIECE = 1 << 16
BUFFER = 1 << 20  # bytes waiting for the consumer before we stop reading
POLL_SECONDS = 0.05  # where a process's end cannot be selected on

Stream = Literal["stdout", "stderr"]


class LocalProcess:
    """Start with ``start``; take ``next`` until ProcessExit; ``kill`` at any time."""

    def __init__(
        self,
        argv: list[str],
        *,
        cwd: str,
        env: dict[str, str],
        stdin: bytes | None,
        timeout: float | None,
        mark: str | None = None,
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self.mark = mark or uuid.uuid4().hex
        self._env = {**env, MARK: self.mark}
        self.stdin = stdin
        self._timeout = timeout
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._lock = threading.Lock()
        self._items: deque[OutputChunk | ProcessExit | SlipwayError] = deque()
        self._buffered = 0
        self.room = threading.Event()
        self.room.set()
        self.killed = threading.Event()
        self.wake_r, self._wake_w = -1, -1
        self.ended = asyncio.Event()
        self.survivors: list[psutil.Process] = []
        self.group = 0  # of it and of them
        self._thread = threading.Thread(target=self._main, name="slipway-process", daemon=True)

    def start(self) -> None:
        self._thread.start()

    # -- the loop's side ---------------------------------------------------------------------

    async def next(self) -> OutputChunk | ProcessExit:
        """The next piece of output (neighbours merged), at last how it ended."""
        while True:
            with self._lock:
                if self._items:
                    return self._take()
                self._ready.clear()
            await self._ready.wait()

    def _take(self) -> OutputChunk | ProcessExit:
        item = self._items.popleft()
        if isinstance(item, SlipwayError):
            raise item
        if isinstance(item, ProcessExit):
            return item
        pieces = [item.data]
        while self._items:
            after = self._items[0]
            if not isinstance(after, OutputChunk) or after.stream != item.stream:
                break
            pieces.append(after.data)
            self._items.popleft()
        data = b"".join(pieces)
        self._buffered -= len(data)
        self.room.set()
        return OutputChunk(item.stream, data)

    def kill(self) -> None:
        """End the whole tree; returns at once, ``ended`` tells when it is done."""
        self.killed.set()
        self.room.set()
        with self._lock:
            if self._wake_w >= 0:
                with suppress(OSError):
                    os.write(self._wake_w, b"k")

    # -- the thread's side -------------------------------------------------------------------

    def put(self, item: OutputChunk | ProcessExit | SlipwayError) -> None:
        with self._lock:
            self._items.append(item)
            if isinstance(item, OutputChunk):
                self._buffered += len(item.data)
                if self._buffered >= BUFFER:
                    self.room.clear()
        self._call(self._ready.set)

    def _call(self, callback: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the loop is gone, and with it whoever waited
            self.killed.set()

    def _main(self) -> None:
        started = time.monotonic()
        end: ProcessExit | SlipwayError = ProcessExit(-9, False, 0.0)
        try:
            proc = self._spawn()
            deadline = None if self._timeout is None else started + self._timeout
            timed_out = Pump(self, proc, deadline).run()
            code = proc.poll()
            seconds = time.monotonic() - started
            end = ProcessExit(-9 if code is None else code, timed_out, seconds)
        except SlipwayError as error:
            end = error
        finally:
            with self._lock:
                for fd in (self.wake_r, self._wake_w):
                    if fd >= 0:
                        os.close(fd)
                self.wake_r = self._wake_w = -1
            self.put(end)
            self._call(self.ended.set)

    def _spawn(self) -> subprocess.Popen[bytes]:
        flags = 0
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        else:
            self.wake_r, self._wake_w = os.pipe()
            os.set_blocking(self._wake_w, False)
        if not os.path.isdir(self._cwd):
            if os.path.lexists(self._cwd):
                raise WorkspaceError("file.not_dir", path=self._cwd)
            raise WorkspaceError("file.missing", path=self._cwd)
        program = self._argv[0] if self._argv else ""
        try:
            return self._popen(flags)
        except (FileNotFoundError, IndexError) as error:
            raise WorkspaceError("exec.missing", program=program) from error
        except PermissionError as error:
            raise WorkspaceError("exec.denied", program=program) from error
        except (OSError, ValueError, TypeError) as error:
            if getattr(error, "errno", None) == errno.E2BIG:
                raise WorkspaceError("exec.too_long", program=program) from error
            raise WorkspaceError("exec.failed", program=program, detail=str(error)) from error

    def _popen(self, flags: int) -> subprocess.Popen[bytes]:
        tries = 0
        while True:
            try:
                return subprocess.Popen(
                    self._argv,
                    cwd=self._cwd,
                    env=self._env,
                    stdin=subprocess.DEVNULL if self.stdin is None else subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    creationflags=flags,
                    start_new_session=sys.platform != "win32",
                )
            except OSError as error:
                # A program just written: a process that another thread forked in that moment
                # still has it open, until its exec.
                tries += 1
                if error.errno != errno.ETXTBSY or tries > 5:
                    raise
                time.sleep(0.02)


class Pump:
    """Moves bytes between one process and its consumer until it ends."""

    def __init__(
        self, owner: LocalProcess, proc: subprocess.Popen[bytes], deadline: float | None
    ) -> None:
        self._o = owner
        self._proc = proc
        self._deadline = deadline
        self._drain_until: float | None = None
        self._timed_out = False
        self._killing = False
        self._input = memoryview(owner.stdin or b"")
        self._stdin_fd = -1
        self._pipes: dict[int, tuple[IO[bytes], Stream]] = {}

    def run(self) -> bool:
        """Whether the timeout ended it."""
        try:
            if sys.platform == "win32":
                self._run_threads()
            else:
                self._run_select()
        finally:
            if self._proc.poll() is None:
                kill_tree(self._proc, self._o.mark)
            self._close()
        self._o.group = self._proc.pid
        if not self._killing and sys.platform != "win32":
            self._o.survivors = group_members(self._proc.pid)
        return self._timed_out

    def _close(self) -> None:
        for pipe in (self._proc.stdin, self._proc.stdout, self._proc.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._proc.wait(DRAIN_SECONDS)

    def _run_select(self) -> None:
        with selectors.DefaultSelector() as selector:
            pidfd = self._register(selector)
            try:
                while self._pipes or self._proc.poll() is None:
                    self._check_end(selector, pidfd)
                    if self._expired():
                        return
                    self._step(selector, pidfd)
            finally:
                if pidfd >= 0:
                    os.close(pidfd)

    def _register(self, selector: selectors.BaseSelector) -> int:
        streams: tuple[tuple[IO[bytes] | None, Stream], ...] = (
            (self._proc.stdout, "stdout"),
            (self._proc.stderr, "stderr"),
        )
        for pipe, name in streams:
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe.fileno(), selectors.EVENT_READ)
            self._pipes[pipe.fileno()] = (pipe, name)
        if self._proc.stdin is not None:
            self._stdin_fd = self._proc.stdin.fileno()
            os.set_blocking(self._stdin_fd, False)
            selector.register(self._stdin_fd, selectors.EVENT_WRITE)
        selector.register(self._o.wake_r, selectors.EVENT_READ)
        pidfd = -1
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                pidfd = os.pidfd_open(self._proc.pid)
                selector.register(pidfd, selectors.EVENT_READ)
        return pidfd

    def _check_end(self, selector: selectors.BaseSelector, pidfd: int) -> None:
        """Kill when it is time to; begin the bounded draining when the process is gone."""
        now = time.monotonic()
        late = self._deadline is not None and now >= self._deadline
        if not self._killing and (self._o.killed.is_set() or late):
            self._killing = True
            self._timed_out = late and not self._o.killed.is_set()
            kill_tree(self._proc, self._o.mark)
        if self._drain_until is None and (self._killing or self._proc.poll() is not None):
            self._drain_until = time.monotonic() + DRAIN_SECONDS
            if pidfd >= 0 and pidfd in selector.get_map():
                selector.unregister(pidfd)

    def _expired(self) -> bool:
        return self._drain_until is not None and time.monotonic() >= self._drain_until

    def _step(self, selector: selectors.BaseSelector, pidfd: int) -> None:
        if not self._o.killed.is_set() and not self._o.room.is_set():
            # The consumer is behind: let the pipe fill so that the process waits, too. What an
            # ended process left in the pipe is not lost to a slow consumer.
            self._o.room.wait(POLL_SECONDS)
            if self._drain_until is not None and not self._killing:
                self._drain_until = time.monotonic() + DRAIN_SECONDS
            return
        for key, _ in selector.select(self._wait(pidfd)):
            if key.fd == self._o.wake_r:
                os.read(self._o.wake_r, 64)
            elif key.fd in self._pipes:
                self._receive(selector, key.fd)
            elif key.fd == self._stdin_fd:
                self._feed(selector)

    def _wait(self, pidfd: int) -> float | None:
        until = self._drain_until if self._drain_until is not None else self._deadline
        wait = None if until is None else max(0.0, until - time.monotonic())
        if pidfd < 0 and self._drain_until is None:
            return POLL_SECONDS if wait is None else min(wait, POLL_SECONDS)
        return wait

    def _receive(self, selector: selectors.BaseSelector, fd: int) -> None:
        try:
            data = os.read(fd, PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            selector.unregister(fd)
            del self._pipes[fd]
        elif not self._o.killed.is_set():
            self._o.put(OutputChunk(self._pipes[fd][1], data))

    def _feed(self, selector: selectors.BaseSelector) -> None:
        stdin = self._proc.stdin
        assert stdin is not None
        try:
            if self._input:
                self._input = self._input[os.write(self._stdin_fd, self._input[:PIECE]) :]
        except BlockingIOError:
            return
        except OSError:  # it closed its input or is gone
            self._input = memoryview(b"")
        if not self._input:
            selector.unregister(self._stdin_fd)
            self._stdin_fd = -1
            with suppress(OSError):
                stdin.close()

    def _run_threads(self) -> None:
        """Windows cannot select on pipes: a thread for each."""
        workers = [
            threading.Thread(target=self._copy, args=(pipe, name), daemon=True)
            for pipe, name in ((self._proc.stdout, "stdout"), (self._proc.stderr, "stderr"))
        ]
        if self._proc.stdin is not None:
            workers.append(threading.Thread(target=self._copy_in, daemon=True))
        for worker in workers:
            worker.start()
        with selectors.DefaultSelector() as none:
            while any(w.is_alive() for w in workers) or self._proc.poll() is None:
                self._check_end(none, -1)
                if self._expired():
                    return
                time.sleep(POLL_SECONDS / 5)

    def _copy(self, pipe: IO[bytes], name: Stream) -> None:
        with suppress(OSError, ValueError):
            while data := pipe.read(PIECE):
                while not self._o.killed.is_set() and not self._o.room.wait(POLL_SECONDS):
                    pass
                if not self._o.killed.is_set():
                    self._o.put(OutputChunk(name, data))

    def _copy_in(self) -> None:
        stdin = self._proc.stdin
        assert stdin is not None
        with suppress(OSError, ValueError):
            stdin.write(self._input)
            stdin.close()
