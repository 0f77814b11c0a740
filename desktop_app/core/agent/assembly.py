"""Putting one streamed answer of a model together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from desktop_app.core import events as ev
from desktop_app.core.events import Effect
from desktop_app.core.ids import new_id, now_iso
from desktop_app.core.messages import AnyBlock, TextBlock, ThinkingBlock, ToolCallBlock, Usage
from desktop_app.core.models.base import (
    Finish,
    ModelEvent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)


def parse_arguments(text: str) -> dict[str, Any] | None:
    """A tool call's arguments as an object, or None when the JSON is cut short or no object."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


@dataclass(slots=True)
class _Growing:
    """One part under way; text is joined once, at the end, so that streaming stays linear."""

    block: TextBlock | ThinkingBlock | ToolCallBlock
    pieces: list[str] = field(default_factory=list[str])
    op_id: str = ""


@dataclass(slots=True)
class Assembly:
    """Parts in, events out; at the end ``blocks``, ``usage`` and ``reason``.

    ``op_ids(index)`` makes the operation id of the n-th tool call of this answer.
    """

    reply_id: str
    op_id: Callable[[int], str]
    effect: Callable[[str, dict[str, Any] | None], Effect]
    usage: Usage | None = None
    reason: str = ""
    parts: dict[tuple[str, int], _Growing] = field(default_factory=dict[tuple[str, int], _Growing])
    last: tuple[str, int] | None = None
    calls: int = 0
    changed: bool = False  # since it was drafted
    unsaved: Exception | None = None  # why the newest draft could not be saved

    def feed(self, part: ModelEvent) -> list[ev.Event]:
        """Take one part; what the world should know."""
        self.changed = True
        match part:
            case TextPart(index, text, extra):
                told = self._text(("text", index), text) if text else []
                self._extras(("text", index), extra)
                return told
            case ThinkingPart(index, text, extra):
                return self._thinking(("thinking", index), text, extra)
            case ToolCallPart():
                return self._call(part)
            case Finish(reason, usage):
                self.reason, self.usage = reason, usage
                return self._close_last(None)

    def _close_last(self, new: tuple[str, int] | None) -> list[ev.Event]:
        last, self.last = self.last, new
        if last is not None and last != new:
            block = self.parts[last].block
            if not isinstance(block, ToolCallBlock):
                block.finished_at = now_iso()
                return [ev.BlockFinished(self.reply_id, block.id)]
        return []

    def _extras(self, key: tuple[str, int], extra: dict[str, Any] | None) -> None:
        """Keep what the provider wants back with a block."""
        if extra and (part := self.parts.get(key)) is not None:
            for name, value in extra.items():
                setattr(part.block, name, value)

    def _text(self, key: tuple[str, int], text: str) -> list[ev.Event]:
        told = self._close_last(key)
        part = self.parts.get(key)
        if part is None:
            part = self.parts[key] = _Growing(TextBlock(id=new_id()))
        part.pieces.append(text)
        told.append(ev.TextDelta(self.reply_id, part.block.id, text))
        return told

    def _thinking(
        self, key: tuple[str, int], text: str, extra: dict[str, Any] | None
    ) -> list[ev.Event]:
        told = self._close_last(key)
        part = self.parts.get(key)
        if part is None:
            part = self.parts[key] = _Growing(ThinkingBlock(id=new_id()))
        self._extras(key, extra)
        if text:
            part.pieces.append(text)
            told.append(ev.ThinkingDelta(self.reply_id, part.block.id, text))
        return told

    def _call(self, piece: ToolCallPart) -> list[ev.Event]:
        key = ("call", piece.index)
        told = self._close_last(key)
        part = self.parts.get(key)
        if part is None:
            op_id = self.op_id(self.calls)
            self.calls += 1
            call_id = piece.call_id or op_id
            block = ToolCallBlock.made(
                {"op_id": op_id},
                id=call_id,
                created_at=now_iso(),
                name=piece.name or "",
                suggested_rules=[],
            )
            part = self.parts[key] = _Growing(block, op_id=op_id)
            told.append(ev.ToolCallStarted(self.reply_id, op_id, call_id, block.name))
        elif piece.name and isinstance(part.block, ToolCallBlock) and not part.block.name:
            part.block.name = piece.name
        self._extras(key, piece.extra)
        if piece.arguments:
            part.pieces.append(piece.arguments)
            told.append(ev.ToolCallDelta(self.reply_id, part.op_id, piece.arguments))
        return told

    def blocks(self, *, whole_calls: bool = True) -> list[AnyBlock]:
        """The blocks so far, text joined. ``whole_calls`` False leaves tool calls out, as for an
        answer that was cut: half a call must never run."""
        made: list[AnyBlock] = []
        for part in self.parts.values():
            text = "".join(part.pieces)
            if len(part.pieces) > 1:
                part.pieces[:] = [text]
            block = part.block
            match block:
                case TextBlock():
                    block.text = text
                case ThinkingBlock():
                    block.thinking = text
                case ToolCallBlock():
                    if not whole_calls:
                        continue
                    block.input = text or "{}"
            made.append(block)
        return made

    def ready(self) -> list[ev.ToolCallReady]:
        """One event for each whole call."""
        made: list[ev.ToolCallReady] = []
        for part in self.parts.values():
            block = part.block
            if isinstance(block, ToolCallBlock):
                text, parsed = block.input, parse_arguments(block.input)
                effect = self.effect(block.name, parsed)
                made.append(
                    ev.ToolCallReady(
                        self.reply_id, part.op_id, block.id, block.name, text, parsed, effect
                    )
                )
        return made

    def draft(self) -> bytes:
        """What to keep of the text so far, as JSON: ``{reply_id, blocks}``; empty when nothing."""
        blocks = self.blocks(whole_calls=False)
        if not any(
            (isinstance(b, TextBlock) and b.text) or isinstance(b, ThinkingBlock) for b in blocks
        ):
            return b""
        body = {"reply_id": self.reply_id, "blocks": [b.model_dump() for b in blocks]}
        return json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
