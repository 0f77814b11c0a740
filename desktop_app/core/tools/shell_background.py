"""BashOutput and BashStop: what a background command printed, and its end."""

from __future__ import annotations

import asyncio
from typing import Any

from desktop_app.core.errors import ToolFailure
from desktop_app.core.events import Effect

from .args import schema
from .background import Command, Commands, tell
from .base import ToolContext, ToolOutcome
from .plain import PlainTool
from .shell_output import readable

READ_BYTES = 256 << 10  # of new output in one result; the file has all of it
MAX_WAIT_MS = 600_000

_ID: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "description": "The id that Bash gave, such as bg1.",
}


def commands_of(ctx: ToolContext) -> Commands:
    """The session's background commands; ToolFailure ``shell.no_background`` where there are
    none."""
    if ctx.commands is None:
        raise ToolFailure(
            "shell.no_background", "Commands cannot run in the background here.", path=ctx.root
        )
    return ctx.commands


def _find(ctx: ToolContext, command_id: str) -> Command:
    commands = commands_of(ctx)
    found = commands.get(command_id)
    if found is None:
        known = ", ".join(c.id for c in commands.all()) or "none was started"
        raise ToolFailure(
            "shell.no_command",
            f"There is no background command {command_id!r}. Known: {known}.",
            id=command_id,
        )
    return found


async def report(ctx: ToolContext, command: Command, first: str = "") -> ToolOutcome:
    """State and new output of a command as a result; the loop keeps with it how far the agent has
    read."""
    printed = await commands_of(ctx).read(command, limit=READ_BYTES)
    text, _ = await asyncio.to_thread(readable, printed.data)
    lines = [f"{command.id}: {first or tell(command)}"]
    if printed.skipped:
        lines.append(f"[{printed.skipped:,} bytes before this are only in the file]")
    lines.append(text.rstrip("\n") or "(no new output)")
    if command.path:
        lines.append(f"[bytes {printed.start:,} to {printed.end:,} of {command.path}]")
    ended = command.ended
    note: dict[str, Any] = {
        "command": command.id,
        "commands": {command.id: {"read_to": printed.end, "told": ended is not None}},
    }
    if ended is not None:
        note |= {"exit": ended.code, "seconds": ended.seconds, "why": ended.why}
    return ToolOutcome("\n".join(lines), metadata={"slipway": note})


class BashOutput(PlainTool):
    name: str = "BashOutput"
    description: str = (
        "What a background command printed since you looked last, and whether it still runs. "
        "With `wait` it waits for the end first, with `until` for a text in the output (a server "
        "that says it is ready). You are told when one ends: do not look again and again."
    )
    parameters: dict[str, Any] = schema(
        {
            "id": _ID,
            "wait": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_WAIT_MS,
                "description": "Milliseconds to wait at most (default 0).",
            },
            "until": {
                "type": "string",
                "description": "Stop waiting as soon as new output holds this text.",
            },
        },
        required=["id"],
    )

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        """Two that read the same command would both take its news."""
        return False

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        command = _find(ctx, args["id"])
        if wait := args.get("wait", 0):
            await commands_of(ctx).wait(command, wait / 1000, args.get("until", ""))
        return await report(ctx, command)


class BashStop(PlainTool):
    name: str = "BashStop"
    description: str = "End a background command with everything that it started."
    parameters: dict[str, Any] = schema({"id": _ID}, required=["id"])
    kind: Effect = "idempotent"

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        command = _find(ctx, args["id"])
        await commands_of(ctx).stop(command.id, "agent")
        return await report(ctx, command)
