"""A workspace in a Docker container."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.core.workspaces.remote.channel import Channel
from desktop_app.core.workspaces.remote.managed import (
    Machine,
    ManagedWorkspace,
    Progress,
    Tally,
    Tell,
    Usage,
)
from desktop_app.core.workspaces.remote.tree_tar import Moved

from .channel import open_channel
from .container import Container
from .engine import Engine
from .image import build, is_built, recipe
from .sending import can_send, send_tree
from .spec import WORKDIR, DockerSpec


class DockerWorkspace(ManagedWorkspace):
    """``base.Workspace`` in a container made as ``spec`` says.

    ``engine`` gives the engine to use, looked for when it is first needed. Closing stops the
    container (its files stay); only ``remove`` removes it. ``gateway`` says whether the image gets
    what MCP servers inside need.
    """

    def __init__(
        self,
        spec: DockerSpec,
        engine: Callable[[], Awaitable[Engine]],
        *,
        id: str,  # noqa: A002 - the name of the interface
        name: str,
        gateway: bool = True,
        **more: Any,
    ) -> None:
        more["theirs"] = spec.theirs
        super().__init__("docker", WORKDIR, env=dict(spec.env), id=id, name=name, **more)
        self.spec = spec
        self._engine_of = engine
        self._with_gateway = gateway
        self._made: Container | None = None

    async def container(self) -> Container:
        """Its container's handle. WorkspaceError ``docker.none`` and others of the discovery."""
        if self._made is None:
            self._made = Container(await self._engine_of(), self._id, self._name, self.spec)
        return self._made

    async def look(self) -> Machine:
        try:
            container = await self.container()
        except WorkspaceError as error:
            return Machine("failed", code=error.code, params=error.params)
        machine = await container.machine()
        if machine.status == "failed":
            self._made = None  # another engine may answer next time
        return machine

    async def _bring_up(self, tell: Tell) -> None:
        tell(Progress("engine"))
        if self.spec.mount and not os.path.isdir(self.spec.mount):
            raise WorkspaceError("docker.mount", retryable=True, path=self.spec.mount)
        container = await self.container()
        found = await container.find()
        if found is None and self.theirs:
            raise WorkspaceError("docker.gone", detail=self._name)
        if found is None:
            await self._create(container, tell)
            found = await container.find()
        tell(Progress("start"))
        paused = bool(found) and found["State"].get("Status") == "paused"
        await (container.unpause() if paused else container.start())

    async def _create(self, container: Container, tell: Tell) -> None:
        wanted = await recipe(self.spec, gateway=self._with_gateway)
        if not await is_built(container.engine, wanted):
            tell(Progress("image"))
            async with aclosing(build(container.engine, wanted)) as steps:
                async for step in steps:
                    tell(Progress("image", step.text, step.step, step.steps))
        tell(Progress("create"))
        await container.create(wanted.tag)

    async def _connect(self) -> Channel:
        container = await self.container()
        found = await container.find()
        if found is None:
            raise WorkspaceError("docker.gone", detail=self._name)
        return await open_channel(container.engine, found["Id"])

    async def _pause(self) -> None:
        await (await self.container()).pause()

    async def _stop(self) -> None:
        await (await self.container()).stop()

    async def _discard(self) -> None:
        await (await self.container()).remove()

    def set_spec(self, spec: Any) -> None:
        """Other settings (a ``DockerSpec``), for the next container; the one there is stays."""
        self.spec = spec
        if self._made is not None:
            self._made.spec = spec

    async def disk(self) -> int | None:
        container = await self.container()
        return await container.written() if await container.find() is not None else None

    async def loss(self) -> tuple[int | None, str]:
        return await (await self.container()).written(), self.spec.mount

    async def rebuild(self) -> WorkspaceInfo:
        """A new container from a new image, as the spec says now. What is only in the old one is
        gone; the caller asked. WorkspaceError ``workspace.not_ours`` for one of AgentScope's."""
        self.check_ours()
        async with self._changing:
            await self._remote.hang_up()
            container = await self.container()
            if await container.find() is not None:
                await self._removed()
        return await self.start()

    async def _owner(self) -> tuple[int, int]:
        return await (await self.container()).owner()

    async def _send_tree(
        self, source: Path, folder: str, moved: Moved, digests: bool, tell: Tally | None
    ) -> None:
        container = await self.container()
        found = await container.find()
        if found is None:
            raise WorkspaceError("docker.gone", detail=self._name)
        if self._machine.volatile or not can_send(container.engine):
            await super()._send_tree(source, folder, moved, digests, tell)
            return
        owner = await self._owner()
        to = (container.engine, str(found["Id"]), folder, source, moved)
        await send_tree(*to, digests=digests, owner=owner, tell=tell)

    async def _send(self, folder: str, tar: AsyncGenerator[bytes]) -> None:
        if self._machine.volatile:  # the engine looks behind a tmpfs, not into it
            await super()._send(folder, tar)
            return
        await (await self.container()).put(folder, tar)

    async def _fetch(self, path: str) -> AsyncGenerator[bytes]:
        inside = self._machine.volatile
        way = super()._fetch(path) if inside else (await self.container()).get(path)
        async with aclosing(way) as pieces:
            async for piece in pieces:
                yield piece

    async def usage(self) -> AsyncGenerator[Usage]:
        async with aclosing((await self.container()).usage()) as items:
            async for item in items:
                yield item

    async def logs(self, *, lines: int = 500, follow: bool = False) -> AsyncGenerator[str]:
        async with aclosing((await self.container()).logs(lines=lines, follow=follow)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        """Ours ends; a container that runs is stopped, so that nothing is left running unseen."""
        await super().close()
        up = self._machine.status in ("running", "paused")
        if self._made is not None and up and self.ours_to_end:
            try:
                await self._made.stop()
            except WorkspaceError as error:
                if error.code != "docker.gone":
                    raise
