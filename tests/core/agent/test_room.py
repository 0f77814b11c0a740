"""The window fills: results are bounded, the history is compacted, and it can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.fold import Folder
from desktop_app.core.errors import ContextError, ModelError
from desktop_app.core.models.scripted import Call, Fail, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import KEY, Bench, collect, of


def long_session(tmp_path: Path, turns: int, *, fail_summary: bool = False) -> Bench:
    """A model whose every turn reads a file of about 1,500 words and answers."""
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "page.txt").write_text("".join(f"word{i} and more text here\n" for i in range(900)))

    def play(request):  # type: ignore[no-untyped-def]
        if request.purpose == "summary":
            if fail_summary:
                return [Fail(ModelError("model.unreachable"))]
            return [Say("# Goal\nread the page\n# Done\nread it many times")]
        if request.purpose == "title":
            return [Say("Reading")]
        last = request.messages[-1]
        if last.tool_results():
            return [Say("Read it. " + "filler words " * 40)]
        return [Call("Read", {"file_path": "page.txt"})]

    model = ScriptedModel([play] * (turns * 4 + 20))
    return Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))


async def fill(conversation, turns: int) -> list[ev.Event]:  # type: ignore[no-untyped-def]
    events: list[ev.Event] = []
    for n in range(turns):
        events += await collect(
            conversation.send(f"Read the page, time {n}. Never delete page.txt.")
        )
        if of(events, ev.CompactionFinished):
            break
    return events


async def test_a_full_window_offers_then_compacts_and_goes_on(tmp_path: Path) -> None:
    b = long_session(tmp_path, 30)
    c = await b.open()
    events = await fill(c, 30)
    done = of(events, ev.CompactionFinished)
    assert done, "the danger mark was never reached"
    assert of(events, ev.CompactionOffered), "the alert mark is passed first"
    record = done[0].record
    assert record.after < record.before
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    breakdown = await c.breakdown()
    assert sum(breakdown.parts.values()) == breakdown.total
    assert breakdown.upper <= breakdown.limits.usable
    text = "".join(m.to_json() for m in b.model.requests[-1].messages)
    assert "Never delete page.txt." in text, "the person's rule survives word for word"
    await c.outbox.deliver()
    offload = b.folder / record.offload_path
    assert offload.read_text().count("\n") >= 1
    await c.close()

    again = await b.open()
    assert again.state.model_dump() == c.state.model_dump()
    assert [r.gen for r in await again.compactions()] == [record.gen]
    await again.close()
    await b.close()


async def test_undo_restores_the_exact_prompt_and_replays(tmp_path: Path) -> None:
    b = long_session(tmp_path, 10)
    c = await b.open()
    await fill(c, 4)
    before = [m.to_json() for m in c.engine.prompt().messages]
    events = await collect(c.compact())
    assert of(events, ev.CompactionFinished), [
        e for e in events if isinstance(e, ev.CompactionFailed)
    ]
    assert [m.to_json() for m in c.engine.prompt().messages] != before
    undone = await c.undo_compaction()
    assert isinstance(undone[0], ev.CompactionUndone)
    assert [m.to_json() for m in c.engine.prompt().messages] == before
    folder = Folder(KEY.session_id)
    folder.replay(await c.log.journal.read())
    assert folder.now.state.model_dump() == c.state.model_dump()
    while await c.compactions():
        await c.undo_compaction()
    with pytest.raises(ContextError, match=r"compaction\.none"):
        await c.undo_compaction()
    await c.close()
    await b.close()


async def test_a_failed_summary_by_hand_changes_nothing(tmp_path: Path) -> None:
    b = long_session(tmp_path, 6, fail_summary=True)
    c = await b.open()
    await fill(c, 3)
    before = c.state.model_dump()
    head = c.log.now.head
    events = await collect(c.compact())
    assert of(events, ev.CompactionFailed)
    assert c.state.model_dump() == before
    assert c.log.now.head == head
    await c.close()
    await b.close()


async def test_at_the_danger_mark_the_ledger_alone_serves_when_the_model_fails(
    tmp_path: Path,
) -> None:
    b = long_session(tmp_path, 40, fail_summary=True)
    c = await b.open()
    events: list[ev.Event] = []
    for n in range(40):
        events += await collect(c.send(f"Read the page, time {n}."))
    assert of(events, ev.CompactionFinished)
    assert all(e.reason == "completed" for e in of(events, ev.RunFinished))
    for request in b.model.requests:
        assert request.purpose != "reply" or request.messages
    await c.close()
    await b.close()
