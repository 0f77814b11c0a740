"""Our messages as pydantic-ai's, and its stream as our parts.

Only imported in the models process: importing pydantic-ai takes a second.

What a provider wants back byte for byte (signatures, encrypted thinking, item ids) is kept on the
block under ``wire``: ``{"at", "provider", "id"?, "signature"?, "details"?}``. ``at`` names the
service that made it; it goes back there and nowhere else. Thinking that this service did not make
is left out: to another one it is a stranger's text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from pydantic_ai import messages as ai
from pydantic_ai.models import StreamedResponse
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from desktop_app.core.messages import (
    AnyBlock,
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)

from .base import (
    Finish,
    ModelEvent,
    ModelRequest,
    Reason,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolSchema,
)

WIRE = "wire"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}\Z")
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_OUTCOMES: dict[str, Literal["success", "failed", "denied", "interrupted"]] = {
    "success": "success",
    "error": "failed",
    "denied": "denied",
    "interrupted": "interrupted",
}


class Mapper:
    """Maps for one service. ``at`` names it; ``images`` says whether its model sees images;
    ``short_ids`` asks for call ids of nine letters and digits, as Mistral does."""

    def __init__(self, at: str, *, images: bool, short_ids: bool = False) -> None:
        self._at = at
        self._images = images
        self._short = short_ids

    # -- there -------------------------------------------------------------------------------

    def request(self, request: ModelRequest) -> list[ai.ModelMessage]:
        """The messages of a call; neighbours of one side become one message."""
        out: list[ai.ModelMessage] = []
        for msg in request.messages:
            if msg.role == "assistant":
                if parts := list(self._answer(msg)):
                    out.append(ai.ModelResponse(parts=parts, provider_name=_maker(parts)))
                continue
            said = list(self._said(msg))
            last = out[-1] if out else None
            if isinstance(last, ai.ModelRequest):
                last.parts = [*last.parts, *said]
            elif said:
                out.append(ai.ModelRequest(parts=said))
        if not out or not isinstance(out[-1], ai.ModelRequest):
            out.append(ai.ModelRequest(parts=[ai.UserPromptPart("Go on.")]))
        last = cast(ai.ModelRequest, out[-1])
        last.instructions = request.system or None
        return out

    def _said(self, msg: Msg) -> Iterator[ai.ModelRequestPart]:
        content: list[ai.UserContent] = []
        for block in msg.content:
            match block:
                case ToolResultBlock():
                    yield self._result(block)
                case TextBlock(text=text) if text:
                    content.append(text)
                case DataBlock():
                    content.append(self._data(block))
                case _:
                    pass
        if content:
            only = content[0]
            alone = len(content) == 1 and isinstance(only, str)
            yield ai.UserPromptPart(cast(str, only) if alone else content)

    def _result(self, block: ToolResultBlock) -> ai.ToolReturnPart:
        output: Any = block.output
        if not isinstance(block.output, str):
            items = [b.text if isinstance(b, TextBlock) else self._data(b) for b in block.output]
            pictures = any(not isinstance(i, str) for i in items)
            output = items if pictures else "\n".join(cast(list[str], items))
        return ai.ToolReturnPart(
            tool_name=block.name,
            content=output,
            tool_call_id=self.call_id(block.id),
            outcome=_OUTCOMES.get(block.state, "success"),
        )

    def _data(self, block: DataBlock) -> str | ai.BinaryContent:
        """An image that this model sees, or a line that says what is not shown. Addresses are not
        fetched: a message from outside must not make this computer read a file or call a host."""
        source = block.source
        name = block.name or source.media_type
        if self._images and isinstance(source, Base64Source) and source.media_type in _IMAGES:
            try:
                data = base64.b64decode(source.data, validate=True)
            except (binascii.Error, ValueError):
                return f"[{name}: damaged, not shown]"
            return ai.BinaryContent(data, media_type=source.media_type)
        return f"[{name}: not shown to this model]"

    def _answer(self, msg: Msg) -> Iterator[ai.ModelResponsePart]:
        for block in msg.content:
            wire = self._wire(block)
            match block:
                case ThinkingBlock():
                    if wire:
                        yield ai.ThinkingPart(
                            block.thinking, signature=wire.get("signature"), **_kept(wire)
                        )
                case TextBlock(text=text) if text:
                    yield ai.TextPart(text, **_kept(wire))
                case ToolCallBlock():
                    yield ai.ToolCallPart(
                        block.name, block.input or "{}", self.call_id(block.id), **_kept(wire)
                    )
                case DataBlock():
                    yield ai.TextPart(str(self._data(block)) if not self._images else "[image]")
                case _:
                    pass

    def _wire(self, block: AnyBlock) -> dict[str, Any]:
        """What this service gave with a block; empty when another one made it."""
        found = (block.model_extra or {}).get(WIRE)
        wire = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        return wire if wire.get("at") == self._at else {}

    def call_id(self, call_id: str) -> str:
        """An id that every provider takes, the same one each time."""
        if self._short:
            if re.fullmatch(r"[a-zA-Z0-9]{9}", call_id):
                return call_id
            return hashlib.sha256(call_id.encode()).hexdigest()[:9]
        if _ID.match(call_id):
            return call_id
        return "call_" + hashlib.sha256(call_id.encode()).hexdigest()[:24]

    # -- back --------------------------------------------------------------------------------

    def extra(self, part: Any) -> dict[str, Any] | None:
        """What to keep of a whole part, to send it back as it came."""
        kept = {
            "provider": part.provider_name,
            "id": part.id,
            "signature": getattr(part, "signature", None),
            "details": part.provider_details,
        }
        kept = {name: value for name, value in kept.items() if value is not None}
        if not kept.keys() - {"provider"}:
            return None
        return {WIRE: {"at": self._at, **kept}}

    def event(self, event: ai.ModelResponseStreamEvent) -> ModelEvent | None:
        """One event of the stream; None for what is no part of ours."""
        match event:
            case ai.PartStartEvent(index=index, part=part):
                match part:
                    case ai.TextPart(content=text):
                        return TextPart(index, text)
                    case ai.ThinkingPart(content=text):
                        return ThinkingPart(index, text)
                    case ai.ToolCallPart(tool_name=name, tool_call_id=call_id, args=args):
                        return ToolCallPart(index, call_id, name, _text(args))
                    case _:
                        return None
            case ai.PartDeltaEvent(index=index, delta=delta):
                match delta:
                    case ai.TextPartDelta(content_delta=text):
                        return TextPart(index, text)
                    case ai.ThinkingPartDelta(content_delta=text):
                        return ThinkingPart(index, text or "")
                    case ai.ToolCallPartDelta(tool_name_delta=name, args_delta=args):
                        return ToolCallPart(index, None, name, _text(args))
                    case _:
                        return None
            case ai.PartEndEvent(index=index, part=part):
                return self._ended(index, part)
            case _:
                return None

    def _ended(self, index: int, part: ai.ModelResponsePart) -> ModelEvent | None:
        """The provider's extras come when a part is whole."""
        match part:
            case ai.ThinkingPart():
                return ThinkingPart(index, "", extra) if (extra := self.extra(part)) else None
            case ai.TextPart():
                return TextPart(index, "", extra) if (extra := self.extra(part)) else None
            case ai.ToolCallPart():
                extra = self.extra(part)
                return ToolCallPart(index, None, None, "", extra) if extra else None
            case _:
                return None


def _kept(wire: dict[str, Any]) -> dict[str, Any]:
    if not wire:
        return {}
    return {
        "id": wire.get("id"),
        "provider_name": wire.get("provider"),
        "provider_details": wire.get("details"),
    }


def _maker(parts: Sequence[Any]) -> str | None:
    return next((p.provider_name for p in parts if p.provider_name), None)


def _text(args: Any) -> str:
    """Arguments as text; some providers give an object at once."""
    return args or "" if isinstance(args, str | None) else json.dumps(args, ensure_ascii=False)


def tools(schemas: Sequence[ToolSchema]) -> list[ToolDefinition]:
    """Our tools as its. A schema without properties gets an empty object of them: some providers
    refuse it otherwise. ``strict`` is off, as it would rewrite optional parameters."""
    made: list[ToolDefinition] = []
    for tool in schemas:
        schema: dict[str, Any] = {"type": "object", "properties": {}, **tool.parameters}
        made.append(
            ToolDefinition(
                name=tool.name,
                parameters_json_schema=schema,
                description=tool.description,
                strict=False,
            )
        )
    return made


_REASONS: dict[str, Reason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filter",
    "tool_call": "tool_calls",
    "error": "other",
}


def finish(stream: StreamedResponse, *, called: bool) -> Finish | None:
    """The end of a whole stream; None when the provider did not say that it was one."""
    reason = _REASONS.get(stream.finish_reason or "")
    said = (stream.provider_details or {}).get("finish_reason")
    if reason is None or (reason == "stop" and not said):  # "stop" is also its guess
        return None
    if said == "model_context_window_exceeded":  # Anthropic's stop_reason
        reason = "window"
    if called and reason in ("stop", "other"):
        reason = "tool_calls"  # several servers say "stop" after calls
    return Finish(reason, usage(stream.usage))


def usage(measured: RequestUsage) -> Usage | None:
    """Tokens as the provider counted them; ``input_tokens`` holds the cached ones."""
    if not (measured.input_tokens or measured.output_tokens):
        return None
    return Usage(
        input_tokens=measured.input_tokens,
        output_tokens=measured.output_tokens,
        cache_input_tokens=measured.cache_read_tokens,
        cache_creation_input_tokens=measured.cache_write_tokens,
    )
