"""Opened workspaces by id: each is opened once however many ask, kept while it is used and a while
after, closed in order.

Who shares a workspace is a policy (``Isolation``); how one is opened is the owner's function. One
slow opening (an image that is built) delays nobody who asks for another id.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import Tasks

log = logging.getLogger(__name__)

TTL_SECONDS = 3600.0


class Closable(Protocol):
    async def close(self) -> None: ...


W = TypeVar("W", bound=Closable)

Share = Literal["user", "agent", "session"]


@dataclass(frozen=True, slots=True)
class Isolation:
    """Who gets a workspace of their own: each user, each agent of a user, or each session.

    Ids are 32 hex digits of BLAKE2b over the parts, so that nothing a caller passes becomes a path
    and no two different keys meet.
    """

    share: Share = "agent"

    def workspace_id(self, user_id: str, agent_id: str, session_id: str) -> str:
        parts = {"user": 1, "agent": 2, "session": 3}[self.share]
        digest = hashlib.blake2b(digest_size=16, person=b"slipway-ws")
        for part in (user_id, agent_id, session_id)[:parts]:
            raw = part.encode()
            digest.update(len(raw).to_bytes(4, "big") + raw)
        return digest.hexdigest()


@dataclass(slots=True)
class _Entry(Generic[W]):
    opening: asyncio.Task[W]
    waiting: int = 0
    users: int = 0
    used_at: float = 0.0
    idle: asyncio.Event = field(default_factory=asyncio.Event)


class WorkspaceManager(Generic[W]):
    """See the module. ``open`` makes the workspace of an id, usable; what it raises is raised to
    everybody who waits, and the next who asks tries again. ``ttl`` is in seconds since the last use
    (None: for ever); ``sweep`` closes what is over it. Safe to use from one event loop."""

    def __init__(
        self,
        open: Callable[[str], Awaitable[W]],  # noqa: A002 - what it does
        *,
        ttl: float | None = TTL_SECONDS,
        isolation: Isolation | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open
        self._ttl = ttl
        self._isolation = isolation or Isolation()
        self._clock = clock
        self._entries: dict[str, _Entry[W]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))
        self._closed = False

    async def create_workspace(
        self, *, user_id: str, agent_id: str = "", session_id: str = ""
    ) -> tuple[str, W]:
        """The workspace that the policy gives these three, and its id."""
        workspace_id = self._isolation.workspace_id(user_id, agent_id, session_id)
        return workspace_id, await self.get_workspace(workspace_id)

    async def get_workspace(self, workspace_id: str) -> W:
        """The opened workspace. WorkspaceError ``backend.closed`` after ``close_all``."""
        if (closing := self._closing.get(workspace_id)) is not None:
            await asyncio.wait([closing])  # not two of one workspace at a time
        if self._closed:
            raise WorkspaceError("backend.closed", path=workspace_id)
        entry = self._entries.get(workspace_id)
        if entry is None:
            task = self._tasks.start(self._opened(workspace_id), name=f"open {workspace_id}")
            entry = self._entries[workspace_id] = _Entry(task)
        entry.waiting += 1
        try:
            workspace = await asyncio.shield(entry.opening)
        except asyncio.CancelledError:
            if entry.waiting == 1 and not entry.opening.done():
                entry.opening.cancel()  # nobody else wants it
                self._forget(workspace_id, entry)
            raise
        except BaseException:
            self._forget(workspace_id, entry)
            raise
        finally:
            entry.waiting -= 1
        entry.used_at = self._clock()
        return workspace

    async def _opened(self, workspace_id: str) -> W:
        return await self._open(workspace_id)

    def _forget(self, workspace_id: str, entry: _Entry[W]) -> None:
        if self._entries.get(workspace_id) is entry:
            del self._entries[workspace_id]

    def cached(self, workspace_id: str) -> W | None:
        """The workspace if it is open now."""
        entry = self._entries.get(workspace_id)
        if entry is None or not entry.opening.done() or entry.opening.cancelled():
            return None
        return None if entry.opening.exception() is not None else entry.opening.result()

    def opened(self) -> dict[str, W]:
        """All that are open now, by id."""
        found = {workspace_id: self.cached(workspace_id) for workspace_id in self._entries}
        return {key: workspace for key, workspace in found.items() if workspace is not None}

    @asynccontextmanager
    async def use(self, workspace_id: str) -> AsyncGenerator[W]:
        """The workspace while something runs in it: it is not closed under its user."""
        workspace = await self.get_workspace(workspace_id)
        entry = self._entries[workspace_id]
        entry.users += 1
        entry.idle.clear()
        try:
            yield workspace
        finally:
            entry.users -= 1
            entry.used_at = self._clock()
            if not entry.users:
                entry.idle.set()

    async def sweep(self) -> list[str]:
        """Close what nobody used for ``ttl`` seconds; their ids."""
        if self._ttl is None:
            return []
        now = self._clock()
        over = [
            workspace_id
            for workspace_id, entry in self._entries.items()
            if self.cached(workspace_id) is not None
            and not entry.users
            and not entry.waiting
            and now - entry.used_at >= self._ttl
        ]
        await asyncio.gather(*(self.close(workspace_id) for workspace_id in over))
        return over

    async def close(self, workspace_id: str) -> None:
        """Close one, after its users are through; who asks for it meanwhile gets a new one."""
        entry = self._entries.get(workspace_id)
        if entry is None:
            return
        if entry.users:
            await entry.idle.wait()
        await self._end(workspace_id, entry)

    async def _end(self, workspace_id: str, entry: _Entry[W]) -> None:
        self._forget(workspace_id, entry)
        if not entry.opening.done():
            entry.opening.cancel()
        await asyncio.wait([entry.opening])
        if entry.opening.cancelled() or entry.opening.exception() is not None:
            return
        closing = self._tasks.start(entry.opening.result().close(), name=f"close {workspace_id}")
        self._closing[workspace_id] = closing
        try:
            await asyncio.shield(closing)
        finally:
            self._closing.pop(workspace_id, None)

    async def close_all(self, seconds: float = 20.0) -> None:
        """Close every one, in use or not, at the same time; nothing can be opened after."""
        self._closed = True
        entries = list(self._entries.items())
        results = await asyncio.gather(
            *(self._end(workspace_id, entry) for workspace_id, entry in entries),
            return_exceptions=True,
        )
        for (workspace_id, _), result in zip(entries, results, strict=True):
            if isinstance(result, BaseException):
                log.warning("workspace %s did not close well: %r", workspace_id, result)
        await self._tasks.close(seconds)
