"""The execution backend contract: how anything above reaches a workspace's files and processes.

Written for remote backends from the start: everything is async, paths are POSIX and absolute *as
the backend sees them*, sizes are bounded by streams, and nothing above this contract touches the
host's file system. Backends: a folder on this computer, a Docker container, an E2B sandbox.

Errors (all ``WorkspaceError`` unless said otherwise): ``file.missing``, ``file.is_dir``,
``file.not_dir``, ``file.exists``, ``file.denied``, ``file.special`` (FIFO, device, socket: never
opened), ``file.too_large``, ``disk.full``, ``disk.readonly``, ``backend.unreachable`` (retryable),
``backend.closed``, ``file.changed`` (not the ``expect``ed version), ``file.not_empty``,
``file.busy`` (locked by another, retryable), ``file.bad_name``, ``file.loop``, ``file.failed``
(anything else of the system), ``disk.full`` is retryable. Params carry ``path``. Processes:
``exec.missing``, ``exec.denied``, ``exec.too_long``, ``exec.failed`` with ``program``. What streams
is an async generator, consumed with ``contextlib.aclosing``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

FileKind = Literal["file", "dir", "link", "special"]


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What is known of one path. ``mtime_ns`` may be whole seconds on remote backends, so two
    versions are told apart by ``version``: an opaque string that differs when the content may
    differ (mtime, size and inode locally)."""

    path: str
    name: str
    kind: FileKind
    size: int
    mtime_ns: int
    mode: int
    version: str
    target: str | None = None  # of a link, resolved and absolute, when it exists


Version = str | tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Looked:
    """A regular file as ``look`` found it: ``info`` of the descriptor that was read (its ``path``
    has its links resolved), ``data`` from its first byte, ``whole`` when that is all of it.
    ``beside`` are the other paths that were asked for, links resolved."""

    info: FileInfo
    data: bytes
    whole: bool
    beside: list[str]


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """A piece of a running process's output."""

    stream: Literal["stdout", "stderr"]
    data: bytes


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a process ended: ``code`` is negative for a signal; ``timed_out`` when we killed it."""

    code: int
    timed_out: bool
    seconds: float


ProcessEvent = OutputChunk | ProcessExit


@dataclass(frozen=True, slots=True)
class ExecResult:
    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool
    seconds: float


async def collected(stream: AsyncGenerator[ProcessEvent], max_bytes: int) -> ExecResult:
    """What a process said and how it ended; output past ``max_bytes`` is dropped and told."""
    kept: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
    left, truncated = max_bytes, False
    ended = ProcessExit(-1, False, 0.0)
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, OutputChunk):
                truncated = truncated or len(event.data) > left
                kept[event.stream].append(event.data[:left])
                left -= len(kept[event.stream][-1])
            else:
                ended = event
    out, err = b"".join(kept["stdout"]), b"".join(kept["stderr"])
    return ExecResult(ended.code, out, err, ended.timed_out, truncated, ended.seconds)


class Backend(Protocol):
    """One place where an agent works. Safe to use from several tasks at once."""

    @property
    def kind(self) -> str:
        """``local``, ``docker``, ``e2b``."""
        ...

    @property
    def os_name(self) -> Literal["posix", "nt"]: ...

    @property
    def cwd(self) -> str:
        """The agent's working directory, absolute; relative paths are under it."""
        ...

    async def start(self) -> None:
        """Make it usable; idempotent."""
        ...

    async def close(self) -> None:
        """End every process started here and let go; idempotent."""
        ...

    def run(
        self,
        argv: list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        mark: str | None = None,
    ) -> AsyncGenerator[ProcessEvent]:
        """Run a program and stream its output; the last item is ``ProcessExit``.

        The process gets its own group; at the timeout (seconds), at ``aclose`` of the iterator and
        at cancellation the whole tree is killed and draining is bounded (2 s). ``argv`` is never
        passed through a shell. FileNotFoundError becomes ``exec.missing``. ``env`` is added to the
        backend's own environment. Without ``stdin`` the process reads an empty one. ``mark`` is a
        name of the caller's under which ``end_marked`` finds the tree, should we die first.
        """
        ...

    async def end_marked(self, marks: Sequence[str]) -> int:
        """End what an earlier process of ours left running under these names; how many there
        were."""
        ...

    async def exec(
        self,
        argv: list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        max_bytes: int = 4 << 20,
    ) -> ExecResult:
        """``run`` collected; output past ``max_bytes`` is dropped, ``truncated`` set."""
        ...

    async def stat(self, path: str, *, follow: bool = True) -> FileInfo: ...

    async def stat_many(self, paths: Sequence[str]) -> list[FileInfo | None]:
        """``stat`` (links followed) of each path in one go; None where it is not to be had."""
        ...

    async def versions(self, folder: str, names: Sequence[str]) -> list[Version]:
        """The version of each of ``names`` (normal paths below ``folder``, links followed), None
        where it is not to be had: whether any of very many files changed, at the least cost. To be
        compared with what this gave before and with nothing else."""
        ...

    async def access(self, path: str) -> tuple[bool, bool]:
        """Whether an existing path may be read (a directory: listed) and written."""
        ...

    def scandir(self, path: str) -> AsyncGenerator[list[FileInfo]]:
        """The entries of a directory in batches, unordered; links are not followed."""
        ...

    def read(
        self, path: str, *, offset: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        """The bytes of a regular file in pieces of at most 1 MiB. Never opens a special file."""
        ...

    async def read_bytes(self, path: str, *, max_bytes: int = 16 << 20) -> bytes:
        """A whole regular file; ``file.too_large`` over ``max_bytes``."""
        ...

    async def write(
        self,
        path: str,
        data: bytes | AsyncIterator[bytes],
        *,
        expect: str | None = None,
        create: bool = False,
        mode: int | None = None,
    ) -> FileInfo:
        """Replace a file whole: temporary file in the same directory, synced, renamed; parents are
        made; permission bits and a link's target are kept. ``expect`` is a ``version``: another one
        found is ``file.changed``, nothing written. ``create`` refuses an existing file
        (``file.exists``)."""
        ...

    async def append(self, path: str, data: bytes, *, plain: bool = False) -> int:
        """Append under a lock of the file and sync; returns the size before. A file that does not
        end in a newline gets one first, so that a torn line never swallows ours. ``plain``: the
        bytes just as they are, and not synced (a command's output)."""
        ...

    async def mkdir(self, path: str) -> None:
        """Make a directory and its parents; an existing one is fine."""
        ...

    async def rename(self, old: str, new: str, *, replace: bool = False) -> None: ...

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, link or (``recursive``) directory; links are removed, never followed."""
        ...

    async def realpath(self, path: str) -> str:
        """``path`` with links resolved as far as it exists; absolute."""
        ...

    async def realpaths(self, paths: Sequence[str]) -> list[str]:
        """``realpath`` of each in one go."""
        ...

    async def look(self, path: str, *, whole: int, head: int, beside: Sequence[str] = ()) -> Looked:
        """Resolve, stat and read a regular file in one go: all of it up to ``whole`` bytes, the
        first ``head`` bytes of a larger one. Refuses what ``read`` refuses."""
        ...
