"""What a gauge shows is the same after a session is opened again: measured, estimated, history."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent import snapshot
from desktop_app.core.context.counted import Counted
from desktop_app.core.context.ratios import Ratios
from desktop_app.core.context.types import Breakdown
from desktop_app.core.messages import Usage
from desktop_app.core.models.scripted import SCRIPTED, Call, Ends, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import Bench, collect


@pytest.fixture
def b(tmp_path: Path) -> Bench:
    """A provider that counts half as much again as the class counter does."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "page.txt").write_text("".join(f"word{i} and more text here\n" for i in range(300)))

    def play(request: Any) -> list[Any]:
        if request.purpose == "title":
            return [Say("Reading")]
        if request.purpose == "summary":
            return [Say("# Goal\nread the page")]
        last = request.messages[-1]
        size = sum(len(m.model_dump_json()) for m in request.messages) // 3
        usage = Usage(input_tokens=6000 + size, output_tokens=40)
        if last.tool_results():
            return [Say("Read it. " + "filler words " * 60), Ends(usage=usage)]
        return [Call("Read", {"file_path": "page.txt"}), Ends(usage=usage)]

    model = ScriptedModel([play] * 60, info=replace(SCRIPTED, window=262_144))
    store = SqliteJournalStore(tmp_path / "journals")
    return Bench(folder, model, store=store, ratios=Ratios(tmp_path / "ratios.json"))


def shown(told: Breakdown) -> tuple[Any, ...]:
    """All that the gauge, the X-ray and the sparkline draw."""
    forecast = told.forecast
    return (
        told.total,
        told.measured,
        told.upper,
        told.parts,
        told.items,
        told.history,
        told.drift,
        forecast and (round(forecast.turns, 3), forecast.per_turn, forecast.samples),
    )


async def reopened(b: Bench, path: Path) -> Any:
    """As another start of the program: nothing in memory is the same."""
    assert b.ratios is not None
    b.ratios.save()
    b.ratios = Ratios(path / "ratios.json")
    return await b.open()


@pytest.mark.parametrize("every", [5, 1000])  # with a snapshot, and by replay
async def test_the_same_after_reopening(
    b: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(snapshot, "EVERY", every)
    c = await b.open()
    for n in range(5):
        await collect(c.send(f"Read the page, time {n}."))
    before = await c.breakdown()
    assert before.measured > 0.9 * before.total, "the last call was counted"
    assert len(before.history) == 10
    await c.close()
    c = await reopened(b, tmp_path)
    assert shown(await c.breakdown()) == shown(before)
    # And it goes on from there as if it had never been closed.
    await collect(c.send("Once more."))
    assert len((await c.breakdown()).history) == 12
    assert (await c.breakdown()).history[:10] == before.history
    await c.close()
    await b.close()


async def test_an_anchor_does_not_outlive_a_compaction_or_another_prompt(
    b: Bench, tmp_path: Path
) -> None:
    c = await b.open()
    for n in range(4):
        await collect(c.send(f"Read the page, time {n}."))
    await c.accept_compaction(await c.propose_compaction())
    before = await c.breakdown()
    await c.close()
    c = await reopened(b, tmp_path)
    again = await c.breakdown()
    assert (again.total, again.measured, again.history) == (before.total, 0, before.history)
    await c.undo_compaction()
    assert (await c.breakdown()).measured == 0
    await collect(c.send("Once more."))
    assert (await c.breakdown()).measured > 0
    await c.close()
    (b.folder / "AGENTS.md").write_text("Speak of every page in one sentence.\n" * 20)
    c = await reopened(b, tmp_path)
    again = await c.breakdown()
    assert again.measured == 0, "the instructions are new: nothing of it was ever counted"
    assert len(again.history) == 10
    await c.close()
    await b.close()


async def test_one_that_looks_on_sees_what_the_writer_measured(b: Bench) -> None:
    c = await b.open()
    await collect(c.send("Read the page."))
    other = await b.open()
    assert not other.writable
    changed = asyncio.Event()
    other.listen(lambda e: changed.set() if isinstance(e, ev.ContextChanged) else None)
    assert shown(await other.breakdown()) == shown(await c.breakdown())
    await collect(c.send("Read it again."))
    async with asyncio.timeout(20):
        while other.log.now.head < c.log.now.head:
            changed.clear()
            await changed.wait()
    assert shown(await other.breakdown()) == shown(await c.breakdown())
    await other.close()
    await c.close()
    await b.close()


@pytest.mark.parametrize(
    "broken",
    [
        None,
        3,
        {},
        {"messages": 1},
        {"messages": -1},
        {"call": {"measured": 1}},
        {"call": None},
        {"body": "x"},
        {"body": float("nan")},
    ],
)
def test_a_count_that_was_edited_says_nothing(broken: Any) -> None:
    call = {"measured": 9, "estimated": 8, "upper": 10, "window": 100, "model": "m", "at_us": 1}
    whole = {"call": call, "messages": 2, "body": 8.0, "tail": 0.0, "envelope": "e", "counter": "c"}
    known = Counted.from_json(whole)
    assert known is not None
    assert known.to_json() == whole
    if isinstance(broken, dict) and broken and broken != {"messages": 1}:
        broken = {**whole, **broken}
    assert Counted.from_json(broken) is None
