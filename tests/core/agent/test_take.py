"""Answers of another program, as AgentScope's input events say them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.errors import SessionError
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from tests.helpers.sessions import Bench, collect, of

QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
}


def write(name: str) -> Call:
    return Call("Write", {"file_path": name, "content": f"{name}\n"})


async def parked(tmp_path: Path, *calls: Call) -> tuple[Bench, SessionConversation, str]:
    folder = tmp_path / "folder"
    folder.mkdir()
    b = Bench(folder, ScriptedModel([list(calls), [Say("done")], [Say("t")]]))
    c = await b.open()
    await collect(c.send("go"))
    assert c.pending is not None
    return b, c, c.pending.reply_id


def confirm(c: SessionConversation, reply_id: str, /, **said: Any) -> dict[str, Any]:
    """A USER_CONFIRM_RESULT for the waiting calls whose file is named: True, False, or a new
    input."""
    results: list[dict[str, Any]] = []
    for call in c.log.now.calls():
        name = json.loads(call.input)["file_path"]
        if name in said:
            given = said[name]
            text = json.dumps(given) if isinstance(given, dict) else call.input
            shown = {"type": "tool_call", "id": call.id, "name": call.name, "input": text}
            results.append({"confirmed": given is not False, "tool_call": shown, "rules": []})
    return {"type": "USER_CONFIRM_RESULT", "reply_id": reply_id, "confirm_results": results}


async def test_a_part_is_confirmed_and_the_rest_still_waits(tmp_path: Path) -> None:
    b, c, reply_id = await parked(tmp_path, write("a"), write("b"), write("c"))
    changed = {"file_path": "b", "content": "changed\n"}
    events = await collect(c.take(confirm(c, reply_id, a=False, b=changed)))
    assert of(events, ev.RunParked)
    assert c.pending is not None
    assert [a.arguments["file_path"] for a in c.pending.approvals] == ["c"]
    assert not (b.folder / "a").exists()
    assert (b.folder / "b").read_text() == "changed\n"
    events = await collect(c.take(confirm(c, reply_id, **{"c": True})))
    assert of(events, ev.RunFinished)[0].reason == "completed"
    assert (b.folder / "c").read_text() == "c\n"
    await b.close()


async def test_a_rule_covers_what_comes_after(tmp_path: Path) -> None:
    b, c, reply_id = await parked(tmp_path, Call("Bash", {"command": "touch x"}))
    call = c.log.now.calls()[0]
    rule = {"tool_name": "Bash", "rule_content": "*", "behavior": "allow", "source": "theirs"}
    shown = {"type": "tool_call", "id": call.id, "name": "Bash", "input": call.input}
    results = [{"confirmed": True, "tool_call": shown, "rules": [rule]}]
    event = {
        "type": "USER_CONFIRM_RESULT",
        "reply_id": reply_id,
        "confirm_results": results,
    }
    await collect(c.take(event))
    rules = [r for rs in c.permissions.allow_rules.values() for r in rs]
    assert len(rules) == 1
    assert rules[0].rule_content != "*", "the rule that was offered, never a wider one"
    await b.close()


async def test_the_result_of_a_call_that_was_executed_elsewhere(tmp_path: Path) -> None:
    b, c, reply_id = await parked(tmp_path, Call("AskUser", {"questions": [QUESTION]}))
    call = c.log.now.calls()[0]
    block = {"type": "tool_result", "id": call.id, "name": "AskUser", "output": "B it is"}
    event = {
        "type": "EXTERNAL_EXECUTION_RESULT",
        "reply_id": reply_id,
        "execution_results": [block],
    }
    events = await collect(c.take(event))
    assert of(events, ev.RunFinished)[0].reason == "completed"
    results = [r.text() for m in c.state.context for r in m.tool_results()]
    assert results == ["B it is"]
    await b.close()


async def test_an_interruption_ends_the_reply_and_is_nothing_where_none_waits(
    tmp_path: Path,
) -> None:
    b, c, reply_id = await parked(tmp_path, write("a"))
    with pytest.raises(SessionError, match=r"run\.wrong_reply"):
        c.take({"type": "USER_INTERRUPT", "reply_id": "another"})
    events = await collect(c.take({"type": "USER_INTERRUPT", "reply_id": reply_id}))
    assert of(events, ev.RunFinished)[0].reason == "interrupted"
    assert [r.state for m in c.state.context for r in m.tool_results()] == ["interrupted"]
    head = c.log.now.head
    assert await collect(c.take({"type": "USER_INTERRUPT", "reply_id": reply_id})) == []
    assert c.log.now.head == head
    assert not (b.folder / "a").exists()
    await b.close()


async def test_what_does_not_wait_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    b, c, reply_id = await parked(tmp_path, write("a"))
    head = c.log.now.head
    good = confirm(c, reply_id, a=True)
    wrong_id = json.loads(json.dumps(good))
    wrong_id["confirm_results"][0]["tool_call"]["id"] = "nobody"
    no_json = json.loads(json.dumps(good))
    no_json["confirm_results"][0]["tool_call"]["input"] = '{"file_pa'
    block = {"type": "tool_result", "id": c.log.now.calls()[0].id, "name": "Write", "output": "x"}
    executed = {
        "type": "EXTERNAL_EXECUTION_RESULT",
        "reply_id": reply_id,
        "execution_results": [block],
    }
    for event, code in (
        ({**good, "reply_id": "another"}, "run.wrong_reply"),
        (wrong_id, "run.not_waiting"),
        (no_json, "event.unknown"),
        (executed, "run.not_waiting"),
        ({"type": "REPLY_END", "reply_id": reply_id}, "event.unknown"),
    ):
        with pytest.raises(SessionError) as refused:
            c.take(event)
        assert refused.value.code == code
    assert c.log.now.head == head
    assert c.pending is not None
    await b.close()
