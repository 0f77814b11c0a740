"""Names under which models call the tools of MCP servers."""

from __future__ import annotations

import hashlib
import re

LIMIT = 64  # OpenAI and Anthropic: ^[a-zA-Z0-9_-]{1,64}$
_GOOD = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BAD = re.compile(r"[^A-Za-z0-9_-]+")


def tool_name(server: str, tool: str) -> str:
    """``mcp__server__tool`` where that is a name providers take and can be read in one way only;
    else as much of it as fits, and eight digits of a hash over both names.

    The same pair has the same name always: it depends on no order and on no other server."""
    plain = f"mcp__{server}__{tool}"
    clear = "__" not in server and not server.endswith("_") and not tool.startswith("_")
    if clear and _GOOD.fullmatch(plain):
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_BAD.sub('_', plain)[: LIMIT - 9].rstrip('_')}_{digest}"


def belongs(name: str, server: str) -> bool:
    """Whether ``name`` could be that of a tool of ``server``, whose tools are not known."""
    start = _BAD.sub("_", f"mcp__{server}__")
    if len(start) > LIMIT - 9:
        start = start[: LIMIT - 9].rstrip("_")
    return name.startswith(start)
