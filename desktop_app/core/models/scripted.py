"""Models that play what they were told: for tests of every room, the tour and benches.

``ScriptedModel`` plays one *turn* a call: a sequence of steps. ``StreamModel`` streams words at a
rate. Neither guesses anything, so what a test sees is what the test wrote::

    model = ScriptedModel(
        [
            [Say("Looking"), Call("Glob", {"pattern": "*.md"})],
            [Think("two files"), Say("There are ", "two files.")],
        ]
    )
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Usage

from .base import (
    Finish,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    Reason,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

Sleep = Callable[[float], Awaitable[None]]

SCRIPTED = ModelInfo(
    id="scripted", name="Scripted", window=32_768, max_output=4_096, offline=True, is_ai=False
)


class Say:
    """Text of one block, in the pieces given."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces


class Think:
    """Thinking of one block; ``extra`` (a signature …) arrives with the last piece."""

    def __init__(self, *pieces: str, extra: dict[str, Any] | None = None) -> None:
        self.pieces = pieces
        self.extra = extra


class Call:
    """A tool call. ``arguments`` is an object, or raw text (cut JSON, say); it streams in pieces of
    ``piece`` characters. Without ``call_id`` ids are ``call-1``, ``call-2`` … of this model."""

    def __init__(
        self,
        name: str,
        arguments: dict[str, Any] | str | None = None,
        *,
        call_id: str | None = None,
        piece: int = 24,
    ) -> None:
        self.name = name
        self.raw = (
            arguments
            if isinstance(arguments, str)
            else json.dumps(arguments or {}, ensure_ascii=False)
        )
        self.call_id = call_id
        self.piece = max(1, piece)


@dataclass(frozen=True, slots=True)
class Wait:
    """A gate: the stream stands still until ``event`` is set."""

    event: asyncio.Event


@dataclass(frozen=True, slots=True)
class Reached:
    """Sets ``event`` when the stream gets here, so that a test knows."""

    event: asyncio.Event


@dataclass(frozen=True, slots=True)
class Delay:
    """Sleeps ``seconds`` through the model's ``sleep``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail:
    """Raises ``error`` here."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Ends:
    """Overrides how the turn ends; the default is ``tool_calls`` after a call, else ``stop``.
    ``usage`` None means that the provider did not say."""

    reason: Reason | None = None
    usage: Usage | None = None


Step = Say | Think | Call | Wait | Reached | Delay | Fail | Ends
Turn = Sequence[Step]
TurnSource = Turn | Callable[[ModelRequest], Turn]


class ScriptedModel:
    """Plays ``turns`` in order, one a call. A turn may be a function of the request.

    ``summaries`` and ``titles`` play for requests of those purposes, so that a compaction or a
    title does not use up a turn; without them such requests take the next turn too. When the
    turns are used up: ModelError ``model.empty``, unless ``forever`` repeats the last turn.

    ``requests`` holds every request in order; ``closed`` counts streams that were closed early.
    """

    def __init__(
        self,
        turns: Sequence[TurnSource] = (),
        *,
        summaries: Sequence[TurnSource] = (),
        titles: Sequence[TurnSource] = (),
        info: ModelInfo = SCRIPTED,
        sleep: Sleep = asyncio.sleep,
        forever: bool = False,
    ) -> None:
        self._info = info
        self._queues = {"reply": list(turns), "summary": list(summaries), "title": list(titles)}
        self._own = {name for name, queue in self._queues.items() if queue}
        self._sleep = sleep
        self._forever = forever
        self._calls = 0
        self.requests: list[ModelRequest] = []
        self.closed = 0

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def left(self) -> int:
        """Turns not played yet, of all purposes."""
        return sum(len(queue) for queue in self._queues.values())

    def push(self, *turns: TurnSource) -> None:
        """Add turns for replies."""
        self._queues["reply"].extend(turns)
        self._own.add("reply")

    def _next(self, request: ModelRequest) -> Turn:
        name = request.purpose if request.purpose in self._own else "reply"
        queue = self._queues[name]
        if not queue:
            raise ModelError("model.empty")
        source = queue[0] if self._forever and len(queue) == 1 else queue.pop(0)
        return source(request) if callable(source) else source

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        ends, calls, whole = Ends(), 0, False
        try:
            for index, step in enumerate(self._next(request)):
                if isinstance(step, Ends):
                    ends = step
                elif isinstance(step, Wait):
                    await step.event.wait()
                elif isinstance(step, Reached):
                    step.event.set()
                elif isinstance(step, Delay):
                    await self._sleep(step.seconds)
                elif isinstance(step, Fail):
                    raise step.error
                else:
                    calls += isinstance(step, Call)
                    for part in self._parts(index, step):
                        yield part
            yield Finish(ends.reason or ("tool_calls" if calls else "stop"), ends.usage)
            whole = True
        except GeneratorExit:
            self.closed += not whole
            raise
        except asyncio.CancelledError:
            self.closed += 1
            raise

    def _parts(self, index: int, step: Say | Think | Call) -> list[ModelEvent]:
        if isinstance(step, Say):
            return [TextPart(index, piece) for piece in step.pieces]
        if isinstance(step, Think):
            last = len(step.pieces) - 1
            return [
                ThinkingPart(index, piece, step.extra if n == last else None)
                for n, piece in enumerate(step.pieces)
            ]
        self._calls += 1
        call_id = step.call_id or f"call-{self._calls}"
        pieces = [step.raw[n : n + step.piece] for n in range(0, len(step.raw), step.piece)] or [""]
        return [
            ToolCallPart(index, call_id, step.name, pieces[0]),
            *(ToolCallPart(index, arguments=piece) for piece in pieces[1:]),
        ]


class StreamModel:
    """Streams ``tokens`` words at ``rate`` a second (0: as fast as the loop takes them), in one
    text block of Markdown paragraphs; for measuring what a streamed token costs.

    Keeps to the rate by the clock: when the reader is late, the next words come without a wait.
    """

    def __init__(
        self,
        tokens: int,
        rate: float = 0.0,
        *,
        text: Sequence[str] = ("The ", "quick ", "brown ", "fox ", "看见 ", "`a[i]` ", "**it** "),
        info: ModelInfo = SCRIPTED,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._info = info
        self.tokens = tokens
        self.rate = rate
        self._text = tuple(text)
        self._sleep = sleep
        self._clock = clock
        self.sent = 0

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        start = self._clock()
        for n in range(self.tokens):
            if self.rate > 0:
                late = self._clock() - start - n / self.rate
                if late < 0:
                    await self._sleep(-late)
            elif n % 64 == 63:
                await self._sleep(0)
            self.sent += 1
            ends = "\n\n" if n % 60 == 59 else ""
            yield TextPart(0, self._text[n % len(self._text)] + ends)
        usage = Usage(input_tokens=sum(len(m.text()) // 4 for m in request.messages))
        usage.output_tokens = self.tokens
        yield Finish("stop", usage)
