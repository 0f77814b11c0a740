"""A loop as small as can be: drives a model over a folder with the real tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop_app.core.errors import ToolFailure
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.base import (
    ChatModel,
    Finish,
    ModelRequest,
    TextPart,
    ToolCallPart,
    ToolSchema,
)
from desktop_app.core.tools.base import ToolContext, ToolOutcome
from desktop_app.core.tools.bounds import bound
from desktop_app.core.tools.registry import builtin_tools
from tests.helpers.tools import make_context

BUDGET = 2000  # tokens of one result, about what a window of 32 k leaves
TOOLS: dict[str, Any] = {tool.name: tool for tool in builtin_tools()}
SCHEMAS = tuple(ToolSchema(t.name, t.description, t.parameters) for t in TOOLS.values())


@dataclass
class Folder:
    """The tools over one folder. ``refuse`` names tools whose calls a person would decline,
    ``answers`` are labels chosen for AskUser, ``asked`` the calls that would ask for approval.
    ``fail`` may give an outcome in place of running the tool."""

    root: Path
    answers: list[str] = field(default_factory=list)
    refuse: set[str] = field(default_factory=set)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    fail: Callable[[str, dict[str, Any]], ToolOutcome | None] = lambda name, args: None
    context: ToolContext | None = None

    def __post_init__(self) -> None:
        self.context = make_context(self.root)

    def files(self) -> list[str]:
        return sorted(
            p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file()
        )

    async def run(self, name: str, args: dict[str, Any]) -> ToolOutcome:
        if (planned := self.fail(name, args)) is not None:
            return planned
        if name == "AskUser":
            question = args["questions"][0]["question"]
            answer = {"answers": [{"question": question, "selected": [self.answers.pop(0)]}]}
            TOOLS[name].validate(args)
            return TOOLS[name].result(args, answer)
        try:
            verdict = await TOOLS[name].check(args, self.context)
            if verdict.behavior != "allow":
                self.asked.append((name, args))
                if name in self.refuse:
                    return ToolOutcome("The person declined this call.", "denied")
            outcome = await TOOLS[name].run(args, self.context)
        except ToolFailure as error:
            return ToolOutcome(error.message, "error")
        short = bound(outcome.text, max_tokens=BUDGET)
        if short.cut:
            path = ".slipway/sessions/s1/tool_result-1.txt"
            outcome.metadata["slipway"] = {**outcome.metadata.get("slipway", {}), "offload": path}
            outcome.text = f"{short.text}\n[whole result: {path}]"
        return outcome


@dataclass
class Played:
    """What came of a turn: the final text, the calls, every message, what was said before calls."""

    text: str
    calls: list[tuple[str, dict[str, Any]]]
    messages: list[Msg]
    finishes: list[Finish]
    said: list[str]

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


async def step(
    model: ChatModel, messages: list[Msg], tools: tuple[ToolSchema, ...] = SCHEMAS
) -> tuple[Msg, Finish]:
    """One call of the model: the assistant's message."""
    said, wanted = "", {}
    finish = None
    async with aclosing(model.stream(ModelRequest("", messages, tools))) as stream:
        async for part in stream:
            assert finish is None, "nothing comes after Finish"
            if isinstance(part, TextPart):
                said += part.text
            elif isinstance(part, ToolCallPart):
                call = wanted.setdefault(part.index, ["", "", ""])
                call[0] = part.call_id or call[0]
                call[1] = part.name or call[1]
                call[2] += part.arguments
            elif isinstance(part, Finish):
                finish = part
    assert finish is not None
    text = [TextBlock(text=said)] if said else []
    asked = [ToolCallBlock(id=c[0], name=c[1], input=c[2]) for c in wanted.values()]
    return Msg(name="guide", role="assistant", content=[*text, *asked]), finish


def results_message(results: list[ToolResultBlock]) -> Msg:
    """Results as the context builder puts them into a request."""
    kind = {"slipway": {"kind": "tool_results"}}
    return Msg(name="slipway", role="user", content=results, metadata=kind)


async def play(
    model: ChatModel,
    text: str,
    folder: Folder,
    *,
    before: list[Msg] | None = None,
    tools: tuple[ToolSchema, ...] = SCHEMAS,
    iterations: int = 30,
) -> Played:
    """One turn of ``model`` over ``folder``: calls are carried out until it answers."""
    played = Played("", [], [*(before or []), Msg.user(text)], [], [])
    for _ in range(iterations):
        msg, finish = await step(model, played.messages, tools)
        played.messages.append(msg)
        played.finishes.append(finish)
        if not msg.tool_calls():
            played.text = msg.text()
            return played
        played.said.append(msg.text())
        results = []
        for block in msg.tool_calls():
            args = json.loads(block.input)
            played.calls.append((block.name, args))
            got = await folder.run(block.name, args)
            results.append(
                ToolResultBlock(
                    id=block.id,
                    name=block.name,
                    output=got.text,
                    state=got.state,
                    metadata=got.metadata,
                )
            )
        played.messages.append(results_message(results))
    raise AssertionError(f"no answer after {iterations} steps: {played.calls}")
