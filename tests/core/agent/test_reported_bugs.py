"""What users of other programs reported of their compaction, tried here in whole conversations.

Numbers in names are rows of the list in the project's notes on context.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from desktop_app.core import events as ev
from desktop_app.core.agent.policy import Policy
from desktop_app.core.models.scripted import SCRIPTED, Call, Say, ScriptedModel
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
