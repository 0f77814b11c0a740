"""Grep: lines that match a regular expression, with ripgrep where it is, without where not.

Both ways yield the same stream of hits, which one place counts, cuts and prints, so that the
result has one shape. Both use the same dialect of expressions (Rust ``regex``) in linear time.
Where an expression spans lines, ours shows the fewest lines that hold a match and ripgrep those of
the leftmost one; the files are the same.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncIterator
from typing import Any

from desktop_app.core.errors import ToolFailure, WorkspaceError

from . import globs, linear, paths, textfile
from .args import schema
from .base import ToolContext, ToolOutcome, Verdict
from .glob_tool import HEAD_LIMIT, LIMITS, MAX_HEAD, notes
from .grep_own import search as own_search
from .grep_rg import search as rg_search
from .grep_types import ALIASES, TYPES
from .grep_wanted import Hit, Wanted, names_line_end
from .plain import PlainTool, closing
from .read import head_of
from .textfile import printable
from .walk import Budget

CONTEXT_MAX = 100
_LINES = {"type": "integer", "minimum": 0, "maximum": CONTEXT_MAX}


class Grep(PlainTool):
    name: str = "Grep"
    description: str = (
        "Search the text of files with a regular expression (Rust syntax: no look-around, no "
        "back-references). Gives the files that match; with output_mode content the lines, with "
        "count how many a file. Binary files, .git, node_modules and what .gitignore names are "
        "left out; a file given as `path` is always searched."
    )
    parameters: dict[str, Any] = schema(
        {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "description": "The regular expression; escape what is meant literally.",
            },
            "path": {
                "type": "string",
                "description": "File or directory to search (default: the working directory).",
            },
            "output_mode": {
                "type": "string",
                "enum": ["files_with_matches", "content", "count"],
                "description": "What to return (default files_with_matches).",
            },
            "glob": {"type": "string", "description": "Only files like this: *.py, src/**/*.ts."},
            "type": {"type": "string", "description": "Only this type of file: py, js, md, ..."},
            "-A": {**_LINES, "description": "Lines to show after each match (content)."},
            "-B": {**_LINES, "description": "Lines to show before each match (content)."},
            "context": {**_LINES, "description": "Lines to show around each match (content)."},
            "-n": {"type": "boolean", "description": "Show line numbers (default true)."},
            "-i": {"type": "boolean", "description": "Ignore case."},
            "multiline": {
                "type": "boolean",
                "description": "Let the expression span lines; the dot matches newlines too.",
            },
            **LIMITS,
        },
        required=["pattern"],
    )

    def checked(self, args: dict[str, Any]) -> dict[str, Any]:
        out = super().checked(args)
        wanted_type = out.get("type")
        if wanted_type is not None:
            out["type"] = ALIASES.get(wanted_type.lower(), wanted_type.lower())
            if out["type"] not in TYPES:
                failure = ToolFailure(
                    "search.unknown_type",
                    f"There is no file type {wanted_type!r}. Types: {', '.join(TYPES)}. "
                    "Or use glob.",
                    type=wanted_type[:80],
                )
                raise failure
        return out

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return paths.verdict(self.name, await paths.resolve(ctx, args.get("path") or "."), "read")

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        resolved = await paths.resolve(ctx, args.get("path") or ".")
        return {"path": resolved.shown, "pattern": args["pattern"]}

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        wanted = await asyncio.to_thread(_wanted, args)
        start = await paths.resolve(ctx, args.get("path") or ".")
        info = await ctx.backend.stat(start.real)
        if info.kind not in ("file", "dir"):
            raise WorkspaceError("file.special", path=start.shown)
        is_file = info.kind == "file"
        if is_file and textfile.is_binary(await head_of(ctx, start.real)):
            failure = textfile.binary(start.shown)
            raise failure
        collected = _Collected(args, _Names(start, is_file=is_file))
        budget = Budget()
        engine = "rg"
        try:
            await _collect(collected, rg_search(ctx, start, is_file, wanted, budget))
        except WorkspaceError as error:
            if error.code not in ("exec.missing", "exec.denied", "exec.failed"):
                raise
            engine, budget = "own", Budget()
            wanted.skipped_secret = 0
            collected = _Collected(args, _Names(start, is_file=is_file))
            await _collect(collected, own_search(ctx, start, is_file, wanted, budget))
        return collected.outcome(engine, wanted, budget)


def _wanted(args: dict[str, Any]) -> Wanted:
    """The search, its expressions compiled once; ToolFailure ``search.bad_pattern``."""
    pattern, multiline = args["pattern"], args.get("multiline", False)
    try:
        linear.Linear(pattern)
    except linear.BadPattern as error:
        failure = globs.bad_pattern(pattern, str(error))
        raise failure from error
    if not multiline and names_line_end(pattern):
        failure = globs.bad_pattern(
            pattern, "line ends (\\n, \\r) are no part of a line; set multiline for them"
        )
        raise failure
    glob = args.get("glob")
    if glob:
        globs.compile_glob(glob.removeprefix("!"))
    content = args.get("output_mode") == "content"
    around = args.get("context", 0)
    return Wanted(
        pattern=pattern,
        ignore_case=args.get("-i", False),
        multiline=multiline,
        glob=glob or None,
        type=args.get("type"),
        before=max(args.get("-B", 0), around) if content else 0,
        after=max(args.get("-A", 0), around) if content else 0,
        names_only=args.get("output_mode", "files_with_matches") == "files_with_matches",
    )


class _Names:
    """How paths are shown: relative to the working directory."""

    def __init__(self, start: paths.Resolved, *, is_file: bool) -> None:
        self._start, self._is_file = start, is_file

    def __call__(self, path: str) -> str:
        shown = self._start.shown
        if self._is_file:
            return shown
        return path if shown == "." else posixpath.join(shown, path)


class _Collected:
    """The wanted part of a stream of hits, as printed lines."""

    def __init__(self, args: dict[str, Any], name: _Names) -> None:
        self._mode = args.get("output_mode", "files_with_matches")
        self._numbers = args.get("-n", True)
        self._first = args.get("offset", 0)
        self._limit = args.get("head_limit", HEAD_LIMIT) or MAX_HEAD
        self._groups = any(args.get(k) for k in ("-A", "-B", "context"))
        self._name = name
        self._seen = 0
        self._last: tuple[str, int] | None = None
        self._count: tuple[str, int] | None = None
        self.lines: list[str] = []
        self.files: set[str] = set()
        self.matches = 0
        self.more = False

    def add(self, hit: Hit) -> bool:
        """Take a hit; False when nothing more is wanted."""
        new_file = hit.path not in self.files
        self.matches += hit.match
        if self._mode == "content":
            self.files.add(hit.path)
            return self._content(hit)
        if self._mode == "files_with_matches":
            self.files.add(hit.path)
            return self._put(self._name(hit.path)) if new_file else True
        going = True
        if new_file:
            going = self._flush()
            self._count = (hit.path, 0)
            self.files.add(hit.path)
        if self._count is not None:
            self._count = (hit.path, self._count[1] + hit.match)
        return going

    def _content(self, hit: Hit) -> bool:
        gap = self._last is not None and self._last != (hit.path, hit.number - 1)
        if self._groups and gap and self._first < self._seen < self._first + self._limit:
            self.lines.append("--")
        self._last = (hit.path, hit.number)
        sign = ":" if hit.match else "-"
        number = f"{hit.number}{sign}" if self._numbers else ""
        return self._put(f"{self._name(hit.path)}{sign}{number}{hit.text}")

    def _put(self, line: str) -> bool:
        self._seen += 1
        if self._seen > self._first + self._limit:
            self.more = True
            return False
        if self._seen > self._first:
            self.lines.append(printable(line))
        return True

    def _flush(self) -> bool:
        """Print the count of the file before."""
        if self._count is None:
            return True
        path, count = self._count
        self._count = None
        return self._put(f"{self._name(path)}:{count}")

    def close(self) -> None:
        """No more hits."""
        self._flush()
        while self.lines and self.lines[-1] == "--":
            self.lines.pop()

    def outcome(self, engine: str, wanted: Wanted, budget: Budget) -> ToolOutcome:
        lines = list(self.lines)
        if not self._seen:
            lines = ["No match."]
        elif not lines:
            lines = [f"There are only {self._seen} entries; offset {self._first} is past them."]
        shown = sum(line != "--" for line in self.lines)
        if self.more:
            end = self._first + self._limit
            lines.append(f"[{self._first + 1}-{end} shown, there is more; offset={end} goes on]")
        lines.extend(notes(budget))
        if wanted.skipped_secret:
            lines.append(
                f"[{wanted.skipped_secret} files that may hold secrets were left out; "
                "give one as path to search it]"
            )
        note = {
            "engine": engine,
            "matches": self.matches,
            "files": len(self.files),
            "shown": shown,
            "more": self.more,
            "stopped": budget.stopped,
        }
        return ToolOutcome("\n".join(lines), metadata={"slipway": note})


async def _collect(into: _Collected, hits: AsyncIterator[Hit]) -> None:
    async with closing(hits) as stream:
        async for hit in stream:
            if not into.add(hit):
                break
    into.close()
