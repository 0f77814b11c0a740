"""A whole conversation over a local OpenAI-compatible server: tools, an approval, a restart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Decision
from desktop_app.core.models.base import Price
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections, ProviderModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers import providers as wire
from tests.helpers.providers import Answer, Asked, Server
from tests.helpers.sessions import Bench, collect, of


@pytest.fixture
def connections(models_process: ModelsProcess) -> Connections:
    return Connections(Network(stall=5.0), models_process)


def bench(tmp_path: Path, server: Server, connections: Connections) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "notes.md").write_text("# Notes\nalpha\nbeta\n")

    async def no_key(_definition: ModelDefinition) -> str:
        return ""

    one = ModelDefinition(
        "local",
        "compatible",
        "m",
        "Local",
        address=f"{server.url}/v1",
        window=32_768,
        price=Price(1.0, 2.0),
    )
    model = ProviderModel(one, connections, no_key)
    return Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))


async def test_read_write_with_approval_and_go_on_after_a_restart(
    tmp_path: Path, connections: Connections
) -> None:
    write = json.dumps({"file_path": "out.md", "content": "alpha, beta"})
    read = json.dumps({"file_path": "notes.md"})
    with Server(
        wire.openai_error(429, "slow down", "rate_limit_exceeded", retry_after="1"),
        wire.chat("I look.", thinking=["where"], calls=[("c1", "Read", read)]),
        wire.chat(calls=[("c2", "Write", write)], usage=(200, 20, 100)),
        wire.chat("Written."),
        wire.chat("Notes"),
    ) as server:
        b = bench(tmp_path, server, connections)
        c = await b.open()
        events = await collect(c.send("Summarise the notes into out.md"))
        assert [n.code for n in of(events, ev.Notice) if n.code != "outbox"] == ["model.retry"]
        asked = of(events, ev.ApprovalRequested)
        assert len(asked) == 1
        assert not (b.folder / "out.md").exists()
        await c.close()

        c = await b.open()
        assert c.pending is not None
        op_id = c.pending.approvals[0].op_id
        events = await collect(c.decide(c.pending.reply_id, [Decision(op_id, True)]))
        assert of(events, ev.RunFinished)[-1].reason == "completed"
        assert (b.folder / "out.md").read_text() == "alpha, beta"
        assert c.spent is not None
        assert c.spent.session == pytest.approx((100 + 200 + 100 + 40) * 1e-6 + 40e-6)
        bodies = [a.body for a in server.asked if isinstance(a, Asked)]
        last = bodies[3]["messages"]
        assert [m["role"] for m in last][-4:] == ["assistant", "tool", "assistant", "tool"]
        assert "alpha" in last[-3]["content"]
        assert last[-4]["reasoning_content"] == "where", "thinking goes back within its loop"
        names = {t["function"]["name"] for t in bodies[0]["tools"]}
        assert {"Read", "Write"} <= names
        breakdown = await c.breakdown()
        assert breakdown.measured > 0
        await c.close()
        await b.close()


async def test_the_server_dies_in_mid_answer_and_the_person_goes_on(
    tmp_path: Path, connections: Connections
) -> None:
    with Server(
        wire.sse(wire.chat_chunk({"content": "Half an "}), cut=True),
        wire.chat("answer, whole."),
        wire.chat("T"),
    ) as server:
        b = bench(tmp_path, server, connections)
        c = await b.open()
        events = await collect(c.send("hi"))
        assert of(events, ev.RunFinished)[-1].code == "model.cut"
        assert "Half an" in c.state.context[-1].text()
        events = await collect(c.go_on())
        assert of(events, ev.RunFinished)[-1].reason == "completed"
        assert "answer, whole." in c.state.context[-1].text()
        await c.close()
        await b.close()


# Servers that end a call as if its answer had been long enough, though the prompt left no room.
FULL = {
    "counted": wire.chat(finish="length", usage=(6_000, 0, 0)),
    "not counted": wire.chat(finish="length", usage=None),
}


@pytest.mark.parametrize("kind", FULL)
async def test_a_prompt_that_filled_the_window_without_an_error_is_made_shorter(
    tmp_path: Path, connections: Connections, kind: str
) -> None:
    once = [FULL[kind]]

    def play(asked: Asked) -> Answer:
        last = str(asked.body["messages"][-1]["content"])
        if "Fill it" in last:
            counted = len(json.dumps(asked.body)) // 4
            return wire.chat("Filled. " + "words and more " * 300, usage=(counted, 900, 0))
        if "And now?" in last:
            return once.pop() if once else wire.chat("Now it fits.")
        return wire.chat("# Done\nfilled")  # a title, and the notes of the compaction

    with Server(*[play] * 12) as server:
        b = bench(tmp_path, server, connections)
        c = await b.open()
        for n in range(5):
            await collect(c.send(f"Fill it, time {n}."))
        before = (await c.breakdown()).total
        events = await collect(c.send("And now?"))
        assert of(events, ev.RunFinished)[-1].reason == "completed", of(events, ev.RunFinished)
        assert of(events, ev.CompactionFinished)
        assert c.state.context[-1].text() == "Now it fits."
        now = await c.breakdown()
        assert now.total < before
        if kind == "counted":
            assert (now.limits.window, now.limits.source) == (6_000, "error"), "and it is learned"
        await c.close()
        await b.close()


CUT = {
    "model.length": wire.chat("Half of it", finish="length", usage=(100, 4_096, 0)),
    "model.thought_out": wire.chat(finish="length", usage=(100, 4_096, 0)),
}


@pytest.mark.parametrize("code", CUT)
async def test_an_answer_that_reached_its_longest_length_is_told_and_goes_on(
    tmp_path: Path, connections: Connections, code: str
) -> None:
    with Server(CUT[code], wire.chat("and the rest."), wire.chat("T")) as server:
        b = bench(tmp_path, server, connections)
        c = await b.open()
        events = await collect(c.send("Tell me all of it."))
        ended = of(events, ev.RunFinished)[-1]
        assert (ended.reason, ended.code) == ("error", code), "not taken for a whole answer"
        assert not of(events, ev.Notice), "and not asked again by itself"
        if code == "model.length":
            assert c.state.context[-1].text() == "Half of it"
            assert c.spent is not None
            assert c.spent.session == pytest.approx(100e-6 + 4_096 * 2e-6), "it is paid for"
        await c.close()
        c = await b.open()  # also after a restart
        events = await collect(c.go_on())
        assert of(events, ev.RunFinished)[-1].reason == "completed"
        assert c.state.context[-1].text().endswith("and the rest.")
        sent = json.dumps(server.asked[1].body["messages"])
        assert ("Half of it" in sent) == (code == "model.length")
        await c.close()
        await b.close()
