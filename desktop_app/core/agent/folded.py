"""A session as its journal tells it: what ``fold.py`` makes of the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from desktop_app.core.context.guards import Guards
from desktop_app.core.context.kept import Kept
from desktop_app.core.context.types import CompactionRecord
from desktop_app.core.messages import (
    AnyBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.state import AgentState
from desktop_app.core.tools.background import Command

from .finding import op_of


@dataclass(slots=True)
class Waiting:
    """An approval (``approval`` set) or a question (``questions`` set) without an answer."""

    op_id: str
    reply_id: str
    approval: dict[str, Any] | None = None
    questions: list[dict[str, Any]] | None = None


@dataclass(slots=True)
class Folded:
    """A session as its journal tells it. ``open_reply`` is the turn that has not finished."""

    state: AgentState
    title: str = ""
    titled_by: str = ""  # person, agent, text (the beginning of the first message)
    model: str = ""
    effort: str = ""  # of thinking; empty: as the model is set
    policy: Any = None  # of compaction, for this session alone (``policies.policy_body``)
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    open_reply: str | None = None
    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    decided: dict[str, bool] = field(default_factory=dict[str, bool])
    log: list[CompactionRecord] = field(default_factory=list[CompactionRecord])  # every compaction
    guards: Guards = field(default_factory=Guards)
    undo_blobs: dict[int, str] = field(default_factory=dict[int, str])
    files: dict[str, str] = field(default_factory=dict[str, str])
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    commands: dict[str, Command] = field(default_factory=dict[str, Command])  # in the background
    head: int = 0
    last_us: int = 0
    turns: int = 0
    counts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # newest HISTORY
    anchored: bool = False  # the prompt of the newest count has only grown since
    cost: float | None = None  # US dollars of all calls with a known price; None without one
    turn_cost: float | None = None  # of the newest turn
    kept: Kept | None = field(default=None, compare=False, repr=False)  # of a snapshot, if any

    @property
    def compactions(self) -> list[CompactionRecord]:
        """Those that hold, oldest first."""
        return [c for c in self.log if c.status == "committed"]

    def calls(self) -> list[ToolCallBlock]:
        """The tool calls of the open reply that have no result, in order. They are in its newest
        step, since none begins before all calls of the last one are answered: looked for from the
        end, so that the cost does not grow with the reply."""
        found: list[ToolCallBlock] = []
        done: set[str] = set()
        inside = False  # the calls of the newest step
        for block in self._newest_first():
            if isinstance(block, ToolCallBlock):
                inside = True
                if op_of(block) not in done:
                    found.append(block)
            elif isinstance(block, ToolResultBlock):
                if inside:
                    break
                done.add(op_of(block))
        return found[::-1]

    def _newest_first(self) -> Iterator[AnyBlock]:
        """The blocks of the open reply, from its end."""
        for msg in reversed(self.state.context):
            if msg.role == "user":
                return  # it asked for this reply
            if msg.role == "assistant" and msg.id == self.open_reply:
                yield from reversed(msg.content)
