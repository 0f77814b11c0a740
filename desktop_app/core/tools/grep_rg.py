"""The same search done by ripgrep, where the workspace has it.

No part of the command line is the model's, except the expression after ``--`` and globs that are
values of ``--glob=``: no option can be slipped in (``--pre`` runs programs). Config files are off.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any, cast

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.workspaces.backend import OutputChunk, ProcessExit

from . import globs, ignore, paths
from .base import ToolContext
from .grep_own import honours, own_root
from .grep_types import TYPES
from .grep_wanted import Hit, Wanted, cut
from .plain import closing
from .walk import Budget

MAX_EVENT = (
    8 << 20
)  # bytes of one event of ripgrep's; a longer one is a hit whose text is not shown
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
    events = _Events()
    run = ctx.backend.run(argv, cwd=cwd, timeout=budget.seconds)
    async with closing(run) as stream:
        async for item in stream:
            if isinstance(item, ProcessExit):
                if item.timed_out:
                    budget.stopped = "time"
                elif item.code not in (0, 1) and not events.any:
                    _failed(wanted, item.code, bytes(stderr))
                break
            assert isinstance(item, OutputChunk)
            if item.stream == "stderr":
                stderr += item.data[: max(0, 4096 - len(stderr))]
                continue
            many = len(item.data) > 1 << 15
            hits = (
                await asyncio.to_thread(events.feed, item.data) if many else events.feed(item.data)
            )
            for hit in hits:
                path = "" if is_file else hit.path.removeprefix(strip)
                if not is_file and wanted.secret(path):
                    secrets.add(path)
                    wanted.skipped_secret = len(secrets)
                elif is_file or (wanted.by_type(path) and wanted.by_glob(path) is not False):
                    yield hit._replace(path=path)


def _failed(wanted: Wanted, code: int, stderr: bytes) -> None:
    text = stderr.decode("utf-8", "replace").strip()
    if "regex" in text:
        failure = globs.bad_pattern(wanted.pattern, text.splitlines()[-1])
        raise failure
    if code in (126, 127) or not text:
        raise WorkspaceError("exec.failed", program="rg", detail=text[:500])
    raise ToolFailure("search.failed", f"The search failed: {text[:500]}", detail=text[:500])


async def command(
    ctx: ToolContext, start: paths.Resolved, is_file: bool, wanted: Wanted
) -> tuple[list[str], str, str]:
    """(argv, where to run it, what to take off the paths it prints)."""
    argv = list(BASE)
    if wanted.multiline:
        argv += ["--multiline", "--multiline-dotall"]
    if wanted.names_only:
        argv.append("--max-count=1")
    argv += [f"--before-context={wanted.before}", f"--after-context={wanted.after}"]
    if is_file:
        return [*argv, "--no-ignore", "--", wanted.expression(), start.real], ctx.backend.cwd, ""
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
        negated = wanted.glob.startswith("!")
        glob = wanted.glob.removeprefix("!")
        if "/" in glob.rstrip("/"):
            glob = f"/{_literal(prefix)}{glob.lstrip('/')}"
        return [f"--glob={'!' if negated else ''}{glob}"]
    if wanted.type is not None:
        added = [f"--type-add=slipway:{pattern}" for pattern in TYPES[wanted.type]]
        return [*added, "--type=slipway"]
    return []


def _literal(path: str) -> str:
    return "".join(f"[{c}]" if c in "*?[{}!" else c for c in path)


async def _has_ignore_file(ctx: ToolContext) -> bool:
    try:
        info = await ctx.backend.stat(f"{ctx.backend.cwd.rstrip('/')}/.gitignore", follow=False)
    except WorkspaceError:
        return False
    return info.kind == "file"


class _Events:
    """ripgrep's JSON lines, as hits (its documentation, "JSON output")."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self.any = False

    def feed(self, data: bytes) -> list[Hit]:
        hits: list[Hit] = []
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._add(line)
            raw = b"".join(self._parts)
            size, self._parts, self._size = self._size, [], 0
            hits.extend(_hits(raw) if size <= MAX_EVENT else _too_long(raw))
        self._add(rest)
        self.any = self.any or bool(hits)
        return hits

    def _add(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= MAX_EVENT or not self._parts:
            self._parts.append(data[:MAX_EVENT])


def _hits(raw: bytes) -> list[Hit]:
    if not raw.startswith((b'{"type":"match"', b'{"type":"context"')):
        return []
    event = cast(dict[str, Any], json.loads(raw))
    data = cast(dict[str, Any], event["data"])
    text = _text(data["lines"])
    path = _text(data["path"])
    lines = text.removesuffix("\n").split("\n")
    match = event["type"] == "match"
    first = int(data["line_number"])
    return [Hit(path, first + i, cut(line), match) for i, line in enumerate(lines)]


def _too_long(raw: bytes) -> list[Hit]:
    """A hit in a line of many megabytes: only where it is."""
    head = raw[:4096].decode("utf-8", "replace")
    start = head.find('"path":{"text":"')
    if start < 0 or not head.startswith('{"type":"match"'):
        return []
    path, _ = json.JSONDecoder().raw_decode(head, start + len('"path":{"text":'))
    tail = head[head.find('"lines":{"text":"') + len('"lines":{"text":"') :]
    return [Hit(str(path), 0, f"{tail[:2000]} [cut here: a very long line]", True)]


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    data = base64.b64decode(value["bytes"])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
