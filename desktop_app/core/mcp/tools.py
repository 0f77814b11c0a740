"""A tool of an MCP server as one of ours."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.events import Effect
from desktop_app.core.tools.base import ToolContext, ToolOutcome, Verdict
from desktop_app.core.workspaces.offload import extension
from desktop_app.core.workspaces.paths import join, relative

from .listing import RemoteTool
from .names import tool_name

DESCRIPTION_CHARS = 8_000  # what is longer is cut: it is in every request
CallRemote = Callable[
    [str, dict[str, Any], bool, Callable[[str], None], str], Awaitable[ToolOutcome]
]


class McpTool:
    """``server`` and ``remote`` are the names as the server has them; ``call(remote, arguments,
    images, progress, op_id)`` does it.

    What a server says of itself is a hint: a tool counts as unsafe unless it declares to read only
    or to do the same when it is called again, and every call is asked for unless a rule or the mode
    allows it.
    """

    def __init__(self, server: str, remote: RemoteTool, call: CallRemote) -> None:
        self.server = server
        self.remote = remote
        self.name = tool_name(server, remote.name)
        self.description = _cut(remote.description or remote.name)
        self.parameters = usable_schema(remote.schema)
        self._call = call

    def effect(self, args: dict[str, Any]) -> Effect:
        """What running this call may do, as far as its server says: ``readOnlyHint`` and
        ``idempotentHint``; silence is unsafe (https://modelcontextprotocol.io/specification,
        ToolAnnotations)."""
        if self.remote.read_only:
            return "read"
        return "idempotent" if self.remote.idempotent else "unsafe"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        """Readers run side by side."""
        return self.remote.read_only

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        """Always a question; "always" would allow every call of this tool."""
        code = "mcp.reads" if self.remote.read_only else "mcp.call"
        reason = (code, {"server": self.server, "tool": self.remote.name})
        rule = {"tool_name": self.name, "rule_content": None, "behavior": "allow"}
        return Verdict("ask", (reason,), rule=rule, subjects=(self.name,))

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        """The arguments are all there is to show; ``server`` and ``tool`` say whose."""
        return {"server": self.server, "tool": self.remote.name}

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        """Call it. ToolFailure as ``Connection.call``."""

        def progress(text: str) -> None:
            ctx.emit("progress", f"{text}\n")

        outcome = await self._call(self.remote.name, args, ctx.images, progress, ctx.op_id)
        await _put_aside(outcome, ctx)
        ours = {"server": self.server, "tool": self.remote.name}
        outcome.metadata = {**outcome.metadata, "slipway": ours}
        return outcome


async def _put_aside(outcome: ToolOutcome, ctx: ToolContext) -> None:
    """Save what the model is not given into the workspace's ``data``, under the name that an
    offloaded block of the same bytes has, and say where."""
    for one in outcome.aside:
        text = await asyncio.to_thread(base64.b64encode, one.data)
        name = hashlib.sha256(text).hexdigest() + extension(one.media_type)
        path = join(ctx.root, "data", name)
        try:
            await ctx.backend.write(path, one.data)
            told = f"saved as {relative(path, ctx.backend.cwd)}"
        except WorkspaceError as error:
            told = f"it could not be saved: {error.code}"
        outcome.text = outcome.text.replace(one.label, f"{one.label[:-1]}; {told}]", 1)
    outcome.aside = []


def usable_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that providers take: an object with ``properties`` (OpenAI refuses one without)
    whose ``required`` names only what is there (Gemini refuses others). The rest, ``$ref`` and
    ``$defs`` included, stays as the server wrote it."""
    made = {k: v for k, v in schema.items() if k not in ("$schema", "$id")}
    made["type"] = "object"
    given = made.get("properties")
    properties = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    made["properties"] = properties
    if "required" in made:
        ghosts = left_out(schema)
        kept = [name for name in _required(schema) if name not in ghosts]
        if kept:
            made["required"] = kept
        else:
            del made["required"]
    return made


def left_out(schema: dict[str, Any]) -> tuple[str, ...]:
    """Parameters that a schema requires and does not describe."""
    given = schema.get("properties")
    properties = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    return tuple(name for name in _required(schema) if name not in properties)


def _required(schema: dict[str, Any]) -> list[str]:
    wanted = schema.get("required")
    listed = cast(list[Any], wanted) if isinstance(wanted, list) else []
    return [name for name in listed if isinstance(name, str)]


def _cut(text: str) -> str:
    return text if len(text) <= DESCRIPTION_CHARS else text[: DESCRIPTION_CHARS - 1] + "…"
