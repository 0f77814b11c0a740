"""The tools of a server, read page by page. Runs on the runner's loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .transport import Wire

if TYPE_CHECKING:
    from mcp import Client

PAGES = 200  # a listing that goes on after this many pages is cut


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as the server lists it."""

    name: str
    description: str
    schema: dict[str, Any] = field(repr=False)
    read_only: bool = False
    idempotent: bool = False


async def list_tools(client: Client, wire: Wire, asked: Callable[[], None]) -> dict[str, Any]:
    """Every page; ``asked`` is called for each. What a ``Status`` says of it: tools, bad ones, code
    and params. A server that cannot list its tools is connected all the same, and says so."""
    from mcp.shared.exceptions import MCPError

    version = str(client.protocol_version)
    if client.server_capabilities.tools is None:
        return {"code": "mcp.no_tools", "params": {}, "tools": (), "bad": (), "version": version}
    wire.bad = []
    found: dict[str, RemoteTool] = {}
    cursor: str | None = None
    seen: set[str] = set()
    try:
        for _ in range(PAGES):
            asked()
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                if tool.name in found:
                    wire.bad.append((tool.name, "mcp.tool_twice"))
                else:
                    found[tool.name] = _remote(tool)
            cursor = page.next_cursor
            if not cursor or cursor in seen:
                break
            seen.add(cursor)
    except (MCPError, ValueError) as error:
        if wire.status == 401:  # it lets everybody in, and wants a sign-in for more
            raise
        return {"code": "mcp.list_failed", "params": {"detail": str(error)[:300]},
                "version": version}  # fmt: skip
    tools, bad = tuple(found.values()), tuple(wire.bad)
    return {"code": "", "params": {}, "tools": tools, "bad": bad, "version": version}


def _remote(tool: Any) -> RemoteTool:
    hints = tool.annotations
    return RemoteTool(
        tool.name,
        tool.description or tool.title or "",
        tool.input_schema,
        hints is not None and hints.read_only_hint is True,
        hints is not None and hints.idempotent_hint is True,
    )
