"""Edit: replace exact text in a file, every other byte kept."""

from __future__ import annotations

from typing import Any

from desktop_app.core.errors import ToolFailure
from desktop_app.core.events import Effect

from . import paths, textfile
from .args import schema
from .base import ToolContext, ToolOutcome, Verdict
from .change import Change, Current, check_read, commit, current, plan, shown
from .near import explain
from .plain import PlainTool


class Edit(PlainTool):
    name: str = "Edit"
    description: str = (
        "Replace text in a file that was read before. `old_string` is matched exactly, spaces and "
        "indentation included, and must occur once unless `replace_all` is true; take enough "
        "lines around the place to make it unique. Leave out the line numbers that Read prints. "
        "Encoding and line ends of the file are kept: write plain newlines."
    )
    parameters: dict[str, Any] = schema(
        {
            "file_path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the working directory or absolute.",
            },
            "old_string": {
                "type": "string",
                "minLength": 1,
                "description": "The exact text to replace.",
            },
            "new_string": {"type": "string", "description": "The text to put in its place."},
            "replace_all": {
                "type": "boolean",
                "description": "Replace every occurrence (default false).",
            },
        },
        required=["file_path", "old_string", "new_string"],
    )
    kind: Effect = "compensable"

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return paths.verdict(self.name, await paths.resolve(ctx, args["file_path"]), "write")

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return shown(await self._plan(args, await self._current(args, ctx)))

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        now = await self._current(args, ctx)
        check_read(ctx, now)
        change = await self._plan(args, now)
        places = "1 place" if change.count == 1 else f"{change.count} places"
        text = (
            f"Edited {now.resolved.shown} in {places} "
            f"(+{change.diff.added} -{change.diff.removed} lines)."
        )
        return await commit(ctx, change, text)

    async def _current(self, args: dict[str, Any], ctx: ToolContext) -> Current:
        return await current(ctx, args["file_path"], must_exist=True)

    async def _plan(self, args: dict[str, Any], now: Current) -> Change:
        old, new = args["old_string"], args["new_string"]
        every = args.get("replace_all", False)
        return await plan(now, lambda c: replace(c.text, old, new, c.resolved.shown, every=every))


def replace(text: str, old: str, new: str, path: str, *, every: bool = False) -> tuple[str, int]:
    """(new text, places replaced). Line ends in ``old`` match any kind in the file; those of
    untouched lines stay, new lines take the kind of their neighbours.

    Raises ToolFailure ``edit.same``, ``edit.line_ends``, ``edit.not_found``, ``edit.ambiguous``.
    """
    if old == new:
        raise ToolFailure("edit.same", "old_string and new_string are the same.", path=path)
    old, new = textfile.normal(old), textfile.normal(new)
    if old == new:
        raise ToolFailure(
            "edit.line_ends",
            "old_string and new_string differ only in line ends, which Edit keeps as they are. "
            "To change line ends, use Bash (sed, dos2unix) or Write.",
            path=path,
        )
    flat = textfile.normal(text)
    starts = _find(flat, old)
    if not starts:
        raise ToolFailure("edit.not_found", explain(flat, old, path), path=path)
    if not every and (len(starts) > 1 or flat.find(old, starts[0] + 1) >= 0):
        again = flat.find(old, starts[0] + 1)
        lines = ", ".join(
            str(flat.count("\n", 0, s) + 1) for s in ([starts[0], again, *starts[2:10]])
        )
        count = max(len(starts), 2)
        raise ToolFailure(
            "edit.ambiguous",
            f"old_string occurs {count} times in {path!r} (lines {lines}). Take more text around "
            "it to make it unique, or set replace_all.",
            path=path,
            count=count,
        )
    if "\r" not in text:
        return flat.replace(old, new) if every else _splice(flat, starts[0], old, new), len(starts)
    return _with_ends(text, flat, starts, old, new), len(starts)


def _find(text: str, old: str) -> list[int]:
    """Where ``old`` starts, without overlaps."""
    out: list[int] = []
    at = text.find(old)
    while at >= 0:
        out.append(at)
        at = text.find(old, at + len(old))
    return out


def _splice(text: str, at: int, old: str, new: str) -> str:
    return text[:at] + new + text[at + len(old) :]


def _with_ends(text: str, flat: str, starts: list[int], old: str, new: str) -> str:
    """The replacement in a text whose line ends are not all newlines."""
    ends = textfile.ends_of(text)
    pieces: list[str] = []
    kept: list[str] = []
    at = line = 0
    inside = old.count("\n")
    for start in starts:
        before = flat.count("\n", at, start)
        kept.extend(ends[line : line + before])
        line += before
        kept.extend(_ends_for(ends, line, old, new))
        line += inside
        pieces += (flat[at:start], new)
        at = start + len(old)
    pieces.append(flat[at:])
    kept.extend(ends[line:])
    lines = "".join(pieces).split("\n")
    return "".join(piece + end for piece, end in zip(lines, [*kept, ""], strict=True))


def _ends_for(ends: list[str], line: int, old: str, new: str) -> list[str]:
    """Line ends for the newlines of ``new``, which replaces ``old`` at ``line``: equal lines at
    its start and end keep theirs, others go by position, what is new by its neighbour."""
    a, b = old.split("\n"), new.split("\n")
    mine = ends[line : line + len(a) - 1]
    wanted = len(b) - 1
    head = 0
    while head < min(len(mine), wanted) and a[head] == b[head]:
        head += 1
    same = 0  # lines at the end; the last of them has no end of its own here
    while same < min(len(a), len(b)) - head and a[-1 - same] == b[-1 - same]:
        same += 1
    tail = min(max(same - 1, 0), len(mine) - head, wanted - head)
    middle = mine[head : len(mine) - tail]
    around = [*middle[-1:], *mine[:head][-1:], *mine[head:], *ends[line : line + 1]]
    neighbour = (around or ends[max(line - 1, 0) : line] or ["\n"])[0]
    need = wanted - head - tail
    middle = middle[:need] + [neighbour] * (need - len(middle))
    return [*mine[:head], *middle, *(mine[len(mine) - tail :] if tail else [])]
