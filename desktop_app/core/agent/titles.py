"""Naming a session: by its first words, then by the model; a person's own name stays."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable

from desktop_app.core.errors import SlipwayError
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.sessions.base import NewRecord

from .folded import Folded

logger = logging.getLogger(__name__)
MAX_CHARS = 60
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_MARKUP = re.compile(r"^\s*(?:#{1,6}\s+|>\s+|[-*]\s+)?(?:title:|标题[:：])?|\*\*|`+", re.I)
_QUOTES = "\"'“”「」 "


async def better_title(
    now: Folded, ask: Callable[[ModelRequest], Awaitable[str]]
) -> NewRecord | None:
    """A ``title`` record: the beginning of the first message while its turn is open, then what the
    model makes of it. None when a person named it, or nothing better can be had."""
    first = next((m for m in now.state.context if m.role == "user"), None)
    text = " ".join(first.text().split()) if first is not None else ""
    if first is None or not text or now.titled_by in ("person", "agent"):
        return None
    title, by = text[:MAX_CHARS], "text"
    if now.state.context[-1].finished_reason == "completed":
        by = "agent"
        try:
            made = await ask(ModelRequest("", [first], purpose="title", max_output=60))
            title = _line(made)[:MAX_CHARS] or title
        except SlipwayError as error:
            logger.info("no title from the model: %s", error)
    if by == now.titled_by:
        return None
    return NewRecord("title", {"title": _bare(title), "by": by})


def _line(made: str) -> str:
    """The title in what a model said, without its thinking and its markup; empty where it did
    something else than name: it wrote much, or code."""
    lines = [line for line in _THOUGHT.sub("", made).splitlines() if line.strip()]
    if not lines or len(lines) > 2 or "```" in made or len(lines[0]) > 2 * MAX_CHARS:
        return ""
    said = " ".join(_MARKUP.sub("", lines[0]).split())
    return said if said.endswith("..") else said.rstrip(".。")


def _bare(title: str) -> str:
    """Without quotes around all of it; one that closes words inside stays."""
    title = title.strip()
    first, inner, last = title[:1], title[1:-1], title[-1:]
    around = len(title) > 1 and first in _QUOTES and last in _QUOTES
    return inner.strip() if around and not {first, last} & set(inner) else title
