"""How well tokens are counted: twelve kinds of content, seven tokenizers, every step of a session.

Each session has the program's own prompt and tools, some steps of prose and code, then results of
one kind, and loses most of them once as by a compaction. After each call the provider's usage is
what the real tokenizer counts. Tokenizers other than o200k come in the environment of ``make
bench-context`` (SLIPWAY_BENCH_PYTHON). The baseline is agentscope's own ``count_tokens`` on the
same messages (SLIPWAY_PEER_PYTHON).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import Envelope, PromptBuilder
from desktop_app.core.context.tokens import counter_of, load_ranks
from desktop_app.core.context.types import Limits
from desktop_app.core.conversations import PROMPT
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop_app.core.models.base import ModelInfo, ToolSchema
from desktop_app.core.state import AgentState
from desktop_app.core.tools.registry import builtin_tools

from .contents import contents
from .ctxbench.truth import FRAME, Scales
from .figures import against, limit

MODELS = {
    "deepseek-v4": "deepseek:deepseek-v4",
    "qwen-3": "dashscope:qwen3-max",
    "qwen-3.5": "dashscope:qwen3.5-plus",
    "glm-4.7-flash": "zhipu:glm-4.7-flash",
    "minimax-m3": "minimax:MiniMax-M3",
    "claude-2023": "anthropic:claude-2",
    "o200k": "openai:gpt-5",
}
LENGTHS = (700, 2600, 400, 9000, 1500, 12_000, 300, 4000)
STEPS = 24
SETTLED = 6  # steps of prose and code before the kind that is looked at
FORGOTTEN = 15  # a step after which only the newest four are left
LIMITS = Limits(window=1_000_000, max_output=8192)


@dataclass
class Found:
    """``under``: the worst share by which the total was under the truth; ``late``: the same after
    the first call; ``wrong``: steps where the upper estimate was; ``room``: how much it was over on
    average."""

    steps: int = 0
    wrong: int = 0
    under: float = 0.0
    late: float = 0.0
    where: str = ""
    errors: list[float] = field(default_factory=list[float])
    room: list[float] = field(default_factory=list[float])

    def step(self, total: int, upper: int, truth: int, first: bool, where: str) -> None:
        self.steps += 1
        self.wrong += upper < truth
        short = (truth - total) / truth
        self.errors.append(abs(short))
        self.room.append(upper / truth - 1)
        if short > self.under:
            self.under, self.where = short, where
        if not first:
            self.late = max(self.late, short)


def schemas() -> tuple[ToolSchema, ...]:
    return tuple(ToolSchema(t.name, t.description, t.parameters) for t in builtin_tools())


def steps(kind: str, texts: dict[str, str]) -> Iterator[list[Any]]:
    """What each step adds to the reply."""
    at = dict.fromkeys(texts, 0)
    for n in range(STEPS):
        shown = kind if n >= SETTLED else ("english", "python")[n % 2]
        length = LENGTHS[n % len(LENGTHS)]
        text = texts[shown]
        begin = at[shown] % max(1, len(text) - length)
        at[shown] += length
        yield [
            TextBlock(text=f"I look at part {n} and compare it with what I know."),
            ToolCallBlock(id=f"c{n}", name="Read", input=f'{{"file_path": "data/part-{n}.txt"}}'),
            ToolResultBlock(id=f"c{n}", name="Read", output=text[begin : begin + length]),
        ]


def rendered(blocks: list[Any]) -> list[str]:
    text, call, result = blocks
    return [text.text, json.dumps({"name": call.name, "arguments": call.input}), result.output]


def session(scales: Scales, model: str, kind: str, texts: dict[str, str], found: Found) -> None:
    """One session against one tokenizer."""
    tokenizer = "o200k_base" if scales.name == "o200k" and "gpt" in model else None
    info = ModelInfo(model, model, LIMITS.window, LIMITS.max_output, tokenizer=tokenizer)
    account = Accounting(LIMITS, model=model, counter=counter_of(info))
    envelope = Envelope(system=PROMPT, tools=schemas())
    told = [
        {"name": t.name, "description": t.description, "parameters": t.parameters}
        for t in envelope.tools
    ]
    question = "Compare the parts with each other, and tell me what does not fit."
    fixed = scales.count(PROMPT) + sum(scales.count_all([json.dumps(t) for t in told]))
    truth = fixed = fixed + scales.count(question) + 2 * FRAME
    reply = Msg(name="agent", role="assistant", id="a")
    state = AgentState(context=[Msg.user(question)])
    builder = PromptBuilder()
    for n, blocks in enumerate(steps(kind, texts)):
        prompt = builder.build(envelope, state)
        now = account.breakdown(prompt)
        found.step(now.total, now.upper, truth, n == 0, f"{scales.name}, {kind}, step {n}")
        account.observe(Usage(input_tokens=truth), prompt)
        if n == FORGOTTEN:  # as after a compaction: the anchor does not hold any more
            reply = reply.model_copy(update={"content": reply.content[-12:]})
            kept = [rendered(reply.content[at : at + 3]) for at in range(0, 12, 3)]
            truth = fixed + sum(sum(scales.count_all(k)) + 2 * FRAME for k in kept)
        state.context[1:] = [reply]
        reply.content.extend(blocks)
        truth += sum(scales.count_all(rendered(blocks))) + 2 * FRAME


def measure(python: str, *, unknown: bool = False) -> Found:
    """Every tokenizer that is there; ``unknown`` hides whose model it is."""
    found, texts = Found(), contents()
    for name, model in MODELS.items():
        if name != "o200k" and not python:
            continue
        scales = Scales(name, python)
        try:
            for kind in texts:
                session(scales, "x:a-model" if unknown else model, kind, texts, found)
        finally:
            scales.close()
    return found


# -- agentscope ----------------------------------------------------------------------------

PEER = """
import asyncio, json, sys, time
from agentscope.message import TextBlock, UserMsg
from agentscope.model import ChatModelBase
class Model(ChatModelBase):
    def __init__(self): self.context_size = 10**6
    async def _call_api(self, *a, **k): raise NotImplementedError
async def main():
    model, out = Model(), []
    for texts in json.loads(sys.stdin.readline()):
        msgs = []
        told = []
        for text in texts:
            msgs.append(UserMsg(name="u", content=[TextBlock(text=text)]))
            told.append(await model.count_tokens(msgs, None))
        out.append(told)
    many = [UserMsg(name="u", content=[TextBlock(text=f"message {n} " + "words " * 20)])
            for n in range(10_000)]
    best = 9.0
    for _ in range(5):
        began = time.thread_time()
        await model.count_tokens(many, None)
        best = min(best, time.thread_time() - began)
    print(json.dumps({"told": out, "ms": best * 1000}))
asyncio.run(main())
"""


def peer(python: str, streams: list[list[str]]) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-I", "-c", PEER],
        input=json.dumps(streams) + "\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )
    return json.loads(done.stdout.splitlines()[-1])


def peer_under(bench: str, told: list[list[int]], streams: list[list[str]]) -> float:
    """The worst share by which agentscope's own count was under the truth. Tools are left out on
    both sides."""
    worst = 0.0
    for name in MODELS if bench else ("o200k",):
        scales = Scales(name, bench)
        try:
            for counts, texts in zip(told, streams, strict=True):
                truth = 0
                for count, real in zip(counts, scales.count_all(texts), strict=True):
                    truth += real + FRAME
                    worst = max(worst, (truth - count) / truth)
        finally:
            scales.close()
    return worst


# -- time ----------------------------------------------------------------------------------


def step_ms(messages: int = 10_000) -> float:
    """CPU of building and counting a prompt in which nothing is new, the best of many."""
    state = AgentState()
    for n in range(messages // 2):
        state.context.append(Msg.user(f"question {n} " + "words " * 20))
        answer = Msg(name="agent", role="assistant", id=f"a{n}")
        answer.content = [TextBlock(text=f"answer {n} " + "words " * 20)]
        state.context.append(answer)
    account, builder = Accounting(LIMITS), PromptBuilder()
    envelope = Envelope(system=PROMPT, tools=schemas())
    best = 9.0
    for _ in range(100):
        began = time.thread_time()
        account.breakdown(builder.build(envelope, state))
        best = min(best, time.thread_time() - began)
    return best * 1000


def run() -> list[dict[str, Any]]:
    bench, other = (os.environ.get(n, "") for n in ("SLIPWAY_BENCH_PYTHON", "SLIPWAY_PEER_PYTHON"))
    if not bench:
        print("· SLIPWAY_BENCH_PYTHON is not set: tokens are only checked against o200k")
    load_ranks(ModelInfo("o", "o", 1, 1, tokenizer="o200k_base"))
    found, hidden = measure(bench), measure(bench, unknown=True)
    under, ms = None, None
    if other:
        texts = contents()
        streams = [[t for blocks in steps(k, texts) for t in rendered(blocks)] for k in texts]
        answer = peer(other, streams)
        under, ms = 100 * peer_under(bench, answer["told"], streams), answer["ms"]
    kinds = f"{len(contents())} kinds x {len(MODELS) if bench else 1} tokenizers"
    print(f"· worst: {found.where}; of no family: {hidden.where}")
    return [
        limit(f"tokens: upper estimate too low ({kinds})", found.wrong, 0, "steps", "never"),
        limit("tokens: the same, model of no family", hidden.wrong, 0, "steps", "never"),
        against(
            "tokens: worst under-estimate of a step", 100 * found.under, under, 0.2, "%", "<= 12 %"
        ),
        limit("tokens: the same after the first call", 100 * found.late, 12, "%", "<= 12 %"),
        limit("tokens: mean error of a step", 100 * _mean(found.errors), 5, "%", "<= 5 %"),
        limit("tokens: room of the upper estimate", 100 * _mean(found.room), 25, "%", "<= 25 %"),
        limit("tokens: worst, model of no family", 100 * hidden.under, 40, "%", "<= 40 %"),
        against("tokens: a step at 10,000 messages", step_ms(), ms, 0.1, "ms", "<= 1/10, 0.1 ms"),
    ]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
