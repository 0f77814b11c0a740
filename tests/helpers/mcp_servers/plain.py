"""A well-behaved server: ``plain.py [stdio|http|sse] [port]``."""

from __future__ import annotations

import asyncio
import os
import struct
import sys
import zlib

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp_types import ToolAnnotations

server = MCPServer("plain", instructions="Adds numbers.")


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool()
def write_note(text: str) -> str:
    """Keep a note."""
    return f"kept: {text}"


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool()
def where() -> str:
    """The working directory and a variable."""
    return f"{os.getcwd()} {os.environ.get('GIVEN', '')} {os.getpid()}"


@server.tool()
def picture() -> Image:
    """A red point."""
    return Image(data=_png(), format="png")


@server.tool()
def large(characters: int) -> str:
    """A long answer."""
    return "x" * characters


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Work in steps and tell of each."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(0.06)
    return "done"


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.sleep(3600)
    return "never"


@server.tool()
async def roots(ctx: Context) -> str:
    """What the client says of its folders."""
    listed = await ctx.session.list_roots()
    return ", ".join(str(root.uri) for root in listed.roots)


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "stdio"
    if kind == "stdio":
        server.run("stdio")
    else:
        transport = "streamable-http" if kind == "http" else "sse"
        server.run(transport, host="127.0.0.1", port=int(sys.argv[2]))
