"""A compaction without a model over a long session, beside the peer; durable writes apart.

Both sides compact the same state once, from the same JSON. CPU of the process, not the wall; the
best of some rounds, since whatever else runs only adds.

**What is compared.** AgentScope 2.0.11 does what its loop does before every model call
(``compress_context``): it counts the whole context by bytes, finds the cut by counting what would
stay once for each message more, and counts the request for a summary. That summary is handed to it
at once, so neither side waits for a model or formats a request for one, and it has no offloader and
no storage, so neither side's writes are in it. Ours counts by classes of characters and reads
rules, wishes, lists, files, failures and findings out of every message that leaves, which is the
whole summary; AgentScope's is five words here. So ours has far more to do, never less.

**The window** is a million tokens for both: the smallest real one in which 4,000 messages of 1 KB
are live at all, over the mark at which each acts. (A window of 720,000 was over W for ours, where a
session is long before that compacted, and let AgentScope keep, and so recount, fewer messages.)

**Three beginnings.** *From journalled bytes*: a session is opened again, from what each side stores
of it to proposal. Of AgentScope that is the JSON of its state, all that it keeps. Of ours it is a
snapshot: the same state, with each message as its own JSON, and beside it what was read of the
messages when they came, the sums of the context, and the ledger of what is likely to leave, gone on
with at each step (derived, thrown away where it does not fit; ``core.context.kept`` and ``ahead``).
AgentScope parses and counts all of it again; ours parses the figures, no message that leaves but a
few, and chooses, writes and checks its summary anew. What reading, taking in and keeping all that
cost before are rows of their own. Neither side says who uses the window. What is left to do with
such a proposal, its record and what left made JSON, is in the durable writes. *With nothing kept*:
the same from the state's JSON alone, as after an import: all is counted and read. *As a session
goes on*: the state is there; ours has read each part when it came, AgentScope keeps nothing and
counts again at each step. In the program it is nearly always the third.

AgentScope is in the interpreter that SLIPWAY_PEER_PYTHON names; without it only our own figures are
given.
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from desktop_app.core.agent import snapshot
from desktop_app.core.agent.folded import Folded
from desktop_app.core.context import entities, findings, rules
from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import record_body
from desktop_app.core.context.build import Envelope, PromptBuilder
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.kept import adopt, dump
from desktop_app.core.context.types import Limits
from desktop_app.core.context.way_back import WayBack
from desktop_app.core.memory import Collector
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState
from tests.benchmarks.figures import against, limit

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
MESSAGES = 4000  # of 1 KB
ROUNDS = 3
OFTEN = 5  # times that a round begins from bytes: so short that whatever else runs shows
WINDOW = 1_000_000
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
    before, there = len(state.context), time.process_time()
    asyncio.run(agent.compress_context())
    ended = time.process_time()
    assert len(agent.state.context) < before
    print((ended - started) * 1000, (ended - there) * 1000)
    del state, agent
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
    for module in (entities, findings, rules):
        for known in vars(module).values():
            if hasattr(known, "cache_clear"):
                known.cache_clear()


@dataclass
class _Took:
    """Milliseconds of CPU: from a snapshot, from the state alone, as a session goes on, reading all
    parts once, writing what was read."""

    opened: float
    alone: float
    live: float
    reading: float
    keeping: float
    proposal: Proposal


def _compact(data: bytes, window: int) -> _Took:
    _forget()
    started = time.process_time()
    proposal = asyncio.run(_compactor(_account(window)).propose(_state(data), "danger"))
    alone = time.process_time() - started
    del proposal
    _forget()
    state, account = _state(data), _account(window)
    builder, envelope = PromptBuilder(), Envelope(system="x")
    before = account.breakdown(builder.build(envelope, state))  # as it was shown
    grows = state.model_copy(update={"context": list[Msg]()})
    started = time.process_time()
    for msg in state.context:
        grows.context.append(msg)
        account.advance(grows)
    read = time.process_time() - started
    compactor = Compactor(None, account, envelope, mask_first=False)
    started = time.process_time()
    proposal = asyncio.run(compactor.propose(state, "danger", before=before))
    live = time.process_time() - started
    started = time.process_time()
    kept = dump(state, account, None)
    keeping = time.process_time() - started
    stored, covered = snapshot.dump(Folded(state), kept), proposal.record.covered_ids
    del state, account, grows, compactor
    opened, proposal = _opened(stored, window, covered)
    for _ in range(OFTEN - 1):
        del proposal
        again, proposal = _opened(stored, window, covered)
        opened = min(opened, again)
    opened, alone, live, read, keeping = (s * 1000 for s in (opened, alone, live, read, keeping))
    return _Took(opened, alone, live, read, keeping, proposal)


def _opened(stored: bytes, window: int, covered: list[str]) -> tuple[float, Proposal]:
    """Seconds from a snapshot to a proposal, which says what it said before."""
    _forget()
    started = time.process_time()
    now = snapshot.load(stored, 0)
    assert now is not None
    assert now.kept is not None
    account = _account(window)
    adopt(now.kept, account)
    proposal = asyncio.run(_compactor(account).propose(now.state, "danger"))
    took = time.process_time() - started
    assert account.parts.read == 0
    assert proposal.record.covered_ids == covered
    return took, proposal


def _state(data: bytes) -> AgentState:
    return AgentState.model_validate_json(data)


def _account(window: int) -> Accounting:
    return Accounting(Limits(window=window, max_output=8192))


def _compactor(account: Accounting) -> Compactor:
    return Compactor(None, account, Envelope(system="x"), mask_first=False)


def _writes(proposal: Proposal, folder: Path) -> float:
    """Milliseconds until the record, what an undo needs and what left are written out and on the
    disk."""
    started = time.perf_counter()
    parts = [
        json.dumps(record_body(replace(proposal.record, undo={}))).encode(),
        WayBack.of(proposal.record.undo).to_json({}),
        b"".join(m.to_json().encode("utf-8", "replace") + b"\n" for m in proposal.offloaded),
    ]
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
    name = f"compaction without a model, {messages:,} messages of 1 KB"
    data, window = _session(messages).to_json().encode(), WINDOW * messages // MESSAGES
    collector = Collector()
    collector.settle()  # as the program does
    try:
        took = [_compact(data, window) for _ in range(rounds)]
    finally:
        collector.release()
    with tempfile.TemporaryDirectory() as temp:
        writes = statistics.median(_writes(t.proposal, Path(temp)) for t in took)
        theirs = _peer(data, window, rounds * OFTEN, Path(temp)) if PEER else (None, None)
    opened, alone, live, reading, keeping = (
        min(getattr(t, what) for t in took)
        for what in ("opened", "alone", "live", "reading", "keeping")
    )
    return [
        against(f"{name}, from journalled bytes: CPU", opened, theirs[0], 1 / 10, "ms", "≤ 1/10"),
        limit(f"{name}, with nothing kept: CPU", alone, 2000, "ms", "≤ 2 s"),
        against(f"{name}, as a session goes on: CPU", live, theirs[1], 1, "ms", "≤ 1"),
        limit("reading a message of 1 KB when it comes: CPU", reading / messages, 1, "ms", "≤ 1"),
        limit("keeping what was read of it, once: CPU", keeping / messages, 0.1, "ms", "≤ 0.1"),
        limit(f"{name}: durable writes, apart", writes, 2000, "ms", "≤ 2 s"),
        limit("prompt bytes changed between compactions", _changed_bytes(), 0, "%", "0 %"),
    ]


def _peer(data: bytes, window: int, rounds: int, folder: Path) -> tuple[float, float]:
    """AgentScope's: from the bytes, and of the compaction alone."""
    path = folder / "state.json"
    path.write_bytes(data)
    # -I: nothing of ours is on its path; it runs in its own folder.
    done = subprocess.run(
        [PEER, "-I", "-c", PEER_COMPACT, str(path), str(window), str(rounds)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    times = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    return min(t[0] for t in times), min(t[1] for t in times)


if __name__ == "__main__":
    print(json.dumps(run(), indent=2, ensure_ascii=False))
