"""Our events as AgentScope's, compared with a stream that agentscope 2.0.11 wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.interchange import IN, KINDS, Writer, read
from desktop_app.core.models.scripted import Call, Say, ScriptedModel, Think
from tests.helpers.sessions import Bench, collect

SAMPLE = Path(__file__).parent.parent / "data" / "samples" / "events.jsonl"


def sample() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]


async def ours(tmp_path: Path) -> list[dict[str, Any]]:
    """The same run as the sample's: thinking, text, three calls, one to confirm, one to answer."""
    folder = tmp_path / "folder"
    folder.mkdir()
    options = [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]
    question = {"question": "Which?", "header": "H", "options": options, "multi_select": False}
    model = ScriptedModel(
        [
            [
                Think("plan", extra={"signature": "sig"}),
                Say("Creating tasks"),
                Call("TaskCreate", {"subject": "Fix bug", "description": "do it"}, call_id="t1"),
                Call("Bash", {"command": "touch x"}, call_id="t2"),
                Call("AskUser", {"questions": [question]}, call_id="t3"),
            ],
            [Say("done")],
            [Say("title")],
        ]
    )
    b = Bench(folder, model)
    c = await b.open()
    writer = Writer(c.key.session_id, "coder")
    made: list[dict[str, Any]] = []
    c.listen(lambda event: made.extend(writer.feed(event)))
    await collect(c.send("please build"))
    from desktop_app.core.agent.base import Decision

    pending = c.pending
    assert pending
    await collect(c.decide(pending.reply_id, [Decision(pending.approvals[0].op_id, True)]))
    pending = c.pending
    assert pending
    answer = {"answers": [{"question": "Which?", "selected": ["A"]}]}
    await collect(c.answer(pending.reply_id, pending.questions[0].op_id, answer))
    await b.close()
    return made


async def test_every_kind_has_the_fields_that_agentscope_writes(tmp_path: Path) -> None:
    theirs: dict[str, set[str]] = {}
    for event in sample():
        theirs.setdefault(event["type"], set(event))
    made = await ours(tmp_path)
    seen = {e["type"] for e in made}
    missing = theirs.keys() - seen - {"HINT_BLOCK"}
    assert not missing, missing
    for event in made:
        assert event["type"] in KINDS
        if event["type"] in theirs:
            assert set(event) == theirs[event["type"]], event["type"]
        json.dumps(event)


async def test_order_is_theirs(tmp_path: Path) -> None:
    made = [e for e in await ours(tmp_path) if e["type"] != "CUSTOM"]
    kinds = [e["type"] for e in made]
    assert kinds[0] == "REPLY_START"
    assert kinds[-1] == "REPLY_END"
    assert kinds.index("TOOL_CALL_END") < kinds.index("MODEL_CALL_END")
    for call in ("t1", "t2", "t3"):
        steps = [e["type"] for e in made if e.get("tool_call_id") == call]
        assert steps[0] == "TOOL_CALL_START"
        assert steps.count("TOOL_CALL_END") == 1
        assert steps.count("TOOL_RESULT_START") == 1
        assert steps[-1] == "TOOL_RESULT_END"
    assert {e["reply_id"] for e in made} == {made[0]["reply_id"]}


def test_their_inputs_are_read() -> None:
    call = {"type": "tool_call", "id": "t2", "name": "Bash", "input": '{"command":"ls"}'}
    rule = {"tool_name": "Bash", "rule_content": "ls:*", "behavior": "allow", "source": "x"}
    confirm = {
        "type": "USER_CONFIRM_RESULT",
        "reply_id": "r",
        "confirm_results": [{"confirmed": True, "tool_call": call, "rules": [rule]}],
    }
    answer = read(confirm)
    assert (answer.kind, answer.calls, answer.rules) == ("confirm", {"t2": True}, [rule])
    assert answer.arguments == {"t2": '{"command":"ls"}'}
    result = {"type": "tool_result", "id": "t3", "name": "AskUser", "output": "B"}
    executed = {
        "type": "EXTERNAL_EXECUTION_RESULT",
        "reply_id": "r",
        "execution_results": [result],
    }
    assert read(executed).calls["t3"].text() == "B"
    assert read({"type": "USER_INTERRUPT", "reply_id": "r"}).kind == "interrupt"


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "REPLY_END", "reply_id": "r"},
        {"type": "USER_INTERRUPT"},
        {"type": "USER_CONFIRM_RESULT", "reply_id": "r"},
        {"type": "USER_CONFIRM_RESULT", "reply_id": "r", "confirm_results": [{"confirmed": 1}]},
    ],
)
def test_other_input_is_refused_with_its_kind(event: dict[str, Any]) -> None:
    with pytest.raises(SessionError, match=r"event\.unknown"):
        read(event)


def test_there_are_28_kinds() -> None:
    assert len(KINDS) == 28
    assert len(IN) == 3
