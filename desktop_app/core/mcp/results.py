"""The result of a call, as the model and the window take it."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop_app.core.messages import Base64Source, DataBlock
from desktop_app.core.tools.base import Aside, ToolOutcome
from desktop_app.core.tools.images import MEDIA, kind_of

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MAX_DATA = 20 << 20  # bytes of one picture or recording


@dataclass(frozen=True, slots=True)
class Told:
    """One content block: text for the model, bytes that go with it, bytes that it is not given."""

    text: str = ""
    data: DataBlock | None = None
    aside: Aside | None = None


def outcome_of(result: CallToolResult, *, images: bool) -> ToolOutcome:
    """Map a result; ``images`` says whether the model takes pictures, else they are only named.
    A result with structured content alone is told as JSON."""
    told = [_told(block, images) for block in result.content]
    text = "\n".join(t.text for t in told if t.text)
    if not result.content and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
    if not text and not any(t.data for t in told):
        text = "The tool failed and gave no reason." if result.is_error else "Done; no output."
    data = [t.data for t in told if t.data is not None]
    aside = [t.aside for t in told if t.aside is not None]
    return ToolOutcome(text, "error" if result.is_error else "success", data, aside=aside)


def _told(block: ContentBlock, images: bool) -> Told:
    match block.type:
        case "text":
            return Told(block.text)
        case "image":
            return _picture(block.data, block.mime_type, images)
        case "audio":
            return _bytes(block.data, block.mime_type, "recording")
        case "resource_link":
            kind = f", {block.mime_type}" if block.mime_type else ""
            return Told(f"[resource {block.name}: {block.uri}{kind}]")
        case "resource":
            held: Any = block.resource
            if (text := getattr(held, "text", None)) is not None:
                return Told(f"[resource {held.uri}]\n{text}")
            return _bytes(held.blob, held.mime_type or "application/octet-stream", str(held.uri))


def _picture(data: str, media: str, images: bool) -> Told:
    """What the bytes say counts, not the server's word: a provider refuses a picture whose kind
    is not what it is called, and then every later request."""
    raw = _decode(data)
    kind = kind_of(raw[:16]) if raw else None
    if raw is None or kind not in MEDIA:
        return _aside("a picture that cannot be shown", media, raw)
    if len(raw) > MAX_DATA:
        return _aside("a picture too large to show", media, raw)
    if not images:
        return _aside("a picture, which this model cannot see", MEDIA[kind], raw)
    source = Base64Source(data=base64.b64encode(raw).decode(), media_type=MEDIA[kind])
    return Told(data=DataBlock(source=source))


def _bytes(data: str, media: str, what: str) -> Told:
    return _aside(f"not shown: {what}", media, _decode(data))


def _aside(what: str, media: str, raw: bytes | None) -> Told:
    """Named for the model, and kept for the person when there is anything."""
    label = f"[{what}: {media}, {len(raw or b''):,} bytes]"
    return Told(label, aside=Aside(label, raw, media) if raw else None)


def _decode(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return None
