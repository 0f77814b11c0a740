"""More that users of other programs reported (the project's list of cases, 3c), in whole
conversations. C2, C4, C5, C7, C8, C10, C11, C14, C19 and C20 are in the files that
``test_reported_bugs`` names, in ``tests/core/context/test_accounting.py``, ``test_limits.py`` and
``tests/core/models/test_provider_errors.py``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.build import kind_of
from desktop_app.core.context.figures import drift_of
from desktop_app.core.context.marks import CompactionSettings
from desktop_app.core.messages import Usage
from desktop_app.core.models.scripted import SCRIPTED, Call, Ends, Say, ScriptedModel
from tests.helpers.context_sessions import check_pairs
from tests.helpers.sessions import Bench, collect, of

LONG = "A long answer about the harbour and its boats. " * 60


async def test_c1_the_gauge_follows_a_provider_that_counts_four_times_as_much(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([[Say("Fine.")]], titles=[[Say("T")]])
    b = Bench(tmp_path, model)
    c = await b.open()
    before = (await c.breakdown()).total
    counted = Ends(usage=Usage(input_tokens=4 * before, output_tokens=10))
    b.model = ScriptedModel([[Say("Fine."), counted]], titles=[[Say("T")]])
    events = await collect(c.send("hi"))
    told = await c.breakdown()
    assert told.measured == 4 * before
    assert told.total == sum(told.parts.values()) >= 4 * before
    assert of(events, ev.ContextChanged)[-1].breakdown.total >= 4 * before
    drift = drift_of(told.history)
    assert drift is not None
    assert drift.notable
    assert drift.mean < -0.6  # told as "too low" in the inspector
    await c.close()
    await b.close()


async def test_c13_a_mark_of_a_compaction_is_never_inside_a_pair(tmp_path: Path) -> None:
    """Compacted in the middle of a loop of calls, and once more in a later one."""
    for n in range(12):
        (tmp_path / f"part{n}.txt").write_text(f"part {n}\n" + "some words of it\n" * 200)
    loop = [[Say(f"Part {n}."), Call("Read", {"file_path": f"part{n}.txt"})] for n in range(12)]
    model = ScriptedModel(
        [*loop, [Say("All read.")], *loop, [Say("Again.")]],
        titles=[[Say("T")]],
        summaries=[[Say("# Done\nread")]] * 20,
        info=replace(SCRIPTED, window=16_384, max_output=2_048),
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    for words in ("Read all parts.", "And once more."):
        events = await collect(c.send(words))
        assert of(events, ev.RunFinished)[-1].reason == "completed"
        assert of(events, ev.CompactionFinished)
    assert len(await c.compactions()) >= 2
    for request in (r for r in model.requests if r.purpose == "reply"):
        check_pairs(list(request.messages))
        for place, message in enumerate(request.messages[:-1]):
            if message.tool_calls():
                assert request.messages[place + 1].tool_results()
            if kind_of(message) in ("pinned", "summary"):
                assert not request.messages[place + 1].tool_results()
    await c.close()
    await b.close()


async def test_c16_c17_title_mode_and_tools_come_through_a_compaction(tmp_path: Path) -> None:
    model = ScriptedModel(
        [[Say(LONG)] for _ in range(8)],
        titles=[[Say("T")]],
        summaries=[[Say("# Done\ntalked")]],
        forever=True,
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    for n in range(8):
        await collect(c.send(f"Tell me more ({n})."))
    await c.set_title("My own title")
    await c.set_mode("explore")
    await c.set_tool("Grep", False)
    await collect(c.send("And now?"))
    tools = [t.name for t in model.requests[-1].tools]
    assert "Grep" not in tools
    assert "Read" in tools
    assert of(await collect(c.compact()), ev.CompactionFinished)
    assert (c.title, c.permissions.mode) == ("My own title", "explore")
    await collect(c.send("And after it?"))
    assert [t.name for t in model.requests[-1].tools] == tools
    assert model.requests[-1].tools == model.requests[-3].tools  # the notes' call lies between
    await c.close()
    c = await b.open()
    assert (c.title, c.permissions.mode) == ("My own title", "explore")
    await c.close()
    await b.close()


async def test_a_session_that_is_opened_with_a_smaller_window_makes_room_first(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(
        [[Say(LONG)] for _ in range(12)],
        titles=[[Say("T")]],
        summaries=[[Say("# Done\ntalked")]],
        forever=True,
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    for n in range(12):
        await collect(c.send(f"Tell me more ({n})."))
    assert await c.compactions() == []
    upper = (await c.breakdown()).upper
    await c.close()
    b.policy = Policy(marks=CompactionSettings(window=int(upper * 1.25)))
    c = await b.open()
    (done,) = of(await collect(c.send("And now?")), ev.CompactionFinished)
    assert done.record.trigger == "resume"
    told = await c.breakdown()
    assert told.upper <= told.limits.usable
    await c.close()
    await b.close()


async def filled(b: Bench, **config: str) -> SessionConversation:
    """A session with something to compact."""
    c = await b.open(**config)
    for n in range(8):
        await collect(c.send(f"Tell me more ({n})."))
    return c


async def test_23_an_agent_that_may_only_explore_writes_nothing_after_a_compaction_either(
    tmp_path: Path,
) -> None:
    write = {"file_path": "out.md", "content": "x"}
    model = ScriptedModel(
        [*[[Say(LONG)] for _ in range(8)], [Call("Write", write)], [Say("I may not.")]],
        titles=[[Say("T")]],
        summaries=[[Say("# Done\ntalked")]],
    )
    b = Bench(tmp_path, model)
    c = await filled(b)
    await c.set_mode("explore")
    assert of(await collect(c.compact()), ev.CompactionFinished)
    await c.close()
    c = await b.open()
    events = await collect(c.send("Write it down."))
    assert not of(events, ev.ApprovalRequested)
    (ended,) = of(events, ev.ToolFinished)
    assert ended.state == "denied"
    assert not (tmp_path / "out.md").exists()
    await c.close()
    await b.close()


async def test_2_a_window_that_is_refilled_at_once_is_told_with_what_fills_it(
    tmp_path: Path,
) -> None:
    """Each step reads as much in again as a compaction took away, beside what is always there."""
    (tmp_path / "AGENTS.md").write_text("A rule of the house. " * 200)
    (tmp_path / "rules.txt").write_text("a rule of the house, read in again\n" * 900)
    twice = [Call("Read", {"file_path": "rules.txt"})] * 2
    model = ScriptedModel(
        [*([twice] * 20), [Say("Done.")]],
        titles=[[Say("T")]],
        summaries=[[Say("# Done\nread")]] * 40,
        info=replace(SCRIPTED, window=8_192, max_output=1_024),
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    events = await collect(c.send("Follow the rules of the house."))
    told = [n for n in of(events, ev.Notice) if n.code == "compaction.paused"]
    assert told
    assert told[0].params["label"] == "instructions"
    assert told[0].params["tokens"] > 500
    usable = (await c.breakdown()).limits.usable
    assert all(call.tokens <= usable for call in of(events, ev.ModelCallStarted))
    assert len(of(events, ev.CompactionFinished)) < 20, "not one for each step"
    ended = of(events, ev.RunFinished)[-1]
    assert ended.reason == "completed" or ended.code.startswith("context.")
    await c.close()
    await b.close()


async def test_1_a_window_full_of_what_is_fixed_is_told_with_what_fills_it(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("A rule of the house. " * 1_400)
    model = ScriptedModel(
        [[Say("Never.")]],
        summaries=[[Say("never")]],
        titles=[[Say("T")]],
        info=replace(SCRIPTED, window=8_192, max_output=1_024),
    )
    b = Bench(tmp_path, model)
    c = await b.open()
    events = await collect(c.send("hi"))
    ended = of(events, ev.RunFinished)[-1]
    assert (ended.reason, ended.code) == ("error", "context.fixed_over_window")
    told = ended.params
    assert told["needed"] > told["usable"]
    assert told["share"] > 90
    assert told["biggest"] == "instructions"
    assert told["needed"] > told["biggest_tokens"] > told["second_tokens"] > 0
    assert [r for r in model.requests if r.purpose in ("reply", "summary")] == [], "nothing is sent"
    assert c.state.context[0].text() == "hi", "and nothing is lost"
    await c.close()
    await b.close()


async def test_c20_a_window_that_filled_up_in_mid_answer_is_learned_and_the_answer_goes_on(
    tmp_path: Path,
) -> None:
    """Anthropic's ``model_context_window_exceeded``: the window is smaller than was believed."""
    b = Bench(tmp_path, ScriptedModel([[Say(LONG)] for _ in range(8)], titles=[[Say("T")]]))
    c = await filled(b)
    total = (await c.breakdown()).total
    cut = [Say("Half of it"), Ends("window", Usage(input_tokens=total, output_tokens=500))]
    model = ScriptedModel([cut, [Say("and the rest.")]], summaries=[[Say("# Done\ntalked")]])
    b.model = model
    ended = of(await collect(c.send("Tell me all of it.")), ev.RunFinished)[-1]
    assert (ended.reason, ended.code) == ("error", "model.window_full")
    assert c.state.context[-1].text() == "Half of it"
    limits = (await c.breakdown()).limits
    assert (limits.window, limits.source) == (total + 500, "error")
    events = await collect(c.go_on())
    assert of(events, ev.CompactionFinished), "room is made first"
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    asked = [m.text() for m in model.requests[-1].messages]
    assert "Half of it" in asked, "it goes on from what is there"
    await c.close()
    await b.close()
