"""What Write and Edit share: the file as it is, checks before a change, the change itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import ToolFailure, WorkspaceError

from . import paths, textfile
from .base import ToolContext, ToolOutcome
from .diffs import Diff, unified
from .read import regular
from .textfile import UTF8, Encoding


@dataclass(frozen=True, slots=True)
class Current:
    """A file before a change; ``version`` None when there is none yet."""

    resolved: paths.Resolved
    version: str | None = None
    data: bytes = b""
    text: str = ""
    encoding: Encoding = UTF8


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change. ``count`` is how many places are replaced."""

    current: Current
    text: str
    data: bytes
    diff: Diff
    count: int = 1


Planner = Callable[[Current], tuple[str, int]]


async def current(ctx: ToolContext, given: str, *, must_exist: bool) -> Current:
    """The file at a path, decoded. ToolFailure or WorkspaceError for what cannot be changed."""
    resolved = await paths.resolve(ctx, given)
    try:
        info = await regular(ctx, resolved)
    except WorkspaceError as error:
        if error.code == "file.missing" and not must_exist:
            return Current(resolved)
        raise
    data = await ctx.backend.read_bytes(resolved.real, max_bytes=ctx.max_read_bytes)
    text, encoding = await asyncio.to_thread(textfile.decode, data, resolved.shown)
    return Current(resolved, info.version, data, text, encoding)


def check_read(ctx: ToolContext, now: Current) -> None:
    """ToolFailure ``file.not_read`` or ``file.changed`` unless this very version was read here."""
    if now.version is None:
        return
    shown = now.resolved.shown
    seen = ctx.files.seen.get(now.resolved.real)
    if seen is None:
        raise ToolFailure(
            "file.not_read",
            f"{shown!r} exists and was not read in this session. Read it first.",
            path=shown,
        )
    if seen != now.version:
        raise ToolFailure(
            "file.changed",
            f"{shown!r} changed since it was read. Read it again, then repeat the change.",
            path=shown,
        )


async def plan(now: Current, planner: Planner) -> Change:
    """Work a change out, off the loop: new text, its bytes in the file's encoding, the diff."""

    def work() -> Change:
        text, count = planner(now)
        data = textfile.encode(text, now.encoding, now.resolved.shown)
        diff = unified(now.text, text, now.resolved.shown)
        return Change(now, text, data, diff, count)

    return await asyncio.to_thread(work)


def shown(change: Change) -> dict[str, Any]:
    """A change as the person is asked about it."""
    return {
        "path": change.current.resolved.shown,
        "diff": change.diff.text,
        "new": change.current.version is None,
        "added": change.diff.added,
        "removed": change.diff.removed,
        "cut": change.diff.cut,
    }


async def commit(ctx: ToolContext, change: Change, text: str) -> ToolOutcome:
    """Write a change atomically, if the file still is what was read, and remember its version."""
    now = change.current
    if now.version is None:
        info = await ctx.backend.write(now.resolved.real, change.data, create=True)
    elif change.data == now.data:
        info = None
    else:
        info = await ctx.backend.write(now.resolved.real, change.data, expect=now.version)
    version = info.version if info is not None else now.version or ""
    ctx.files.seen[now.resolved.real] = version
    note: dict[str, Any] = {
        **shown(change),
        "read": {now.resolved.real: version},
        "bytes": len(change.data),
        **now.encoding.note(),
    }
    return ToolOutcome(text, metadata={"slipway": note})
