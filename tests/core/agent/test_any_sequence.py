"""Any sequence of what people, models and crashes do leaves a session whole.

After every step: replaying the journal gives the live state, field for field (7); the model's
input pairs every call with one result (1); the account adds up and nothing over W is sent (3);
what the person said is in the prompt or in the offload (5).
"""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_app.core import events as ev
from desktop_app.core.agent import snapshot
from desktop_app.core.agent.base import Decision
from desktop_app.core.agent.fold import Folder
from desktop_app.core.errors import ContextError, ModelError
from desktop_app.core.models.scripted import Call, Ends, Fail, Say, ScriptedModel, Think
from desktop_app.core.sessions.memory import MemoryJournalStore
from tests.helpers.sessions import KEY, Bench, collect, of

ACTIONS = st.lists(
    st.sampled_from(
        [
            "send",
            "send",
            "send",
            "allow",
            "deny",
            "some",
            "give_up",
            "compact",
            "undo",
            "reopen",
            "go_on",
            "crash",
        ]
    ),
    min_size=4,
    max_size=18,
)


def turn_maker(seed: int) -> Any:
    """A model that does anything: text, thinking, good and bad calls, failures."""
    chance = random.Random(seed)

    def play(request: Any) -> list[Any]:
        if request.purpose != "reply":
            return [Say("# Goal\nsomething\n# Done\nnot much")] if chance.random() < 0.7 else []
        if request.messages and request.messages[-1].tool_results() and chance.random() < 0.6:
            return [Say("Done with it. " + "words " * chance.randrange(200))]
        kind = chance.randrange(9)
        big = "x" * chance.choice([10, 4000, 60000])
        return [
            [Say("A plain answer.")],
            [Think("hm", extra={"signature": "s" * 20}), Say("After thought.")],
            [Call("Read", {"file_path": "a.txt"}), Call("Glob", {"pattern": "*"})],
            [Call("Write", {"file_path": f"n{chance.randrange(9)}.txt", "content": big})],
            [Say("Both."), Call("Read", {"file_path": "a.txt"}), Call("Bash", {"command": "make"})],
            [Call("Read", '{"file_pa'), Call("Nope", {})],
            [Fail(ModelError("model.unreachable", retryable=True))],
            [Say("cut"), Ends(reason="length")],
            [Call("TaskCreate", {"subject": "a thing", "description": "to do"})],
        ][kind]

    return play


class Driver:
    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir()
        (folder / "a.txt").write_text("alpha\n" * 1500)
        model = ScriptedModel([turn_maker(seed)] * 3000)
        self.b = Bench(folder, model, store=MemoryJournalStore(), max_iterations=6)
        self.c: Any = None
        self.said: list[str] = []

    async def act(self, name: str, n: int) -> None:
        c = self.c
        pending = c.pending
        match name:
            case "send" if c.activity == "idle":
                text = f"Request {n}. Never delete file-{n}.txt."
                self.said.append(text)
                await collect(c.send(text))
            case "allow" | "deny" if pending and pending.approvals:
                allowed = name == "allow"
                decisions = [Decision(a.op_id, allowed) for a in pending.approvals]
                await collect(c.decide(pending.reply_id, decisions))
            case "some" if pending and pending.approvals:
                first = pending.approvals[0].op_id
                await collect(c.decide(pending.reply_id, [Decision(first, True)]))
            case "give_up" if pending:
                await collect(c.interrupt(pending.reply_id))
            case "compact" if c.activity == "idle":
                await collect(c.compact())
            case "undo" if c.activity == "idle" and await c.compactions():
                await self._undo()
            case "go_on" if c.resumable:
                await collect(c.go_on())
            case "reopen":
                await c.close()
                self.c = await self.b.open()
            case "crash":
                await self._crash(n)
            case _:
                pass

    async def _undo(self) -> None:
        refused = ""
        try:
            await self.c.undo_compaction()
        except ContextError as error:
            refused = error.code
        assert refused in ("", "compaction.would_not_fit")

    async def _crash(self, n: int) -> None:
        """The process ends after a random event: nothing more reaches the journal."""
        if self.c.activity != "idle":
            return
        stop_at = n % 7 + 1
        seen = 0
        journal = self.c.log.journal
        reached = asyncio.Event()

        def heard(_event: ev.Event) -> None:
            nonlocal seen
            seen += 1
            if seen == stop_at:
                journal._shelf.held = False  # the lease is gone with the process
                reached.set()

        self.c.listen(heard)
        run = asyncio.ensure_future(collect(self.c.send(f"Crash {n}.")))
        await asyncio.wait(
            [run, asyncio.ensure_future(reached.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        self.c = await self.b.open()  # the next process takes over; the old one is fenced
        await asyncio.wait([run], timeout=10)

    async def check(self) -> None:
        c = self.c
        folder = Folder(KEY.session_id)
        folder.replay(await c.log.journal.read())
        assert folder.now.state.model_dump() == c.state.model_dump()
        assert folder.now.waiting.keys() == c.log.now.waiting.keys()
        prompt = c.engine.prompt()
        open_calls: list[str] = []
        for msg in prompt.messages:
            results = [r.id for r in msg.tool_results()]
            if results or open_calls:
                assert results == open_calls, "every call has one result, in order"
            open_calls = [t.id for t in msg.tool_calls()]
        assert not open_calls
        breakdown = await c.breakdown()
        assert sum(breakdown.parts.values()) == breakdown.total
        await c.outbox.deliver()
        offloaded = "".join(
            p.read_text() for p in self.b.folder.glob(".slipway/sessions/*/context.jsonl")
        )
        shown = "".join(m.to_json() for m in prompt.messages)
        for text in self.said:
            assert text in shown or text in offloaded, text


@given(ACTIONS, st.integers(0, 10_000))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_any_sequence_leaves_a_session_whole(actions: list[str], seed: int) -> None:
    place = Path(tempfile.mkdtemp())
    every, snapshot.EVERY = snapshot.EVERY, 3  # openings stand on snapshots most of the time

    async def run() -> None:
        driver = Driver(place / "folder", seed)
        driver.c = await driver.b.open()
        for n, name in enumerate(actions):
            await driver.act(name, n)
            await driver.check()
        sent = [r for r in driver.b.model.requests if r.purpose == "reply"]
        assert all(r.messages for r in sent)
        await driver.c.close()
        await driver.b.tasks.close()

    try:
        asyncio.run(run())
    finally:
        snapshot.EVERY = every
        shutil.rmtree(place, ignore_errors=True)


async def test_a_fenced_process_starts_no_tool(tmp_path: Path) -> None:
    """A process that lost its session while it was stopped does nothing more in the world."""
    driver = Driver(tmp_path / "folder", 1)
    driver.b.model = ScriptedModel(
        [[Call("Write", {"file_path": "w.txt", "content": "x"})], [Say("t")]]
    )
    old = await driver.b.open()
    await collect(old.send("write"))
    pending = old.pending
    assert pending
    old.log.journal._shelf.held = False
    new = await driver.b.open()
    events = await collect(
        old.decide(pending.reply_id, [Decision(pending.approvals[0].op_id, True)])
    )
    assert of(events, ev.RunFinished)[-1].code == "journal.fenced"
    assert not (driver.b.folder / "w.txt").exists()
    await new.close()
    await driver.b.tasks.close()
