"""Glob: files by a pattern of their path, newest first."""

from __future__ import annotations

import asyncio
import posixpath
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import FileInfo

from . import globs, ignore, paths
from .args import schema
from .base import ToolContext, ToolOutcome, Verdict
from .grep_own import own_root
from .plain import PlainTool, closing
from .textfile import printable
from .walk import MANY, Budget, Walk

HEAD_LIMIT = 250
MAX_HEAD = 10_000

LIMITS: dict[str, Any] = {
    "head_limit": {
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_HEAD,
        "description": f"How many entries to return (default {HEAD_LIMIT}, 0 for the most).",
    },
    "offset": {
        "type": "integer",
        "minimum": 0,
        "description": "How many entries to leave out first, to go on from an earlier call.",
    },
}


class Glob(PlainTool):
    name: str = "Glob"
    description: str = (
        "Find files and directories by a pattern of their path, newest first. `*` and `?` match "
        "within a name, `**` across directories, `[a-z]` a class, `{py,toml}` alternatives: "
        "`src/**/*.py`, `**/*.{md,txt}`, `*` for what is directly there. Directories end with a "
        "slash. .git and node_modules are left out unless the pattern names them."
    )
    parameters: dict[str, Any] = schema(
        {
            "pattern": {"type": "string", "minLength": 1, "description": "The pattern."},
            "path": {
                "type": "string",
                "description": "The directory to search (default: the working directory).",
            },
            **LIMITS,
        },
        required=["pattern"],
    )

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        given, _ = _split(args)
        return paths.verdict(self.name, await paths.resolve(ctx, given), "read")

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        given, rest = _split(args)
        return {"path": (await paths.resolve(ctx, given)).shown, "pattern": rest}

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        given, rest = _split(args)
        start = await paths.resolve(ctx, given)
        try:
            info = await ctx.backend.stat(start.real)
        except WorkspaceError as error:
            # A pattern that leads into a folder which is not there matches nothing; only a wrong
            # ``path`` is a mistake to be told.
            if error.code != "file.missing" or given == (args.get("path") or "."):
                raise
            return _outcome(start, [], args, Budget())
        if info.kind != "dir":
            raise WorkspaceError("file.not_dir", path=start.shown)
        budget = Budget()
        found = await _find(ctx, start, rest, budget)
        if len(found) > MANY:
            await asyncio.to_thread(found.sort, key=_newest)
        else:
            found.sort(key=_newest)
        return _outcome(start, found, args, budget)


def _split(args: dict[str, Any]) -> tuple[str, str]:
    """(directory to search, pattern below it): leading names without wildcards are walked to, not
    searched, so that an absolute pattern is confined like a path."""
    prefix, rest = globs.static_prefix(args["pattern"].removeprefix("./"))
    if ".." in rest.split("/"):
        failure = globs.bad_pattern(args["pattern"], "'..' may only stand before any wildcard")
        raise failure
    base = args.get("path") or "."
    return (posixpath.join(base, prefix) if prefix else base), rest or "*"


async def _find(
    ctx: ToolContext, start: paths.Resolved, pattern: str, budget: Budget
) -> list[tuple[str, FileInfo]]:
    matcher = await asyncio.to_thread(globs.compile_glob, pattern)
    named = {name for name in ignore.ALWAYS if name in pattern}
    deep = max(p.count("/") for p in globs.expand(pattern)) if "**" not in pattern else 1 << 20
    own = await own_root(ctx, start)

    def enter(path: str, name: str) -> bool:
        if name in ignore.ALWAYS and name not in named:
            return False
        return path != own and path.count("/") < deep

    out: list[tuple[str, FileInfo]] = []
    walk = Walk(ctx.backend, start.real, budget, enter)
    async with closing(walk.entries()) as entries:
        async for path, info, _ in entries:
            if info.name in ignore.ALWAYS and info.name not in named:
                continue
            if matcher.matches(path):
                out.append((path, info))
    return out


def _newest(entry: tuple[str, FileInfo]) -> tuple[int, str]:
    return -entry[1].mtime_ns, entry[0]


def _name(start: paths.Resolved, entry: tuple[str, FileInfo]) -> str:
    path, info = entry
    name = path if start.shown == "." else posixpath.join(start.shown, path)
    return printable(name) + ("/" if info.kind == "dir" else "")


def _outcome(
    start: paths.Resolved,
    found: list[tuple[str, FileInfo]],
    args: dict[str, Any],
    budget: Budget,
) -> ToolOutcome:
    first, total = args.get("offset", 0), len(found)
    limit = args.get("head_limit", HEAD_LIMIT) or MAX_HEAD
    shown = found[first : first + limit]
    lines = [_name(start, entry) for entry in shown]
    if not found:
        lines = ["No file matches."]
    elif not shown:
        lines = [f"There are {total} matches; offset {first} is past them."]
    elif len(shown) < total:
        end = first + len(shown)
        more = f"; go on with offset={end}" if end < total else ""
        lines.append(f"[{first + 1}-{end} of {total}{more}]")
    lines.extend(notes(budget))
    note = {
        "matches": total,
        "shown": len(shown),
        "more": first + len(shown) < total,
        "stopped": budget.stopped,
    }
    return ToolOutcome("\n".join(lines), metadata={"slipway": note})


def notes(budget: Budget) -> list[str]:
    """What a reader of a search's result must know of its bounds."""
    out: list[str] = []
    if budget.stopped == "time":
        out.append(f"[stopped after {budget.seconds:.0f} s; narrow the path to see the rest]")
    elif budget.stopped == "pattern":
        out.append("[stopped: the expression is too costly for such text; make it simpler]")
    elif budget.stopped:
        out.append(f"[stopped after {budget.entries:,} entries; narrow the path to see the rest]")
    if budget.unreadable:
        out.append(f"[{budget.unreadable} directories could not be read]")
    return out
