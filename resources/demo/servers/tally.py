"""An MCP server that the tour runs inside a container: it counts what is in a file there."""

from __future__ import annotations

import platform
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("tally", instructions="Counts lines and words of files in the workspace.")


@server.tool()
def tally(path: str) -> str:
    """Count the lines and words of a text file."""
    text = Path(path).read_text("utf-8")
    lines, words = len(text.splitlines()), len(text.split())
    return f"{path}: {lines} lines, {words} words, counted on {platform.node()}"


if __name__ == "__main__":
    server.run("stdio")
