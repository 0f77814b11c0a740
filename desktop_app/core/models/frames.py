"""What the program and its models process say to each other: frames of JSON over pipes.

A frame is four bytes of length, big-endian, and that many bytes of a JSON object. Requests have a
``do`` (``stream``, ``messages``, ``list``, ``efforts``, ``warm``, ``took``, ``cancel``), answers a
``did`` (``parts``, ``end``, ``idle``); both name their ``call`` by number. Nothing read is run.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, BinaryIO, Literal, cast

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg, Usage

from .base import Finish, ModelEvent, ModelRequest, TextPart, ThinkingPart, ToolCallPart, ToolSchema
from .definitions import ModelDefinition

_HEAD = struct.Struct(">I")
LARGEST = 1 << 30  # bytes of a frame; more is no frame of ours
Frame = dict[str, Any]


def pack(value: Frame) -> bytes:
    """A frame. Lone surrogates are escaped and arrive as they were."""
    return framed(json.dumps(value, separators=(",", ":")).encode())


def framed(body: bytes) -> bytes:
    return _HEAD.pack(len(body)) + body


def read(stream: BinaryIO) -> Frame | None:
    """The next frame; None at the end. ValueError for what is no frame. Blocks."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    (size,) = _HEAD.unpack(head)
    if size > LARGEST:
        raise ValueError("not a frame")
    body = stream.read(size)
    if len(body) < size:
        return None
    value: Any = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return cast(Frame, value)


# -- there --------------------------------------------------------------------------------------


def message_bytes(msg: Msg) -> bytes:
    """A message as it goes into ``messages_frame``."""
    return msg.to_json().encode()


def messages_frame(call: int, messages: Iterable[bytes], *, last: bool) -> bytes:
    """Messages of a call, in order; they may come in several frames."""
    parts = (call, b"true" if last else b"false", b",".join(messages))
    return framed(b'{"do":"messages","call":%d,"last":%s,"messages":[%s]}' % parts)


def definition_out(one: ModelDefinition) -> Frame:
    """What a call needs of a definition."""
    return {name: getattr(one, name) for name in _DEFINITION}


_DEFINITION = ("id", "provider", "model", "name", "address", "max_output", "images", "effort")


def definition_in(frame: Frame) -> ModelDefinition:
    return ModelDefinition(**frame)


def request_out(request: ModelRequest) -> Frame:
    """A request without its messages."""
    return {
        "system": request.system,
        "tools": [asdict(t) for t in request.tools],
        "max_output": request.max_output,
        "purpose": request.purpose,
        "extra": request.extra,
        "effort": request.effort,
        "answer": asdict(request.answer) if request.answer is not None else None,
    }


def request_in(frame: Frame, messages: Sequence[Msg]) -> ModelRequest:
    tools = [ToolSchema(**t) for t in frame["tools"]]
    return ModelRequest(
        system=frame["system"],
        messages=messages,
        tools=tools,
        max_output=frame["max_output"],
        purpose=frame["purpose"],
        extra=frame["extra"],
        effort=frame["effort"],
        answer=ToolSchema(**frame["answer"]) if frame["answer"] is not None else None,
    )


# -- back ---------------------------------------------------------------------------------------

_KINDS: dict[str, type[TextPart] | type[ThinkingPart]] = {"t": TextPart, "h": ThinkingPart}


def part_out(part: ModelEvent) -> list[Any]:
    match part:
        case TextPart(index, text, extra):
            return ["t", index, text, extra]
        case ThinkingPart(index, text, extra):
            return ["h", index, text, extra]
        case ToolCallPart(index, call_id, name, arguments, extra):
            return ["c", index, call_id, name, arguments, extra]
        case Finish(reason, usage):
            return ["f", reason, usage.model_dump() if usage is not None else None]


def part_in(value: list[Any]) -> ModelEvent:
    kind, *rest = value
    if kind == "f":
        reason, usage = cast("tuple[Literal['stop'], Any]", tuple(rest))
        return Finish(reason, Usage.model_validate(usage) if usage is not None else None)
    return ToolCallPart(*rest) if kind == "c" else _KINDS[kind](*rest)


def error_out(error: ModelError) -> Frame:
    return {"code": error.code, "params": error.params, "retryable": error.retryable}


def error_in(frame: Frame) -> ModelError:
    params = cast("dict[str, Any]", frame["params"])
    error = ModelError(frame["code"], retryable=bool(frame["retryable"]))
    error.params, error.args = params, (error.code, params)
    return error
