"""A compaction without a model over a long session, beside the peer; durable writes apart.

Both sides read the same JSON of the same state and compact it once; CPU of the process, not the
wall. What they do differs: AgentScope 2.0.11 counts and cuts (its summary is handed to it), ours
also reads rules, lists, files and findings out of every message that leaves. AgentScope is in the
interpreter that SLIPWAY_PEER_PYTHON names; without it only our own figures are given.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from desktop_app.core.context import entities, findings, rules, said
from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import record_body
from desktop_app.core.context.build import Envelope, PromptBuilder
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.types import Limits
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState
from tests.benchmarks.figures import against, limit

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
MESSAGES = 4000  # of 1 KB
ROUNDS = 3
WORDS = [
    "the",
    "service",
    "restarted",
    "after",
    "deployment",
    "and",
    "a",
    "worker",
    "picked",
    "up",
    "queued",
    "jobs",
    "while",
    "metrics",
    "were",
    "collected",
    "by",
    "the",
    "agent",
    "that",
    "runs",
    "on",
    "each",
    "node",
    "of",
    "this",
    "cluster",
]
PEER_COMPACT = """
import asyncio, logging, sys, time
logging.disable(logging.CRITICAL)
from agentscope.agent import Agent
from agentscope.model import ChatModelBase, StructuredResponse
from agentscope.state import AgentState
FIELDS = ("task_overview", "current_state", "important_discoveries", "next_steps",
          "context_to_preserve")
class Model(ChatModelBase):
    def __init__(self, window):
        self.context_size, self.model, self.stream, self.max_retries = window, "m", False, 0
    async def _call_api(self, *args, **kwargs):
        raise NotImplementedError
    async def generate_structured_output(self, messages, structured_model, **kwargs):
        return StructuredResponse(content=dict.fromkeys(FIELDS, "x"))
data = open(sys.argv[1], "rb").read()
for _ in range(int(sys.argv[3])):
    started = time.process_time()
    state = AgentState.model_validate_json(data)
    agent = Agent(name="a", system_prompt="x", model=Model(int(sys.argv[2])), state=state)
    before = len(state.context)
    asyncio.run(agent.compress_context())
    assert len(agent.state.context) < before
    print((time.process_time() - started) * 1000)
"""


def _prose(rng: random.Random, size: int) -> str:
    out: list[str] = []
    while sum(map(len, out)) < size:
        words = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(6, 16)))
        named = f" on node-{rng.randrange(9999)}" if rng.random() < 0.1 else ""
        out.append(f"{words.capitalize()}{named}.")
    return " ".join(out)


def _session(messages: int) -> AgentState:
    rng, state = random.Random(1), AgentState(session_id="s")
    for n in range(messages // 2):
        path = json.dumps({"file_path": f"src/part{n % 500}.py"})
        reply = Msg(name="a", role="assistant")
        reply.content = [
            TextBlock(text=_prose(rng, 300)),
            ToolCallBlock(id=f"c{n}", name="Read", input=path),
            ToolResultBlock(id=f"c{n}", name="Read", output=_prose(rng, 500)),
            TextBlock(text=_prose(rng, 100)),
        ]
        state.context += [Msg.user(_prose(rng, 1000)), reply]
    return state


def _forget() -> None:
    """Nothing is remembered of the texts of an earlier round."""
    for module in (entities, findings, rules, said):
        for known in vars(module).values():
            if hasattr(known, "cache_clear"):
                known.cache_clear()


def _compact(data: bytes, window: int) -> tuple[float, Proposal]:
    """Milliseconds of CPU from the bytes to the proposal."""
    _forget()
    started = time.process_time()
    state = AgentState.model_validate_json(data)
    account = Accounting(Limits(window=window, max_output=8192))
    compactor = Compactor(None, account, Envelope(system="x"), mask_first=False)
    proposal = asyncio.run(compactor.propose(state, "danger"))
    return (time.process_time() - started) * 1000, proposal


def _writes(proposal: Proposal, folder: Path) -> float:
    """Milliseconds until the record, what an undo needs and what left are on the disk."""
    record = proposal.record
    parts = [
        json.dumps(record_body(record)).encode(),
        b"".join(m.to_json().encode("utf-8", "replace") + b"\n" for m in proposal.offloaded),
    ]
    started = time.perf_counter()
    for n, part in enumerate(parts):
        with (folder / str(n)).open("wb") as file:
            file.write(part)
            file.flush()
            os.fsync(file.fileno())
    return (time.perf_counter() - started) * 1000


def _changed_bytes() -> float:
    """Of 200 growing prompts, per cent of the bytes that were not the former prompt's."""
    builder, envelope, before = PromptBuilder(), Envelope(system="x"), list[str]()
    changed = total = 0
    session = _session(400)
    state = AgentState(session_id="s")
    for msg in session.context:
        state.context.append(msg)
        prompt = builder.build(envelope, state)
        now = [m.to_json() for m in prompt.messages[: prompt.stable]]
        total += sum(map(len, before))
        changed += sum(len(a) for a, b in zip(before, now, strict=False) if a != b)
        before = now
    return 100 * changed / total


def run(messages: int = MESSAGES, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    name = f"compaction without a model, {messages:,} messages of 1 KB, from bytes"
    data, window = _session(messages).to_json().encode(), messages * 180
    times = [_compact(data, window) for _ in range(rounds)]
    ours = min(t for t, _ in times)  # whatever else runs only ever adds
    with tempfile.TemporaryDirectory() as temp:
        writes = statistics.median(_writes(p, Path(temp)) for _, p in times)
        theirs = None
        if PEER:
            path = Path(temp, "state.json")
            path.write_bytes(data)
            # -I: nothing of ours is on its path; it runs in its own folder.
            done = subprocess.run(
                [PEER, "-I", "-c", PEER_COMPACT, str(path), str(window), str(rounds)],
                capture_output=True,
                text=True,
                check=True,
                cwd=temp,
            )
            theirs = min(map(float, done.stdout.split()))
    return [
        against(f"{name}: CPU", ours, theirs, 1 / 10, "ms", "≤ 1/10"),
        limit(f"{name}: durable writes, apart", writes, 2000, "ms", "≤ 2 s"),
        limit("prompt bytes changed between compactions", _changed_bytes(), 0, "%", "0 %"),
    ]


if __name__ == "__main__":
    print(json.dumps(run(), indent=2, ensure_ascii=False))
