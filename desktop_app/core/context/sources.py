"""What a model was shown, to be searched for the evidence of what it wrote."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from desktop_app.core.messages import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)

from .build import kind_of, slipway
from .entities import holds, plain
from .redact import secrets_in
from .rules import sentences

Role = Literal["user", "assistant", "tool", "record"]
LINE = 400  # characters: of a longer line only the neighbourhood of a quote is its context
NEAR = 80


@dataclass(slots=True)
class Passage:
    """One text of the source. ``role`` says whose: the person's, the agent's, a tool's, or a record
    of an earlier compaction."""

    ref: str
    role: Role
    text: str
    joined: str = ""
    starts: list[int] = field(default_factory=list[int])

    def prepare(self) -> None:
        """Lines with single spaces, joined, and where each begins."""
        if self.starts or not self.text:
            return
        at, lines = 0, list[str]()
        for line in self.text.splitlines():
            if line := plain(line):
                lines.append(line)
                self.starts.append(at)
                at += len(line) + 1
        self.joined = " ".join(lines)

    def around(self, at: int, end: int) -> str:
        """The whole lines that a stretch of ``joined`` lies in."""
        first = max(0, bisect_right(self.starts, at) - 1)
        last = bisect_right(self.starts, max(at, end - 1))
        begin = self.starts[first] if self.starts else 0
        stop = self.starts[last] - 1 if last < len(self.starts) else len(self.joined)
        if stop - begin > LINE + (end - at):
            begin, stop = max(begin, at - NEAR), min(stop, end + NEAR)
        return self.joined[begin:stop]


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands: its passage, its words, and the lines around them."""

    passage: Passage
    quote: str
    context: str


class Source:
    """All that the model saw of the conversation."""

    def __init__(self, messages: Sequence[Msg]) -> None:
        self.passages = [p for m in messages for p in _passages(m) if p.text.strip()]
        for passage in self.passages:
            passage.prepare()

    @cached_property
    def whole(self) -> str:
        return "\n".join(p.joined for p in self.passages)

    @cached_property
    def secrets(self) -> set[str]:
        return {s for p in self.passages if p.role == "tool" for s in secrets_in(p.text)}

    def find(self, quote: str) -> list[Found]:
        """Where ``quote`` stands word for word, white space aside; the person's words first."""
        wanted = plain(quote)
        found: list[Found] = []
        for passage in self.passages:
            at = passage.joined.find(wanted)
            if at >= 0:
                context = passage.around(at, at + len(wanted))
                found.append(Found(passage, wanted, context))
        return sorted(found, key=lambda f: f.passage.role != "user")

    def with_all(self, words: Sequence[str]) -> Iterator[Found]:
        """Lines that hold all of ``words``, the newest first."""
        rare = max(words, key=len)
        for passage in reversed(self.passages):
            at = passage.joined.find(rare)
            while at >= 0:
                context = passage.around(at, at + len(rare))
                if all(holds(context, w) for w in words):
                    yield Found(passage, context, context)
                at = passage.joined.find(rare, at + len(rare))

    def holds(self, word: str) -> bool:
        return holds(self.whole, word)


def sentence_of(found: Found) -> str:
    """The person's whole sentence that a quote stands in, byte for byte; empty when the quote goes
    over several."""
    for sentence in sentences(found.passage.text):
        if found.quote in plain(sentence):
            return sentence
    return ""


def _passages(msg: Msg) -> Iterator[Passage]:
    kind = kind_of(msg)
    ref = str(slipway(msg.metadata).get("of", msg.id))
    own: Role = "assistant" if msg.role == "assistant" else "user"
    if kind in ("pinned", "summary", "tasks"):
        own = "record"
    elif kind == "hint":
        own = "tool"
    for block in msg.content:
        if isinstance(block, TextBlock):
            yield Passage(ref, own, block.text)
        elif isinstance(block, ThinkingBlock):
            yield Passage(ref, "assistant", block.thinking)
        elif isinstance(block, ToolCallBlock):
            yield Passage(ref, "assistant", f"{block.name} {block.input}")
        elif isinstance(block, ToolResultBlock):
            yield Passage(block.id, "tool", block.text())
