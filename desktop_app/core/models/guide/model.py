"""GuideModel: the Guide behind the ChatModel protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from desktop_app.core.errors import ModelError
from desktop_app.core.ids import new_id
from desktop_app.core.messages import (
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from desktop_app.core.models.base import (
    Finish,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    TextPart,
    ToolCallPart,
)

from .info import GUIDE
from .text import CJK, count_tokens

if TYPE_CHECKING:
    from .engine import Call

PER_MESSAGE = 4  # tokens a message costs besides its text, as chat formats do
# A row of a table at once, else a word, or up to three Chinese characters.
_PIECES = re.compile(
    rf"(?m:^\|[^\n]*)|[{CJK}]{{1,3}}[，。；：、！？]?|\n+|[^\s{CJK}]+[ \t]*|[^\S\n]+"
)


def message_tokens(msg: Msg) -> int:
    """A message by the Guide's measure (``text.count_tokens``). Pictures are not seen: none."""
    total = PER_MESSAGE
    for block in msg.content:
        if isinstance(block, TextBlock):
            total += count_tokens(block.text)
        elif isinstance(block, ThinkingBlock):
            total += count_tokens(block.thinking)
        elif isinstance(block, ToolCallBlock):
            total += count_tokens(block.name) + count_tokens(block.input)
        elif isinstance(block, ToolResultBlock):
            total += count_tokens(block.text())
        elif isinstance(block, HintBlock) and isinstance(block.hint, str):
            total += count_tokens(block.hint)
    return total


def request_tokens(request: ModelRequest) -> int:
    """What a request costs in all: system, tools, messages."""
    total = count_tokens(request.system) + sum(message_tokens(m) for m in request.messages)
    for tool in request.tools:
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        total += count_tokens(tool.name) + count_tokens(tool.description) + count_tokens(schema)
    return total


def pieces(text: str) -> list[str]:
    """``text`` word by word (tables row by row), nothing lost."""
    return _PIECES.findall(text)


class GuideModel:
    """The built-in model: rules over the real tools. Holds nothing between calls.

    ``pace`` is the wait between words in seconds, so that an answer can be followed and stopped;
    0 in tests. Raises ModelError ``model.overflow`` when a request is larger than the window.
    """

    def __init__(
        self,
        *,
        pace: float = 0.004,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        info: ModelInfo = GUIDE,
    ) -> None:
        self._pace = pace
        self._sleep = sleep
        self._info = info

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        # Counting and reading a full window takes tens of milliseconds: not on the loop.
        tokens, text, calls = await asyncio.to_thread(_work, request)
        if tokens > self._info.window:
            raise ModelError(
                "model.overflow", model=self._info.name, tokens=tokens, window=self._info.window
            )
        limit = min(request.max_output or self._info.max_output, self._info.max_output)
        pace = self._pace if request.purpose == "reply" else 0.0
        used = 0
        for piece in pieces(text):
            used += count_tokens(piece)
            if used > limit:
                yield Finish("length", Usage(input_tokens=tokens, output_tokens=limit))
                return
            yield TextPart(0, piece)
            await self._sleep(pace)
        index = 1 if text else 0
        for number, wanted in enumerate(calls, index):
            arguments = json.dumps(wanted.args, ensure_ascii=False)
            used += count_tokens(wanted.name) + count_tokens(arguments)
            yield ToolCallPart(number, f"call_{new_id()[:16]}", wanted.name, arguments)
        usage = Usage(input_tokens=tokens, output_tokens=used)
        yield Finish("tool_calls" if calls else "stop", usage)


def _work(request: ModelRequest) -> tuple[int, str, tuple[Call, ...]]:
    """(tokens of the request, what to say, what to call)."""
    from .engine import Want  # hundreds of patterns are compiled by these: here, in the thread
    from .plans import decide

    said = decide(request)
    tokens = request_tokens(request)
    return (tokens, said.say, said.calls) if isinstance(said, Want) else (tokens, said.text, ())
