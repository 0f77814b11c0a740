"""The one door to the journal: records that wait for the next append, and cancelled appends."""

from __future__ import annotations

import asyncio
import math
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent import engine, log, run
from desktop_app.core.agent.fold import fold
from desktop_app.core.agent.log import SessionLog
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.journals import KEY, Disk
from tests.helpers.sessions import Bench, collect, kinds, of

OP = OpUpdate("op1", "done", "Read", "c1", "read")
TOLD = ev.ToolStarted("r", "told")
CALL: dict[str, Any] = {"id": "c1", "name": "Read", "op_id": "op1", "type": "tool_call"}


class Opened:
    """A log in the middle of a step: a call of Read waits for its result."""

    def __init__(self, root: Path) -> None:
        self.disk = Disk()
        self.store = SqliteJournalStore(root / "journals", vfs=self.disk.name)
        self.heard: list[Any] = []

    async def __aenter__(self) -> Opened:
        self.loop = asyncio.get_running_loop()
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
        held = self.log.hold(result_record(), [OP])
        if held:
            self.log.tell(TOLD)
        return held

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
        assert (o.heard, o.disk.syncs) == ([], before)
        written = await o.log.append(request())
        assert [r.kind for r in written] == ["model.request"]
        assert o.disk.syncs == before + 1
        assert [*map(type, o.heard)] == [ev.Saved, ev.ToolStarted]
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
        assert TOLD not in o.heard
        o.disk.before = lambda op, name: None
        await o.check()
        await o.log.save_unsaved()
        assert o.log.now.calls() == []
        await o.check()


async def test_who_looks_while_what_was_held_is_taken_back_sees_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import apsw

    async with Opened(tmp_path) as o:

        def full(op: str, name: str) -> None:
            if op == "write":
                raise apsw.FullError("full")

        seen: list[int] = []
        read = o.log.journal.read

        async def watched(**more: Any) -> Any:
            seen.append(len(o.log.now.state.context))
            return await read(**more)

        o.hold()
        o.disk.before = full
        changes = o.log.changes
        monkeypatch.setattr(o.log.journal, "read", watched)
        with pytest.raises(SessionError, match=r"disk\.full"):
            await o.log.append(request())
        assert set(seen) == {2}
        assert o.log.changes > changes
        o.disk.before = lambda op, name: None
        await o.check()


async def test_what_was_refused_is_saved_once_though_saving_it_is_cancelled(
    tmp_path: Path,
) -> None:
    import apsw

    async with Opened(tmp_path) as o:

        def full(op: str, name: str) -> None:
            if op == "write":
                raise apsw.FullError("full")

        async def cancelled() -> None:
            saving = asyncio.ensure_future(o.log.save_unsaved())
            await asyncio.sleep(0)
            saving.cancel()
            await asyncio.wait([saving])
            assert saving.cancelled()

        o.disk.before = full
        with pytest.raises(SessionError, match=r"disk\.full"):
            await o.log.append(request(7), keep=True)
        head = o.log.now.head
        await cancelled()
        assert o.log.now.head == head  # still refused
        o.disk.before = lambda op, name: None
        await cancelled()
        assert o.log.now.head == head + 1
        assert await o.log.save_unsaved() == []
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
        assert (TOLD in o.heard) == held
        await o.check()


async def test_a_step_that_only_reads_waits_once_for_the_disk(
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
    assert [b - a for a, b in pairwise(marks[1:5])] == [1, 1, 1]
    step = ["ModelCallFinished", "ToolCallReady", "ToolStarted", "ToolFinished", "ModelCallStarted"]
    order = [k for k in told if k in step]
    assert order == ["ModelCallStarted", *step * 4, "ModelCallFinished"]
    assert told.index("ModelCallFinished") > told.index("Saved", told.index("ModelCallStarted"))
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


async def test_what_no_append_follows_goes_to_disk_by_itself(tmp_path: Path) -> None:
    async with Opened(tmp_path) as o:
        head = o.log.now.head
        assert o.hold()
        async with asyncio.timeout(30):
            while TOLD not in o.heard:
                await asyncio.sleep(0.001)
        assert o.log.now.head == head + 1
        await o.check()
        await o.log.append(request())
        assert o.hold()  # as ever
        await o.log.flush()
        await o.check()


async def test_the_error_of_what_nobody_waited_for_is_told_to_who_appends_next(
    tmp_path: Path,
) -> None:
    import apsw

    async with Opened(tmp_path) as o:
        tried = asyncio.Event()

        def full(op: str, name: str) -> None:
            if op == "write":
                o.loop.call_soon_threadsafe(tried.set)
                raise apsw.FullError("full")

        o.hold()
        o.disk.before = full
        async with asyncio.timeout(30):
            await tried.wait()
        o.disk.before = lambda op, name: None
        assert not o.hold()  # the state that the journal has lacks what this would follow
        with pytest.raises(SessionError, match=r"disk\.full"):
            await o.log.append(request(), keep=True)
        assert [c.id for c in o.log.now.calls()] == ["c1"]
        assert TOLD not in o.heard
        await o.check()
        await o.log.save_unsaved()  # in their order
        assert [r.kind for r in await o.log.journal.read()][-2:] == ["tool.result", "model.request"]
        assert o.log.now.calls() == []
        await o.check()


async def test_what_is_held_or_was_refused_is_written_when_the_session_closes(
    tmp_path: Path,
) -> None:
    import apsw

    async with Opened(tmp_path) as o:
        tried = asyncio.Event()

        def full(op: str, name: str) -> None:
            if op == "write":
                o.loop.call_soon_threadsafe(tried.set)
                raise apsw.FullError("full")

        o.hold()
        o.disk.before = full
        async with asyncio.timeout(30):
            await tried.wait()
        o.disk.before = lambda op, name: None
        await o.log.close()
        journal = await o.store.open(KEY)
        assert (await journal.read())[-1].kind == "tool.result"
        await journal.close()


async def test_a_cancelled_append_that_the_disk_refused_tells_nothing(tmp_path: Path) -> None:
    import apsw

    async with Opened(tmp_path) as o:

        def full(op: str, name: str) -> None:
            if op == "write":
                raise apsw.FullError("full")

        o.hold()
        o.disk.before = full
        append = asyncio.ensure_future(o.log.append(request()))
        await asyncio.sleep(0)
        append.cancel()
        await asyncio.wait([append])
        assert append.cancelled()
        assert TOLD not in o.heard
        assert [c.id for c in o.log.now.calls()] == ["c1"]
        o.disk.before = lambda op, name: None
        await o.check()


class Slow:
    """A folder whose files are looked at only when the gate is open."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        real = LocalBackend.look_ahead

        def look_ahead(backend: LocalBackend, path: str, **more: Any) -> Any:
            begun = real(backend, path, **more)
            do = begun._do
            begun._do = lambda: (self.gate.wait(30), do())[1]
            return begun

        monkeypatch.setattr(LocalBackend, "look_ahead", look_ahead)


def reader(tmp_path: Path) -> Bench:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/page.txt").write_text("line\n")
    call = Call("Read", {"file_path": "page.txt"}, call_id="c1")
    model = ScriptedModel([[Say("I look."), call], [Say("done")]], titles=[[Say("t")]])
    return Bench(tmp_path / "folder", model, store=SqliteJournalStore(tmp_path / "journals"))


async def test_an_answer_does_not_wait_long_for_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, bench = Slow(monkeypatch), reader(tmp_path)
    talk = await bench.open()
    heard: list[Any] = []
    talk.listen(heard.append)
    running = asyncio.ensure_future(collect(talk.send("read it")))
    async with asyncio.timeout(30):
        while not of(heard, ev.ModelCallFinished):
            await asyncio.sleep(0.001)
    assert not of(heard, ev.ToolFinished)
    assert (await talk.log.journal.read())[-1].kind == "assistant.message"
    slow.gate.set()
    await running
    assert of(heard, ev.ToolFinished)[0].state == "success"
    assert fold(await talk.log.journal.read(), talk.state.session_id) == talk.state
    await talk.close()
    await bench.close()


async def test_an_answer_that_is_stopped_while_it_waits_for_the_disk_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "HELD_SECONDS", 3600.0)
    slow, bench = Slow(monkeypatch), reader(tmp_path)
    talk = await bench.open()
    running = asyncio.ensure_future(collect(talk.send("read it")))
    async with asyncio.timeout(30):
        while not talk.log.holding:
            await asyncio.sleep(0.001)
    await talk.stop()
    slow.gate.set()
    told = await running
    assert of(told, ev.ModelCallFinished)
    assert [r.state for r in talk.state.context[-1].tool_results()] == ["interrupted"]
    assert talk.state.context[-1].text() == "I look."
    assert fold(await talk.log.journal.read(), talk.state.session_id) == talk.state
    await talk.close()
    await bench.close()
