"""Generated sessions for property tests: turns of a person and an agent, as AgentScope keeps them.

``sessions()`` is a hypothesis strategy of ``Script``: what happens, step by step. ``play`` turns it
into states, one for each moment at which the model would be called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st

from desktop_app.core.messages import (
    AnyBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.state import AgentState, Task, TasksContext

AT = "2026-01-02T03:04:05.000000"
WORDS = st.sampled_from(
    [
        "Read the report and tell me what changed.",
        "You must never touch config/prod.toml!",
        "Only use the metric system. Thanks.",
        "请整理这些文件，不要删除任何原件。",
        "必须保留 2024 年的数据；其他的随意。",
        "Compare a.csv with b.csv",
        "总结一下，然后写到 summary.md。",
        "Don't guess:\nsay when you do not know",
        "ok",
        "  spaced\ttext \u00e9\U0001f600 ",
    ]
)
PATHS = st.sampled_from(["notes/a.md", "notes/b.md", "数据/表.csv", "src/main.py"])
FILLER = 'alpha beta 12345 {"k": [1, 2]} 日志 /usr/lib/x.so ERROR at line 7\n'


@dataclass(frozen=True)
class Step:
    """One iteration: what the model says and which calls it makes, ids chosen to repeat."""

    text: str
    thinking: bool
    calls: tuple[tuple[str, str, str, int], ...]  # id, tool, path, length of the result
    failed: bool = False


@dataclass(frozen=True)
class Turn:
    said: str
    pinned: bool
    steps: tuple[Step, ...]
    hint: bool = False


@dataclass(frozen=True)
class Script:
    turns: tuple[Turn, ...]
    tasks: tuple[tuple[str, bool], ...] = ()


def _calls(big: int) -> st.SearchStrategy[tuple[tuple[str, str, str, int], ...]]:
    call = st.tuples(
        st.sampled_from(["c1", "c2", "c1-2", "", "call"]),
        st.sampled_from(["Read", "Write", "Edit", "Bash", "Grep"]),
        PATHS,
        st.sampled_from([0, 40, 400, big]),
    )
    return st.lists(call, max_size=3).map(tuple)


def sessions(
    *, max_turns: int = 6, max_steps: int = 5, big: int = 30_000
) -> st.SearchStrategy[Script]:
    step = st.builds(
        Step,
        text=st.one_of(st.just(""), WORDS),
        thinking=st.booleans(),
        calls=_calls(big),
        failed=st.booleans(),
    )
    turn = st.builds(
        Turn,
        said=WORDS,
        pinned=st.sampled_from([False, False, False, True]),
        steps=st.lists(step, min_size=1, max_size=max_steps).map(tuple),
        hint=st.booleans(),
    )
    tasks = st.lists(
        st.tuples(st.sampled_from(["write the index", "检查附录", "rename files"]), st.booleans()),
        max_size=3,
    ).map(tuple)
    return st.builds(
        Script, turns=st.lists(turn, min_size=1, max_size=max_turns).map(tuple), tasks=tasks
    )


@dataclass
class Player:
    """Plays a script on one state; ``moments`` yields at each call of the model."""

    script: Script
    state: AgentState = field(default_factory=lambda: AgentState(session_id="s"))
    said: list[Msg] = field(default_factory=list)
    everything: list[Msg] = field(default_factory=list)  # as it was, nothing left out
    _blocks: int = 0

    def __post_init__(self) -> None:
        self.state.tasks_context = TasksContext(
            tasks=[
                Task(id=str(n), subject=s, state="completed" if done else "pending", created_at=AT)
                for n, (s, done) in enumerate(self.script.tasks, 1)
            ]
        )

    def _id(self) -> str:
        self._blocks += 1
        return f"b{self._blocks}"

    def moments(self) -> Iterator[AgentState]:
        for number, turn in enumerate(self.script.turns):
            person = Msg.user(turn.said)
            person.id, person.created_at = f"u{number}", AT
            if turn.pinned:
                person.metadata["slipway"] = {"pinned": True}
            self.state.context.append(person)
            self.said.append(person)
            self.everything.append(person.model_copy(deep=True))
            yield self.state
            reply = Msg(name="agent", role="assistant", id=f"a{number}", created_at=AT)
            whole = reply.model_copy(deep=True)
            self.state.context.append(reply)
            self.everything.append(whole)
            if turn.hint:
                self._add(whole, [HintBlock(id=self._id(), hint="a note", created_at=AT)])
            for step in turn.steps:
                self._add(whole, self._step(step))
                yield self.state
                if not step.calls:  # an answer without calls ends the turn
                    break

    def _add(self, whole: Msg, blocks: list[AnyBlock]) -> None:
        """To the reply as the state holds it now, which a compaction may have replaced."""
        if not self.state.context or self.state.context[-1].id != whole.id:
            self.state.context.append(
                Msg(name="agent", role="assistant", id=whole.id, created_at=AT)
            )
        self.state.context[-1].content.extend(blocks)
        whole.content.extend(blocks)

    def _step(self, step: Step) -> list[AnyBlock]:
        blocks: list[AnyBlock] = []
        if step.thinking:
            name = self._id()
            blocks.append(
                ThinkingBlock.model_validate(
                    {
                        "type": "thinking",
                        "id": name,
                        "thinking": f"thought {name}",
                        "signature": f"sig-{name}",
                        "created_at": AT,
                    }
                )
            )
        if step.text:
            blocks.append(TextBlock(id=self._id(), text=step.text, created_at=AT))
        results: list[AnyBlock] = []
        for call_id, tool, path, length in step.calls:
            size = (length // len(FILLER) + 1) * FILLER if length else ""
            blocks.append(
                ToolCallBlock(
                    id=call_id,
                    name=tool,
                    input=json.dumps({"file_path": path}, ensure_ascii=False),
                    state="finished",
                    created_at=AT,
                )
            )
            results.append(
                ToolResultBlock(
                    id=call_id,
                    name=tool,
                    output=f"{self._id()} {size}",
                    state="error" if step.failed else "success",
                    created_at=AT,
                )
            )
        return [*blocks, *results]


def check_pairs(messages: list[Msg]) -> None:
    """Invariant 1: every call has exactly one result and every result its call, in order, and no
    call id occurs twice."""
    seen: set[str] = set()
    for at, msg in enumerate(messages):
        calls = [c.id for c in msg.tool_calls()]
        results = [r.id for r in msg.tool_results()]
        assert not (calls and results)
        if calls:
            assert msg.role == "assistant"
            assert [r.id for r in messages[at + 1].tool_results()] == calls
            assert not seen & set(calls)
            assert len(set(calls)) == len(calls)
            seen |= set(calls)
        if results:
            assert msg.role == "user"
            assert msg.metadata["slipway"]["kind"] == "tool_results"
            assert [c.id for c in messages[at - 1].tool_calls()] == results
