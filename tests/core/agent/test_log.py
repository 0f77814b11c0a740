"""The one door to the journal: records that wait for the next append, and cancelled appends."""

from __future__ import annotations

import asyncio
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent import engine, run
from desktop_app.core.agent.fold import fold
from desktop_app.core.agent.log import SessionLog
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import KEY, Disk
from tests.helpers.sessions import Bench, collect, kinds

OP = OpUpdate("op1", "done", "Read", "c1", "read")
CALL: dict[str, Any] = {"id": "c1", "name": "Read", "op_id": "op1", "type": "tool_call"}


class Opened:
    """A log in the middle of a step: a call of Read waits for its result."""

    def __init__(self, root: Path) -> None:
        self.disk = Disk()
        self.store = SqliteJournalStore(root / "journals", vfs=self.disk.name)
        self.heard: list[Any] = []

    async def __aenter__(self) -> Opened:
        self.log = SessionLog(await self.store.create(KEY, {}), self.heard.append)
        await self.log.load()
        user = {"reply_id": "r", "msg": Msg.user("read it").model_dump()}
        call = ToolCallBlock.model_validate(CALL).model_dump()
        said = {"reply_id": "r", "name": "a", "blocks": [call], "usage": None, "ops": ["op1"]}
        await self.log.append(NewRecord("user.message", user))
        await self.log.append(NewRecord("assistant.message", said))
        self.heard.clear()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.disk.before = lambda op, name: None
        await self.log.journal.close()

    def hold(self) -> bool:
        return self.log.hold(result_record(), [OP], lambda: self.heard.append("told"))

    async def check(self) -> None:
        """The live state is what the journal gives, field for field."""
        records = await self.log.journal.read()
        assert fold(records, KEY.session_id) == self.log.now.state
        assert records[-1].seq == self.log.now.head


def result_record() -> NewRecord:
    ours = {"slipway": {"op_id": "op1"}}
    block = ToolResultBlock(id="c1", name="Read", output=[TextBlock(text="line")], metadata=ours)
    body = {"reply_id": "r", "op_id": "op1", "block": block.model_dump()}
    return NewRecord("tool.result", body)


def request(n: int = 2) -> NewRecord:
    return NewRecord("model.request", {"reply_id": "r", "iteration": n, "model": "m"})


async def test_what_is_held_goes_to_disk_with_the_next_record_and_is_told_after(
    tmp_path: Path,
) -> None:
    async with Opened(tmp_path) as o:
        before = o.disk.syncs
        assert o.hold()
        assert o.log.now.calls() == []  # the state has it
        assert not o.hold()  # one at a time
        assert (o.heard, o.disk.syncs) == ([], before)
        written = await o.log.append(request())
        assert [r.kind for r in written] == ["model.request"]
        assert o.disk.syncs == before + 1
        assert [*map(type, o.heard)] == [ev.Saved, str]
        assert [op.state for op in await o.log.journal.operations()] == ["done"]
        await o.check()


async def test_flush_writes_what_is_held_alone_and_nothing_when_there_is_nothing(
    tmp_path: Path,
) -> None:
    async with Opened(tmp_path) as o:
        head = o.log.now.head
        await o.log.flush()
        assert (o.log.now.head, o.heard) == (head, [])
        o.hold()
        await o.log.flush()
        assert o.log.now.head == head + 1
        await o.check()


async def test_what_was_held_is_taken_back_when_the_disk_refuses_it_and_saved_later(
    tmp_path: Path,
) -> None:
    import apsw

    async with Opened(tmp_path) as o:

        def full(op: str, name: str) -> None:
            if op == "write":
                raise apsw.FullError("full")

        o.hold()
        o.disk.before = full
        with pytest.raises(SessionError, match=r"disk\.full"):
            await o.log.append(request())
        assert [c.id for c in o.log.now.calls()] == ["c1"]
        assert "told" not in o.heard
        o.disk.before = lambda op, name: None
        await o.check()
        await o.log.save_unsaved()
        assert o.log.now.calls() == []
        await o.check()


async def test_nothing_is_held_while_something_is_written(tmp_path: Path) -> None:
    async with Opened(tmp_path) as o, asyncio.TaskGroup() as group:
        writing = group.create_task(o.log.append(request()))
        await asyncio.sleep(0)
        assert not o.hold()
        await writing
        assert o.hold()
        await o.log.flush()
        await o.check()


@pytest.mark.parametrize("held", [False, True])
async def test_a_cancelled_append_leaves_the_state_that_a_replay_gives(
    tmp_path: Path, held: bool
) -> None:
    async with Opened(tmp_path) as o:
        head = o.log.now.head
        if held:
            o.hold()
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(o.log.append(request(7)))
            await asyncio.sleep(0)
            writing.cancel()
        assert writing.cancelled()
        assert o.log.now.head == head + 1 + held
        assert o.log.now.state.reply_context.cur_iter == 7
        assert ("told" in o.heard) == held
        await o.check()


async def test_a_step_that_only_reads_waits_twice_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it read is told as finished before the next call of the model begins."""
    monkeypatch.setattr(engine, "LOOK_SECONDS", math.inf)  # a look at the folder does not wait
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/page.txt").write_text("line\n")
    disk, marks = Disk(), list[int]()

    def play(_: Any) -> list[Any]:
        marks.append(disk.syncs)
        return [Call("Read", {"file_path": "page.txt"})] if len(marks) < 5 else [Say("done")]

    store = SqliteJournalStore(tmp_path / "journals", vfs=disk.name)
    bench = Bench(tmp_path / "folder", ScriptedModel([play], forever=True), store=store)
    talk = await bench.open()
    told = kinds(await collect(talk.send("read it again and again")))
    assert [b - a for a, b in pairwise(marks[1:5])] == [2, 2, 2]
    order = [k for k in told if k in ("ToolFinished", "ModelCallStarted")]
    assert order == ["ModelCallStarted", *["ToolFinished", "ModelCallStarted"] * 4]
    records = await talk.log.journal.read()
    assert fold(records, talk.state.session_id) == talk.state
    await talk.close()
    await bench.close()


@pytest.mark.parametrize("every", [0.0, 3600.0])
async def test_the_model_sees_a_result_that_is_not_on_disk_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: float
) -> None:
    """However often who uses the window is told while the result is waited for."""
    monkeypatch.setattr(run, "SHOWN_SECONDS", every)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/page.txt").write_text("line\n")
    seen = list[list[str]]()

    def play(request: Any) -> list[Any]:
        results = [r for m in request.messages for r in m.tool_results()]
        seen.append([r.state for r in results])
        return [Call("Read", {"file_path": "page.txt"})] if len(seen) < 4 else [Say("done")]

    bench = Bench(tmp_path / "folder", ScriptedModel([play], titles=[[Say("t")]], forever=True))
    talk = await bench.open()
    await collect(talk.send("read it again and again"))
    assert seen == [["success"] * n for n in range(4)]
    await talk.close()
    await bench.close()
