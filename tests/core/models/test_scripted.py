"""ScriptedModel and StreamModel play exactly what they were told."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg, Usage
from desktop_app.core.models.base import (
    Finish,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from desktop_app.core.models.scripted import (
    Call,
    Delay,
    Ends,
    Fail,
    Reached,
    Say,
    ScriptedModel,
    StreamModel,
    Think,
    Wait,
)

ASK = ModelRequest(system="", messages=[Msg.user("hello")])


async def play(model, request=ASK):
    async with aclosing(model.stream(request)) as stream:
        return [part async for part in stream]


async def test_text_thinking_and_calls_arrive_in_order_and_whole():
    model = ScriptedModel(
        [
            [
                Think("a", "b", extra={"signature": "s"}),
                Say("one ", "two"),
                Call("Grep", {"pattern": "租金", "path": "docs"}, piece=5),
                Call("Read", {"file_path": "a"}),
            ]
        ]
    )
    parts = await play(model)
    thinking = [p for p in parts if isinstance(p, ThinkingPart)]
    assert [(p.text, p.extra) for p in thinking] == [("a", None), ("b", {"signature": "s"})]
    assert "".join(p.text for p in parts if isinstance(p, TextPart)) == "one two"
    calls = [p for p in parts if isinstance(p, ToolCallPart)]
    first = [p for p in calls if p.index == calls[0].index]
    assert first[0].call_id == "call-1"
    assert first[0].name == "Grep"
    assert len(first) > 2
    assert all(p.name is None and p.call_id is None for p in first[1:])
    joined = "".join(p.arguments for p in first)
    assert json.loads(joined) == {"pattern": "租金", "path": "docs"}
    assert parts[-1] == Finish("tool_calls", None)
    assert [p.index for p in parts[:-1]] == sorted(p.index for p in parts[:-1])


async def test_raw_arguments_stay_as_written_so_that_cut_json_can_be_tried():
    parts = await play(ScriptedModel([[Call("Write", '{"file_path": "a', call_id="x")]]))
    assert "".join(p.arguments for p in parts if isinstance(p, ToolCallPart)) == '{"file_path": "a'
    assert parts[0].call_id == "x"


async def test_each_call_plays_the_next_turn_and_requests_are_kept():
    model = ScriptedModel([[Say("1")], lambda request: [Say(request.messages[0].text())]])
    assert (await play(model))[0] == TextPart(0, "1")
    assert (await play(model))[0] == TextPart(0, "hello")
    assert model.requests == [ASK, ASK]
    assert model.left == 0
    with pytest.raises(ModelError) as error:
        await play(model)
    assert error.value.code == "model.empty"


async def test_summaries_do_not_use_up_a_turn():
    model = ScriptedModel([[Say("reply")]], summaries=[[Say("sum")]])
    summary = ModelRequest(system="", messages=[], purpose="summary")
    assert (await play(model, summary))[0] == TextPart(0, "sum")
    assert (await play(model))[0] == TextPart(0, "reply")


async def test_gate_holds_the_stream_until_it_is_opened():
    gate, there = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([[Say("before"), Reached(there), Wait(gate), Say("after")]])
    task = asyncio.ensure_future(play(model))
    await there.wait()
    assert not task.done()
    gate.set()
    texts = [p.text for p in await task if isinstance(p, TextPart)]
    assert texts == ["before", "after"]


async def test_errors_delays_and_measured_usage():
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    usage = Usage(input_tokens=9, output_tokens=2)
    model = ScriptedModel(
        [
            [Say("x"), Delay(0.5), Ends("length", usage)],
            [Say("part"), Fail(ModelError("model.cut", retryable=True))],
        ],
        sleep=sleep,
    )
    assert (await play(model))[-1] == Finish("length", usage)
    assert slept == [0.5]
    with pytest.raises(ModelError, match=r"model\.cut"):
        await play(model)


async def test_closing_early_is_counted_and_a_whole_stream_is_not():
    model = ScriptedModel([[Say("a", "b", "c")]], forever=True)
    async with aclosing(model.stream(ASK)) as stream:
        await anext(stream)
    assert model.closed == 1
    await play(model)
    assert model.closed == 1


async def test_cancelling_at_a_gate_is_counted():
    there = asyncio.Event()
    model = ScriptedModel([[Reached(there), Wait(asyncio.Event())]])
    task = asyncio.ensure_future(play(model))
    await there.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.closed == 1


async def test_stream_model_keeps_the_rate_by_the_clock():
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    model = StreamModel(200, rate=50, sleep=sleep, clock=lambda: now)
    parts = await play(model)
    assert len(parts) == 201
    assert model.sent == 200
    assert now == pytest.approx(199 / 50)
    assert parts[-1].usage.output_tokens == 200
