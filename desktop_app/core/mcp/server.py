"""A connected server as its owner has it, and what a list tells of a declared one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from desktop_app.core.tools.base import ToolOutcome
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.core.workspaces.mcp_file import McpFile
from desktop_app.core.workspaces.mcp_write import McpWriter

from .connection import State, Status
from .listing import RemoteTool
from .ring import Ring
from .scopes import Scope
from .spec import ServerSpec


class Server(Protocol):
    """One connected server: ``Connection``, or one behind the gateway of a container."""

    spec: ServerSpec
    status: Status
    ring: Ring

    def start(self) -> None: ...

    def restart(self) -> None: ...

    async def stop(self) -> None: ...

    async def ready(self) -> None: ...

    async def call(
        self,
        tool: str,
        args: dict[str, Any],
        *,
        images: bool,
        progress: Callable[[str], None],
        op_id: str = "",
    ) -> ToolOutcome: ...


Connect = Callable[[ServerSpec, Callable[[Status], None]], Server]


class Declares(Protocol):
    """What is needed of a workspace."""

    @property
    def info(self) -> WorkspaceInfo: ...

    async def mcp_file(self) -> McpFile: ...

    def mcp_writer(self) -> McpWriter: ...


@dataclass(frozen=True, slots=True)
class ToolView:
    """A tool of a server, for a list. ``name`` is what the model calls."""

    name: str
    remote: RemoteTool
    enabled: bool


@dataclass(frozen=True, slots=True)
class ServerView:
    """A declared server, for a list. ``problem`` is why its declaration cannot be used; ``status``
    how the running server is. ``where`` is its command line or address, without secrets."""

    name: str
    scope: Scope
    where: str
    transport: str
    enabled: bool
    status: Status
    tools: tuple[ToolView, ...] = ()
    problem: tuple[str, dict[str, Any]] | None = None
    stderr: str = field(default="", repr=False)

    @property
    def state(self) -> State:
        return self.status.state if self.enabled and self.problem is None else "off"
