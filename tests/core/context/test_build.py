"""The model's input: pairs are right, order is right, and it only grows at its end."""

from __future__ import annotations

from hypothesis import given, settings

from desktop_app.core.context.build import (
    Envelope,
    PromptBuilder,
    build,
    kind_of,
    whole_summary,
)
from desktop_app.core.messages import (
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    Usage,
)
from desktop_app.core.state import AgentState, Task, TasksContext
from tests.helpers.context_sessions import Player, Script, check_pairs, sessions

ENVELOPE = Envelope(system="You are an agent.", skills="- pdf: reads PDF files")


def shown(messages: list[Msg]) -> list[str]:
    return [m.to_json() for m in messages]


def reply(*blocks: object, msg_id: str = "a") -> Msg:
    return Msg.model_validate(
        {"name": "agent", "role": "assistant", "id": msg_id, "content": list(blocks)}
    )


def call(call_id: str, name: str = "Read", **extra: object) -> ToolCallBlock:
    return ToolCallBlock.model_validate(
        {"type": "tool_call", "id": call_id, "name": name, "input": "{}", **extra}
    )


def result(call_id: str, text: str, **extra: object) -> ToolResultBlock:
    return ToolResultBlock.model_validate(
        {"type": "tool_result", "id": call_id, "name": "Read", "output": text, **extra}
    )


@settings(max_examples=60, deadline=None)
@given(sessions())
def test_pairs_are_whole_and_the_prompt_only_grows_at_its_end(script: Script) -> None:
    player = Player(script)
    builder = PromptBuilder()
    before: list[str] = []
    for state in player.moments():
        prompt = builder.build(ENVELOPE, state)
        check_pairs(prompt.messages)
        now = shown(prompt.messages)
        assert now == shown(build(ENVELOPE, state).messages)
        assert now[: len(before)] == before
        before = now[: prompt.stable]


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_a_copied_state_builds_the_same_prompt(script: Script) -> None:
    builder = PromptBuilder()
    for state in Player(script).moments():
        builder.build(ENVELOPE, state)
        copy = AgentState.model_validate_json(state.model_dump_json())
        assert shown(builder.build(ENVELOPE, copy).messages) == shown(
            build(ENVELOPE, state).messages
        )


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_thinking_with_a_signature_is_byte_identical(script: Script) -> None:
    player = Player(script)
    for state in player.moments():
        prompt = build(ENVELOPE, state)
        built = [
            b.to_json() for m in prompt.messages for b in m.content if isinstance(b, ThinkingBlock)
        ]
        own = {
            b.to_json() for m in state.context for b in m.content if isinstance(b, ThinkingBlock)
        }
        assert set(built) <= own


def test_a_reply_becomes_a_message_and_its_results_for_each_step() -> None:
    msg = reply(
        TextBlock(text="first"),
        call("x"),
        call("y"),
        result("y", "2"),
        result("x", "1"),
        TextBlock(text="done"),
    )
    prompt = build(ENVELOPE, AgentState(context=[Msg.user("go"), msg]))
    assert [(m.role, kind_of(m)) for m in prompt.messages] == [
        ("user", None),
        ("assistant", None),
        ("user", "tool_results"),
        ("assistant", None),
    ]
    assert [r.text() for r in prompt.messages[2].tool_results()] == ["1", "2"]
    assert prompt.messages[3].text() == "done"


def test_results_of_repeated_ids_go_to_their_own_calls() -> None:
    msg = reply(
        call("c", op_id="s:1:0"),
        call("c", op_id="s:1:1"),
        result("c", "second", metadata={"slipway": {"op_id": "s:1:1"}}),
        result("c", "first", metadata={"slipway": {"op_id": "s:1:0"}}),
        call("c"),
        result("c", "third"),
    )
    prompt = build(ENVELOPE, AgentState(context=[msg]))
    check_pairs(prompt.messages)
    answers = [r.text() for m in prompt.messages for r in m.tool_results()]
    assert answers == ["first", "second", "third"]


def test_a_call_without_a_result_is_answered_as_interrupted() -> None:
    prompt = build(ENVELOPE, AgentState(context=[reply(call("x")), Msg.user("and now?")]))
    check_pairs(prompt.messages)
    assert prompt.messages[1].tool_results()[0].state == "interrupted"


def test_a_result_without_a_call_is_left_out() -> None:
    prompt = build(ENVELOPE, AgentState(context=[reply(result("x", "lost")), Msg.user("hi")]))
    assert [m.text() for m in prompt.messages] == ["hi"]


def test_hints_and_system_messages_never_speak_with_authority() -> None:
    odd = Msg(name="system", role="system", content=[TextBlock(text="obey")])
    msg = reply(call("x"), HintBlock(hint="noted"), result("x", "1"), TextBlock(text="ok"))
    prompt = build(ENVELOPE, AgentState(context=[odd, msg]))
    assert [(m.role, kind_of(m), m.text()) for m in prompt.messages if kind_of(m) == "hint"] == [
        ("user", "hint", "obey"),
        ("user", "hint", "noted"),
    ]
    check_pairs(prompt.messages)


def test_empty_and_unknown_blocks_are_left_out() -> None:
    msg = reply(TextBlock(text="  "), UnknownBlock(type="future"), ThinkingBlock(thinking="hm"))
    assert build(ENVELOPE, AgentState(context=[msg])).messages == []


def test_a_foreign_summary_opens_the_prompt_as_history_of_role_user() -> None:
    prompt = build(ENVELOPE, AgentState(summary="What was", context=[Msg.user("next")]))
    first = prompt.messages[0]
    assert (first.role, kind_of(first), first.text()) == ("user", "summary", "What was")


def test_a_summary_of_ours_comes_as_two_blocks_and_one_text_for_others() -> None:
    part = {"gen": 1, "pinned": "P", "history": "H"}
    state = AgentState(
        summary=whole_summary("P", "H"), middle_context={"slipway": {"compaction": part}}
    )
    assert [(kind_of(m), m.text()) for m in build(ENVELOPE, state).messages] == [
        ("pinned", "P"),
        ("summary", "H"),
    ]
    state.summary = "somebody else compacted this"
    assert [(kind_of(m), m.text()) for m in build(ENVELOPE, state).messages] == [
        ("pinned", "P"),
        ("summary", "somebody else compacted this"),
    ]


def test_open_tasks_are_shown_at_the_end_until_a_live_call_shows_them() -> None:
    state = AgentState(
        context=[Msg.user("go")],
        tasks_context=TasksContext(tasks=[Task(id="1", subject="写目录 first")]),
    )
    builder = PromptBuilder()
    prompt = builder.build(ENVELOPE, state)
    assert kind_of(prompt.messages[-1]) == "tasks"
    assert "写目录 first" in prompt.messages[-1].text()
    assert prompt.stable == len(prompt.messages) - 1
    state.context.append(reply(call("t", "TaskUpdate"), result("t", "ok")))
    prompt = builder.build(ENVELOPE, state)
    assert prompt.stable == len(prompt.messages)


def test_a_compacted_loop_without_its_first_thinking_loses_all_of_it() -> None:
    def thought(text: str) -> ThinkingBlock:
        return ThinkingBlock.model_validate(
            {"type": "thinking", "thinking": text, "signature": "s"}
        )

    part = {"gen": 1, "pinned": "P", "history": "H", "cut": "a"}
    middle = {"slipway": {"compaction": part}}
    lost = reply(call("x"), result("x", "1"), thought("later"), call("y"), result("y", "2"))
    whole = reply(thought("first"), call("x"), result("x", "1"), call("y"), result("y", "2"))
    for msg, kept in ((lost, 0), (whole, 1)):
        state = AgentState(context=[msg], middle_context=middle)
        built = build(ENVELOPE, state).messages
        assert sum(isinstance(b, ThinkingBlock) for m in built for b in m.content) == kept


def test_a_built_message_is_as_a_validated_one_and_shares_nothing_with_the_next() -> None:
    answer = reply(call("c1"), ToolResultBlock(id="c1", name="Read", output="x"))
    state = AgentState(session_id="s", context=[Msg.user("go"), answer])
    built = build(ENVELOPE, state).messages[1:]
    assert len(built) == 2
    for msg in built:
        assert Msg.model_validate(msg.model_dump()) == msg
        assert msg.to_json() == Msg.model_validate_json(msg.to_json()).to_json()
        assert (msg.usage, msg.finished_at, msg.model_extra) == (None, None, {})
    built[0].metadata["slipway"]["of"] = "changed"
    built[0].usage = Usage(input_tokens=1)
    assert built[1].metadata["slipway"]["of"] == "a"
    assert built[1].usage is None
