"""What servers ask while a call runs: the person answers, the journal knows, nothing leaks."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.requests import Answered, Request
from desktop_app.core.errors import SessionError
from desktop_app.core.mcp.asks import Form, Sampling, Visit
from desktop_app.core.messages import Msg, Usage
from desktop_app.core.models.base import Price
from desktop_app.core.models.scripted import SCRIPTED, Call, Ends, Say, ScriptedModel
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from tests.helpers.mcp import Bench as McpBench
from tests.helpers.mcp import declare, entry, until
from tests.helpers.sessions import KEY, Bench, collect, of

AI = dataclasses.replace(SCRIPTED, is_ai=True, price=Price(3.0, 15.0))
Make = Callable[..., "Stage"]


class Stage:
    """A session whose model calls one tool of the server that asks."""

    def __init__(self, tmp_path: Path, mcp: McpBench, file: str = "asks.py") -> None:
        self.notes = tmp_path / "notes"
        folder = tmp_path / "folder"
        folder.mkdir()
        self.model = ScriptedModel(titles=[[Say("t")]] * 9, info=AI)
        self.b = Bench(folder, self.model, runner=mcp.runner)
        args = (str(self.notes),) if file == "asks.py" else ()
        self.more: dict[str, Any] = {}
        self._declare = lambda: declare(folder / ".slipway", entry("it", file, *args, **self.more))
        self.folder = folder
        self.answers: list[str] = []

    async def open(self, *tools: str, sampled: list[Any] | None = None) -> SessionConversation:
        self._declare()
        for tool in tools:
            self.model.push([Call(f"mcp__it__{tool}", {})])
            for turn in sampled or ():
                self.model.push(turn)
        self.model.push([Say("done")])
        self.c = await self.b.open()
        await self.c.set_mode("bypass")  # the calls themselves; what servers ask it does not reach
        return self.c

    def go(self) -> asyncio.Task[list[ev.Event]]:
        return asyncio.ensure_future(collect(self.c.send("go")))

    async def noted(self, text: str, times: int = 1) -> None:
        """Wait until the server has written ``text`` down so often."""
        notes = self.notes
        await until(lambda: notes.exists() and notes.read_text().count(text) >= times)

    async def later(self, seconds: float) -> None:
        """Let so much time pass on the loop of the servers, without waiting for it."""
        loop = self.b.runner._loop
        now = loop.time
        loop.time = lambda: now() + seconds
        for _ in range(3):  # what was due by then has had its turn
            await self.b.runner.run(asyncio.sleep(0.01))

    async def asked(self, n: int = 1) -> tuple[Request, ...]:
        await until(lambda: len(self.c.requests) >= n)
        return self.c.requests

    async def records(self, kind: str) -> list[dict[str, Any]]:
        return [r.body() for r in await self.c.log.journal.read() if r.kind == kind]

    async def close(self) -> None:
        await self.c.close()
        await self.b.close()


@pytest.fixture
def stage(tmp_path: Path, mcp: McpBench) -> Make:
    return lambda file="asks.py": Stage(tmp_path, mcp, file)


def result(events: list[ev.Event]) -> Any:
    text = of(events, ev.ToolFinished)[0].result.text()
    return json.loads(text)[0] if text.startswith("[") else text


async def test_the_model_answers_a_server_after_a_person_agreed(stage: Make) -> None:
    s = stage()
    usage = Usage(input_tokens=1000, output_tokens=100)
    c = await s.open("sample", sampled=[[Say("Plum END and more"), Ends(usage=usage)]])
    run = s.go()
    (request,) = await s.asked()
    assert c.activity == "running"
    what = request.what
    assert isinstance(what, Sampling)
    assert (request.server, request.tool, request.kind) == ("it", "sample", "sampling")
    assert (what.system, what.messages[0].text(), what.max_tokens) == (
        "One word.", "Name a fruit.", 50,
    )  # fmt: skip
    assert request.model == "Scripted"
    assert 5 < request.tokens < 40
    assert request.cost == pytest.approx((request.tokens * 3 + 50 * 15) / 1e6)
    assert len(s.model.requests) == 1  # nothing went out before the answer
    c.answer_request(request.id, Answered("accept"))
    events = await run
    assert result(events) == {
        "role": "assistant",
        "content": {"type": "text", "text": "Plum "},
        "model": "Scripted",
        "stopReason": "stopSequence",
    }
    sent = s.model.requests[1]
    assert (sent.system, sent.max_output, list(sent.tools)) == ("One word.", 50, [])
    (asked,) = await s.records("request.asked")
    (answered,) = await s.records("request.answered")
    assert asked["messages"] == [{"role": "user", "text": "Name a fruit.", "pictures": 0}]
    assert (answered["answer"], answered["by"], answered["text"]) == ("accept", "person", "Plum ")
    assert answered["cost"] == pytest.approx(0.0045)
    assert c.spent is not None
    assert c.spent.session == pytest.approx(0.0045)
    shown = [e.kind for e in (await c.history()).entries]
    assert "request.answered" in shown
    await s.close()


async def test_what_the_model_is_sent_can_be_edited(stage: Make) -> None:
    s = stage()
    c = await s.open("sample", sampled=[[Say("Pear")]])
    run = s.go()
    (request,) = await s.asked()
    assert isinstance(request.what, Sampling)
    edited = dataclasses.replace(
        request.what, system="", messages=(Msg.user("A fruit, please."),), max_tokens=7
    )
    c.answer_request(request.id, Answered("accept", edited=edited))
    await run
    sent = s.model.requests[1]
    assert (sent.system, sent.messages[0].text(), sent.max_output) == ("", "A fruit, please.", 7)
    (answered,) = await s.records("request.answered")
    assert answered["sent"]["messages"][0]["text"] == "A fruit, please."
    await s.close()


async def test_always_is_a_rule_for_this_server_and_a_deny_rule_refuses(stage: Make) -> None:
    s = stage()
    c = await s.open("sample", "sample", sampled=[[Say("Fig")]])
    run = s.go()
    (request,) = await s.asked()
    c.answer_request(request.id, Answered("accept", always=True))
    events = await run
    assert len(of(events, ev.RequestAsked)) == 1  # the second was not asked
    assert [r["by"] for r in await s.records("request.answered")] == ["person", "rule"]
    assert "sampling:it" in c.permissions.allow_rules
    for kind, tool in (("sampling", "sample"), ("form", "form"), ("visit", "visit")):
        await c.add_rule({"tool_name": f"{kind}:it", "behavior": "deny"})
        s.model.push([Call(f"mcp__it__{tool}", {})], [Say("ok")])
        events = await collect(c.send("again"))
        assert of(events, ev.RequestAsked) == []
        said = result(events)
        assert said == {"action": "decline"} or said["code"] == -1
    assert [r["by"] for r in await s.records("request.answered")][2:] == ["rule"] * 3
    await s.close()


async def test_without_anybody_to_ask_or_an_ai_it_is_refused(stage: Make) -> None:
    s = stage()
    c = await s.open("sample", "form")
    await c.add_rule({"tool_name": "mcp__it__sample"})
    await c.add_rule({"tool_name": "mcp__it__form"})
    await c.set_mode("dont_ask")
    events = await collect(c.send("go"))
    first, second = (json.loads(f.result.text())[0] for f in of(events, ev.ToolFinished))
    assert first["code"] == -1
    assert second == {"action": "cancel"}
    s.model._info = SCRIPTED
    await c.set_mode("bypass")
    s.model.push([Call("mcp__it__sample", {})], [Say("ok")])
    events = await collect(c.send("again"))
    assert "no AI model" in result(events)["message"]
    await s.close()


async def test_a_form_is_filled_in_checked_and_not_kept(stage: Make) -> None:
    s = stage()
    c = await s.open("form", "form", "form")
    run = s.go()
    (request,) = await s.asked()
    form = request.what
    assert isinstance(form, Form)
    kinds = {f.name: f.kind for f in form.fields}
    assert kinds == {
        "city": "text", "mail": "text", "days": "integer", "price": "number",
        "breakfast": "boolean", "room": "choice", "extras": "choices",
    }  # fmt: skip
    assert form.fields[5].options == (("s", "Single"), ("d", "Double"))
    good = {"city": "Secretville", "days": 3, "room": "d", "breakfast": False, "extras": ["sea"]}
    for name, value in [
        ("city", "X"), ("city", ""), ("days", 15), ("days", 1.5), ("days", "3"), ("price", 100),
        ("mail", "nobody"), ("extras", ["sea", "spa"]), ("room", None),
    ]:  # fmt: skip
        with pytest.raises(SessionError) as bad:
            c.answer_request(request.id, Answered("accept", content={**good, name: value}))
        assert bad.value.code == "request.bad_value"
    c.answer_request(request.id, Answered("accept", content=good))
    second, third = "", ""
    await until(lambda: bool(c.requests) and c.requests[0].id != request.id)
    second = c.requests[0].id
    c.answer_request(second, Answered("decline"))
    await until(lambda: bool(c.requests) and c.requests[0].id != second)
    third = c.requests[0].id
    c.answer_request(third, Answered("cancel"))
    events = await run
    said = [json.loads(f.result.text())[0] for f in of(events, ev.ToolFinished)]
    assert said == [
        {"action": "accept", "content": good}, {"action": "decline"}, {"action": "cancel"},
    ]  # fmt: skip
    with pytest.raises(SessionError) as gone:
        c.answer_request(third, Answered("cancel"))
    assert gone.value.code == "request.gone"
    notes = json.dumps(await s.records("request.asked") + await s.records("request.answered"))
    assert "Secretville" not in notes
    assert "breakfast" in notes
    await s.close()


async def test_an_address_is_only_shown_and_its_secrets_are_not_kept(stage: Make) -> None:
    s = stage()
    c = await s.open("visit", "visit_file", "hopeless")
    run = s.go()
    (request,) = await s.asked()
    assert isinstance(request.what, Visit)
    assert request.what.url == "https://user:pw@example.org/start?token=secret#x"
    c.answer_request(request.id, Answered("accept"))
    events = await run
    said = [json.loads(f.result.text())[0] for f in of(events, ev.ToolFinished)]
    assert said[0] == {"action": "accept"}
    assert "https://" in said[1]["message"]  # a file is not even asked for
    assert "cannot be asked for" in said[2]["message"]
    (asked,) = await s.records("request.asked")
    assert asked["address"] == "https://example.org/start"
    assert "secret" not in json.dumps(asked)
    await s.close()


@pytest.mark.parametrize("agreed", [True, False])
async def test_a_call_that_first_wants_an_address_visited_tells_the_model(
    stage: Make, agreed: bool
) -> None:
    s = stage()
    c = await s.open("visit_first")
    run = s.go()
    (request,) = await s.asked()
    c.answer_request(request.id, Answered("accept" if agreed else "decline"))
    text = result(await run)
    assert ("then call again" in text) is agreed
    assert "was not run" in text
    await s.close()


async def test_the_persons_time_is_not_the_servers(stage: Make) -> None:
    s = stage()
    s.more = {"execution_timeout": 60}
    c = await s.open("form", "form")
    run = s.go()
    (request,) = await s.asked()
    await s.later(100)  # than the call may take
    assert c.requests == (request,)
    c.answer_request(request.id, Answered("decline"))
    await until(lambda: bool(c.requests) and c.requests[0].id != request.id)
    c.answer_request(c.requests[0].id, Answered("decline"))
    said = [f.result.text() for f in of(await run, ev.ToolFinished)]
    assert [json.loads(text)[0] for text in said] == [{"action": "decline"}] * 2
    await s.close()


async def test_the_servers_time_is_the_servers(stage: Make) -> None:
    s = stage()
    s.more = {"execution_timeout": 60}
    await s.open("silent")
    run = s.go()
    await s.noted("silent")
    await s.later(100)
    assert "no answer within 60 seconds" in result(await run)
    await s.close()


async def test_stopping_takes_back_what_was_asked(stage: Make) -> None:
    s = stage()
    c = await s.open("form")
    run = s.go()
    await s.asked()
    await c.stop()
    events = await run
    assert c.requests == ()
    assert of(events, ev.RunFinished)[0].reason == "interrupted"
    await s.noted("cancelled")
    await c.close()
    s.c = c = await s.b.open()
    (answered,) = await s.records("request.answered")
    assert (answered["answer"], answered["by"]) == ("withdrawn", "program")
    await s.close()


async def test_a_server_takes_back_and_asks_too_much(stage: Make) -> None:
    s = stage()
    c = await s.open("many", "take_back", "roots", "echo", sampled=[])
    run = s.go()
    # An answer makes room for one more: none is given before all twelve have come.
    await s.noted("Too many", 4)
    requests = await s.asked(8)
    assert len(requests) == 8
    for request in requests:
        c.answer_request(request.id, Answered("decline"))
    events = await run
    many = json.loads(of(events, ev.ToolFinished)[0].result.text())
    assert sum(m["code"] == -1 for m in many) == 8
    assert sum("Too many" in m["message"] for m in many) == 4
    assert c.requests == ()
    roots = json.loads(of(events, ev.ToolFinished)[2].result.text())
    assert roots == [{"roots": [{"uri": s.folder.as_uri(), "name": "folder"}]}]
    assert c.mcp is not None
    (view,) = await c.mcp.servers()
    assert view.status.knows_folder
    await s.close()


async def test_out_of_the_blue_it_is_refused_and_told(stage: Make) -> None:
    s = stage()
    c = await s.open("echo")
    await collect(c.send("go"))
    await s.noted("only while a call")
    offered = json.loads(s.notes.read_text().splitlines()[0])
    assert offered["sampling"] == {}
    assert set(offered["elicitation"]) == {"form", "url"}
    assert c.mcp is not None
    (view,) = await c.mcp.servers()
    assert "while no call ran: refused" in view.stderr
    assert await s.records("request.asked") == []
    await s.close()


async def test_the_newest_protocol_asks_inside_its_answer(stage: Make) -> None:
    s = stage("rounds.py")
    c = await s.open("survey", sampled=[[Say("Kiwi")]])
    run = s.go()
    for request in await s.asked(2):
        content = {"n": 4} if request.kind == "form" else {}
        c.answer_request(request.id, Answered("accept", content=content))
    assert result(await run) == f"accept {{'n': 4}} Kiwi {s.folder.as_uri()}"
    await s.close()


async def test_a_call_that_asked_and_died_is_not_repeated(stage: Make) -> None:
    """The journal as a kill leaves it: the question is gone with its server, the call's outcome is
    unknown and said so."""
    s = stage()
    c = await s.open("form")
    run = s.go()
    await s.asked()
    records = [
        NewRecord(r.kind, r.body(), ignorable=r.ignorable) for r in await c.log.journal.read()
    ]
    (op,) = await c.log.journal.operations()
    assert (records[-1].kind, op.state) == ("request.asked", "intent")
    key = dataclasses.replace(KEY, session_id="killed")
    journal = await s.b.store.create(key, {})
    await journal.append(records[1:], ops=[OpUpdate(op.op_id, "intent", op.tool, "c", op.effect)])
    await journal.close()
    await c.stop()
    await run
    killed = await s.b.open(key)
    assert killed.requests == ()
    assert killed.recovered is not None
    assert [fate for *_, fate in killed.recovered.operations] == ["unknown"]
    await killed.close()
    await s.close()
