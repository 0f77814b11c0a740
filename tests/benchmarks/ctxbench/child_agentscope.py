"""The real agentscope on a stream, in its own environment; see ``peers`` for the protocol.

The agent's own methods do the work: ``compress_context`` and the injection of its runtime state
before each model call, as its loop does, with its workspace as offloader. The model is the
bench's. Tools of the stream stand in the toolkit's schemas, so that its counting sees them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from agentscope.agent import Agent  # type: ignore[import-not-found]
from agentscope.message import (  # type: ignore[import-not-found]
    HintBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from agentscope.model import ChatModelBase, StructuredResponse  # type: ignore[import-not-found]
from agentscope.state import Task  # type: ignore[import-not-found]
from agentscope.workspace import LocalWorkspace  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).parent))
import wire

FIELDS = {
    "task_overview": ("task",),
    "current_state": ("artifact",),
    "important_discoveries": ("decision", "fix", "fact_restated", "fact_raw"),
    "next_steps": ("pending",),
    "context_to_preserve": ("constraint", "unicode"),
}


class Model(ChatModelBase):
    """The bench's model; its answers come over the pipe. The base's byte counting is left."""

    def __init__(self, window: int) -> None:
        self.context_size = window
        self.model, self.stream, self.max_retries, self.retry_delay = "bench", False, 3, 0.0

    async def _call_api(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def generate_structured_output(
        self, messages: Any, structured_model: Any, **kwargs: Any
    ) -> StructuredResponse:
        text = "\n".join(_shown(p) for m in messages[:-1] for p in pieces(m))
        answer = wire.ask({"summarise": text})
        if answer["outcome"] == "slow":
            raise TimeoutError("the model did not answer in time")
        if answer["outcome"] == "cut":
            raise ValueError("the arguments of the forced call are no whole JSON")
        if answer["outcome"] != "ok":
            raise ConnectionError("the model cannot be reached")
        content: dict[str, str] = {}
        for name, kinds in FIELDS.items():
            lines = [t + answer["filler"] for kind, t in answer["items"] if kind in kinds]
            content[name] = "\n".join(lines)
        return StructuredResponse(content=content)


def pieces(msg: Any, made: bool = False) -> list[dict[str, Any]]:
    """A message as the judge reads it: one piece a step, its results behind it."""
    found: list[dict[str, Any]] = []
    if isinstance(msg.content, str):
        return [wire.piece(msg.role, msg.content, made=made)]
    fresh = True
    for block in msg.content:
        if isinstance(block, ToolResultBlock):
            found.append(wire.piece("tool", _text(block.output), call_id=block.id))
            fresh = True
            continue
        if isinstance(block, HintBlock):
            found.append(wire.piece("user", _text(block.hint)))
            fresh = True
            continue
        if fresh or msg.role != "assistant":
            found.append(wire.piece("user" if msg.role == "system" else msg.role, "", made=made))
            fresh = False
        if isinstance(block, TextBlock):
            last = found[-1]
            last["text"] = f"{last['text']}\n{block.text}" if last["text"] else block.text
        elif isinstance(block, ToolCallBlock):
            found[-1]["calls"].append([block.id, block.name, json.loads(block.input)])
    return found


def _shown(piece: dict[str, Any]) -> str:
    called = [f"{n} {json.dumps(args, ensure_ascii=False)}" for _, n, args in piece["calls"]]
    return "\n".join([piece["text"], *called])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "\n".join(getattr(b, "text", "") for b in value)


async def main() -> None:
    start = wire.read()
    workspace = LocalWorkspace(workdir=start["folder"])
    await workspace.initialize()
    agent = Agent(
        name="agent",
        system_prompt=start["prompt"],
        model=Model(start["window"]),
        offloader=workspace,
    )
    tools = [{"type": "function", "function": t} for t in start["tools"]]

    async def tool_schemas(*args: Any, **kwargs: Any) -> Any:
        return tools

    agent.toolkit.get_tool_schemas = tool_schemas
    while (op := wire.read()) is not None:
        if "person" in op:
            agent.state.context.append(UserMsg("user", op["person"]))
            agent.state.cur_iter = 0
        elif "call" in op:
            await _call(agent)
        else:
            _answered(agent, op["agent"])
    await workspace.close()


async def _call(agent: Agent) -> None:
    before, error = agent.state.summary, None
    blocks = sum(len(m.content) for m in agent.state.context)
    started = time.process_time()
    try:
        await agent.compress_context()
    except Exception as failure:
        error = repr(failure)[:200]
    try:
        async for _ in agent._inject_runtime_state():
            pass
    except Exception as failure:
        error = error or repr(failure)[:200]
    less = sum(len(m.content) for m in agent.state.context) < blocks
    sent = (await agent._prepare_model_input())["messages"]
    seconds = time.process_time() - started
    has_summary = bool(agent.state.summary)
    found = [p for n, m in enumerate(sent[1:]) for p in pieces(m, made=has_summary and n == 0)]
    compacted = less or agent.state.summary != before
    wire.prompt(found, seconds=seconds, compacted=compacted, error=error)


def _answered(agent: Agent, event: dict[str, Any]) -> None:
    state = agent.state
    blocks: list[Any] = [TextBlock(text=event["text"])] if event["text"] else []
    for call_id, name, args in event["calls"]:
        made = ToolCallBlock(id=call_id, name=name, input=json.dumps(args, ensure_ascii=False))
        blocks.append(made)
    for (call_id, name, args), (_, text, result_state) in zip(
        event["calls"], event["results"], strict=True
    ):
        output = [TextBlock(text=text)]
        blocks.append(ToolResultBlock(id=call_id, name=name, output=output, state=result_state))
        _task(state, name, args)
    state.append_context(agent.name, blocks)
    state.cur_iter = state.cur_iter + 1 if event["calls"] else 0
    if not event["calls"]:
        state.reply_id = f"{state.reply_id}+"  # the next step is another reply


def _task(state: Any, name: str, args: dict[str, Any]) -> None:
    """Its own task list, as its task tools would keep it."""
    tasks = state.tasks_context.tasks
    if name == "TaskCreate":
        number = str(len(tasks) + 1)
        tasks.append(Task(id=number, subject=args["subject"], description="", metadata={}))
    elif name == "TaskUpdate":
        for task in tasks:
            if task.id == args["id"]:
                task.state = args["status"]


if __name__ == "__main__":
    asyncio.run(main())
