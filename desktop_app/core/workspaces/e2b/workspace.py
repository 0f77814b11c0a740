"""A workspace in an E2B cloud sandbox."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.ids import now_us
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.core.workspaces.remote.channel import Channel
from desktop_app.core.workspaces.remote.managed import (
    Machine,
    ManagedWorkspace,
    Progress,
    Tell,
    Usage,
)

from .account import Account, told
from .channel import CommandChannel
from .sandbox import Sandbox
from .spec import WORKDIR, E2BSpec

log = logging.getLogger(__name__)

METRICS_SECONDS = 5.0  # how often the control plane measures


class E2BWorkspace(ManagedWorkspace):
    """``base.Workspace`` in a sandbox made as ``spec`` says.

    Opening one looks, and makes or resumes nothing; the first use does. While it is used its lease
    is extended, so that it never ends in the middle of a turn. Closing pauses it, its disk as it
    was; only ``remove`` ends it.
    """

    def __init__(
        self,
        spec: E2BSpec,
        account: Account,
        *,
        id: str,  # noqa: A002 - the name of the interface
        name: str,
        **more: Any,
    ) -> None:
        more["theirs"] = spec.theirs
        super().__init__("e2b", WORKDIR, env=dict(spec.env), id=id, name=name, **more)
        self.spec = spec
        self.sandbox = Sandbox(account, id, name, spec)
        self._stuck = False
        self._keeping = Tasks(lambda task, error: log.info("%s: %r", task, error))

    def set_spec(self, spec: Any) -> None:
        """Other settings (an ``E2BSpec``): the lease at once, the rest for the next sandbox."""
        self.spec = self.sandbox.spec = spec

    async def look(self) -> Machine:
        return await self.sandbox.machine()

    async def _bring_up(self, tell: Tell) -> None:
        tell(Progress("engine"))
        tell(Progress("create" if self._machine.status == "absent" else "start"))
        await self.sandbox.ensure()
        try:
            await (await self.sandbox.live()).files.make_dir(self._remote.cwd)
        except Exception as error:
            raise told(error) from error

    async def _connect(self) -> Channel:
        channel = CommandChannel()
        try:
            guarded = self.guarded
            await channel.open(await (self.sandbox.attach() if guarded else self.sandbox.live()))
        except WorkspaceError:
            self.sandbox.forget()
            raise
        self._keeping.replace(self._keep(), name="extend a sandbox that is used")
        return channel

    async def _keep(self) -> None:
        """A used sandbox gets its whole lease again, a third before it would end."""
        while True:
            since = asyncio.get_running_loop().time()
            await asyncio.sleep(self.spec.timeout / 3)
            if self.guarded or not self._remote.used_since(since):
                continue
            try:
                await self.sandbox.extend(self.spec.timeout)
                self._stuck = False
            except WorkspaceError as error:
                self._stuck = True
                log.info("a sandbox in use was not extended: %s", error)

    @property
    def ends_for_good(self) -> bool:
        """Whether the end of its lease takes its files: it is not paused then (AgentScope asks for
        no pause), or the lease of one in use could not be extended."""
        return not self.spec.auto_pause or bool(self.theirs) or self._stuck

    async def extend(self, seconds: int) -> WorkspaceInfo:
        """The lease ends ``seconds`` from now. WorkspaceError ``e2b.*``."""
        self.check_theirs()
        await self.sandbox.extend(seconds)
        return await self.refresh()

    async def _pause(self) -> None:
        self._keeping.cancel("extend a sandbox that is used")
        await self.sandbox.pause()

    async def _stop(self) -> None:
        await self._pause()  # a sandbox has no other way to stand still

    async def _discard(self) -> None:
        self._keeping.cancel("extend a sandbox that is used")
        await self.sandbox.kill()

    async def rebuild(self) -> WorkspaceInfo:
        self.check_ours()
        async with self._changing:
            await self._remote.hang_up()
            await self._removed()
        return await self.start()

    async def loss(self) -> tuple[int | None, str]:
        measured = await self.sandbox.metrics()
        if measured is not None:
            return int(measured.disk_used), ""
        return (0, "") if self._machine.status == "absent" else (None, "")

    async def usage(self) -> AsyncGenerator[Usage]:
        while (measured := await self.sandbox.metrics()) is not None:
            yield Usage(
                now_us(),
                measured.cpu_used_pct / 100 * measured.cpu_count,
                int(measured.mem_used),
                int(measured.mem_total),
                None,
                int(measured.disk_used),
                disk_limit=int(measured.disk_total),
            )
            await asyncio.sleep(METRICS_SECONDS)

    async def logs(self, *, lines: int = 500, follow: bool = False) -> AsyncGenerator[str]:
        """A sandbox has no log of its own: nothing."""
        for line in ():
            yield line

    async def close(self) -> None:
        """Ours ends; a sandbox that runs is paused, so that it costs nothing unseen."""
        await self._keeping.close()
        await super().close()
        if self._machine.status == "running" and self.ours_to_end:
            try:
                await self.sandbox.pause()
            except WorkspaceError as error:
                if error.code not in ("e2b.gone", "e2b.not_running"):
                    raise
