"""The steps of a reply: an assistant message cut where the model was called again.

AgentScope's assistant message holds them one after another: hints, thinking, text, calls, results,
next step. A step is the smallest thing that may leave the context: no call without its result, no
signed thinking without the calls it led to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop_app.core.messages import (
    AnyBlock,
    HintBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
)


@dataclass(slots=True)
class Iteration:
    """Blocks ``start`` to ``end`` of a message. ``results`` has one place for each call of
    ``calls``, in their order, None where there is none yet; ``orphans`` are results of no call."""

    start: int
    end: int
    before: list[HintBlock] = field(default_factory=list[HintBlock])
    head: list[AnyBlock] = field(default_factory=list[AnyBlock])
    calls: list[ToolCallBlock] = field(default_factory=list[ToolCallBlock])
    results: list[ToolResultBlock | None] = field(default_factory=list[ToolResultBlock | None])
    after: list[HintBlock] = field(default_factory=list[HintBlock])
    orphans: list[ToolResultBlock] = field(default_factory=list[ToolResultBlock])

    @property
    def answered(self) -> bool:
        """Whether every call has its result."""
        return None not in self.results

    @property
    def has_results(self) -> bool:
        return any(r is not None for r in self.results) or bool(self.orphans)

    def take(self, result: ToolResultBlock) -> None:
        """Give a result to its call: by our operation id where both have one, else by the first
        open call of its id, since a provider's ids may repeat."""
        op_id = _op_id(result)
        for place, call in enumerate(self.calls):
            if self.results[place] is not None or call.id != result.id:
                continue
            own = (call.model_extra or {}).get("op_id")
            if op_id is None or own is None or own == op_id:
                self.results[place] = result
                return
        self.orphans.append(result)


def _op_id(result: ToolResultBlock) -> str | None:
    extra = (result.model_extra or {}).get("op_id")
    if isinstance(extra, str):
        return extra
    ours = result.metadata.get("slipway")
    return ours.get("op_id") if isinstance(ours, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def signed(block: AnyBlock) -> bool:
    """A thinking block with provider extras (signature, encrypted content), which must go back
    exactly as it came or not at all."""
    return isinstance(block, ThinkingBlock) and bool(block.model_extra)


def iterations(blocks: Sequence[AnyBlock], start: int = 0) -> list[Iteration]:
    """The steps of ``blocks[start:]``; ``start`` is a step's own start."""
    steps: list[Iteration] = []
    step: Iteration | None = None
    for at in range(start, len(blocks)):
        block = blocks[at]
        if isinstance(block, ToolResultBlock):
            if step is None:
                step = Iteration(at, at)
                steps.append(step)
            step.take(block)
        elif isinstance(block, HintBlock) and step and step.calls and not step.answered:
            step.after.append(block)  # it must not come between a call and its result
        else:
            if step is None or step.has_results or (isinstance(block, HintBlock) and step.head):
                step = Iteration(at, at)
                steps.append(step)
            if isinstance(block, HintBlock):
                step.before.append(block)
            elif not isinstance(block, UnknownBlock):
                step.head.append(block)
            if isinstance(block, ToolCallBlock):
                step.calls.append(block)
                step.results.append(None)
        step.end = at + 1
    return steps
