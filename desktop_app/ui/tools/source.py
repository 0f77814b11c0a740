"""Where the panel of MCP servers takes them from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from desktop_app.core.agent.groups import Group
from desktop_app.core.mcp.manager import McpManager


async def _nothing() -> None:
    return None


@dataclass(slots=True)
class ServerSource:
    """``mcp`` are the servers, of a session or only declared; ``groups`` the session's tool groups.
    ``count`` estimates the tokens of a text (quick, for short texts). ``trusted``: whether they may
    run at all; ``writable``: whether anything may be changed; ``scopes``: whether declarations can
    be for one agent or session; ``starts``: whether what is added starts at once; ``inside``: they
    run in a container or sandbox. ``after`` is run when a declaration was changed."""

    mcp: McpManager | None = None
    groups: Callable[[], Sequence[Group]] = tuple
    count: Callable[[str], int] | None = None
    trusted: bool = True
    writable: bool = True
    scopes: bool = True
    starts: bool = True
    inside: bool = False
    after: Callable[[], Awaitable[None]] = _nothing
