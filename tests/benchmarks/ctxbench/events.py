"""What happens in a session, in a form of nobody's own: every system is given the same stream.

A *turn* is a ``Person`` and the ``Agent`` steps after it, the last of which has no calls. Only the
standard library, as everything that also runs in the peers' environment.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ids may repeat, as some providers' do."""

    id: str
    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered to the call at the same place."""

    call_id: str
    name: str
    text: str
    state: Literal["success", "error", "interrupted"] = "success"


@dataclass(frozen=True, slots=True)
class Person:
    text: str


@dataclass(frozen=True, slots=True)
class Agent:
    """One step: what the model says and calls, and the results, one a call, in order."""

    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()


Event = Person | Agent


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of a prompt as a model gets it. ``made`` marks what a compaction wrote."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    made: bool = False

    def render(self) -> str:
        """Everything of it that costs tokens, as text."""
        if not self.calls:
            return self.text
        called = [f"{c.name} {json.dumps(c.args, ensure_ascii=False)}" for c in self.calls]
        return "\n".join([self.text, *called] if self.text else called)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A model's whole input. ``fixed`` is the system text with the tools' schemas."""

    fixed: str
    pieces: tuple[Piece, ...]

    def text(self) -> str:
        """What a reader sees of the conversation, newest last."""
        return "\n".join(p.render() for p in self.pieces)

    def made(self) -> str:
        """What compactions wrote."""
        return "\n".join(p.text for p in self.pieces if p.made)


@dataclass(frozen=True, slots=True)
class Probe:
    """Something planted that should survive, or should not.

    ``key`` is unique in the stream; ``value`` must stand near it ("" where the key says all);
    ``text`` is the sentence as it was planted; ``at`` the step. ``form`` tells how it was planted
    ("cue", "plain", "known tool" …). ``gone`` is the step at which it was revoked, superseded or
    finished and ``by`` what says so.
    """

    kind: str
    key: str
    text: str
    at: int
    value: str = ""
    form: str = ""
    zh: bool = False
    gone: int | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """A generated session. ``tools`` are the names that it calls."""

    seed: int
    events: tuple[Event, ...]
    probes: tuple[Probe, ...]
    tools: tuple[str, ...] = field(default=())

    def said(self) -> str:
        """All that the person writes."""
        return "\n".join(e.text for e in self.events if isinstance(e, Person))

    def returned(self) -> list[str]:
        """All that tools return."""
        return [r.text for e in self.events if isinstance(e, Agent) for r in e.results]

    def source(self) -> str:
        """Everything that was ever said, called or returned: what is not here was invented."""
        parts: list[str] = []
        for event in self.events:
            parts.append(event.text)
            if isinstance(event, Agent):
                parts += [json.dumps(c.args, ensure_ascii=False) for c in event.calls]
                parts += [r.text for r in event.results]
        return "\n".join(parts)

    def steps(self) -> int:
        """Model calls."""
        return sum(isinstance(e, Agent) for e in self.events)

    def digest(self) -> str:
        """A hash of the content, whatever code made it."""
        body = json.dumps([[asdict(e) for e in self.events], [asdict(p) for p in self.probes]])
        return hashlib.sha256(body.encode("utf-8")).hexdigest()


def digest(streams: Sequence[Stream]) -> str:
    """One hash for several streams."""
    return hashlib.sha256("".join(s.digest() for s in streams).encode()).hexdigest()
