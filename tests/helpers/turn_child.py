"""The other process in tests of killed turns. Usage: ROOT SEED [KILL_AT]

Opens the session under ROOT (recovering what the last process left), then takes turns until it is
killed: streamed text, reads, an operation that must never run twice (each appends its operation id
to ``world``, synced), compactions. With KILL_AT it kills itself before that operation on the disk.
Says in lines what has been acknowledged:

    opening | ready
    saved SEQ SHA     everything up to SEQ is durable; SHA of the live state there
    text REPLY CHARS SECONDS   so much text of a reply was shown, at that time (monotonic)
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import ToolResultBlock
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import Call, Delay, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.state import AgentState
from desktop_app.core.tools.base import ToolContext, ToolOutcome, Verdict
from desktop_app.core.tools.registry import builtin_tools
from tests.helpers.journals import Disk
from tests.helpers.sessions import Bench, collect

WORDS = "word " * 6


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def sha(state: AgentState) -> str:
    data = json.dumps(state.model_dump(), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(data.encode()).hexdigest()[:16]


class Effect:
    """Changes the world once, and takes a moment before and after."""

    name = "Effect"
    description = "Appends its operation id to the world."
    parameters = {"type": "object", "properties": {}}  # noqa: RUF012

    def __init__(self, world: Path, rng: random.Random) -> None:
        self.world = world
        self.rng = rng

    def effect(self, args: dict[str, Any]) -> str:
        return "unsafe"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        return False

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return Verdict("ask")

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return {}

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        await asyncio.sleep(self.rng.random() * 0.02)
        with self.world.open("a") as file:
            file.write(f"{ctx.op_id}\n")
            file.flush()
            os.fsync(file.fileno())
        await asyncio.sleep(self.rng.random() * 0.02)
        return ToolOutcome("changed " + "x" * self.rng.randrange(4000), "success")


def model_for(rng: random.Random) -> ScriptedModel:
    def play(request: ModelRequest) -> list[Any]:
        if request.purpose == "summary":
            return [Delay(0.01), Say("# Goal\ngo on"), Delay(0.01), Say("\n# Done\nmuch of it\n")]
        if request.purpose == "title":
            return [Say("A title")]
        text = [part for _ in range(rng.randrange(2, 8)) for part in (Say(WORDS), Delay(0.008))]
        roll = rng.random()
        if roll < 0.3:
            return [*text, Call("Effect", {}), Call("Read", {"file_path": "page.txt"})]
        if roll < 0.5:
            return [*text, Call("Read", {"file_path": "page.txt"}), Call("Glob", {"pattern": "*"})]
        if roll < 0.6:
            return [Delay(0.01), Call("Effect", {}), Call("Effect", {})]
        return text

    return ScriptedModel([play], forever=True)


async def change_the_past(talk: SessionConversation, rng: random.Random) -> None:
    """One of the things that a person does with the context; some are refused, which is told."""
    roll = rng.random()
    results = [
        block.id
        for msg in talk.state.context
        for block in msg.content
        if isinstance(block, ToolResultBlock)
    ]
    try:
        if roll < 0.3:
            await collect(talk.compact())
        elif roll < 0.5:
            await talk.accept_compaction(await talk.propose_compaction("what is open"))
        elif roll < 0.7:
            await talk.undo_compaction()
        elif roll < 0.8:
            await collect(talk.compact_again("the numbers"))
        elif results and roll < 0.9:
            await talk.offload_now(rng.choice(results))
        elif results:
            await talk.pin(rng.choice(results), rng.random() < 0.7)
    except ContextError as error:
        say(f"refused {error.code}")


async def work(root: Path, seed: int, store: SqliteJournalStore) -> None:
    rng = random.Random(seed)
    tools = [*builtin_tools(), Effect(root / "world", rng)]
    bench = Bench(root / "folder", model_for(rng), store=store, tools=tools)
    say("opening")
    talk = await bench.open(mode="bypass", model="scripted")
    shown: dict[str, int] = {}

    def heard(event: ev.Event) -> None:
        if isinstance(event, ev.Saved):
            say(f"saved {event.seq} {sha(talk.state)}")
        elif isinstance(event, ev.TextDelta):
            shown[event.reply_id] = shown.get(event.reply_id, 0) + len(event.text)
            say(f"text {event.reply_id} {shown[event.reply_id]} {time.monotonic()}")

    talk.listen(heard)
    say(f"saved {talk.log.now.head} {sha(talk.state)}")
    say("ready")
    for n in range(10_000):
        if talk.resumable is not None and n == 0:
            await collect(talk.go_on())
        else:
            await collect(talk.send(f"Do step {n} of {seed}. " + WORDS * rng.randrange(20)))
        if n % 3 == 2:
            await change_the_past(talk, rng)


def main() -> None:
    root, seed, *rest = sys.argv[1:]
    disk: Disk | None = None
    if rest:
        disk, left = Disk(), int(rest[0])

        def count(op: str, name: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        disk.before = count
    store = SqliteJournalStore(Path(root) / "journals", vfs=disk.name if disk else None)
    asyncio.run(work(Path(root), int(seed), store))


if __name__ == "__main__":
    main()
