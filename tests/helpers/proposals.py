"""A long session and real proposals of it: nothing here is faked but the model's answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import Envelope
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.types import Choices, Limits
from desktop_app.core.messages import (
    AnyBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.models.base import ChatModel, ToolSchema
from desktop_app.core.state import AgentState, Task, TasksContext

AT = "2026-01-02T03:04:05.000000"
ENVELOPE = Envelope(
    system="You are an analyst. " * 40,
    instructions="Numbers are in thousands of euros. " * 20,
    skills="- report-style: How reports are laid out here.\n",
    tools=(ToolSchema("Read", "Read a file.", {"type": "object", "properties": {}}),),
)
TASK = (
    "Find the regions where returns grew faster than sales in Q3 and write a report. "
    "Do not change the files in data/sales. You must keep customer names out of it."
)


def long_state(turns: int = 8, size: int = 900) -> AgentState:
    """``turns`` questions, each answered after two calls with results of ``size`` words."""
    state = AgentState(session_id="s1")
    state.tasks_context = TasksContext(
        tasks=[Task(id="1", subject="Write report.md", state="pending", created_at=AT)]
    )
    for n in range(turns):
        said = TASK if not n else f"And now month {n}: which rows have no region?"
        state.context.append(
            Msg(name="user", role="user", id=f"u{n}", content=[_text(f"q{n}", said)])
        )
        state.context.append(Msg(name="a", role="assistant", id=f"r{n}", content=_steps(n, size)))
    return state


def _text(name: str, words: str) -> TextBlock:
    return TextBlock(id=name, text=words, created_at=AT, finished_at=AT)


def _steps(n: int, size: int) -> list[AnyBlock]:
    thought = "First the rows, then what is missing. " * 8
    made: list[AnyBlock] = [
        ThinkingBlock(id=f"h{n}", thinking=thought, created_at=AT, finished_at=AT)
    ]
    for name, key, value in (
        ("Read", "file_path", f"data/sales/2025-{n + 1:02}.csv"),
        ("Bash", "command", f"python load.py --month {n + 1}"),
    ):
        call = f"{name.lower()}{n}"
        made.append(
            ToolCallBlock(
                id=call, name=name, input=f'{{"{key}": "{value}"}}', state="finished", created_at=AT
            )
        )
        output = f"month {n + 1} north,12,{n} harbour,7 " * (size // 4)
        made.append(
            ToolResultBlock(id=call, name=name, output=output, state="success", created_at=AT)
        )
    answer = f"In month {n + 1} the harbour had the most returns. " * 6
    made.append(_text(f"t{n}", answer))
    return made


def proposer(
    state: AgentState, model: ChatModel | None = None, window: int = 32_768
) -> Callable[[Choices], Awaitable[Proposal]]:
    """Proposes compactions of ``state`` by hand, as a conversation does."""
    account = Accounting(Limits(window=window, max_output=4096))
    compactor = Compactor(model, account, ENVELOPE)

    async def propose(choices: Choices) -> Proposal:
        return await compactor.propose(state, "manual", choices=choices)

    return propose
