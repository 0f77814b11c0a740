"""The model's input, made from the state: a pure function of it, growing only at its end.

Order: system prompt, workspace instructions and skills list (one system text) · tools · the pinned
block · ledger and summary of the newest compaction · live messages · the tail.

AgentScope keeps a whole reply in one assistant ``Msg``. Models want one message a step, so every
*iteration* of it (thinking, text, calls, then their results) becomes two messages:

    role "assistant"                          thinking, text, data and tool_call blocks
    role "user", kind "tool_results"          tool_result blocks only, one a call, in call order

where ``kind`` stands in ``metadata["slipway"]["kind"]``. The other kinds, all of role "user":
``pinned``, ``summary`` (history, never authority), ``hint`` (a note that the person did not write)
and ``tasks`` (the tail). What the person wrote has no kind. ``metadata["slipway"]["of"]`` is the id
of the message of the state that a message was made from.

Repairs, all deterministic: a call without a result gets one with state ``interrupted``; a result
without a call is left out; call ids that repeat are renamed ``id-2``, ``id-3`` … in call and result
alike; text blocks with nothing in them, and messages with nothing left, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from desktop_app.core.messages import (
    AnyBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.models.base import Effort, ModelRequest, ToolSchema
from desktop_app.core.state import AgentState, Task

from .iterations import Iteration, iterations, signed

Kind = Literal["pinned", "summary", "tool_results", "hint", "tasks"]
TASK_TOOLS = frozenset({"TaskCreate", "TaskList", "TaskUpdate"})  # their results show the list


@dataclass(frozen=True, slots=True)
class Envelope:
    """What goes ahead of the messages. ``mcp`` names the server of each tool that has one."""

    system: str = ""
    instructions: str = ""  # of the workspace
    skills: str = ""  # the list of skills
    tools: tuple[ToolSchema, ...] = ()
    mcp: Mapping[str, str] = field(default_factory=dict[str, str])

    def text(self) -> str:
        """The system text as it is sent."""
        return "\n\n".join(t for t in (self.system, self.instructions, self.skills) if t)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A model's input. ``messages[:closed]`` are the same objects in every prompt of one ``epoch``;
    ``messages[stable:]`` is the tail, which is made anew each time."""

    envelope: Envelope
    messages: list[Msg]
    closed: int
    stable: int
    epoch: object

    def request(
        self,
        *,
        max_output: int | None = None,
        purpose: Literal["reply", "summary", "title"] = "reply",
        effort: Effort | None = None,
        more: Sequence[Msg] = (),
    ) -> ModelRequest:
        """The call; ``more`` is appended after the tail."""
        return ModelRequest(
            system=self.envelope.text(),
            messages=[*self.messages, *more],
            tools=self.envelope.tools,
            max_output=max_output,
            purpose=purpose,
            effort=effort,
        )


def slipway(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Our own part of a ``metadata`` or ``middle_context``; empty when there is none."""
    part = holder.get("slipway")
    return cast(dict[str, Any], part) if isinstance(part, dict) else {}


def kind_of(msg: Msg) -> Kind | None:
    """The kind of a built message; None for the assistant's and the person's own."""
    return slipway(msg.metadata).get("kind")


def compaction_part(state: AgentState) -> dict[str, Any]:
    """The ledger of the newest compaction as it lies in the state; empty before the first one."""
    part = slipway(state.middle_context).get("compaction")
    return cast(dict[str, Any], part) if isinstance(part, dict) else {}


def made(kind: Kind, text: str, *, of: str, at: str | None = None) -> Msg:
    """A message of ours, of role user."""
    return Msg.made(
        name="slipway",
        role="user",
        id=of,
        content=[TextBlock(id=of, text=text, created_at=at, finished_at=at)],
        metadata={"slipway": {"kind": kind}},
        created_at=at,
    )


def build(envelope: Envelope, state: AgentState) -> Prompt:
    """The prompt for ``state``. Pure; ``PromptBuilder`` gives the same, incrementally."""
    return PromptBuilder().build(envelope, state)


def head_messages(state: AgentState, part: dict[str, Any]) -> list[Msg]:
    """Pinned block and summary. A summary that somebody else wrote over ours is taken as it is,
    and our pinned block, the person's own words, stays beside it."""
    pinned = str(part.get("pinned", ""))
    history = str(part.get("history", ""))
    summary = summary_text(state)
    gen = part.get("gen", 0)
    if summary and part and summary == whole_summary(pinned, history):
        summary = history
    return head_of(pinned, summary, gen)


def head_of(pinned: str, summary: str, gen: Any) -> list[Msg]:
    """The same of these texts."""
    head: list[Msg] = []
    if pinned:
        head.append(made("pinned", pinned, of=f"pinned-{gen}"))
    if summary:
        head.append(made("summary", summary, of=f"summary-{gen}"))
    return head


def whole_summary(pinned: str, history: str) -> str:
    """``AgentState.summary`` as AgentScope reads it: both of our blocks in one text."""
    return "\n\n".join(t for t in (pinned, history) if t)


def summary_text(state: AgentState) -> str:
    """The state's summary as one text."""
    if isinstance(state.summary, str):
        return state.summary
    return "\n\n".join(b.text for b in state.summary if isinstance(b, TextBlock))


def open_tasks(state: AgentState) -> list[Task]:
    return [t for t in state.tasks_context.tasks if t.state != "completed"]


def task_lines(tasks: Iterable[Task]) -> list[str]:
    """One line a task, its subject byte for byte."""
    lines: list[str] = []
    for task in tasks:
        blocked = f" (after {', '.join(task.blocked_by)})" if task.blocked_by else ""
        lines.append(f"- [{task.state}] {task.id}: {task.subject}{blocked}")
        if task.description and task.description != task.subject:
            lines.append(f"  {task.description}")
    return lines


def tail_messages(state: AgentState, part: dict[str, Any], shown: bool) -> list[Msg]:
    """Open tasks, but only when nothing else in the prompt shows them: neither the ledger as they
    are now nor a live call of a task tool (``shown``). A tail that comes each time would cost the
    provider's cache for nothing."""
    tail = _later_pins(part)
    lines = task_lines(open_tasks(state))
    if not lines or shown or lines == part.get("tasks"):
        return tail
    text = "\n".join(["<open-tasks>", *lines, "</open-tasks>"])
    return [*tail, made("tasks", text, of="open-tasks")]


def _later_pins(part: Mapping[str, Any]) -> list[Msg]:
    """What the person pinned after it had left, until the next compaction takes it in."""
    texts = [str(e["text"]) for e in part.get("later", ()) if e.get("on")]
    if not texts:
        return []
    text = "\n\n".join(["<pinned>", "Pinned by the person just now:", *texts, "</pinned>"])
    return [made("pinned", text, of="pinned-later")]


class PromptBuilder:
    """Builds prompts of one session; what was built once for closed messages is kept.

    Cost is O(new blocks) plus one comparison by identity a message and block (what is equal is as
    good), so blocks are appended or replaced together
    with their message, never edited in place once the prompt was built.
    """

    def __init__(self) -> None:
        self._reset(object())

    def _reset(self, key: object) -> None:
        self._key = key
        self._epoch = object()
        self._sources: list[Msg] = []  # messages of the state that are built whole
        self._messages: list[Msg] = []
        self._used: set[str] = set()
        # The last message of the state, as far as it is built.
        self._partial: Msg | None = None
        self._blocks: list[AnyBlock] = []
        self._steps = 0
        self._strip: bool | None = None  # of the message whose front was compacted
        self._tasks_shown = False
        # The newest prompt, and what it was built from.
        self._prompt: Prompt | None = None
        self._live: list[AnyBlock] = []  # of the last message, what is not in ``_blocks``
        self._tail_of: tuple[Any, ...] = ()

    def build(self, envelope: Envelope, state: AgentState) -> Prompt:
        part = compaction_part(state)
        context = state.context
        key = (part.get("gen"), part.get("pinned"), part.get("history"), part.get("cut"))
        key = (*key, summary_text(state))
        tail_of = (task_lines(open_tasks(state)), part.get("later"))
        if key != self._key or not self._still_there(context):
            self._reset(key)
            self._messages.extend(head_messages(state, part))
        elif (prompt := self._again(envelope, context, tail_of)) is not None:
            return prompt
        cut = part.get("cut")
        done = len(self._sources)
        for msg in context[done:-1]:
            self._append(msg, cut, last=False)
        live = self._append(context[-1], cut, last=True) if len(context) > done else []
        closed = len(self._messages)
        tail = tail_messages(state, part, self._tasks_shown or _task_call(live))
        self._prompt = Prompt(
            envelope=envelope,
            messages=[*self._messages, *live, *tail],
            closed=closed,
            stable=closed + len(live),
            epoch=self._epoch,
        )
        self._live = self._not_closed(context)
        self._tail_of = tail_of
        return self._prompt

    def _again(
        self, envelope: Envelope, context: list[Msg], tail_of: tuple[Any, ...]
    ) -> Prompt | None:
        """The prompt of last time, when nothing is new since (``_still_there`` was seen to)."""
        prompt = self._prompt
        if prompt is None or prompt.envelope is not envelope or tail_of != self._tail_of:
            return None
        if len(context) != len(self._sources) + (self._partial is not None):
            return None
        return prompt if self._live == self._not_closed(context) else None

    def _not_closed(self, context: list[Msg]) -> list[AnyBlock]:
        """What comes after ``_blocks`` in the last message."""
        return context[-1].content[len(self._blocks) :] if self._partial is not None else []

    def _still_there(self, context: list[Msg]) -> bool:
        count = len(self._sources)
        # Compared by identity first, in C; what is equal is as good.
        if len(context) < count or self._sources != context[:count]:
            return False
        if self._partial is None:
            return True
        if len(context) == count or context[count].id != self._partial.id:
            return False
        now = context[count].content
        return self._blocks == now[: len(self._blocks)]

    def _append(self, msg: Msg, cut: Any, *, last: bool) -> list[Msg]:
        """Build what is new of ``msg``; keeps what cannot change and returns the rest."""
        if msg.role != "assistant":
            self._sources.append(msg)
            self._messages.extend(from_user(msg))
            return []
        start, steps = len(self._blocks), self._steps
        rounds = iterations(msg.content, start)
        strip = cut == msg.id and self._must_strip(msg)
        live: list[Msg] = []
        for number, step in enumerate(rounds, steps):
            if last and step is rounds[-1] and not (step.calls and step.answered):
                # It may still grow: built on a copy of what is known, and forgotten.
                live = from_iteration(msg, step, number, set(self._used), strip)
                break
            self._messages.extend(from_iteration(msg, step, number, self._used, strip))
            self._tasks_shown |= any(c.name in TASK_TOOLS for c in step.calls)
            self._steps = number + 1
            self._blocks += msg.content[len(self._blocks) : step.end]
        if last:
            self._partial = msg
        else:
            self._partial, self._blocks, self._steps = None, [], 0
            self._sources.append(msg)
        return live

    def _must_strip(self, msg: Msg) -> bool:
        """Whether the loop whose front was compacted begins without the thinking it had: then no
        signed thinking of it may stay."""
        if self._strip is None:
            rounds = iterations(msg.content)
            self._strip = bool(rounds) and not any(signed(b) for b in rounds[0].head)
        return self._strip


def _task_call(live: Sequence[Msg]) -> bool:
    return any(c.name in TASK_TOOLS for msg in live for c in msg.tool_calls())


def from_user(msg: Msg) -> list[Msg]:
    """The person's message as it is. Hints inside it, and messages of role system, become hints:
    nothing but the system prompt speaks with its authority."""
    out: list[Msg] = []
    own = [b for b in msg.content if _says_something(b)]
    hints = [b for b in msg.content if isinstance(b, HintBlock)]
    if msg.role == "system":
        hints, own = [HintBlock(id=msg.id, hint=msg.text(), created_at=None)], []
    if own:
        out.append(msg if len(own) == len(msg.content) else msg.model_copy(update={"content": own}))
    return [*out, *_hint_messages(msg, hints, "user")]


def _says_something(block: AnyBlock) -> bool:
    if isinstance(block, TextBlock):
        return bool(block.text.strip())
    return isinstance(block, DataBlock)


def _hint_messages(msg: Msg, hints: Sequence[HintBlock], suffix: str) -> list[Msg]:
    out: list[Msg] = []
    for number, hint in enumerate(hints):
        content: list[Any] = (
            [TextBlock(id=hint.id, text=hint.hint, created_at=hint.created_at)]
            if isinstance(hint.hint, str)
            else list(hint.hint)
        )
        content = [b for b in content if _says_something(b)]
        if content:
            out.append(_made_of(msg, f"{suffix}-hint{number}", "user", "hint", content))
    return out


def _made_of(
    msg: Msg,
    suffix: str,
    role: Literal["user", "assistant"],
    kind: Kind | None,
    content: list[Any],
) -> Msg:
    ours: dict[str, Any] = {"of": msg.id} if kind is None else {"kind": kind, "of": msg.id}
    return Msg.made(
        name=msg.name if kind is None else "slipway",
        role=role,
        id=f"{msg.id}#{suffix}",
        content=content,
        metadata={"slipway": ours},
        created_at=msg.created_at,
    )


def from_iteration(
    msg: Msg, step: Iteration, number: int, used: set[str], strip: bool
) -> list[Msg]:
    """The messages of one step. ``used`` holds the call ids of the prompt so far and gets its own;
    ``strip`` leaves out signed thinking."""
    head = [b for b in step.head if not (strip and signed(b))]
    said: list[AnyBlock] = []
    results: list[ToolResultBlock] = []
    answers = iter(step.results)
    for block in head:
        if isinstance(block, ToolCallBlock):
            result = next(answers)
            call_id = _unique(block.id, used)
            if call_id != block.id:
                block = block.model_copy(update={"id": call_id})
            said.append(block)
            results.append(_answer(block, result))
        elif not isinstance(block, TextBlock) or block.text.strip():
            said.append(block)
    out = _hint_messages(msg, step.before, str(number)) if step.before else []
    if any(isinstance(b, TextBlock | DataBlock | ToolCallBlock) for b in said):
        out.append(_made_of(msg, str(number), "assistant", None, said))
        if results:
            out.append(_made_of(msg, f"{number}r", "user", "tool_results", list(results)))
    return [*out, *_hint_messages(msg, step.after, f"{number}a")] if step.after else out


def _unique(call_id: str, used: set[str]) -> str:
    """An id that no other call of this prompt has, the same one each time it is built."""
    wanted, number = call_id or "call", 2
    name = wanted
    while name in used:
        name = f"{wanted}-{number}"
        number += 1
    used.add(name)
    return name


def _answer(call: ToolCallBlock, result: ToolResultBlock | None) -> ToolResultBlock:
    if result is None:
        return ToolResultBlock(
            id=call.id,
            name=call.name,
            output="The call was interrupted; it has no result.",
            state="interrupted",
            created_at=call.created_at,
            finished_at=None,
        )
    if result.id == call.id:
        return result
    return result.model_copy(update={"id": call.id})
