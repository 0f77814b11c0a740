"""States: what we export AgentScope 2.0.11 loads without loss, and we what it saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.agent.fold import fold
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.sessions.storage import JournalStorage, SessionConfig
from desktop_app.core.state import AgentState
from tests.helpers.sessions import Bench, collect

pytestmark = pytest.mark.interop
STATES = Path(__file__).parents[1] / "data" / "samples" / "states"
KINDS = ("done", "parked_confirm", "parked_external")


def sample(kind: str) -> str:
    return (STATES / f"agent_state_{kind}.json").read_text(encoding="utf-8")


def written(folder: Path, states: dict[str, str]) -> list[Path]:
    for name, text in states.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return [folder / f"{name}.json" for name in states]


def subset(small: Any, large: Any, where: str = "") -> None:
    """Everything that ``small`` says, ``large`` says too."""
    if isinstance(small, dict):
        assert isinstance(large, dict), where
        for key, value in small.items():
            assert key in large, f"{where}.{key} was lost"
            subset(value, large[key], f"{where}.{key}")
    elif isinstance(small, list):
        assert isinstance(large, list), where
        assert len(small) == len(large), where
        for n, pair in enumerate(zip(small, large, strict=True)):
            subset(*pair, f"{where}[{n}]")
    else:
        assert small == large, where


async def through_a_journal(text: str) -> AgentState:
    """A state as a service hands it in, and what is derived from the journal afterwards."""
    state = AgentState.model_validate_json(text)
    async with JournalStorage(MemoryJournalStore(), fold) as storage:
        name = state.session_id
        await storage.upsert_session("u", "a", SessionConfig(), state, name)
        record = await storage.get_session("u", "a", name)
    assert record is not None
    return record.state


async def test_their_states_come_back_to_them_as_they_were(tmp_path: Path, peer) -> None:
    ours = {kind: (await through_a_journal(sample(kind))).to_json() for kind in KINDS}
    theirs = {f"their-{kind}": sample(kind) for kind in KINDS}
    answers = peer("states", tmp_path, *written(tmp_path, {**ours, **theirs}))
    for kind, back, before in zip(KINDS, answers[:3], answers[3:], strict=True):
        assert back == before, kind
        subset(json.loads(sample(kind)), json.loads(ours[kind]), kind)


async def test_a_session_of_ours_is_a_state_of_theirs(tmp_path: Path, peer) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write = Call("Write", {"file_path": "a", "content": "a\n"})
    read = Call("Glob", {"pattern": "*"})
    model = ScriptedModel([[read], [write], [Say("done")], [Say("t")]])
    bench = Bench(folder, model)
    talk = await bench.open()
    await collect(talk.send("看 this"))
    assert talk.pending is not None
    parked = talk.state.to_json()
    await bench.close()
    (seen,) = peer("states", tmp_path, *written(tmp_path, {"ours": parked}))
    assert [m["role"] for m in seen["context"]] == ["user", "assistant"]
    calls = [b for b in seen["context"][1]["content"] if b["type"] == "tool_call"]
    assert [(c["name"], c["state"]) for c in calls] == [("Glob", "finished"), ("Write", "asking")]
    assert seen["reply_context"]["reply_id"] == seen["context"][1]["id"]
    # What they know of it is the same after our loading of what they would save.
    again = AgentState.model_validate(seen)
    assert again.middle_context == AgentState.model_validate_json(parked).middle_context
    subset(seen["context"], json.loads(again.to_json())["context"])


async def test_what_is_ours_survives_where_they_keep_it(tmp_path: Path, peer) -> None:
    state = json.loads(sample("done"))
    state["middle_context"] = {"slipway": {"v": 1, "text": "完成", "list": [1, None]}, "x": 2}
    message = next(m for m in state["context"] if m["role"] == "assistant")
    message["metadata"]["slipway"] = {"op": "1"}
    message["content"].insert(
        0, {"type": "thinking", "thinking": "hm", "signature": "s==", "encrypted_content": "e"}
    )
    result = next(b for b in message["content"] if b["type"] == "tool_result")
    result["metadata"]["slipway"] = {"op_id": "2"}
    ours = (await through_a_journal(json.dumps(state))).to_json()
    (seen,) = peer("states", tmp_path, *written(tmp_path, {"ours": ours}))
    assert seen["middle_context"] == state["middle_context"]
    mine = next(m for m in seen["context"] if m["role"] == "assistant")
    assert mine["metadata"]["slipway"] == {"op": "1"}
    assert mine["content"][0]["signature"] == "s=="
    assert mine["content"][0]["encrypted_content"] == "e"
    kept = next(b for b in mine["content"] if b["type"] == "tool_result")
    assert kept["metadata"]["slipway"] == {"op_id": "2"}
