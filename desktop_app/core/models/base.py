"""Our chat model protocol: what the loop asks of any model, the Guide included."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from desktop_app.core.messages import Msg, Usage

Effort = Literal["low", "medium", "high"]
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")


def effort_of(value: object) -> Effort | None:
    """An effort by its name; None for anything else."""
    return next((e for e in EFFORTS if e == value), None)


LimitSource = Literal["user", "error", "provider", "catalogue", "built_in", "assumed"]


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in US dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None  # None: as ``input``
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        """Dollars of one call. ``usage.input_tokens`` holds the cached ones."""
        read, written = usage.cache_input_tokens, usage.cache_creation_input_tokens
        fresh = max(0, usage.input_tokens - read - written)
        per_read = self.input if self.cache_read is None else self.cache_read
        per_write = self.input if self.cache_write is None else self.cache_write
        total = fresh * self.input + read * per_read + written * per_write
        return (total + usage.output_tokens * self.output) / 1_000_000


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model. Tokens throughout; ``window_source`` says how it is known."""

    id: str  # "guide", "openai:gpt-5", …
    name: str  # shown to people; not translated
    window: int
    max_output: int
    window_source: LimitSource = "built_in"
    tokenizer: str | None = None  # a tiktoken encoding, when the model uses it exactly
    images: bool = False
    efforts: bool = False  # takes an effort of thinking (``ModelRequest.effort``)
    effort: Effort | None = None  # the one that is asked for where a request names none
    offline: bool = False
    is_ai: bool = True  # the Guide is rules, and says so
    price: Price | None = None  # None: not known, or nothing
    fallback: str = ""  # id of the model that answers when this one cannot
    schemas: bool = False  # perhaps takes a schema or a tool for its answer (``structured.py``)


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model sees it; ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. ``messages`` is what the context builder made: order and pairs are right, the
    summary of a compaction is a user message with ``metadata["slipway"]["kind"] == "summary"``."""

    system: str
    messages: Sequence[Msg]
    tools: Sequence[ToolSchema] = ()
    max_output: int | None = None
    purpose: Literal["reply", "summary", "title"] = "reply"
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    effort: Effort | None = None  # of thinking; None: as the model is set
    answer: ToolSchema | None = None  # the provider holds the answer to it; ``structured.py``


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text of block ``index``. ``extra`` is what the provider wants back with it."""

    index: int
    text: str
    extra: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    index: int
    text: str
    extra: dict[str, Any] | None = None  # signature and the like, when it arrives


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A piece of a tool call: the first one of an index carries id and name. ``extra`` is what the
    provider wants back with it."""

    index: int
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""
    extra: dict[str, Any] | None = None


Reason = Literal["stop", "tool_calls", "length", "window", "filter", "other"]
CUT: frozenset[Reason] = frozenset(("length", "window"))  # the answer is not whole


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of the stream. ``usage`` is measured by the provider or ``None``; ``window`` is a
    cut because the window had no room left, ``length`` one whose reason is not known better."""

    reason: Reason
    usage: Usage | None = None


ModelEvent = TextPart | ThinkingPart | ToolCallPart | Finish


class ChatModel(Protocol):
    """A model. ``stream`` yields parts in order and ends with ``Finish``; it raises ModelError.
    Closing the iterator cancels the call."""

    @property
    def info(self) -> ModelInfo: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...
