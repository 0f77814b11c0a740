"""Write: a whole text file, new or replaced."""

from __future__ import annotations

import difflib
from typing import Any

from desktop_app.core.events import Effect

from . import paths, textfile
from .args import schema
from .base import ToolContext, ToolOutcome, Verdict
from .change import Current, check_read, commit, current, plan, shown
from .plain import PlainTool

MAX_MIXED = 1_500  # lines up to which mixed line ends are matched line by line


class Write(PlainTool):
    name: str = "Write"
    description: str = (
        "Create a text file, or replace one whole. An existing file must have been read before. "
        "Directories on the way are made. An existing file keeps its encoding and line ends. To "
        "change a part of a file, use Edit."
    )
    parameters: dict[str, Any] = schema(
        {
            "file_path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the working directory or absolute.",
            },
            "content": {"type": "string", "description": "The whole new text of the file."},
        },
        required=["file_path", "content"],
    )
    kind: Effect = "compensable"

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return paths.verdict(self.name, await paths.resolve(ctx, args["file_path"]), "write")

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        now = await current(ctx, args["file_path"], must_exist=False)
        return shown(await plan(now, lambda c: (keep_ends(c, args["content"]), 1)))

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        now = await current(ctx, args["file_path"], must_exist=False)
        check_read(ctx, now)
        change = await plan(now, lambda c: (keep_ends(c, args["content"]), 1))
        name, diff = now.resolved.shown, change.diff
        if now.version is None:
            text = f"Created {name} ({diff.added} lines, {len(change.data):,} bytes)."
        elif change.data == now.data:
            text = f"{name} already has exactly this content; nothing was written."
        else:
            text = f"Replaced {name} (+{diff.added} -{diff.removed} lines)."
        return await commit(ctx, change, text)


def keep_ends(now: Current, content: str) -> str:
    """``content`` with the line ends of the file it replaces.

    Content that holds carriage returns is taken as it is. A file of one kind of line end keeps
    it; of a mixed one each unchanged line keeps its own, new lines take the commonest.
    """
    if now.encoding.bom and content.startswith("\ufeff"):
        content = content[1:]
    if now.version is None or "\r" in content:
        return content
    ends = textfile.ends_of(now.text)
    kinds = set(ends)
    if not kinds or kinds == {"\n"}:
        return content
    common = textfile.dominant(ends)
    if len(kinds) == 1 or len(ends) > MAX_MIXED:
        return content.replace("\n", common)
    return _mixed(now.text, ends, content, common)


def _mixed(text: str, ends: list[str], content: str, common: str) -> str:
    old, new = textfile.normal(text).split("\n"), content.split("\n")
    fate = [common] * (len(new) - 1)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for i, j, size in matcher.get_matching_blocks():
        for k in range(size):
            if i + k < len(ends) and j + k < len(fate):
                fate[j + k] = ends[i + k]
    return "".join(line + end for line, end in zip(new, [*fate, ""], strict=True))
