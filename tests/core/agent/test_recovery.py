"""What a process leaves that ended in the middle, and how the next one goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent import run
from desktop_app.core.agent.base import Decision
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock
from desktop_app.core.models.scripted import Call, Say, ScriptedModel, Wait
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.sessions.memory import MemoryJournalStore
from tests.helpers.sessions import KEY, Bench, collect, of

REPLY = "r" * 32


def call(op: str, name: str, args: dict) -> dict:
    return ToolCallBlock.model_validate(
        {"id": f"c-{op}", "name": name, "input": json.dumps(args), "op_id": op, "type": "tool_call"}
    ).model_dump()


async def left_behind(
    store: MemoryJournalStore, blocks: list, ops: list, draft: bytes = b""
) -> None:
    """A journal as a dead process left it: one open turn with ``blocks`` and ``ops``."""
    journal = await store.create(KEY, {"model": "scripted"})
    msg = Msg.user("do it").model_dump()
    await journal.append([NewRecord("user.message", {"reply_id": REPLY, "msg": msg})])
    request = {"reply_id": REPLY, "iteration": 1, "model": "scripted", "tokens": 1}
    await journal.append([NewRecord("model.request", request)])
    if blocks:
        body = {"reply_id": REPLY, "name": "Tester", "blocks": blocks, "finish": "tool_calls"}
        await journal.append([NewRecord("assistant.message", body)], ops=ops)
    if draft:
        await journal.save_draft(draft)
    await journal.close()


def bench(tmp_path: Path, store: MemoryJournalStore, *turns: list) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("alpha\n")
    return Bench(folder, ScriptedModel(list(turns)), store=store)


async def test_streamed_text_of_the_dead_process_is_kept_and_continued(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    draft = {"reply_id": REPLY, "blocks": [TextBlock(text="Half an ans").model_dump()]}
    await left_behind(store, [], [], json.dumps(draft).encode())
    b = bench(tmp_path, store, [Say("the other half")], [Say("t")])
    c = await b.open()
    assert c.state.context[-1].text() == "Half an ans"
    assert c.resumable == REPLY
    assert await c.log.journal.draft() == b""
    events = await collect(c.go_on())
    assert of(events, ev.RunFinished)[0].reason == "completed"
    assert "Half an ans" in c.state.context[-1].text()
    assert "the other half" in c.state.context[-1].text()
    await b.close()


async def test_text_is_saved_though_the_stream_fell_silent_after_it(tmp_path: Path) -> None:
    """A kill while the provider says nothing more must not lose what it had said."""
    never = asyncio.Event()
    store = MemoryJournalStore()
    b = bench(tmp_path, store, [Say("The storm came and "), Wait(never)], [Say("t")])
    c = await b.open()
    stream = c.send("tell me")
    async for event in stream:
        if isinstance(event, ev.TextDelta):
            break
    async with asyncio.timeout(20):
        while not (draft := await c.log.journal.draft()):
            await asyncio.sleep(0.02)
    assert json.loads(draft)["blocks"][0]["text"] == "The storm came and "
    await c.stop()
    assert await c.log.journal.draft() == b"", "nothing saved late comes back"
    assert "The storm came" in c.state.context[-1].text()
    await stream.aclose()
    await c.close()
    await b.close()


async def test_a_draft_that_cannot_be_saved_ends_the_answer_and_not_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "DRAFT_SECONDS", 0.01)
    tried, goes_on = asyncio.Event(), asyncio.Event()
    store = MemoryJournalStore()
    turn = [Say("The storm came and "), Wait(goes_on), Say("went")]
    b = bench(tmp_path, store, turn, [Say("t")], [Say("It went.")])
    c = await b.open()
    save_draft = c.log.journal.save_draft

    async def refused(_: bytes) -> None:
        tried.set()
        raise SessionError("disk.failed", path="journal.db")

    monkeypatch.setattr(c.log.journal, "save_draft", refused)
    running = asyncio.ensure_future(collect(c.send("tell me")))
    async with asyncio.timeout(20):
        await tried.wait()
    monkeypatch.setattr(c.log.journal, "save_draft", save_draft)
    goes_on.set()
    (end,) = of(await running, ev.RunFinished)
    assert (end.reason, end.code) == ("error", "disk.failed")
    assert "The storm came and" in c.state.context[-1].text()
    (end,) = of(await collect(c.go_on()), ev.RunFinished)
    assert end.reason == "completed"
    await c.close()
    await b.close()


async def test_an_unsafe_call_is_never_started_twice(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    args = {"command": "echo once >> log"}
    op = OpUpdate("o1", "intent", "Bash", "c-o1", "unsafe")
    await left_behind(store, [call("o1", "Bash", args)], [op])
    b = bench(tmp_path, store, [Say("I looked.")], [Say("t")])
    c = await b.open()
    assert c.recovered is not None
    assert c.recovered.operations == (("o1", "Bash", "unknown"),)
    result = c.state.context[-1].tool_results()[0]
    assert result.state == "error"
    assert "outcome is unknown" in result.text()
    await collect(c.go_on())
    assert not (b.folder / "log").exists()
    await b.close()


async def test_a_read_runs_again_under_the_same_operation(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    op = OpUpdate("o1", "intent", "Read", "c-o1", "read")
    await left_behind(store, [call("o1", "Read", {"file_path": "a.txt"})], [op])
    b = bench(tmp_path, store, [Say("It says alpha.")], [Say("t")])
    c = await b.open()
    events = await collect(c.go_on())
    done = of(events, ev.ToolFinished)
    assert [d.op_id for d in done] == ["o1"]
    assert "alpha" in done[0].result.text()
    operations = {o.op_id: o for o in await c.log.journal.operations()}
    assert (operations["o1"].state, operations["o1"].attempt) == ("done", 2)
    await b.close()


async def test_a_call_that_never_started_is_planned_anew_and_still_asks(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    await left_behind(store, [call("o1", "Bash", {"command": "make"})], [])
    b = bench(tmp_path, store, [Say("ok")], [Say("t")])
    c = await b.open()
    assert c.recovered is not None
    assert c.recovered.operations == (("o1", "Bash", "not_started"),)
    events = await collect(c.go_on())
    assert of(events, ev.ApprovalRequested)[0].approval.op_id == "o1"
    await b.close()


async def test_a_new_message_closes_what_was_left_open(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    await left_behind(store, [call("o1", "Bash", {"command": "make"})], [])
    b = bench(tmp_path, store, [Say("fine")], [Say("t")])
    c = await b.open()
    events = await collect(c.send("never mind"))
    assert of(events, ev.RunFinished)[-1].reason == "completed"
    results = [r for m in c.state.context for r in m.tool_results()]
    assert [r.state for r in results] == ["interrupted"]
    await b.close()


async def test_recovery_twice_is_recovery_once(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    op = OpUpdate("o1", "intent", "Bash", "c-o1", "unsafe")
    await left_behind(store, [call("o1", "Bash", {"command": "x"})], [op])
    b = bench(tmp_path, store)
    c = await b.open()
    head, state = c.log.now.head, c.state.model_dump()
    await c.close()
    c = await b.open()
    assert (c.log.now.head, c.state.model_dump()) == (head, state)
    await c.close()
    await b.close()


async def test_a_granted_call_is_not_asked_for_again_after_a_restart(tmp_path: Path) -> None:
    store = MemoryJournalStore()
    b = bench(tmp_path, store, [Call("Write", {"file_path": "b.txt", "content": "x"})], [Say("t")])
    c = await b.open()
    await collect(c.send("go"))
    pending = c.pending
    assert pending
    await c._record_decisions(pending.reply_id, [Decision(pending.approvals[0].op_id, True)])
    await c.close()
    b.model = ScriptedModel([[Say("done")], [Say("t")]])
    c = await b.open()
    events = await collect(c.go_on())
    assert not of(events, ev.ApprovalRequested)
    assert (b.folder / "b.txt").read_text() == "x"
    await c.close()
    await b.close()


async def test_a_read_that_nobody_was_asked_about_begins_without_a_commit(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        MemoryJournalStore(),
        [Call("Read", {"file_path": "a.txt"}), Call("TaskCreate", {"subject": "s"})],
        [Say("ok")],
        [Say("t")],
    )
    c = await b.open()
    await collect(c.send("go"))
    (task,) = await c.log.journal.operations()  # of the read there is its result
    assert (task.tool, task.state) == ("TaskCreate", "done")
    assert task.intent_seq is not None
    await c.close()
    await b.close()


async def test_a_read_that_is_stopped_is_told_as_stopped(tmp_path: Path) -> None:
    """Its beginning is in no journal, and the model still hears that it had begun."""
    b = bench(tmp_path, MemoryJournalStore(), [Call("Read", {"file_path": "a.txt"})])
    c = await b.open()
    backend = c._setting.workspace.get_backend()
    reading, never = asyncio.Event(), asyncio.Event()

    async def look(*_args: object, **_options: object) -> None:
        reading.set()
        await never.wait()

    backend.look_ahead = None  # as backends elsewhere
    backend.look = look  # a disk that does not answer
    run = asyncio.ensure_future(collect(c.send("go")))
    await reading.wait()
    await c.stop()
    await run
    result = c.state.context[-1].tool_results()[0]
    assert (result.state, "the call was stopped" in result.text()) == ("interrupted", True)
    await c.close()
    await b.close()
