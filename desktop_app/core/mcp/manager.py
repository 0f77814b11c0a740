"""The MCP servers of one session: what is declared, what runs, which tools the model may have.

Nothing is started before ``start``, and nothing in a workspace that is not trusted. ``close``
leaves no process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from desktop_app.core.errors import SettingsError, SlipwayError, ToolFailure
from desktop_app.core.log import mask
from desktop_app.core.secrets import Secrets
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.base import ToolOutcome
from desktop_app.core.workspaces.mcp_file import McpDeclaration
from desktop_app.core.workspaces.mcp_write import NewServer

from .asks import Asker
from .connection import Connection, Limits, Status
from .listing import RemoteTool
from .names import belongs, tool_name
from .oauth import SignIn
from .runner import Runner
from .scopes import Scope, effective, pair_of, scope_of
from .server import Connect, Declares, Server, ServerView, ToolView
from .spec import ServerSpec
from .tools import McpTool
from .ways import RouteOf

log = logging.getLogger(__name__)


class McpManager:
    """See the module. ``listen`` hears that something changed; then ask again."""

    def __init__(
        self,
        workspace: Declares,
        runner: Runner,
        agent_id: str,
        session_id: str,
        limits: Limits | None = None,
        secrets: Secrets | None = None,
        *,
        connect: Connect | None = None,
        route: RouteOf | None = None,
    ) -> None:
        self._workspace = workspace
        self._connect_by = connect  # another way than from this computer
        self._runner = runner
        self._agent_id = agent_id
        self._session_id = session_id
        self.limits = limits
        self._secrets = secrets
        self._route = route
        self._declared: list[McpDeclaration] = []
        self._specs: dict[str, ServerSpec] = {}
        self._connections: dict[str, Server] = {}
        self._tools: dict[tuple[str, RemoteTool | str], McpTool] = {}
        self._offered: tuple[McpTool, ...] = ()
        self._listeners: list[Callable[[], None]] = []
        self._moved = asyncio.Event()
        self._lock = asyncio.Lock()
        self._closing = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))
        self._started = self._closed = False
        self.version = 0  # grows with every change
        self.ask: Asker | None = None  # who is asked what servers ask for; before ``start``

    @property
    def waits(self) -> bool:
        """Whether a first turn gives servers a moment: not those behind a gateway, which has to
        come up first."""
        return self._connect_by is None

    # -- life --------------------------------------------------------------------------------

    @property
    def started(self) -> bool:
        return self._started

    @property
    def workspace_id(self) -> str:
        return self._workspace.info.id

    @property
    def connected(self) -> frozenset[str]:
        """The names of the servers that are connected now."""
        pairs = self._connections.items()
        return frozenset(name for name, one in pairs if one.status.state == "ok")

    async def start(self) -> None:
        """Read the declarations and start what they allow; idempotent. Raises nothing for what is
        wrong with a declaration: ``servers`` tells."""
        if not self._started:
            self._started = True
            await self.reload()

    async def reload(self) -> None:
        """Read the declarations again: start what is new, stop what is gone, leave the rest."""
        async with self._lock:
            await self._read()
            wanted: dict[str, ServerSpec] = {}
            if self._started and self._workspace.info.trusted and not self._closed:
                wanted = {name: spec for name, spec in self._specs.items() if spec.enabled}
            for name, connection in list(self._connections.items()):
                spec = wanted.get(name)
                if spec is None or not spec.same_connection(connection.spec):
                    del self._connections[name]
                    self._closing.start(connection.stop(), name=f"stop MCP server {name}")
                else:
                    connection.spec = spec
            for name, spec in wanted.items():
                if name not in self._connections:
                    self._connections[name] = self._connect(spec)
            self._changed()

    async def _read(self) -> None:
        try:
            file = await self._workspace.mcp_file()
        except SlipwayError as error:
            bad = McpDeclaration("", "unknown", error=error.code, params=error.params)
            self._declared, self._specs = [bad], {}
            return
        if file.error is not None:
            bad = McpDeclaration("", "unknown", error=file.error, params=file.params)
            self._declared, self._specs = [bad], {}
            return
        shared = self._workspace.info.generation != "C"
        self._declared = effective(file, self._agent_id, self._session_id, shared=shared)
        self._specs = {d.name: ServerSpec.of(d) for d in self._declared if d.error is None}

    def _connect(self, spec: ServerSpec) -> Server:
        if self._connect_by is not None:
            behind = self._connect_by(spec, lambda _: self._changed())
            behind.start()
            return behind
        connection = Connection(
            spec,
            self._runner,
            self._workspace.info.folder,
            lambda _: self._changed(),
            self.limits,
            self.ask,
            self._secrets,
            self._route,
        )
        connection.start()
        return connection

    async def settled(self, seconds: float) -> None:
        """Wait until no server is starting for the first time, at most ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                while any(c.status.state == "starting" for c in self._connections.values()):
                    await self._moved.wait()
        except TimeoutError:
            pass

    async def close(self) -> None:
        """End every server; idempotent."""
        async with self._lock:
            self._closed = True
            connections = list(self._connections.values())
            self._connections.clear()
            await asyncio.gather(*(c.stop() for c in connections))
            await self._closing.finish()  # cut short, they would leave a process
            self._listeners.clear()

    # -- what there is ---------------------------------------------------------------------------

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Hear that servers or tools changed; returns the way to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _changed(self) -> None:
        self._offer()
        self.version += 1
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        for listener in list(self._listeners):
            listener()

    def _offer(self) -> None:
        made: dict[str, McpTool] = {}
        for server, connection in self._connections.items():
            for remote in connection.status.tools:
                if connection.spec.offers(remote.name):
                    tool = self._tool(server, remote)
                    made.setdefault(tool.name, tool)
        self._offered = tuple(made.values())

    def _tool(self, server: str, remote: RemoteTool) -> McpTool:
        """The same object while the server lists the same tool."""
        key = (server, remote.name)
        known = self._tools.get(key)
        if known is None or known.remote != remote:

            async def call(
                name: str,
                args: dict[str, Any],
                images: bool,
                progress: Callable[[str], None],
                op_id: str,
            ) -> ToolOutcome:
                connection = self._connections.get(server)
                if connection is None:
                    raise _off(server)
                return await connection.call(
                    name, args, images=images, progress=progress, op_id=op_id
                )

            known = self._tools[key] = McpTool(server, remote, call)
        return known

    def tools(self) -> tuple[McpTool, ...]:
        """What the model may have, in the order of the declarations. Costs nothing."""
        return self._offered

    def owner(self, tool: str) -> str | None:
        """The declared server that a tool of this name would be of, whether it runs or not."""
        known = [name for name in self._specs if belongs(tool, name)]
        return max(known, key=len, default=None)

    async def bring(
        self, tool: str, server: str, told: Callable[[str], None]
    ) -> ToolFailure | None:
        """Wait a bounded time for the server of a tool that is not offered. None when the tool is
        there then, else why not, for a model: ``mcp.not_running``, ``mcp.no_tool``."""
        spec, connection = self._specs[server], self._connections.get(server)
        if connection is None or not spec.enabled:
            return _off(server)
        if connection.status.state != "ok":
            told(f"Waiting for the MCP server {server!r}…\n")
        try:
            await connection.ready()
        except ToolFailure as error:
            return error
        if any(one.name == tool for one in self._offered):
            return None
        listed = {tool_name(server, one.name): one.name for one in connection.status.tools}
        text = f"The MCP server {server!r} has no tool named {tool!r}."
        if tool in listed:
            text = f"The person switched {listed[tool]!r} of the MCP server {server!r} off."
        return ToolFailure("mcp.no_tool", text, name=server, tool=tool)

    async def servers(self) -> list[ServerView]:
        """Every declared server; reads the declarations when nothing was started yet."""
        if not self._started and not self._closed:
            async with self._lock:
                await self._read()
        return [self._view(declared) for declared in self._declared]

    def _view(self, declared: McpDeclaration) -> ServerView:
        spec = self._specs.get(declared.name) if declared.error is None else None
        scope = scope_of(declared)
        if spec is None:
            problem = (declared.error or "mcp.bad_shape", dict(declared.params))
            return ServerView(
                declared.name, scope, "", declared.transport, False, Status(), problem=problem
            )
        connection = self._connections.get(declared.name)
        status = connection.status if connection is not None else Status()
        tools = tuple(
            ToolView(tool_name(spec.name, t.name), t, spec.offers(t.name)) for t in status.tools
        )
        return ServerView(
            spec.name,
            scope,
            _where(spec),
            spec.transport,
            spec.enabled,
            status,
            tools,
            None,
            connection.ring.text(60) if connection is not None else "",
        )

    # -- changing ----------------------------------------------------------------------------------

    def restart(self, name: str) -> None:
        """Start a server anew; KeyError when it is not one of the running."""
        self._connections[name].restart()

    def _signing(self, name: str) -> Connection:
        """Signing in is for servers that are connected from this computer, where the browser is;
        one behind a gateway never asks for it."""
        found = self._connections[name]
        if not isinstance(found, Connection):
            raise KeyError(name)
        return found

    def sign_in(self, name: str, how: SignIn) -> None:
        """Have the person sign in to a server; KeyError as ``restart``."""
        self._signing(name).sign_in(how)

    def cancel_sign_in(self, name: str) -> None:
        self._signing(name).cancel_sign_in()

    async def sign_out(self, name: str) -> None:
        """Forget a server's tokens; KeyError as ``restart``."""
        await self._signing(name).sign_out()

    async def add(self, server: NewServer, scope: Scope = "workspace") -> None:
        """Declare a server and start it. SettingsError as ``McpWriter.add``."""
        flat = self._workspace.info.generation != "C"
        pair = pair_of(scope, self._agent_id, self._session_id, flat=flat)
        await self._workspace.mcp_writer().add(pair, server)
        await self.reload()

    async def remove(self, name: str) -> None:
        """Take a declaration out, and end the server."""
        await self._workspace.mcp_writer().remove(self._pair(name), name)
        await self.reload()

    async def split_command(self, name: str) -> None:
        """Put a whole line in a declaration's command apart, and start the server."""
        await self._workspace.mcp_writer().split_command(self._pair(name), name)
        await self.reload()

    async def set_enabled(self, name: str, enabled: bool) -> None:
        await self._workspace.mcp_writer().enable(self._pair(name), name, enabled)
        await self.reload()

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        """``tool`` by the server's own name for it."""
        await self._workspace.mcp_writer().enable_tool(self._pair(server), server, tool, enabled)
        await self.reload()

    def _pair(self, name: str) -> tuple[str, str]:
        for declared in self._declared:
            if declared.name == name and declared.error is None:
                return declared.agent_id, declared.session_id
        raise SettingsError("mcp.unknown_server", name=name)


def _off(server: str) -> ToolFailure:
    text = f"The MCP server {server!r} is switched off."
    return ToolFailure("mcp.not_running", text, name=server)


def _where(spec: ServerSpec) -> str:
    """The command line as it was written, or the address; without user, query and fragment of an
    address, and without what looks like a key: tokens stand there."""
    import shlex

    if spec.command:
        return mask(shlex.join(_plain(word) for word in spec.command))
    return _plain(spec.url)


def _plain(word: str) -> str:
    """A word of a command line; an address in it without what may be a secret."""
    from urllib.parse import urlsplit

    if not word.startswith(("http://", "https://")):
        return word
    try:
        parts = urlsplit(word)
    except ValueError:
        return word
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
