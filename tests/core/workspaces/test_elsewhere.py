"""Offloads in a store of somebody else's: the help's own S3 example, against a server like S3."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Base64Source, DataBlock, Msg, TextBlock, ToolResultBlock
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.workspaces.elsewhere import Elsewhere, Parcel
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.outbox import Outbox
from tests.helpers.sessions import Bench, collect

ROOT = Path(__file__).parents[3]
KEY = SessionKey("u", "a", "s1")
PNG = base64.b64encode(b"\x89PNG not really").decode()


def example() -> Any:
    """The class of the help page, as it stands there."""
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "resources/help/offloader.md").read_text(), re.S
    )
    scope: dict[str, Any] = {}
    exec(blocks[1], scope)
    return scope["S3Offloader"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class Bucket:
    """What a person sees in their bucket."""

    def __init__(self, endpoint: str, name: str) -> None:
        import boto3

        self.client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self.name = name
        self.client.create_bucket(Bucket=name)

    def names(self) -> list[str]:
        found = self.client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return sorted(o["Key"] for o in found)

    def read(self, name: str) -> bytes:
        return self.client.get_object(Bucket=self.name, Key=name)["Body"].read()


@pytest.fixture
def bucket(endpoint: str, request: pytest.FixtureRequest) -> Bucket:
    return Bucket(endpoint, re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:50].strip("-"))


class World:
    """A session's journal with an outbox that delivers to an offloader."""

    def __init__(self, folder: Path, offloader: Any) -> None:
        self.folder, self.offloader, self.store = folder, offloader, MemoryJournalStore()

    async def start(self) -> World:
        self.workspace = LocalWorkspace(self.folder, id="w")
        await self.workspace.initialize()
        self.journal = await self.store.create(KEY, {})
        self._outbox()
        return self

    def _outbox(self, seconds: float = 60.0) -> None:
        away = Elsewhere(self.offloader, seconds)
        self.outbox = Outbox(self.journal, self.workspace, elsewhere=away)

    async def restart(self, seconds: float = 60.0) -> None:
        await self.journal.close()
        self.journal = await self.store.open(KEY)
        self._outbox(seconds)
        await self.outbox.load()

    async def keep(self, staged: Any) -> Any:
        self.outbox.add(await self.journal.append(staged.records, draft=None))
        return staged

    async def places(self) -> list[str]:
        return [r.body()["path"] for r in await self.journal.read(kinds=["offload.delivered"])]


def msg(name: str, *more: Any) -> Msg:
    text = TextBlock(id=f"b-{name}", text=f"said {name}")
    return Msg(id=name, name="u", role="user", content=[text, *more])


async def test_what_leaves_is_in_the_bucket_in_order_and_whole(
    tmp_path: Path, bucket: Bucket
) -> None:
    world = await World(tmp_path, example()(bucket.client, bucket.name, "p")).start()
    image = DataBlock(id="i", source=Base64Source(data=PNG, media_type="image/png"))
    await world.keep(await world.outbox.stage_messages("s1", [msg("1"), msg("2", image)]))
    one = ToolResultBlock(id="c1", name="Bash", output="first\n" * 100)
    staged = await world.keep(await world.outbox.stage_tool_result("s1", one))
    assert staged.path == "offload:sessions/s1/tool_result-c1.txt"
    assert not staged.file
    other = ToolResultBlock(id="c1", name="Bash", output="second")
    await world.keep(await world.outbox.stage_tool_result("s1", other))
    await world.keep(await world.outbox.stage_messages("s1", [msg("3")]))
    assert bucket.names() == [], "the journal has it first"
    assert await world.outbox.deliver()
    results = [f"p/sessions/s1/tool_result-c1{n}.txt" for n in ("", "(1)")]
    payload, first, last = sorted(set(bucket.names()) - set(results))
    assert bucket.read(payload) == base64.b64decode(PNG)
    lines = [json.loads(line) for n in (first, last) for line in bucket.read(n).splitlines()]
    assert [line["id"] for line in lines] == ["1", "2", "3"]
    assert lines[1]["content"][1]["source"]["url"] == f"s3://{bucket.name}/{payload}"
    assert [bucket.read(n) for n in results] == [b"first\n" * 100, b"second"]
    order = [payload, first, *results, last]
    assert await world.places() == [f"s3://{bucket.name}/{n}" for n in order]
    assert not (tmp_path / ".slipway").exists(), "nothing of it went to the folder"


async def test_a_delivery_without_a_receipt_is_the_same_object_again(
    tmp_path: Path, bucket: Bucket
) -> None:
    world = await World(tmp_path, example()(bucket.client, bucket.name, "p")).start()
    image = DataBlock(id="i", source=Base64Source(data=PNG, media_type="image/png"))
    await world.keep(await world.outbox.stage_messages("s1", [msg("1", image)]))
    append = world.journal.append

    async def killed(*records: Any, **how: Any) -> Any:
        if len(await world.places()) == 1:
            raise RuntimeError("killed")
        return await append(*records, **how)

    world.journal.append = killed  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="killed"):
        await world.outbox.deliver()
    before = {n: bucket.read(n) for n in bucket.names()}
    assert len(before) == 2
    world.journal.append = append  # type: ignore[method-assign]
    await world.restart()
    assert await world.outbox.deliver()
    assert {n: bucket.read(n) for n in bucket.names()} == before
    assert len(await world.places()) == 2


class Bad:
    """An offloader of the seeds' two methods that does not always do."""

    def __init__(self) -> None:
        self.mood: Any = None
        self.got: list[Any] = []

    async def offload_context(self, session_id: str, msgs: list[Msg], **kwargs: Any) -> str:
        if self.mood == "hang":
            await asyncio.Event().wait()
        if isinstance(self.mood, BaseException):
            raise self.mood
        self.got.append([m.id for m in msgs])
        return "row 1"

    async def offload_tool_result(self, session_id: str, tool_result: Any, **kwargs: Any) -> str:
        self.got.append(tool_result.id)
        return "row 2"


@pytest.mark.parametrize("mood", [ValueError("no such table"), OSError("down"), "hang"])
async def test_one_that_fails_or_hangs_loses_nothing_and_is_tried_again(
    tmp_path: Path, mood: Any
) -> None:
    bad = Bad()
    world = await World(tmp_path, bad).start()
    await world.restart(seconds=0.05)
    await world.keep(await world.outbox.stage_messages("s1", [msg("1")]))
    raw = await world.outbox.stage_raw_result("s1", "../../x", b"whole \xff")
    await world.keep(raw)
    bad.mood = mood
    assert not await world.outbox.deliver()
    assert world.outbox.error is not None
    assert world.outbox.error.code == "offload.refused"
    assert world.outbox.error.retryable
    assert world.outbox.pending() == 2
    bad.mood = None
    assert await world.outbox.deliver()
    assert bad.got[0] == ["1"]
    assert "/" not in bad.got[1]
    assert await world.places() == ["row 1", "row 2"]


async def test_without_the_third_method_payloads_stay_in_the_workspace(tmp_path: Path) -> None:
    world = await World(tmp_path, Bad()).start()
    image = DataBlock(id="i", source=Base64Source(data=PNG, media_type="image/png"))
    await world.keep(await world.outbox.stage_messages("s1", [msg("1", image)]))
    assert await world.outbox.deliver()
    [file] = (tmp_path / ".slipway" / "data").iterdir()
    assert file.read_bytes() == base64.b64decode(PNG)


async def test_a_block_that_came_back_without_a_url_is_told() -> None:
    class Odd(Bad):
        async def offload_data_block(self, block: DataBlock) -> DataBlock:
            return block

    parcel = Parcel("data", "s1", f"data/{'0' * 64}.png", 3)
    with pytest.raises(WorkspaceError, match=r"offload\.refused"):
        await Elsewhere(Odd()).deliver(parcel, b"x", {})


async def test_a_whole_session_offloads_there_and_the_agent_reads_it_back(
    tmp_path: Path, bucket: Bucket
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "big.txt").write_text("".join(f"line {n} of it, and more\n" for n in range(9000)))
    seen: list[str] = []

    def note(request: Any) -> list[Any]:
        [result] = request.messages[-1].tool_results()
        seen.append(result.text())
        return [Call("context_read", {"ref": re.findall(r"with ref '([^']+)'", seen[0])[0]})]

    def last(request: Any) -> list[Any]:
        [result] = request.messages[-1].tool_results()
        seen.append(result.text())
        return [Say("Done")]

    read = [Call("Bash", {"command": "cat big.txt"})]
    b = Bench(folder, ScriptedModel([read, note, last, [Say("Title")]]))
    b.offloader = example()(bucket.client, bucket.name, "p")
    c = await b.open()
    await collect(c.send("Read it."))
    assert "offload:sessions/s1/tool_result-" in seen[0]
    assert "with Read" not in seen[0], "no file of the folder"
    assert "line 0 of it" in seen[1]
    assert await c.outbox.deliver()
    [name] = bucket.names()
    assert bucket.read(name).splitlines()[-1] == b"line 8999 of it, and more"
    await c.close()
    await b.close()
