"""The notes that a model writes about what leaves the context, and what is accepted of them.

The request is the very prompt that the model saw last, up to the cut, and one instruction behind
it: a provider's cache holds for all but the instruction. Rule-based models know it by its purpose.
What of the answer is believed, ``delta`` decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from functools import cache

from desktop_app.core import resources
from desktop_app.core.errors import ContextError, ModelError
from desktop_app.core.messages import Msg, ToolResultBlock, Usage
from desktop_app.core.models.base import (
    CUT,
    ChatModel,
    Finish,
    ModelRequest,
    TextPart,
    ToolCallPart,
)

from .accounting import Accounting
from .build import Prompt, made
from .clip import clip
from .delta import Count, Delta, verify
from .sources import Source

TIMEOUT = 180.0  # seconds for the whole call
TOO_LONG = 2  # times what it may answer: a model that does not stop is cut off
SHORT_RESULT = 300  # raw tokens of a tool result, when the request would not fit otherwise
ANSWER = 3  # times the allowance: an answer holds quotes too, which are not kept
CALLS = 4  # that one compaction may make
WAITS = (0.5, 2.0)  # seconds before a call that failed is made again


@cache
def _prompt_text() -> str:
    return resources.path("prompts", "summary.md").read_text("utf-8")


async def write_notes(
    model: ChatModel,
    prompt: Prompt,
    accounting: Accounting,
    allowance: int,
    usable: int,
    focus: str = "",
    known: Sequence[str] = (),
) -> Delta:
    """Ask ``model`` for notes on ``prompt`` (what leaves, as it was built) and keep what is proven.
    ``allowance`` (what the notes may take) and ``usable`` (what a request may hold) in tokens;
    ``known`` texts are carried on already and cost nothing. What does not fit one request is told
    in up to ``CALLS``.

    ContextError, when no call gave anything: ``compaction.failed`` (with ``reason``),
    ``compaction.cut``, ``compaction.empty``, ``compaction.cannot_fit``."""
    text = (await asyncio.to_thread(_prompt_text)).replace("{words}", str(allowance))
    about = f"- Pay most attention to this: {focus.strip()}" if focus.strip() else ""
    instruction = made("hint", text.replace("{focus}", about).strip(), of="write-notes")
    answer_room = min(allowance * ANSWER, usable // 3)
    parts, left_out = await asyncio.to_thread(
        _parts, prompt, accounting, usable - answer_room, instruction
    )
    whole, failed = Delta(), list[ContextError]()
    count, share = accounting.pricer.texts.counter.count, allowance / len(parts)
    for number, part in enumerate(parts):
        try:
            waits = () if failed else WAITS  # one part told already that nobody answers
            answer, usage = await _patiently(
                model, part, instruction, accounting, answer_room, waits
            )
        except ContextError as error:
            failed.append(error)
            whole.rejected.append((f"part {number + 1} of {len(parts)}", error.code))
            continue
        source = await asyncio.to_thread(Source, part.messages)
        asked = (prompt.envelope.system, text)
        delta = await asyncio.to_thread(verify, answer, source, count, share, known, asked)
        delta.usage = usage
        join(whole, delta)
    if len(failed) == len(parts):
        raise failed[-1]
    if left_out:
        whole.rejected.append((f"{left_out} messages", "no_room"))
    return whole


def join(whole: Delta, delta: Delta) -> None:
    """Add what another answer gave to ``whole``."""
    known = {p.text for p in whole.items}
    whole.items += [p for p in delta.items if p.text not in known]
    whole.narrative = "\n".join(n for n in (whole.narrative, delta.narrative) if n)
    whole.rejected += delta.rejected
    usage = delta.usage
    if usage is None or whole.usage is None:
        whole.usage = usage or whole.usage
        return
    for name in Usage.model_fields:
        setattr(whole.usage, name, getattr(whole.usage, name) + getattr(usage, name))


async def _patiently(
    model: ChatModel,
    prompt: Prompt,
    instruction: Msg,
    accounting: Accounting,
    room: int,
    waits: Sequence[float],
) -> tuple[str, Usage | None]:
    """``_ask``, again where the provider says that this may help: one failed call would lose the
    notes of all that leaves."""
    for wait in waits:
        try:
            return await _ask(model, prompt, instruction, accounting, room)
        except ContextError as error:
            if not error.retryable:
                raise
        await asyncio.sleep(wait)
    return await _ask(model, prompt, instruction, accounting, room)


async def _ask(
    model: ChatModel, prompt: Prompt, instruction: Msg, accounting: Accounting, room: int
) -> tuple[str, Usage | None]:
    """One call and its whole answer."""
    request = prompt.request(max_output=room, purpose="summary", more=[instruction])
    try:
        async with asyncio.timeout(TIMEOUT):
            answer, finish = await _read(model, request, accounting, room)
    except ModelError as error:
        # The model's own parameters may hold a "reason" too; its code says more.
        failure = ContextError("compaction.failed", retryable=error.retryable)
        failure.params = {**error.params, "reason": error.code}
        raise failure from error
    except TimeoutError as error:
        raise ContextError("compaction.failed", reason="timeout", seconds=TIMEOUT) from error
    if finish is None or finish.reason in CUT:
        raise ContextError("compaction.cut", tokens=int(accounting.estimate(answer)))
    if finish.reason == "filter":
        raise ContextError("compaction.failed", reason="model.refused")
    said = [n for n in answer.splitlines() if n.strip() and not n.strip().endswith((":", "："))]
    if not said:
        raise ContextError("compaction.empty", rejected=0)
    return answer, finish.usage


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


def _parts(
    prompt: Prompt, accounting: Accounting, room: int, instruction: Msg
) -> tuple[list[Prompt], int]:
    """The prompt as one request where it fits ``room`` tokens by the upper estimate, else in up to
    ``CALLS`` parts, else with results shortened, else without its oldest messages. How many were
    left out comes beside it."""
    messages = prompt.messages
    if accounting.upper(_raw(prompt, messages, accounting, instruction)) <= room:
        return [prompt], 0
    spare = accounting.upper(_raw(prompt, [], accounting, instruction))
    count = accounting.pricer.texts.counter.count
    groups = _groups(messages, accounting, room - spare)
    if groups is None or len(groups) > CALLS:
        groups = _groups([_shortened(m, count) for m in messages], accounting, room - spare)
    if groups is None:
        raise ContextError("compaction.cannot_fit", needed=int(spare) + 1, usable=room)
    kept = groups[-CALLS:]
    left_out = sum(len(g) for g in groups[: len(groups) - len(kept)])
    whole = [Prompt(prompt.envelope, g, closed=len(g), stable=len(g), epoch=object()) for g in kept]
    return whole, left_out


def _groups(messages: Sequence[Msg], accounting: Accounting, room: float) -> list[list[Msg]] | None:
    """``messages`` in groups of at most ``room`` tokens, results with their calls; None when one of
    them is larger alone."""
    groups: list[list[Msg]] = []
    left, at = 0.0, 0
    while at < len(messages):
        end = at + 1
        while end < len(messages) and messages[end].tool_results():
            end += 1
        piece = list(messages[at:end])
        size = accounting.upper(
            sum(p.raw for m in piece for p in accounting.pricer.message(m, 0, {}))
        )
        if size > room:
            return None
        if not groups or size > left:
            groups.append([])
            left = room
        groups[-1] += piece
        left -= size
        at = end
    return groups


def _raw(prompt: Prompt, messages: Sequence[Msg], accounting: Accounting, more: Msg) -> float:
    pricer = accounting.pricer
    pieces = [p for m in [*messages, more] for p in pricer.message(m, 0, {})]
    return sum(p.raw for p in [*pieces, *pricer.envelope(prompt.envelope)])


def _shortened(msg: Msg, count: Count) -> Msg:
    if not msg.tool_results():
        return msg
    content = [
        b.model_copy(update={"output": clip(b.text(), SHORT_RESULT, count, "[…]")})
        if isinstance(b, ToolResultBlock)
        else b
        for b in msg.content
    ]
    return msg.model_copy(update={"content": content})
