"""What each piece of a prompt costs before a model's ratio, and what it is called."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from desktop_app.core.messages import (
    DataBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.models.base import ToolSchema

from .build import Envelope, Kind, slipway
from .images import data_tokens
from .tokens import FRAME, CountCache, Counter
from .types import Category

CALL_FRAME = 12  # name, id and braces of a call or a result
TOOL_FRAME = 12  # what a provider wraps around one schema
TOOL_FACTOR = 1.1  # schemas are sent in a form of the provider's own (measured 0.89 to 0.94)
LABEL = 80  # characters

_CATEGORY: dict[Kind, Category] = {
    "pinned": "ledger",
    "summary": "ledger",
    "tasks": "ledger",
    "hint": "user",
    "tool_results": "result",
}
# The argument that says what a call is about, in the built-in tools and in most others.
_ABOUT = re.compile(
    r'"(?:file_path|path|command|pattern|query|url|skill|subject|id)"\s*:\s*"((?:[^"\\]|\\.){1,80})'
)


_SKILL = re.compile(r"- ([^:\n]+)")  # as ``skills`` lists them


class Piece(NamedTuple):
    """One thing in the prompt. ``raw`` tokens are before the ratio; ``place`` is its message's
    place, -1 for the envelope; ``turn`` marks the first piece of a person's message; ``group`` is
    that of ``Item``."""

    category: Category
    label: str
    raw: float
    ref: str
    place: int
    group: str
    turn: bool = False


class Pricer:
    """Prices messages and envelopes for one model. Each text is counted once."""

    def __init__(self, counter: Counter, model: str = "") -> None:
        self.texts = CountCache(counter)
        self.model = model
        self._images: dict[str, int] = {}
        self._envelope: Envelope | None = None
        self._envelope_pieces: list[Piece] = []

    def envelope(self, envelope: Envelope) -> list[Piece]:
        """Pieces of system text, skills and tools; an MCP server's tools are one piece each."""
        if envelope is not self._envelope and envelope != self._envelope:
            pieces = self._told(envelope)
            for tool in envelope.tools:
                server = envelope.mcp.get(tool.name)
                label = f"{server}: {tool.name}" if server else tool.name
                category: Category = "mcp" if server else "tools"
                group = f"mcp:{server}" if server else "tools"
                pieces.append(Piece(category, label, self.tool(tool), tool.name, -1, group))
            self._envelope_pieces = [p for p in pieces if p.raw > 0]
        self._envelope = envelope
        return self._envelope_pieces

    def known(self) -> float:
        """Raw tokens of the newest envelope that was priced."""
        return sum([p.raw for p in self._envelope_pieces])

    def _told(self, envelope: Envelope) -> list[Piece]:
        """The system text, its skills one by one."""
        pieces = [
            Piece("system", name, self._text(text) + frame, "system", -1, "system")
            for name, text, frame in (
                ("system", envelope.system, FRAME),
                ("instructions", envelope.instructions, 0),
            )
        ]
        for line in envelope.skills.splitlines(keepends=True):
            found = _SKILL.match(line)
            name = found.group(1).strip() if found else ""
            group = f"skill:{name}"
            pieces.append(Piece("skills", name or "skills", self._text(line), group, -1, group))
        return pieces

    def tool(self, tool: ToolSchema) -> float:
        """A tool as the provider's template writes it out."""
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        told = self._text(tool.name) + self._text(tool.description) + self._text(schema)
        return told * TOOL_FACTOR + TOOL_FRAME

    def message(self, msg: Msg, index: int, labels: dict[str, str]) -> list[Piece]:
        """Pieces of a built message. ``labels`` carries what calls are about to their results."""
        ours = slipway(msg.metadata)
        kind: Kind | None = ours.get("kind")
        source = str(ours.get("of", msg.id))
        pieces: list[Piece] = []
        for block in msg.content:
            if isinstance(block, ToolResultBlock):
                found = self._result(block, index, source, labels)
            elif isinstance(block, ToolCallBlock):
                found = [self._call(block, index, source, labels)]
            elif isinstance(block, ThinkingBlock):
                raw = self._text(block.thinking) + self._extras(block)
                found = [
                    Piece(
                        "thinking",
                        " ".join(block.thinking[:LABEL].split()),
                        raw,
                        source,
                        index,
                        "thinking",
                    )
                ]
            elif isinstance(block, DataBlock):
                image = self._image(block)
                found = [Piece("images", block.name or "", image, source, index, "images")]
            elif isinstance(block, TextBlock):
                own: Category = "assistant" if msg.role == "assistant" else "user"
                category = _CATEGORY[kind] if kind else own
                ours = kind in ("pinned", "summary")
                raw = self.texts.count_lines(block.text) if ours else self._text(block.text)
                label = kind or " ".join(block.text[:LABEL].split())
                found = [Piece(category, label, raw, source, index, category)]
            else:
                continue
            pieces += found
        if pieces:
            turn = kind is None and msg.role == "user"
            pieces[0] = pieces[0]._replace(raw=pieces[0].raw + FRAME, turn=turn)
        return pieces

    def _call(self, block: ToolCallBlock, index: int, source: str, labels: dict[str, str]) -> Piece:
        about = _ABOUT.search(block.input[:2000])
        label = f"{block.name} {about.group(1)}" if about else block.name
        labels[block.id] = label
        raw = self._text(block.name) + self._text(block.input) + CALL_FRAME
        return Piece("assistant", label, raw, _op_id(block) or source, index, "assistant")

    def _result(
        self, block: ToolResultBlock, index: int, source: str, labels: dict[str, str]
    ) -> list[Piece]:
        label = labels.get(block.id, block.name)
        ref = _op_id(block) or source
        raw = CALL_FRAME + self._text(block.text())
        skill = slipway(block.metadata).get("skill")  # as the Skill tool marks what it read
        group = f"skill:{skill}" if isinstance(skill, str) else "result"
        pieces = [Piece("result", label, raw, ref, index, group)]
        if not isinstance(block.output, str):
            for part in block.output:
                if isinstance(part, DataBlock):
                    image = self._image(part)
                    name = part.name or label
                    pieces.append(Piece("images", name, image, ref, index, "images"))
        return pieces

    def _extras(self, block: ThinkingBlock) -> float:
        """A signature travels with its thinking and counts."""
        extras = block.model_extra or {}
        return sum(self._text(v) for v in extras.values() if isinstance(v, str))

    def _text(self, text: str) -> float:
        return self.texts.count(text) if text else 0.0

    def _image(self, block: DataBlock) -> float:
        key = block.source.data if block.source.type == "base64" else block.source.url
        if (known := self._images.get(key)) is None:
            if len(self._images) > 1000:
                self._images.clear()
            known = self._images[key] = data_tokens(block, self.model)
        return float(known)


def _op_id(block: ToolCallBlock | ToolResultBlock) -> str | None:
    own = (block.model_extra or {}).get("op_id")
    if isinstance(own, str):
        return own
    if isinstance(block, ToolResultBlock):
        ours = slipway(block.metadata).get("op_id")
        return ours if isinstance(ours, str) else None
    return None
