"""How long a call of a provider holds the window's loop: 1,000 messages through the real SDK, and
the first use of one. Beside each: the SDK alone on the loop.

A heartbeat on the loop notes its longest gap: the wall, so that what another thread takes of the
interpreter counts too. The server is a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from contextlib import aclosing
from typing import Any, cast

from desktop_app.core.memory import Collector
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.base import Finish, ModelRequest, ToolSchema
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.provider import Connections, ProviderModel
from tests.benchmarks.figures import ROOT, child, limit

BEAT = 0.002
SERVER = """
import sys
from tests.helpers import providers as wire
answer = wire.chat(*[f"word{n} " for n in range(500)])
with wire.Server(*[answer] * 50) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def prompt() -> ModelRequest:
    """1,000 messages: 333 rounds of question, call and result."""
    messages: list[Msg] = []
    for n in range(333):
        call = ToolCallBlock(id=f"c{n}", name="Read", input=json.dumps({"path": f"f{n}"}))
        result = ToolResultBlock(id=f"c{n}", name="Read", output="some text of a file " * 40)
        messages += [
            Msg.user(f"Question {n}: " + "what is in this file? " * 10),
            Msg(name="a", role="assistant", content=[TextBlock(text="I look."), call]),
            Msg(name="s", role="user", content=[result]),
        ]
    messages.append(Msg.user("And now?"))
    tool = ToolSchema("Read", "Read.", {"type": "object", "properties": {"path": {}}})
    return ModelRequest("Be exact.", messages, (tool,))


async def held(work: Any) -> float:
    """Milliseconds of the longest gap of the heartbeat while ``work`` runs."""
    longest, ended = 0.0, False

    async def beat() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not ended:
            await asyncio.sleep(BEAT)
            now = time.perf_counter()
            longest = max(longest, now - last - BEAT)
            last = now

    async with asyncio.TaskGroup() as group:
        group.create_task(beat())
        await asyncio.sleep(0.05)
        await work
        ended = True
    return longest * 1000


async def ours(one: ProviderModel, request: ModelRequest) -> None:
    async with aclosing(cast(Any, one.stream(request))) as parts:
        last = [part async for part in parts][-1]
    assert isinstance(last, Finish)


async def alone(definition: ModelDefinition, request: ModelRequest) -> None:
    """The SDK on the loop itself, imports done."""
    from desktop_app.core.models.services import Services

    services = Services()
    async for _ in services.stream(definition, "", request, {}):
        pass
    await services.close()


def definition_of(url: str) -> ModelDefinition:
    return ModelDefinition("b", "compatible", "m", "M", address=f"{url}/v1")


FIRST = """
import asyncio, sys
from tests.benchmarks import bench_provider as b
short = b.ModelRequest("", [b.Msg.user("hi")])
print(asyncio.run(b.held(b.alone(b.definition_of(sys.argv[1]), short))))
"""


async def measure(url: str) -> list[dict[str, Any]]:
    async def no_key(_definition: ModelDefinition) -> str:
        return ""

    definition = definition_of(url)
    Collector().settle()  # as the program does once it has started
    request, short = prompt(), ModelRequest("", [Msg.user("hi")])
    first: list[float] = []
    for _ in range(3):
        connections = Connections()
        one = ProviderModel(definition, connections, no_key)
        first.append(await held(ours(one, short)))
        calls = [await held(ours(one, request)) for _ in range(3)]
        await connections.close()
    bare = statistics.median([await held(alone(definition, request)) for _ in range(3)])
    beside = await asyncio.to_thread(child, FIRST, url)
    goal = "≤ 16 ms; beside: the SDK on the loop"
    rows: list[dict[str, Any]] = []
    for what, held_for, without in (
        ("a call of 1,000 messages", statistics.median(calls), bare),
        ("first use of a provider", statistics.median(first), beside),
    ):
        row = limit(f"longest hold of the loop, {what}", held_for, 16, "ms", goal)
        rows.append({**row, "baseline": round(without, 3)})
    return rows


def run() -> list[dict[str, Any]]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            return asyncio.run(measure(server.stdout.readline().strip()))
        finally:
            server.stdin.close()


if __name__ == "__main__":
    print(json.dumps(run(), indent=2, ensure_ascii=False))
