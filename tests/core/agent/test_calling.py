"""Model calls that fail: tried again, answered elsewhere, made shorter, or told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.calling import Retries
from desktop_app.core.agent.fold import Folder
from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Usage
from desktop_app.core.models.base import Price
from desktop_app.core.models.scripted import SCRIPTED, Call, Ends, Fail, Say, ScriptedModel, Think
from tests.helpers.sessions import KEY, Bench, collect, of

BUSY = ModelError("model.overloaded", retryable=True, model="m", retry_after=None)


def bench(tmp_path: Path, model: ScriptedModel, *others: ScriptedModel) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "page.txt").write_text("".join(f"word{i} and more text here\n" for i in range(900)))
    return Bench(folder, model, others={m.info.id: m for m in others})


def titled(*turns: object, **more: object) -> ScriptedModel:
    return ScriptedModel(list(turns), titles=[[Say("T")]] * 20, **more)  # type: ignore[arg-type]


async def test_what_may_pass_is_tried_again_and_said(tmp_path: Path) -> None:
    asked = ModelError("model.rate_limited", retryable=True, model="m", retry_after=7.0)
    b = bench(tmp_path, titled([Fail(BUSY)], [Fail(asked)], [Say("Here.")]))
    c = await b.open()
    events = await collect(c.send("hi"))
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert "".join(e.text for e in of(events, ev.TextDelta)) == "Here."
    notices = [n for n in of(events, ev.Notice) if n.code == "model.retry"]
    assert [n.params["why"] for n in notices] == ["model.overloaded", "model.rate_limited"]
    assert 0.8 <= b.waited[0] <= 1.2
    assert b.waited[1] == 7.0, "the provider's own time is kept"
    assert len([m for m in c.state.context if m.role == "assistant"]) == 1
    await b.close()


async def test_patience_ends(tmp_path: Path) -> None:
    b = bench(tmp_path, titled(*[[Fail(BUSY)]] * 9))
    c = await b.open()
    events = await collect(c.send("hi"))
    end = of(events, ev.RunFinished)[-1]
    assert (end.reason, end.code) == ("error", "model.overloaded")
    assert len(b.waited) == 4
    assert b.waited == sorted(b.waited)
    assert c.state.context[0].text() == "hi"
    await b.close()


@pytest.mark.parametrize(
    "error",
    [
        ModelError("model.auth", model="m"),
        ModelError("model.rate_limited", retryable=True, model="m", retry_after=3600.0),
    ],
)
async def test_what_will_not_pass_is_told_at_once(tmp_path: Path, error: ModelError) -> None:
    b = bench(tmp_path, titled([Fail(error)], [Say("never")]))
    c = await b.open()
    events = await collect(c.send("hi"))
    assert of(events, ev.RunFinished)[-1].code == error.code
    assert b.waited == []
    await b.close()


@pytest.mark.parametrize(
    "first", [Say("Half an ans"), Think("hm"), Call("Read", {"file_path": "x"})]
)
async def test_nothing_is_repeated_once_something_was_shown(tmp_path: Path, first: object) -> None:
    cut = ModelError("model.cut", retryable=True, model="m")
    b = bench(tmp_path, titled([first, Fail(cut)], [Say("again")]))
    c = await b.open()
    events = await collect(c.send("hi"))
    assert of(events, ev.RunFinished)[-1].code == "model.cut"
    assert b.waited == []
    assert of(events, ev.ToolStarted) == [], "half a call never runs"
    await b.close()


async def test_the_fallback_answers_for_one_turn(tmp_path: Path) -> None:
    main = titled(
        [Fail(ModelError("model.quota", model="m", detail=""))],
        [Say("Back again.")],
        info=replace(SCRIPTED, fallback="other"),
    )
    other = titled(
        [Call("Read", {"file_path": "page.txt"})],
        [Say("From the other.")],
        info=replace(SCRIPTED, id="other", name="Other"),
    )
    b = bench(tmp_path, main, other)
    c = await b.open()
    events = await collect(c.send("hi"))
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    assert [n.params["other"] for n in of(events, ev.Notice) if n.code == "model.fallback"] == [
        "Other"
    ]
    assert [e.model for e in of(events, ev.ModelCallStarted)][1:] == ["Other", "Other"]
    assert c.model_info.id == main.info.id, "the session keeps its model"
    folder = Folder(KEY.session_id)
    folder.replay(await c.log.journal.read())
    assert folder.now.model == main.info.id

    events = await collect(c.send("and now"))
    assert "".join(e.text for e in of(events, ev.TextDelta)) == "Back again."
    await b.close()


async def test_a_prompt_that_is_refused_as_too_long_is_compacted_once(tmp_path: Path) -> None:
    too_long = ModelError(
        "model.overflow",
        model="m",
        detail="This model's maximum context length is 20000 tokens. However, you sent more.",
    )
    refuse = {"left": 1}

    def play(request):  # type: ignore[no-untyped-def]
        if request.messages[-1].tool_results():
            return [Say("Read it. " + "filler words " * 40)]
        if len(request.messages) > 8 and refuse["left"]:
            refuse["left"] -= 1
            return [Fail(too_long)]
        if "last" in request.messages[-1].text():
            return [Say("Done.")]
        return [Call("Read", {"file_path": "page.txt"})]

    model = ScriptedModel(
        [play] * 40,
        summaries=[[Say("# Goal\nread the page\n# Done\nread it many times")]] * 5,
        titles=[[Say("T")]],
        info=replace(SCRIPTED, window=200_000, max_output=2_000),
    )
    b = bench(tmp_path, model)
    c = await b.open()
    events: list[ev.Event] = []
    for n in range(4):
        events += await collect(c.send(f"Read the page, time {n}."))
    events += await collect(c.send("the last one"))
    started = of(events, ev.CompactionStarted)
    assert [s.trigger for s in started] == ["overflow"]
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    breakdown = await c.breakdown()
    assert breakdown.limits.window == 20_000
    assert breakdown.limits.source == "error"
    await b.close()


async def test_what_a_session_costs_is_measured_and_survives(tmp_path: Path) -> None:
    price = Price(input=2.0, output=10.0, cache_read=0.5)
    usage = Usage(input_tokens=1_000, output_tokens=100, cache_input_tokens=400)
    one = [Say("x"), Ends(usage=usage)]
    b = bench(tmp_path, titled(one, one, info=replace(SCRIPTED, price=price)))
    c = await b.open()
    assert c.spent is None
    await collect(c.send("a"))
    each = (600 * 2.0 + 400 * 0.5 + 100 * 10.0) / 1_000_000
    assert c.spent is not None
    assert c.spent.session == pytest.approx(each)
    await collect(c.send("b"))
    assert (c.spent.turn, c.spent.session) == (pytest.approx(each), pytest.approx(2 * each))
    await c.close()
    again = await b.open()
    assert again.spent == c.spent
    await b.close()


def test_waits_double_and_stay_within_reason() -> None:
    retries = Retries(jitter=lambda: 1.0)
    assert [retries.wait(BUSY) for _ in range(5)] == [1.0, 2.0, 4.0, 8.0, None]
