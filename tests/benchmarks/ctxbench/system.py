"""What every system under test is given, and what is written down about it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from .events import Agent, Event, Person, Piece, Prompt, Stream
from .judge import faults
from .summarise import Summariser
from .truth import Scales

PROMPT = "You are a careful software engineer. " + "Follow the rules of the repository. " * 40


@dataclass(slots=True)
class Counts:
    """What is measured on the way."""

    prompts: int = 0
    over: int = 0  # prompts longer than the window, truly
    largest: int = 0
    orphans: int = 0  # prompts that a provider would refuse: calls without results, or the reverse
    twice: int = 0  # prompts in which a call id occurs twice
    kept_prefix: list[float] = field(default_factory=list[float])
    broken_prefix: int = 0  # prompts that changed what was there, without a compaction
    refused: int = 0  # calls that the system itself did not make, because they would not fit


class System(ABC):
    """One system on one stream. ``tools`` are the schemas that stand in ``fixed`` too."""

    name = ""

    def __init__(
        self, stream: Stream, window: int, scales: Scales, model: Summariser, folder: Path
    ) -> None:
        self.stream, self.window, self.scales, self.model = stream, window, scales, model
        self.folder = folder
        self.tools = schemas(stream)
        self.fixed = PROMPT + "\n" + json.dumps(self.tools)
        self.pieces: list[Piece] = []
        self.last = Prompt(self.fixed, ())
        self.counts = Counts()
        self.compactions = 0
        self.errors: list[str] = []
        self.seconds = 0.0  # CPU of making room and of building prompts
        self._rendered: list[str] = []
        self._changed = False

    @abstractmethod
    async def person(self, event: Person) -> None:
        """The person says something."""

    @abstractmethod
    async def agent(self, event: Agent) -> None:
        """Make the prompt (``sent``); then the model answers with ``event``."""

    @abstractmethod
    async def end(self) -> None:
        """Make the last prompt."""

    async def close(self) -> None:
        """Free what it holds."""
        self.pieces.clear()

    def archive(self) -> str:
        """Everything that its agent can still read."""
        return ""

    async def replay(self) -> None:
        """The whole stream."""
        for event in self.stream.events:
            await self.one(event)
        await self.end()

    async def one(self, event: Event) -> None:
        if isinstance(event, Person):
            await self.person(event)
        else:
            await self.agent(event)

    def changed(self) -> None:
        """A compaction: the next prompt need not begin as the last one did."""
        self._changed = True
        self.compactions += 1

    def sent(self, prompt: Prompt) -> int:
        """Note a prompt that goes to the model; its true size, which the provider would report."""
        size = self.scales.prompt(prompt)
        counts = self.counts
        counts.prompts += 1
        counts.over += size > self.window
        counts.largest = max(counts.largest, size)
        orphans, twice = faults(prompt.pieces)
        counts.orphans += orphans > 0
        counts.twice += twice > 0
        rendered = [p.render() for p in prompt.pieces]
        if self._rendered:
            kept = _common(self._rendered, rendered)
            counts.kept_prefix.append(kept)
            counts.broken_prefix += kept < 1 and not self._changed
        self._rendered, self._changed = rendered, False
        self.last = prompt
        return size


def _common(before: list[str], after: list[str]) -> float:
    """The share of the former prompt's characters that stay where they were."""
    kept = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        kept += len(old)
    return kept / max(1, sum(map(len, before)))


def pieces_of(event: Event) -> list[Piece]:
    """Messages of an event as they are."""
    if isinstance(event, Person):
        return [Piece("user", event.text)]
    return [
        Piece("assistant", event.text, event.calls),
        *(Piece("tool", r.text, call_id=r.call_id) for r in event.results),
    ]


def schemas(stream: Stream) -> list[dict[str, Any]]:
    """Schemas of the tools that the stream calls, the same for every system."""
    from desktop_app.core.tools.registry import builtin_tools

    known = {t.name: t for t in builtin_tools()}
    found: list[dict[str, Any]] = []
    for name in stream.tools:
        tool = known.get(name)
        found.append(
            {
                "name": name,
                "description": tool.description if tool else f"The tool {name}.",
                "parameters": tool.parameters if tool else {"type": "object"},
            }
        )
    return found


def texts_in(folder: Path) -> str:
    """All text in the files of a folder, JSON lines unpacked: what a search tool would find."""
    parts: list[str] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        raw = path.read_text("utf-8", "replace")
        if path.suffix == ".jsonl":
            for line in filter(None, raw.split("\n")):  # U+2028 ends no line here
                _strings(json.loads(line), parts)
        else:
            parts.append(raw)
    return "\n".join(parts)


def _strings(value: Any, into: list[str]) -> None:
    if isinstance(value, str):
        into.append(value)
    elif isinstance(value, dict):
        for one in cast(dict[str, Any], value).values():
            _strings(one, into)
    elif isinstance(value, list):
        for one in cast(list[Any], value):
            _strings(one, into)
