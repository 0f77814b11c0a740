"""The outbox: nothing that left a context is lost, whatever the workspace and the process do."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.messages import Base64Source, DataBlock, Msg, TextBlock, ToolResultBlock
from desktop_app.core.sessions.base import Journal, SessionKey
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.outbox import Outbox, Staged
from tests.helpers.backends import RemoteLikeBackend

KEY = SessionKey("u", "a", "s1")
B64 = base64.b64encode(b"\x89PNG fake").decode()


def message(text: str) -> Msg:
    return Msg(
        id=f"m-{text}", name="u", role="user", content=[TextBlock(id=f"b-{text}", text=text)]
    )


class World:
    """A journal, a workspace behind a backend that can fail, and an outbox over both."""

    def __init__(self, folder: Path, **faults: float) -> None:
        self.folder = folder
        self.store = MemoryJournalStore()
        self.backend = RemoteLikeBackend(LocalBackend(folder), **faults)
        self.workspace = LocalWorkspace(folder, id="w", backend=self.backend)
        self.journal: Journal
        self.outbox: Outbox

    async def start(self) -> World:
        self.journal = await self.store.create(KEY, {})
        self.outbox = Outbox(self.journal, self.workspace)
        await self.workspace.initialize()
        return self

    async def restart(self) -> None:
        """As after a crash: what was in memory is gone."""
        await self.journal.close()
        self.journal = await self.store.open(KEY)
        self.outbox = Outbox(self.journal, self.workspace)
        await self.outbox.load()

    async def commit(self, staged: Staged) -> None:
        self.outbox.add(await self.journal.append(staged.records, draft=None))

    async def say(self, *texts: str) -> None:
        msgs = [
            Msg(id=f"m-{t}", name="u", role="user", content=[TextBlock(id=f"b-{t}", text=t)])
            for t in texts
        ]
        await self.commit(await self.outbox.stage_messages("s1", msgs))

    async def texts(self) -> list[str]:
        read = await self.workspace.read_context("s1")
        assert not read.damaged
        return [m.text() for m in read.messages]

    @property
    def file(self) -> Path:
        return self.folder / ".slipway/sessions/s1/context.jsonl"


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World(tmp_path).start()


async def test_delivered_in_order_and_recorded(world: World) -> None:
    await world.say("1", "2")
    await world.say("3")
    assert world.outbox.pending() == 2
    assert not world.file.exists()  # committed first, delivered after
    assert await world.outbox.deliver()
    assert world.outbox.pending() == 0
    assert await world.texts() == ["1", "2", "3"]
    done = await world.journal.read(kinds=["offload.delivered"])
    promised = await world.journal.read(kinds=["offload"])
    assert [r.body()["id"] for r in done] == [r.body()["id"] for r in promised]
    await world.restart()
    assert world.outbox.pending() == 0


async def test_the_streaming_draft_is_left_alone(world: World) -> None:
    await world.journal.save_draft(b"half an answer")
    await world.say("1")
    await world.outbox.deliver()
    assert await world.journal.draft() == b"half an answer"


async def test_an_unreachable_workspace_blocks_nothing(world: World) -> None:
    world.backend.down = True
    await world.say("1")
    await world.say("2")
    assert not await world.outbox.deliver()
    assert world.outbox.pending() == 2
    assert world.outbox.error is not None
    assert world.outbox.error.code == "backend.unreachable"
    world.backend.down = False
    assert await world.outbox.deliver()
    assert world.outbox.error is None
    assert await world.texts() == ["1", "2"]


async def test_a_missing_folder_waits_and_is_not_made_again(world: World, tmp_path: Path) -> None:
    away = tmp_path.parent / f"{tmp_path.name}-away"
    tmp_path.rename(away)
    await world.say("1")
    assert not await world.outbox.deliver()
    assert world.outbox.error is not None
    assert world.outbox.error.code == "workspace.missing"
    assert not tmp_path.exists()
    away.rename(tmp_path)
    assert await world.outbox.deliver()
    assert await world.texts() == ["1"]


async def test_crash_between_delivery_and_record_repeats_nothing(world: World) -> None:
    await world.say("1", "2")
    for record in await world.journal.read(kinds=["offload"]):
        body = record.body()
        data = await world.journal.get_blob(body["blob"])
        await world.workspace.deliver(body["kind"], body["path"], data)
    await world.restart()
    assert world.outbox.pending() == 1
    assert await world.outbox.deliver()
    assert world.file.read_bytes().count(b"\n") == 2
    assert await world.texts() == ["1", "2"]


async def test_payloads_and_results(world: World) -> None:
    image = DataBlock(source=Base64Source(data=B64, media_type="image/png"), name="d.png")
    staged = await world.outbox.stage_data("s1", image)
    assert staged is not None
    assert staged.block is not None
    await world.commit(staged)
    assert await world.outbox.stage_data("s1", staged.block) is None
    paths = []
    for text in ("one", "one", "two"):
        result = ToolResultBlock(id="c", name="Bash", output=[TextBlock(text=text), image])
        staged = await world.outbox.stage_tool_result("s1", result)
        paths.append(staged.path)
        await world.commit(staged)
    raw = await world.outbox.stage_raw_result("s1", "c", b"three\xff")
    await world.commit(raw)
    base = ".slipway/sessions/s1/tool_result-c"
    assert [*paths, raw.path] == [f"{base}.txt", f"{base}.txt", f"{base}(1).txt", f"{base}(2).txt"]
    await world.restart()  # names are known from the journal alone
    again = ToolResultBlock(id="c", name="Bash", output="four")
    assert (await world.outbox.stage_tool_result("s1", again)).path == f"{base}(3).txt"
    assert await world.outbox.deliver()
    assert (world.folder / f"{base}.txt").read_text().startswith("one<data url='workspace:///data/")
    assert (world.folder / f"{base}(2).txt").read_bytes() == b"three\xff"
    (payload,) = (world.folder / ".slipway/data").iterdir()
    assert payload.read_bytes() == b"\x89PNG fake"


async def test_a_taken_name_moves_the_result_and_says_where(world: World) -> None:
    taken = world.folder / ".slipway/sessions/s1/tool_result-c.txt"
    taken.parent.mkdir(parents=True)
    taken.write_text("somebody else's")
    result = ToolResultBlock(id="c", name="Bash", output="ours")
    await world.commit(await world.outbox.stage_tool_result("s1", result))
    assert await world.outbox.deliver()
    assert taken.read_text() == "somebody else's"
    (done,) = await world.journal.read(kinds=["offload.delivered"])
    assert done.body()["path"] == "sessions/s1/tool_result-c(1).txt"
    assert (taken.parent / "tool_result-c(1).txt").read_text() == "ours"


async def test_a_lost_blob_does_not_stop_the_others(world: World) -> None:
    await world.say("1")
    await world.say("2")
    (first, _) = await world.journal.read(kinds=["offload"])
    world.journal._shelf.blobs.pop(first.body()["blob"])  # type: ignore[attr-defined]
    assert await world.outbox.deliver()
    assert world.outbox.broken == [first.body()["id"]]
    assert await world.texts() == ["2"]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    batches=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    lost=st.floats(0, 0.3),
)
def test_random_failures_and_restarts_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, seed: int, batches: list[int], lost: float
) -> None:
    """Invariant 5: at least once, first occurrences in order, nothing torn."""

    async def play() -> None:
        folder = tmp_path_factory.mktemp("w")
        world = World(folder, failures=0.15, lost_answers=lost, seed=seed)
        await world.start()
        said, number = [], 0
        for size in batches:
            texts = [str(number + n) for n in range(size)]
            number += size
            await world.say(*texts)
            said += texts
            await world.outbox.deliver()
            if number % 3 == 0:
                await world.restart()
        for _ in range(2000):
            if await world.outbox.deliver():
                break
        world.backend.failures = world.backend.lost_answers = 0
        assert world.outbox.pending() == 0
        assert await world.texts() == said
        await world.workspace.close()

    asyncio.run(play())


async def test_run_retries_with_growing_waits_and_wakes_for_more(tmp_path: Path) -> None:
    world = await World(tmp_path).start()
    waits: list[float] = []
    changes = 0

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 4:
            world.backend.down = False
        await asyncio.sleep(0)

    def changed() -> None:
        nonlocal changes
        changes += 1

    world.outbox = Outbox(world.journal, world.workspace, sleep=sleep, on_change=changed)
    world.backend.down = True
    async with asyncio.TaskGroup() as group:
        run = group.create_task(world.outbox.run())
        await world.say("1")
        while world.outbox.pending():
            await asyncio.sleep(0.001)
        assert waits == [0.5, 1, 2, 4]
        await world.say("2")
        while world.outbox.pending():
            await asyncio.sleep(0.001)
        run.cancel()
    assert await world.texts() == ["1", "2"]
    assert changes >= 4


async def test_a_kick_ends_the_wait(tmp_path: Path) -> None:
    world = await World(tmp_path).start()
    waiting = asyncio.Event()

    async def for_ever(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    world.outbox = Outbox(world.journal, world.workspace, sleep=for_ever)
    world.backend.down = True
    async with asyncio.TaskGroup() as group:
        run = group.create_task(world.outbox.run())
        await world.say("1")
        await waiting.wait()
        world.backend.down = False
        world.outbox.kick()
        while world.outbox.pending():
            await asyncio.sleep(0.001)
        run.cancel()


async def test_run_ends_when_the_journal_is_gone(world: World) -> None:
    await world.say("1")
    await world.journal.close()
    await asyncio.wait_for(world.outbox.run(), 5)
    assert world.outbox.error is not None
    assert world.outbox.error.code == "journal.closed"
