"""Where in the live state a thing is that somebody names."""

from __future__ import annotations

from desktop_app.core.asleep import may_hold
from desktop_app.core.messages import AnyBlock, Msg, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState


def op_of(block: ToolCallBlock | ToolResultBlock) -> str:
    """Our operation id of a call or result; the provider's id where there is none (foreign)."""
    extra = block.model_extra or {}
    op = extra.get("op_id")
    if isinstance(op, str):
        return op
    if isinstance(block, ToolResultBlock):
        ours = block.metadata.get("slipway")
        if isinstance(ours, dict) and isinstance(ours.get("op_id"), str):  # pyright: ignore[reportUnknownMemberType]
            return str(ours["op_id"])  # pyright: ignore[reportUnknownArgumentType]
    return block.id


def locate(state: AgentState, ref: str) -> tuple[int, int | None] | None:
    """The place of the message, and of the block in it, that ``ref`` names: a message's id, a
    block's (also one inside a result), an operation's. A result goes before the call it answers,
    newer before older."""
    call: tuple[int, int] | None = None
    newest_first = range(len(state.context) - 1, -1, -1)
    for place in newest_first:  # first, since it reads no message that is asleep
        if state.context[place].id == ref:
            return place, None
    for place in newest_first:
        msg = state.context[place]
        if not may_hold(msg, ref):
            continue
        for at in range(len(msg.content) - 1, -1, -1):
            block = msg.content[at]
            if isinstance(block, ToolCallBlock):
                if call is None and ref in (op_of(block), block.id):
                    call = place, at
            elif block.id == ref or (isinstance(block, ToolResultBlock) and _holds(block, ref)):
                return place, at
    return call


def _holds(block: ToolResultBlock, ref: str) -> bool:
    if ref == op_of(block):
        return True
    return not isinstance(block.output, str) and any(part.id == ref for part in block.output)


def find(state: AgentState, ref: str) -> tuple[Msg, AnyBlock | None] | None:
    """The message and block at ``locate``."""
    found = locate(state, ref)
    if found is None:
        return None
    msg = state.context[found[0]]
    return msg, msg.content[found[1]] if found[1] is not None else None
