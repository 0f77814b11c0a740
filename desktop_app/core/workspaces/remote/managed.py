"""A workspace on a machine that we bring up and put away: a container, a sandbox.

What it does with files is what every workspace does (``LocalWorkspace`` over a ``RemoteBackend``);
here is what there is besides: its machine's state, bringing it up with progress when it is first
used, and what its owner can do with it.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.opened_folder import State

from .backend import RemoteBackend
from .channel import Channel
from .machine import Machine as Machine
from .machine import Progress as Progress
from .machine import Stage as Stage
from .machine import Status as Status
from .machine import Usage as Usage
from .tree_tar import Digests, Moved, counted, pack, unpack

log = logging.getLogger(__name__)

RESUME_SECONDS, LOOK_SECONDS = 5.0, 0.05

Tell = Callable[[Progress], None]
Tally = Callable[[Moved], None]
_only_looking: ContextVar[bool] = ContextVar("only_looking", default=False)


@contextmanager
def looking() -> Generator[None]:
    """Around what must never bring a machine up: a list that counts, a page that shows, servers
    that are kept running. What would need one that stands still raises WorkspaceError
    ``workspace.asleep`` instead, also when it was paused only a moment ago."""
    token = _only_looking.set(True)
    try:
        yield
    finally:
        _only_looking.reset(token)


class ManagedWorkspace(LocalWorkspace):
    """See the module. A subclass says what its machine is (the methods without a body).

    Opening one looks, and starts nothing: its state is ``stopped``, ``paused``, ``ready`` or
    ``error``; ``stopped`` with the code ``workspace.machine_gone`` when the machine it ``had`` is
    not there any more. The first operation that needs its files brings it up.

    ``theirs`` is the workspace's id at AgentScope when AgentScope made the machine. It is then only
    looked into while it runs, and nothing in it or about it is changed, until ``open_anyway``: its
    state is ``readonly`` with the code ``workspace.theirs``, or ``missing`` when there is no such
    machine. Never is one made in its place.
    """

    def __init__(
        self, kind: str, workdir: str, *, env: dict[str, str], theirs: str = "", **more: Any
    ) -> None:
        self.theirs = theirs
        self._anyway = False
        self._put_up = False  # whether it runs because of us
        self.had = ""  # the name of the machine that it had when last seen, kept by the owner
        self._remote = RemoteBackend(kind, workdir, self._channel, env=env)
        self._remote.refuse = self.check_theirs
        super().__init__(workdir, backend=self._remote, **more)
        self._machine = Machine("absent")
        self._changing = asyncio.Lock()
        self._changes = 0  # how often it was put away
        self._watchers: list[Tell] = []
        self._woken: list[Callable[[], None]] = []

    # -- what a subclass says --------------------------------------------------------------------

    @abstractmethod
    async def look(self) -> Machine:
        """The machine as it is now. Never raises for what is wrong with it."""

    @abstractmethod
    async def _bring_up(self, tell: Tell) -> None:
        """Make it run: whatever is missing is made. WorkspaceError."""

    @abstractmethod
    async def _connect(self) -> Channel:
        """Start a far end in the running machine."""

    @abstractmethod
    async def _pause(self) -> None: ...

    @abstractmethod
    async def _stop(self) -> None: ...

    @abstractmethod
    async def _discard(self) -> None: ...

    @abstractmethod
    async def rebuild(self) -> WorkspaceInfo:
        """A new machine, as the settings say now; what is only in the old one is gone."""

    @abstractmethod
    def set_spec(self, spec: Any) -> None:
        """Other settings, of the subclass's kind."""

    @abstractmethod
    async def loss(self) -> tuple[int | None, str]:
        """Bytes that are only in the machine (None: unknown), and the folder whose files stay."""

    async def disk(self) -> int | None:
        """Bytes that it takes beside its image, asked of the engine; None where ``usage`` tells, or
        there is no machine. Slow (the engine walks through all files): ask rarely. WorkspaceError.
        """
        return None

    @abstractmethod
    def usage(self) -> AsyncGenerator[Usage]:
        """Measurements as they come, about one a second, until the machine is down."""

    @abstractmethod
    def logs(self, *, lines: int = 500, follow: bool = False) -> AsyncGenerator[str]:
        """Lines of the machine's own output, oldest first."""

    # -- machines of AgentScope ------------------------------------------------------------------

    @property
    def guarded(self) -> bool:
        """Whether it is AgentScope's and the person did not say that it may be changed."""
        return bool(self.theirs) and not self._anyway

    @property
    def held(self) -> bool:
        return self.guarded or super().held

    def check_theirs(self) -> None:
        """Raise WorkspaceError ``workspace.theirs`` while nothing may be changed."""
        if self.guarded:
            name = self._machine.name or self._name
            raise WorkspaceError("workspace.theirs", retryable=True, machine=name, id=self.theirs)

    def check_ours(self) -> None:
        """Raise WorkspaceError ``workspace.not_ours`` for a machine that only AgentScope can make
        anew or make differently."""
        if self.theirs:
            raise WorkspaceError("workspace.not_ours", name=self._name)

    def check_free(self) -> None:
        self.check_theirs()
        super().check_free()

    async def open_anyway(self) -> None:
        self._anyway = True
        await super().open_anyway()

    @property
    def ours_to_end(self) -> bool:
        """Whether closing the workspace puts the machine away: not when it is AgentScope's and ran
        before we came."""
        return not self.theirs or self._put_up

    # -- whole directories -----------------------------------------------------------------------

    async def upload(
        self, source: Path, folder: str, *, verify: bool = True, tell: Tally | None = None
    ) -> Moved:
        """Bring a directory of this computer into ``folder`` of the machine, under its own name.
        With ``verify`` every file's digest is compared after. WorkspaceError ``file.*``,
        ``disk.full``, ``transfer.differs`` with the first ``path`` that did not come over whole."""
        await self._up()
        moved = Moved()
        await self._remote.mkdir(folder)
        await self._send_tree(source, self._remote.path(folder), moved, verify, tell)
        if verify:
            there = await self._remote.digests(f"{self._remote.path(folder)}/{source.name}")
            _compare(moved.digests, there, str(source))
        return moved

    async def download(
        self, folder: str, target: Path, *, verify: bool = True, tell: Tally | None = None
    ) -> Moved:
        """Bring a directory of the machine here as ``target``, which must not exist: whole, or not
        at all. What may not be brought (devices, links out of it) is in ``left_out``.
        WorkspaceError ``file.*``, ``disk.full``, ``transfer.broken``, ``transfer.differs``."""
        await self._up()
        moved = Moved()
        path = self._remote.path(folder)
        async with aclosing(self._fetch(path)) as tar:
            await unpack(counted(tar, moved, tell), target, moved, digests=verify)
        if verify:
            there = await self._remote.digests(path)
            _compare(there, moved.digests, folder)
        return moved

    async def _owner(self) -> tuple[int, int]:
        """Uid and gid of what is brought in."""
        return 0, 0

    async def _send_tree(
        self, source: Path, folder: str, moved: Moved, digests: bool, tell: Tally | None
    ) -> None:
        async with aclosing(pack(source, moved, digests=digests, owner=await self._owner())) as tar:
            await self._send(folder, counted(tar, moved, tell))

    async def _send(self, folder: str, tar: AsyncGenerator[bytes]) -> None:
        await self._remote.unpack(folder, tar)

    async def _fetch(self, path: str) -> AsyncGenerator[bytes]:
        async with aclosing(self._remote.pack(path)) as pieces:
            async for piece in pieces:
                yield piece

    # -- life cycle ------------------------------------------------------------------------------

    @property
    def machine(self) -> Machine:
        """As it was when last looked at."""
        return self._machine

    @property
    def remote(self) -> RemoteBackend:
        """The connection to the machine, for what only a machine has (its gateway)."""
        return self._remote

    @property
    def awake(self) -> bool:
        """Whether its files can be had without bringing the machine up."""
        return self._state in ("ready", "readonly")

    def watch_progress(self, tell: Tell) -> Callable[[], None]:
        """Hear of every bringing up, whoever asked for it; returns the way to stop."""
        self._watchers.append(tell)
        return lambda: self._watchers.remove(tell)

    def _tell(self, progress: Progress) -> None:
        for watcher in list(self._watchers):
            watcher(progress)

    def listen_awake(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Hear each time that ``awake`` becomes true; returns the way to stop."""
        self._woken.append(heard)
        return lambda: self._woken.remove(heard)

    def _set(self, state: State, **params: Any) -> None:
        if self._machine.status not in ("absent", "failed"):
            self.had = self._machine.name
        slept = not self.awake
        super()._set(state, **params)
        if slept and self.awake:
            for heard in list(self._woken):
                heard()

    async def _channel(self) -> Channel:
        if _only_looking.get():
            if not self._changing.locked():
                self._machine = await self.look()
                if self._machine.status != "running":
                    self._shown()
            if self._changing.locked() or self._machine.status != "running":
                raise WorkspaceError("workspace.asleep", retryable=True, name=self._name)
        self._tell(Progress("connect"))
        try:
            return await self._connect()
        except WorkspaceError:
            if not await self._up_again():
                raise
        return await self._connect()

    async def _up_again(self) -> bool:
        """Bring up a machine that went down since it was looked at: somebody killed or paused it,
        and whoever works in it goes on. One that is gone is not made anew behind their back."""
        if _only_looking.get() or self.guarded or self._changing.locked():
            return False
        async with self._changing:
            self._machine = await self.look()
            if self._machine.status not in ("stopped", "paused"):
                return False
            await self._bring_up(self._tell)
            self._put_up = True
            self._machine = await self.look()
            return True

    async def start(self) -> WorkspaceInfo:
        """Bring the machine up; whoever asks meanwhile waits for the same. Cancelling it leaves
        what was made so far for the next time. WorkspaceError when it cannot be."""
        async with self._changing:
            self._machine = await self.look()
            if self._machine.status != "running":
                self._check_there()
                self._set("starting")
                try:
                    await self._bring_up(self._tell)
                    self._put_up = True
                except BaseException as error:
                    self._machine = await self.look()
                    self._shown(error if isinstance(error, WorkspaceError) else None)
                    raise
        return await self._resumed()

    def _check_there(self) -> None:
        """Whether it may be brought up; one of AgentScope's is never made anew."""
        if not self.theirs or self._machine.status == "failed":
            return
        if self._machine.status == "absent":
            self._shown()
            raise WorkspaceError("workspace.theirs_gone", retryable=True, name=self._name)
        self.check_theirs()

    async def _resumed(self) -> WorkspaceInfo:
        """An engine may still tell of the pause for a moment: its own notice of it comes late."""
        info = await self._refreshed()
        for _ in range(int(RESUME_SECONDS / LOOK_SECONDS)):
            if info.state != "paused":
                break
            await asyncio.sleep(LOOK_SECONDS)
            info = await self._refreshed()
        return info

    async def pause(self) -> WorkspaceInfo:
        """Keep the machine as it is, without using the CPU."""
        return await self._change(self._pause)

    async def stop(self) -> WorkspaceInfo:
        """End its processes, ours first; its files stay."""
        return await self._change(self._stop)

    async def remove(self) -> WorkspaceInfo:
        """Remove the machine with all files that are only in it."""
        return await self._change(self._removed)

    async def _removed(self) -> None:
        await self._discard()
        self.had = ""

    async def _change(self, work: Callable[[], Any]) -> WorkspaceInfo:
        self.check_theirs()
        async with self._changing:
            self._changes += 1
            await self._remote.hang_up()
            await work()
        return await self._refreshed()

    async def refresh(self) -> WorkspaceInfo:
        """As in the interface: a machine that is not running is told, not started. While it is
        being changed nothing is said of it: whoever changes it looks at it afterwards."""
        return self.info if self._changing.locked() else await self._refreshed()

    async def _refreshed(self) -> WorkspaceInfo:
        """Look until nobody put the machine away meanwhile: what failed because of that is no
        error of the workspace."""
        changes = -1
        while not self._closed and changes != self._changes:
            changes = self._changes
            self._machine = await self.look()
            if self._machine.status != "running":
                self._shown()
                continue
            with looking():  # it may be put away, or its time be over, while this looks at it
                await super().refresh()
            if self._params.get("code") == "workspace.asleep":
                async with self._changing:  # whoever changes it is through then
                    changes = -1  # look again
            if self.guarded and self._state == "ready":
                self._set("readonly", code="workspace.theirs", machine=self._machine.name)
        return self.info

    def _shown(self, error: WorkspaceError | None = None) -> None:
        machine = self._machine
        if error is not None:
            self._set_error(error)
        elif machine.status == "failed":
            self._set("error", **{**(machine.params or {}), "code": machine.code})
        elif self.theirs and machine.status == "absent":
            self._set("missing", code="workspace.theirs_gone")
        elif machine.status == "absent" and self.had:
            self._set("stopped", code="workspace.machine_gone", machine=self.had)
        elif machine.status == "paused":
            self._set("paused")
        else:
            self._set("stopped")

    async def changed(self) -> bool:
        """Whether the machine is not what ``info.state`` says. Cheap: it is asked once."""
        if self._closed or self._changing.locked():
            return False
        before, self._machine = self._machine, await self.look()
        if before.status != self._machine.status:
            return True
        return self._machine.status == "running" and await super().changed()

    @asynccontextmanager
    async def _use(self, *, write: bool = False) -> AsyncGenerator[None]:
        await self._up()
        async with super()._use(write=write):
            yield

    async def _up(self) -> None:
        """Before an operation: a machine that stands still is brought up, one that is broken is
        looked at again."""
        if not self._closed and self._state not in ("ready", "readonly"):
            if _only_looking.get():
                raise WorkspaceError("workspace.asleep", retryable=True, name=self._name)
            await self.start()


def _compare(sent: Digests, there: Digests, where: str) -> None:
    for path, digest in sent.items():
        if there.get(path) != digest:
            raise WorkspaceError("transfer.differs", retryable=True, path=path, folder=where)
