"""Opening stands on a snapshot and what came after it; a snapshot is never the truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop_app.core.agent import snapshot
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.sessions.base import Journal
from tests.helpers.sessions import Bench, collect


@pytest.fixture
def b(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(snapshot, "EVERY", 5)
    folder = tmp_path / "folder"
    folder.mkdir()

    def play(request):  # type: ignore[no-untyped-def]
        return [Say("Title")] if request.purpose == "title" else [Say("answer " * 50)]

    return Bench(folder, ScriptedModel([play] * 100))


async def read_after(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where readings of the journal began."""
    starts: list[int] = []
    original = type(journal).read

    async def read(self, **how):  # type: ignore[no-untyped-def]
        if not how.get("kinds"):
            starts.append(how.get("after", 0))
        return await original(self, **how)

    monkeypatch.setattr(type(journal), "read", read)
    return starts


async def test_opening_reads_only_what_came_after_the_snapshot(
    b: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = await b.open()
    for n in range(6):
        await collect(c.send(f"Question {n}"))
    state, head = c.state.model_dump(), c.log.now.head
    starts = await read_after(c.log.journal, monkeypatch)
    await c.close()
    c = await b.open()
    assert min(starts) > head - 10, "the beginning was read again"
    assert c.state.model_dump() == state
    assert (c.title, c.log.now.head) == ("Title", head)
    await c.close()
    await b.close()


async def test_a_snapshot_of_the_former_version_is_read(b: Bench) -> None:
    c = await b.open()
    await collect(c.send("Never delete a.txt."))
    now = c.log.now
    plain = json.loads(snapshot.dump(now)[2:].partition(b"\n")[0])
    former = json.dumps({**plain, "v": snapshot.FORMER}).encode()
    once = snapshot.load(b"\n".join([former, now.state.to_json().encode(), b""]), now.head)
    assert once is not None
    assert once.state.model_dump() == now.state.model_dump()
    await c.close()
    await b.close()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"v":1}', b'{"v":99,"head":5}'])
async def test_a_snapshot_that_does_not_fit_is_passed_over(b: Bench, damage: bytes) -> None:
    c = await b.open()
    for n in range(4):
        await collect(c.send(f"Question {n}"))
    state, head = c.state.model_dump(), c.log.now.head
    await c.log.journal.put_snapshot(head, damage)
    await c.close()
    c = await b.open()
    assert c.state.model_dump() == state
    await c.close()
    await b.close()


async def test_what_is_dumped_is_what_is_loaded(b: Bench) -> None:
    c = await b.open()
    await collect(c.send("Never delete a.txt."))
    now = c.log.now
    again = snapshot.load(snapshot.dump(now), now.head)
    assert again is not None
    assert again.state.model_dump() == now.state.model_dump()
    data = snapshot.dump(now)
    again = snapshot.load(data, now.head)
    assert again is not None
    assert snapshot.dump(again) == data, "what nobody looked at is written as it was"
    assert snapshot.load(data, now.head + 1) is None
    assert snapshot.load(data[:-9], now.head) is None, "it is cut short"
    assert snapshot.load(data[2:], now.head) is None
    await c.close()
    await b.close()


async def test_what_was_read_is_kept_with_it_and_not_read_again(b: Bench) -> None:
    c = await b.open()
    for n in range(6):
        await collect(c.send(f"Question {n}. You must never delete a{n}.txt."))
    account = c.engine.account()
    account.parts.of(c.state.context)
    await c.log.save_snapshot()
    await collect(c.send("One more."))
    await c.close()
    c = await b.open()
    account = c.engine.account()
    entries = account.parts.of(c.state.context)
    assert len(entries) == len(c.state.context)
    assert account.parts.read <= 2, "what the snapshot kept was read again"
    await c.close()
    await b.close()
