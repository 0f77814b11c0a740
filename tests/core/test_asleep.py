"""A message that is asleep is the message that reading it at once gives, whatever is done to it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest

from desktop_app.core.agent.finding import locate
from desktop_app.core.asleep import Stored, asleep, has_blocks, may_hold, stored_json, wake
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState

REPLY: dict[str, Any] = {
    "name": "a",
    "role": "assistant",
    "newer": {"kept": 1},
    "content": [
        {"type": "video", "seconds": 3},
        {"type": "text", "text": "说明 \U0001f600"},
        {"type": "tool_call", "id": "c", "name": "Read", "op_id": "o1"},
        {"type": "tool_result", "id": "c", "name": "Read", "output": [{"type": "text"}]},
    ],
}


def some() -> list[Msg]:
    return [
        Msg.user("Read it \ud800 please."),
        Msg.model_validate(REPLY),
        Msg(name="a", role="assistant"),
    ]


def sleeping(messages: list[Msg]) -> list[Msg]:
    raws = [m.to_json().encode() for m in messages]
    data = b"before\n" + b"".join(raw + b"\n" for raw in raws)
    stored = Stored(data, 7, [len(raw) for raw in raws])
    empty = [n for n, m in enumerate(messages) if not m.content]
    return stored.messages([m.id for m in messages], [m.role for m in messages], empty)


def test_its_id_and_role_are_known_and_nothing_is_read_for_them() -> None:
    messages = some()
    found = sleeping(messages)
    for was, now in zip(messages, found, strict=True):
        assert isinstance(now, Msg)
        assert (now.id, now.role, has_blocks(now)) == (was.id, was.role, bool(was.content))
        assert now.to_json() == was.to_json()
        assert bytes(stored_json(now) or b"") == was.to_json().encode()
        assert asleep(now)


def test_what_cannot_stand_in_it_is_known_without_reading_it() -> None:
    first, reply, empty = sleeping(some())
    assert may_hold(reply, "nothing", "o1")
    assert may_hold(reply, "说明")
    assert not may_hold(reply, "pinned", "o2")
    assert not may_hold(first, "o1")
    assert all(map(asleep, (first, reply, empty)))
    wake(reply)
    assert may_hold(reply, "o2"), "of one that is awake nothing is certain"


def test_a_thing_is_found_in_a_message_that_is_asleep_and_only_that_is_read() -> None:
    messages = some()
    state = AgentState(session_id="s", context=sleeping(messages))
    assert locate(state, "o1") == (1, 2)
    assert [asleep(m) for m in state.context] == [True, False, True]
    assert locate(state, messages[0].id) == (0, None)
    assert locate(state, "o9") is None
    assert asleep(state.context[0])


USES: dict[str, Callable[[Msg], object]] = {
    "blocks": lambda m: m.content,
    "text": lambda m: m.text(),
    "unknown fields": lambda m: m.model_extra,
    "fields set": lambda m: m.model_fields_set,
    "a field of a newer version": lambda m: getattr(m, "newer", None),
    "dump": lambda m: m.model_dump(),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "changed copy": lambda m: m.model_copy(update={"name": "b"}),
    "equal": lambda m: m == Msg.user("x"),
    "equal to the left": lambda m: Msg.user("x") == m,
    "repr": repr,
    "str": str,
    "fields": dict,
    "set": lambda m: setattr(m, "finished_at", m.finished_at),
    "woken": wake,
}


@pytest.mark.parametrize("use", USES)
def test_whoever_looks_at_it_finds_the_message_itself(use: str) -> None:
    for was, now in zip(messages := some(), sleeping(messages), strict=True):
        USES[use](now)
        assert type(now) is Msg
        assert now == was
        assert now.to_json() == was.to_json()
        assert list(vars(now)) == list(vars(was))  # written out in the same order
        assert stored_json(now) is None


def test_what_is_done_to_it_is_done_to_the_one_that_stays() -> None:
    first, reply, empty = sleeping(some())
    reply.content.append(TextBlock(text="more"))
    first.metadata["slipway"] = {"pinned": True}
    empty.finished_reason = "completed"
    del empty.finished_at
    assert reply.text().endswith("more")
    assert first.model_dump()["metadata"] == {"slipway": {"pinned": True}}
    assert empty.finished_reason == "completed"
    assert [c.op_id for c in reply.tool_calls() if isinstance(c, ToolCallBlock)] == ["o1"]  # type: ignore[attr-defined]
    assert [r.text() for r in reply.content if isinstance(r, ToolResultBlock)] == [""]
    with pytest.raises(AttributeError):
        _ = first.nothing_of_that_name  # type: ignore[attr-defined]


def test_a_state_is_written_out_whole_whatever_is_asleep_in_it() -> None:
    messages = some()[1:]
    plain = AgentState(session_id="s", context=messages)
    for write in (AgentState.to_json, AgentState.model_dump, AgentState.model_dump_json):
        state = plain.model_copy(update={"context": sleeping(messages)})
        assert write(state) == write(plain)
    state = plain.model_copy(update={"context": sleeping(messages)})
    assert state == plain
    assert AgentState(session_id="s", context=sleeping(messages)) == plain
    deep = plain.model_copy(update={"context": sleeping(messages)}).model_copy(deep=True)
    assert deep == plain


def test_two_that_look_at_once_find_the_same_blocks() -> None:
    for _ in range(200):
        _, reply, _ = sleeping(some())
        found: list[object] = []
        gate = threading.Barrier(2)

        def look(reply: Msg = reply, found: list[object] = found, gate: Any = gate) -> None:
            gate.wait()
            found.append(reply.content)

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found[0] is found[1] is reply.content
