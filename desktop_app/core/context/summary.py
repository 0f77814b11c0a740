"""The notes that a model writes about what leaves the context, and what is accepted of them.

The request is the very prompt that the model saw last, up to the cut, and one instruction behind
it: a provider's cache holds for all but the instruction. Rule-based models know it by its purpose.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache

from desktop_app.core import resources
from desktop_app.core.errors import ContextError, ModelError
from desktop_app.core.messages import Msg, ToolResultBlock, Usage
from desktop_app.core.models.base import (
    ChatModel,
    Finish,
    ModelRequest,
    TextPart,
    ToolCallPart,
)

from .accounting import Accounting
from .build import Prompt, made
from .clip import clip

TIMEOUT = 180.0  # seconds for the whole call
TOO_LONG = 4  # times the allowance: a model that does not stop is cut off
SHORT_RESULT = 300  # raw tokens of a tool result, when the request would not fit otherwise
FEWEST = 2  # messages: less is no conversation to write notes about

# Text of this shape pretends to be a message, a tool call or an order, and is left out by the line.
_PRETENDS = re.compile(
    r"^\W{0,4}(?:system|assistant|user|human|developer|tool)\s*:|<\|[\w ]{1,40}\|>"
    r"|</?(?:pinned|history|open-tasks|system|tool_calls?|function_calls?|invoke|system-reminder)\b"
    r"|(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above|earlier|all)\b.{0,30}"
    r"(?:instruction|rule|prompt|message)"
    r"|(?:忽略|无视|忘记).{0,10}(?:以上|之前|先前|前面|所有).{0,10}(?:指令|指示|规则|要求)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Notes:
    """Accepted text; ``rejected`` are (line, rule) pairs that were left out."""

    text: str
    usage: Usage | None = None
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@cache
def _prompt_text() -> str:
    return resources.path("prompts", "summary.md").read_text("utf-8")


async def write_notes(
    model: ChatModel, prompt: Prompt, accounting: Accounting, allowance: int, usable: int
) -> Notes:
    """Ask ``model`` for notes on ``prompt`` (what leaves, as it was built). ``allowance`` and
    ``usable`` in tokens. ContextError: ``compaction.failed`` (with ``reason``), ``compaction.cut``,
    ``compaction.empty``, ``compaction.cannot_fit``."""
    text = (await asyncio.to_thread(_prompt_text)).replace("{words}", str(allowance * 2 // 3))
    instruction = made("hint", text, of="write-notes")
    fitted, left_out = await asyncio.to_thread(
        _fitted, prompt, accounting, usable - allowance, instruction
    )
    request = fitted.request(max_output=allowance, purpose="summary", more=[instruction])
    try:
        async with asyncio.timeout(TIMEOUT):
            answer, finish = await _read(model, request, accounting, allowance)
    except ModelError as error:
        # The model's own parameters may hold a "reason" too; its code says more.
        failure = ContextError("compaction.failed", retryable=error.retryable)
        failure.params = {**error.params, "reason": error.code}
        raise failure from error
    except TimeoutError as error:
        raise ContextError("compaction.failed", reason="timeout", seconds=TIMEOUT) from error
    if finish is None or finish.reason == "length":
        raise ContextError("compaction.cut", tokens=int(accounting.estimate(answer)))
    if finish.reason == "filter":
        raise ContextError("compaction.failed", reason="model.refused")
    notes = _checked(answer, finish.usage)
    if left_out:
        notes.rejected.append((f"{left_out} messages", "no_room"))
    return notes


async def _read(
    model: ChatModel, request: ModelRequest, accounting: Accounting, allowance: int
) -> tuple[str, Finish | None]:
    pieces: list[str] = []
    finish: Finish | None = None
    length, longest = 0, allowance * TOO_LONG * 8  # characters: eight a token is generous
    async with aclosing(model.stream(request)) as stream:  # pyright: ignore[reportArgumentType, reportUnknownVariableType, reportAttributeAccessIssue]
        async for part in stream:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(part, TextPart):
                pieces.append(part.text)
                length += len(part.text)
            elif isinstance(part, ToolCallPart):
                raise ContextError("compaction.failed", reason="tool_call")
            elif isinstance(part, Finish):
                finish = part
            if length > longest:
                raise ContextError("compaction.failed", reason="too_long")
    text = "".join(pieces)
    if accounting.estimate(text) > allowance * TOO_LONG:
        raise ContextError("compaction.failed", reason="too_long")
    return text, finish


def _checked(answer: str, usage: Usage | None) -> Notes:
    """Leave out lines that pretend to be something else. ContextError ``compaction.empty`` when
    nothing is left."""
    kept: list[str] = []
    rejected: list[tuple[str, str]] = []
    for line in answer.strip().splitlines():
        if _PRETENDS.search(line):
            rejected.append((line[:200], "pretends"))
        else:
            kept.append(line.rstrip())
    text = "\n".join(kept).strip()
    said = [n for n in text.splitlines() if n.strip() and not n.strip().endswith((":", "："))]
    if not said:
        raise ContextError("compaction.empty", rejected=len(rejected))
    return Notes(text, usage, rejected)


def _fitted(
    prompt: Prompt, accounting: Accounting, room: int, instruction: Msg
) -> tuple[Prompt, int]:
    """The prompt brought into ``room`` tokens by the upper estimate: as it is, else with results
    shortened, else without its oldest messages. How many were left out comes beside it."""
    messages = prompt.messages
    if accounting.upper(_raw(prompt, messages, accounting, instruction)) <= room:
        return prompt, 0
    count = accounting.pricer.texts.counter.count
    messages = [_shortened(m, count) for m in messages]
    sizes = [sum(p.raw for p in accounting.pricer.message(m, 0, {})) for m in messages]
    spare = accounting.upper(_raw(prompt, [], accounting, instruction))
    total, first = spare + accounting.upper(sum(sizes)), 0
    while total > room and first < len(messages):
        total -= accounting.upper(sizes[first])
        first += 1
    while first < len(messages) and messages[first].tool_results():
        first += 1  # never results without their calls
    if len(messages) - first < min(FEWEST, len(messages)):
        raise ContextError("compaction.cannot_fit", needed=int(total), usable=room)
    kept = messages[first:]
    return (
        Prompt(prompt.envelope, kept, closed=len(kept), stable=len(kept), epoch=object()),
        first,
    )


def _raw(prompt: Prompt, messages: Sequence[Msg], accounting: Accounting, more: Msg) -> float:
    pricer = accounting.pricer
    pieces = [p for m in [*messages, more] for p in pricer.message(m, 0, {})]
    return sum(p.raw for p in [*pieces, *pricer.envelope(prompt.envelope)])


def _shortened(msg: Msg, count: object) -> Msg:
    if not msg.tool_results():
        return msg
    content = [
        b.model_copy(update={"output": clip(b.text(), SHORT_RESULT, count, "[…]")})  # pyright: ignore[reportArgumentType]
        if isinstance(b, ToolResultBlock)
        else b
        for b in msg.content
    ]
    return msg.model_copy(update={"content": content})
