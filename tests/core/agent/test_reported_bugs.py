"""What users of other programs reported of their compaction, tried here in whole conversations.

Numbers in names are rows of the list in the project's notes on context. Which test has which row
(T: tests/core/context/test_reported.py, H: here; others by their file in tests/core):

     1  T                                     13  H, context/test_limits.py
     2  context/test_guards.py (thrash)       14  H
     3  T, H                                  15  H
     4  T                                     16  context/test_accounting.py (added and removed)
     5  T, H                                  17  T, context/test_invariants.py
     6  T, H                                  18  T
     7  T, H                                  19  T
     8  T                                     20  T
     9  T                                     21  T
    10  H, context/test_accounting.py         22  T
    11  H, models/test_provider_errors.py     23  T
    12  H, agent/test_meter_reopened.py       24  T
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.marks import CompactionSettings
from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Usage
from desktop_app.core.models.scripted import SCRIPTED, Call, Ends, Fail, Say, ScriptedModel
from tests.helpers.filling import fill, long_session
from tests.helpers.sessions import Bench, collect, of


async def test_3_one_that_would_be_larger_changes_nothing_but_the_log(tmp_path: Path) -> None:
    notes = Say("# Done\n" + "a very long story of nothing at all " * 300)
    model = ScriptedModel([[Say("Hi.")]], summaries=[[notes]], titles=[[Say("T")]], forever=True)
    b = Bench(tmp_path, model, policy=Policy("remind"))
    c = await b.open()
    for _ in range(3):
        await collect(c.send("hello there"))
    before = c.state.model_dump()
    failed = of(await collect(c.compact()), ev.CompactionFailed)
    assert failed
    assert c.state.model_dump() == before
    assert [r.status for r in await c.compaction_log()] == ["failed"]
    await c.close()
    await b.close()


async def test_5_a_smaller_model_is_made_room_for_before_its_first_call(tmp_path: Path) -> None:
    b = long_session(tmp_path, 20, window=131_072)
    b.policy = Policy("automatic")
    small = ScriptedModel(
        [[Say("Here.")]],
        summaries=[[Say("# Done\nread the page")]],
        titles=[[Say("T")]],
        info=replace(SCRIPTED, id="small", window=16_384),
        forever=True,
    )
    b.others["small"] = small
    c = await b.open()
    await fill(c, 5)
    await c.set_model("small")
    events = await collect(c.send("Go on."))
    [done] = of(events, ev.CompactionFinished)
    assert done.record.trigger == "model_switch"
    assert done.record.after <= 0.9 * done.record.before
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert [r.purpose for r in small.requests if r.purpose == "reply"] == ["reply"]
    await c.close()
    await b.close()


async def test_6_and_12_the_meter_falls_and_is_the_same_after_reopening(tmp_path: Path) -> None:
    b = long_session(tmp_path, 40)
    c = await b.open()
    events: list[ev.Event] = []
    while not of(events, ev.CompactionFinished):
        events = await fill(c, 1)
    record = of(events, ev.CompactionFinished)[-1].record
    shown = (await c.breakdown()).total
    assert shown < record.before
    events = await collect(c.send("hi"))
    assert not of(events, ev.CompactionStarted), "not again after every message"
    shown = (await c.breakdown()).total
    await c.close()
    again = await b.open()
    assert abs((await again.breakdown()).total - shown) <= 0.02 * shown
    await again.close()
    await b.close()


async def test_7_the_loop_goes_on_after_a_compaction_in_its_middle(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("a line of the page\n" * 700)
    steps: list[list[object]] = [[Call("Read", {"file_path": "page.txt"})] for _ in range(12)]
    model = ScriptedModel(
        [*steps, [Say("Done with all of it.")]],
        summaries=[[Say("# Done\nread")]] * 9,
        titles=[[Say("T")]],
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    events = await collect(c.send("Read the page twelve times, then say so."))
    assert of(events, ev.CompactionFinished)
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert len(of(events, ev.ToolFinished)) == 12
    people = [
        m.text()
        for r in model.requests
        if r.purpose == "reply"
        for m in r.messages
        if m.role == "user" and not m.metadata.get("slipway") and not m.tool_results()
    ]
    assert set(people) <= {"Read the page twelve times, then say so."}, "nobody else speaks"
    await c.close()
    await b.close()


async def test_10_a_provider_that_counts_nothing_is_not_a_window_that_is_empty(
    tmp_path: Path,
) -> None:
    said = [Say("Hi.")], [Say("Hi."), Ends(usage=Usage(input_tokens=0))]
    b = Bench(tmp_path, ScriptedModel([*said], titles=[[Say("T")]]))
    c = await b.open()
    for text in ("hello " * 50, "and hello again " * 50):
        await collect(c.send(text))
        told = await c.breakdown()
        assert told.total > 100
        assert (told.measured, told.history) == (0, ())
    await c.close()
    await b.close()


async def test_11_a_limit_named_by_a_refusal_is_learned_and_the_call_made_again(
    tmp_path: Path,
) -> None:
    words = "This model's maximum context length is 16384 tokens, however you requested 17001."
    steps = [[Say("Filled. " * 900)] for _ in range(6)]
    refused = [Fail(ModelError("model.overflow", detail=words))]
    model = ScriptedModel(
        [*steps, refused, [Say("Now it fits.")]],
        summaries=[[Say("# Done\nfilled")]],
        titles=[[Say("T")]],
        info=replace(SCRIPTED, window=131_072),
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    for n in range(6):
        await collect(c.send(f"Fill it, time {n}."))
    events = await collect(c.send("And now?"))
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert of(events, ev.CompactionFinished)
    told = await c.breakdown()
    assert told.limits.window == 16_384
    assert told.upper <= told.limits.usable
    await c.close()
    await b.close()


REFUSALS = [
    # (what the provider says, the longest answer then asked for, the window then)
    ("max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens", 2048, 32_768),
    (
        "'max_tokens' is too large: 4096. This model's maximum context length is 16384 tokens and "
        "your request has 13000 input tokens (4096 > 16384 - 13000).",
        3276,
        16_384,
    ),
]


@pytest.mark.parametrize(("words", "longest", "window"), REFUSALS, ids=["answer", "window"])
async def test_11_too_long_an_answer_is_asked_for_shorter(
    tmp_path: Path, words: str, longest: int, window: int
) -> None:
    refusal = Fail(ModelError("model.max_output", detail=words))
    model = ScriptedModel(
        [[Say("One.")], [refusal], [Say("Two.")], [Say("Three.")]], titles=[[Say("T")]]
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    await collect(c.send("And one?"))
    wide = (await c.breakdown()).limits
    assert (wide.window, wide.answer) == (SCRIPTED.window, 4096)
    events = await collect(c.send("And two?"))
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert not of(events, ev.CompactionFinished)  # nothing had to leave for it
    told = await c.breakdown()
    assert (told.limits.window, told.limits.answer) == (window, longest)
    assert told.limits.usable == window - longest - window // 50
    await collect(c.send("And three?"))
    asked = [r.max_output for r in model.requests if r.purpose == "reply"]
    assert asked == [4096, 4096, longest, longest]
    await c.close()
    await b.close()


async def test_11_what_names_no_number_is_told_and_not_asked_again(tmp_path: Path) -> None:
    refusal = Fail(ModelError("model.max_output", detail="max_tokens is too large for this one"))
    model = ScriptedModel([[refusal], [Say("Never.")]], titles=[[Say("T")]])
    b = Bench(tmp_path, model)
    c = await b.open()
    (end,) = of(await collect(c.send("Hello")), ev.RunFinished)
    assert (end.reason, end.code) == ("error", "model.max_output")
    assert len([r for r in model.requests if r.purpose == "reply"]) == 1
    await c.close()
    await b.close()


async def test_13_a_window_that_the_person_set_is_believed(tmp_path: Path) -> None:
    b = Bench(tmp_path, ScriptedModel([[Say("Hi.")]], titles=[[Say("T")]], forever=True))
    c = await b.open()
    assert (await c.breakdown()).limits.window == SCRIPTED.window
    b.policy = Policy(marks=CompactionSettings(alert=0.5, window=49_152))
    await collect(c.send("hello"))
    limits = (await c.breakdown()).limits
    assert (limits.window, limits.source, limits.alert) == (49_152, "user", 0.5)
    await c.close()
    await b.close()


async def test_14_what_the_call_for_notes_took_is_not_the_context(tmp_path: Path) -> None:
    notes = [Say("# Done\nread it"), Ends(usage=Usage(input_tokens=150_000, output_tokens=50))]
    model = ScriptedModel(
        [[Say("Told at length. " * 500)]],
        summaries=[notes],
        titles=[[Say("T")]],
        info=replace(SCRIPTED, window=262_144),
        forever=True,
    )
    b = Bench(tmp_path, model, policy=Policy("remind"))
    c = await b.open()
    for n in range(6):
        await collect(c.send(f"Tell me more, time {n}."))
    [done] = of(await collect(c.compact()), ev.CompactionFinished)
    assert done.record.usage is not None
    assert done.record.usage["input_tokens"] == 150_000
    told = await c.breakdown()
    assert told.total == done.record.after < 30_000
    assert [h for h in told.history if h.measured == 150_000] == []
    await c.close()
    await b.close()


async def test_15_every_call_of_a_long_turn_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("a line of the page\n" * 220)
    steps: list[list[object]] = [[Call("Read", {"file_path": "page.txt"})] for _ in range(40)]
    model = ScriptedModel(
        [*steps, [Say("Done.")]],
        summaries=[[Say("# Done\nread")]] * 40,
        titles=[[Say("T")]],
        info=replace(SCRIPTED, window=20_000),
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    events = await collect(c.send("Read it forty times."))
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert len(of(events, ev.CompactionFinished)) > 1
    usable = (await c.breakdown()).limits.usable
    assert all(call.tokens <= usable for call in of(events, ev.ModelCallStarted))
    assert len(of(events, ev.ToolFinished)) == 40
    await c.close()
    await b.close()
