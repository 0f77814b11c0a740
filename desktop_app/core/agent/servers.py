"""A conversation's MCP servers: started with its first turn, their tools told to the window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from desktop_app.core.errors import ToolFailure
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.tools import McpTool
from desktop_app.core.messages import ToolCallBlock
from desktop_app.core.tasks import Tasks

NEW_SECONDS = 5.0  # the first turn waits so long for servers that are starting
CALLED_SECONDS = 30.0  # and so long when a call of one of their tools is to be run


class Servers:
    """``manager`` None: the workspace offers none. ``recount`` is run between turns when tools
    came or went; ``busy`` says whether a turn runs, which looks for itself."""

    def __init__(
        self,
        manager: McpManager | None,
        tasks: Tasks,
        name: str,
        busy: Callable[[], bool],
        recount: Callable[[], Awaitable[None]],
    ) -> None:
        self.manager = manager
        self._tasks = tasks
        self._name = f"recount {name}"
        self._busy = busy
        self._recount = recount
        self._known: tuple[McpTool, ...] = ()

    def tools(self) -> tuple[McpTool, ...]:
        return self.manager.tools() if self.manager is not None else ()

    def watch(self) -> None:
        """Begin to tell of changes."""
        if self.manager is not None:
            self.manager.listen(self._moved)

    def _moved(self) -> None:
        tools = self.tools()
        if tools == self._known:
            return
        self._known = tools
        if not self._busy():
            self._tasks.replace(self._told(), name=self._name)

    async def _told(self) -> None:
        await self._recount()

    async def start(self, open_calls: Iterable[ToolCallBlock]) -> None:
        """Before a turn: start what is declared, once, and give it a moment to bring its tools."""
        if self.manager is None:
            return
        await self.manager.start()
        called = any(call.name.startswith("mcp__") for call in open_calls)
        new = NEW_SECONDS if self.manager.waits else 0.0
        await self.manager.settled(CALLED_SECONDS if called else new)

    def owner(self, tool: str) -> str | None:
        """As ``McpManager.owner``."""
        return self.manager.owner(tool) if self.manager is not None else None

    async def bring(
        self, tool: str, server: str, told: Callable[[str], None]
    ) -> ToolFailure | None:
        """As ``McpManager.bring``."""
        return await self.manager.bring(tool, server, told) if self.manager is not None else None

    async def close(self) -> None:
        self._tasks.cancel(self._name)
        if self.manager is not None:
            await self.manager.close()
