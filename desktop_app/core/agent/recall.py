"""The agent's way back to what left its context: two tools over its own session's journal.

They read what this conversation has said and seen, nothing else; a long find is bounded like every
result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from desktop_app.core.errors import ToolFailure
from desktop_app.core.events import Effect
from desktop_app.core.tools.base import ToolContext, ToolOutcome, Verdict
from desktop_app.core.tools.bounds import safe_cut
from desktop_app.core.tools.linear import BadPattern, compiled

from .past import Entry, Hit, Past, some_lines

LINES = 200  # read at once
HITS = 20
SHOWN = 300  # characters of a line that matches


class _Recall:
    """What both share: they only read, and need no leave for it."""

    name: str
    description: str
    parameters: dict[str, Any]

    def __init__(self, past: Past) -> None:
        self._past = past

    def effect(self, args: dict[str, Any]) -> Effect:
        return "read"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        return True

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return Verdict("allow")

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return {}


class ContextSearch(_Recall):
    """Lines of the whole conversation that match."""

    name = "context_search"
    description = (
        "Search this whole conversation, also what has left your context: messages and whole tool "
        "results. Gives the lines that match, newest first, with a ref for context_read."
    )
    parameters: dict[str, Any] = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "A word, or a regular expression."},
            "who": {"type": "string", "enum": ["user", "assistant", "tool"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": HITS},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        text, who = args.get("pattern"), args.get("who")
        if not isinstance(text, str) or not text or who not in (None, "user", "assistant", "tool"):
            raise _bad(self.name, "pattern is a text; who is user, assistant or tool")
        limit = args.get("limit")
        number = min(HITS, max(1, limit)) if isinstance(limit, int) else HITS
        hits = await self._past.search(_matcher(text), who=who, limit=number)
        if not hits:
            return ToolOutcome(f"Nothing in this conversation matches {text!r}.")
        return ToolOutcome("\n".join(_shown(hit) for hit in hits))


class ContextRead(_Recall):
    """One message or result, whole or in part."""

    name = "context_read"
    description = (
        "Read one message or tool result of this conversation again, whole, also when it was "
        "shortened or has left your context. ref comes from context_search or from a note."
    )
    parameters: dict[str, Any] = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "ref": {"type": "string"},
            "line": {"type": "integer", "minimum": 1, "description": "The first line; from 1."},
            "lines": {"type": "integer", "minimum": 1, "maximum": 2000},
        },
        "required": ["ref"],
        "additionalProperties": False,
    }

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        ref, line, lines = args.get("ref"), args.get("line", 1), args.get("lines", LINES)
        if not isinstance(ref, str) or not isinstance(line, int) or not isinstance(lines, int):
            raise _bad(self.name, "ref is a text; line and lines are numbers")
        entry = await self._past.find(ref.strip())
        if entry is None:
            raise ToolFailure(
                "context.no_ref", f"Nothing in this conversation is named {ref!r}.", ref=ref
            )
        some, whole = some_lines(entry.text, max(1, line), max(1, min(lines, 2000)))
        head = f"{entry.ref} {_who(entry)}, lines {line} to {line + len(some) - 1} of {whole}:"
        return ToolOutcome("\n".join([head, *some]))


def recall_tools(past: Past) -> tuple[ContextSearch, ContextRead]:
    return ContextSearch(past), ContextRead(past)


def _who(entry: Entry) -> str:
    return entry.label or {"user": "the person", "assistant": "you", "tool": "a tool"}[entry.who]


def _shown(hit: Hit) -> str:
    text = hit.text.strip()
    if len(text) > SHOWN:
        text = text[: safe_cut(text, SHOWN)] + "…"
    return f"{hit.entry.ref} {_who(hit.entry)}, line {hit.line}: {text}"


def _matcher(text: str) -> Callable[[str], bool]:
    """Whatever the case; as plain words where it is no expression."""
    try:
        return compiled(f"(?i){text}").matches
    except BadPattern:
        words = text.casefold()
        return lambda line: words in line.casefold()


def _bad(tool: str, problems: str) -> ToolFailure:
    return ToolFailure("tool.bad_arguments", f"{tool}: {problems}.", tool=tool, problems=problems)
