"""Reading the bodies of history records: plain JSON in, pieces of items out. Nothing raises."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, cast

from desktop_app.core.agent.base import HistoryEntry
from desktop_app.core.agent.foreign import time_us
from desktop_app.core.messages import DataBlock, Msg, TextBlock

from .items import UserItem

_ATTACHMENT = re.compile(
    r"""name=(['"])(?P<name>.*)\1 path=(?P<quote>['"])(?P<path>.*)(?P=quote)""", re.DOTALL
)
_LATER_US = 120_000_000  # a record comes soon after what it holds
_HASHED = re.compile(r"[0-9a-f]{64}\b")  # a file that came with a message, kept under its hash
# What the loop tells the model at the end of a result; the card says it in its own words.
_REMINDER = re.compile(
    r"\s*<system-reminder>(?:(?!</?system-reminder>).)*</system-reminder>\s*\Z", re.DOTALL
)


def without_reminder(text: str) -> str:
    """A tool's output without the note to the model at its end."""
    if not text.endswith("</system-reminder>"):
        return text
    return _REMINDER.sub("", text)


def shows(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    if kind in ("text", "thinking"):
        return bool(block.get(kind))
    return kind in ("tool_call", "data")


def output_text(output: Any) -> str:
    """The text of a tool result's ``output``: a string or a list of blocks."""
    if isinstance(output, str):
        return output
    if not isinstance(output, list):
        return ""
    return "".join(
        str(b.get("text") or "")
        for b in cast("list[Any]", output)
        if isinstance(b, dict) and b.get("type") == "text"
    )


def span_us(start: Any, end: Any) -> int:
    """Microseconds between two naive ISO times; 0 when either is missing or bad."""
    if not isinstance(start, str) or not isinstance(end, str):
        return 0
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError):
        return 0
    return max(0, round(seconds * 1_000_000))


def said_us(stamp: Any, ts_us: int) -> int:
    """When something was said: its own time where that is clearly older than the record, which in
    a branch was written when the branch was made."""
    said = time_us(stamp) if isinstance(stamp, str) else 0
    return said if 0 < said < ts_us - _LATER_US else ts_us


def user_item(msg: Msg, ts_us: int) -> UserItem:
    """A person's message from a live event."""
    texts: list[str] = []
    names: list[str] = []
    for block in msg.content:
        if isinstance(block, TextBlock):
            _text_part(block.text, (block.model_extra or {}).get("slipway"), texts, names)
        elif isinstance(block, DataBlock):
            names.append(block.name or block.source.media_type)
    return _user_of(msg.id, texts, names, msg.metadata, ts_us)


def user_item_from(msg: dict[str, Any], entry: HistoryEntry) -> UserItem:
    """A person's message from its record."""
    content: Any = msg.get("content")
    blocks: list[dict[str, Any]] = (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else [b for b in content or () if isinstance(b, dict)]
    )
    texts: list[str] = []
    names: list[str] = []
    for block in blocks:
        if block.get("type") == "text":
            _text_part(str(block.get("text") or ""), block.get("slipway"), texts, names)
        elif block.get("type") == "data":
            names.append(data_name(block))
    metadata = msg.get("metadata")
    return _user_of(
        str(msg.get("id") or entry.seq),
        texts,
        names,
        metadata if isinstance(metadata, dict) else {},
        said_us(msg.get("created_at"), entry.ts_us),
    )


def _text_part(text: str, kind: Any, texts: list[str], names: list[str]) -> None:
    """A text block of a person's message: words, or the note that names an attached file."""
    if kind != "attachment":
        texts.append(text)
    elif (found := _ATTACHMENT.search(text)) is not None:
        kept = _HASHED.match(found["path"].rpartition("/")[2])
        names.append(found["name"] if kept else found["path"])


def data_name(block: dict[str, Any]) -> str:
    source = block.get("source")
    media = source.get("media_type") if isinstance(source, dict) else ""
    return str(block.get("name") or media or "data")


def _user_of(
    msg_id: str, texts: list[str], names: list[str], metadata: dict[str, Any], ts_us: int
) -> UserItem:
    ours = metadata.get("slipway")
    ours = cast("dict[str, Any]", ours) if isinstance(ours, dict) else {}
    paths = [str(a.get("name") or a) for a in _dicts(ours.get("attachments"))]
    constraints = ours.get("constraints")
    return UserItem(
        id=f"u:{msg_id}",
        text="\n\n".join(texts),
        ts_us=ts_us,
        attachments=tuple(dict.fromkeys([*paths, *names])),
        pinned=len(constraints) if isinstance(constraints, list) else int(constraints or 0),
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", v) for v in cast("list[Any]", value) if isinstance(v, dict)]
