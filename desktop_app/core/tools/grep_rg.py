"""The same search done by ripgrep, where the workspace has it.

No part of the command line is the model's, except the expression after ``--`` and globs that are
values of ``--glob=``: no option can be slipped in (``--pre`` runs programs). Config files are off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.workspaces.backend import OutputChunk, ProcessExit

from . import globs, ignore, paths
from .base import ToolContext
from .grep_events import Events
from .grep_own import honours, own_root
from .grep_types import TYPES
from .grep_wanted import Hit, Wanted
from .plain import closing
from .walk import Budget

BASE = [
    "rg",
    "--no-config",
    "--json",
    "--sort=path",
    "--hidden",
    "--crlf",
    "--no-messages",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-dot",
    "--no-ignore-parent",
]


async def search(
    ctx: ToolContext, start: paths.Resolved, is_file: bool, wanted: Wanted, budget: Budget
) -> AsyncIterator[Hit]:
    """The hits below ``start``, by path and line. WorkspaceError ``exec.missing`` without rg."""
    argv, cwd, strip = await command(ctx, start, is_file, wanted)
    stderr = bytearray()
    secrets: set[str] = set()
    events = Events(as_text=is_file)
    run = ctx.backend.run(argv, cwd=cwd, timeout=budget.seconds)
    async with closing(run) as stream:
        async for item in stream:
            if isinstance(item, OutputChunk) and item.stream == "stderr":
                stderr += item.data[: max(0, 4096 - len(stderr))]
                continue
            if isinstance(item, ProcessExit):
                if item.timed_out:
                    budget.stopped = "time"
                elif item.code not in (0, 1):
                    _failed(wanted, item.code, bytes(stderr), events.any)
                hits = events.rest()
            elif events.heavy(item.data):
                hits = await asyncio.to_thread(events.feed, item.data)
            else:
                hits = events.feed(item.data)
            for hit in hits:
                path = "" if is_file else hit.path.removeprefix(strip)
                if not is_file and wanted.secret(path):
                    secrets.add(path)
                    wanted.skipped_secret = len(secrets)
                elif is_file or (wanted.by_type(path) and wanted.by_glob(path) is not False):
                    yield hit._replace(path=path)


def _failed(wanted: Wanted, code: int, stderr: bytes, found: bool) -> None:
    """Code 2 beside hits is a file that could not be read; any other is a ripgrep that broke."""
    text = stderr.decode("utf-8", "replace").strip()
    if code == 2 and found:
        return
    if code == 2 and "regex" in text:
        failure = globs.bad_pattern(wanted.pattern, text.splitlines()[-1])
        raise failure
    if code != 2 or not text:
        raise WorkspaceError("exec.failed", program="rg", detail=text[:500])
    raise ToolFailure("search.failed", f"The search failed: {text[:500]}", detail=text[:500])


async def command(
    ctx: ToolContext, start: paths.Resolved, is_file: bool, wanted: Wanted
) -> tuple[list[str], str, str]:
    """(argv, where to run it, what to take off the paths it prints)."""
    argv = list(BASE)
    if wanted.multiline:
        argv += ["--multiline", "--multiline-dotall"]
    elif wanted.names_only:  # beside --multiline ripgrep 15 breaks at it
        argv.append("--max-count=1")
    argv += [f"--before-context={wanted.before}", f"--after-context={wanted.after}"]
    if is_file:
        return (
            [*argv, "--no-ignore", "--text", "--", wanted.expression(), start.real],
            ctx.backend.cwd,
            "",
        )
    inside = start.zone == "cwd" and start.shown != "."
    cwd = ctx.backend.cwd if inside else start.real
    prefix = f"{start.shown}/" if inside else ""
    if not await honours(ctx, start):
        argv.append("--no-ignore")
    elif inside and await _has_ignore_file(ctx):
        argv.append("--ignore-file=.gitignore")
    argv += _files(wanted, prefix)
    argv += [f"--glob=!{name}" for name in sorted(ignore.ALWAYS)]
    own = await own_root(ctx, start)
    if own:
        argv.append(f"--glob=!/{_literal(prefix + own)}")
    where = f"./{start.shown}" if inside else "."
    return [*argv, "--", wanted.expression(), where], cwd, f"{where}/"


def _files(wanted: Wanted, prefix: str) -> list[str]:
    """Options for the globs and the type, anchored where the search begins."""
    if wanted.glob is not None:
        sign = "!" if wanted.glob.startswith("!") else ""
        anchor = f"/{_literal(prefix)}" if "/" in wanted.glob.rstrip("/") else ""
        patterns = globs.for_ripgrep(wanted.glob.removeprefix("!"))
        return [f"--glob={sign}{anchor}{p.lstrip('/') if anchor else p}" for p in patterns]
    if wanted.type is not None:
        added = [f"--type-add=slipway:{pattern}" for pattern in TYPES[wanted.type]]
        return [*added, "--type=slipway"]
    return []


def _literal(path: str) -> str:
    return "".join(f"[{c}]" if c in "*?[{}\\# " else c for c in path)


async def _has_ignore_file(ctx: ToolContext) -> bool:
    try:
        info = await ctx.backend.stat(f"{ctx.backend.cwd.rstrip('/')}/.gitignore", follow=False)
    except WorkspaceError:
        return False
    return info.kind == "file"
