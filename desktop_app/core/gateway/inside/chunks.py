"""The result of a call as AgentScope's ToolChunk, which its services read."""

# pyright: basic

from __future__ import annotations

import datetime
import json
import uuid


def block(kind, **fields):
    now = datetime.datetime.now().isoformat()
    return {"type": kind, **fields, "id": uuid.uuid4().hex, "created_at": now, "finished_at": None}


def chunk(result):
    """``{"content": [...], "state": "running" | "error", "is_last": true, ...}``."""
    content = [told(one) for one in result.content]
    if not content and result.structured_content is not None:
        content = [block("text", text=json.dumps(result.structured_content, ensure_ascii=False))]
    state = "error" if result.is_error else "running"
    return {
        "content": content,
        "state": state,
        "is_last": True,
        "metadata": {},
        "id": uuid.uuid4().hex,
    }


def failed(text):
    return {
        "content": [block("text", text=text)],
        "state": "error",
        "is_last": True,
        "metadata": {},
        "id": uuid.uuid4().hex,
    }


def data(raw, media, name=None):
    source = {"type": "base64", "data": raw, "media_type": media}
    return block("data", source=source, name=name)


def told(one):
    if one.type == "text":
        return block("text", text=one.text)
    if one.type in ("image", "audio"):
        return data(one.data, one.mime_type)
    if one.type == "resource_link":
        return block("text", text=f"[resource {one.name}: {one.uri}]")
    held = one.resource
    if getattr(held, "text", None) is not None:
        return block("text", text=held.text)
    return data(held.blob, held.mime_type or "application/octet-stream", str(held.uri))
