"""Two processes on one session: one writes, the other looks on; a dead or stopped owner."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import KEY, child, end, line, said


@pytest.fixture
def store(tmp_path):
    return SqliteJournalStore(tmp_path / "journals")


@pytest.fixture
def started():
    processes = []

    def start(*args):
        processes.append(child(*args))
        return processes[-1]

    yield start
    for process in processes:
        end(process)


def tell(process, text: str) -> str:
    process.stdin.write(f"{text}\n")
    return line(process)


async def test_a_second_process_reads_live_and_takes_over_when_the_owner_is_killed(store, started):
    await (await store.create(KEY, {})).close()
    owner = started(str(store.root), "hold")
    assert line(owner) == "writer"
    assert tell(owner, "hello") == "2"
    journal = await store.open(KEY)
    info = journal.info
    assert (info.writable, info.why, info.params["pid"]) == (False, "journal.in_use", owner.pid)
    waiting = asyncio.ensure_future(journal.wait_for_change(2, 30))
    assert await asyncio.to_thread(tell, owner, "again") == "3"
    assert await waiting == 3
    assert [r.body()["msg"] for r in await journal.read(after=1)] == ["hello", "again"]
    with pytest.raises(SessionError, match=r"journal\.readonly"):
        await journal.append([said("no")])
    with pytest.raises(SessionError, match=r"journal\.in_use"):
        await store.delete(KEY)
    await journal.close()

    owner.kill()
    owner.wait()
    began = time.monotonic()
    journal = await store.open(KEY)
    assert journal.info.writable
    assert time.monotonic() - began < 1
    assert (await journal.append([said("mine now")]))[0].seq == 4
    await journal.close()


async def test_a_stopped_owner_that_wakes_is_fenced(store, started):
    await (await store.create(KEY, {})).close()
    owner = started(str(store.root), "hold")
    assert line(owner) == "writer"
    assert tell(owner, "one") == "2"
    os.kill(owner.pid, signal.SIGSTOP)
    try:
        assert (await store.open(KEY)).info.why == "journal.in_use"
        journal = await store.open(KEY, steal=True)
        assert journal.info.writable
        await journal.append([said("two")])
    finally:
        os.kill(owner.pid, signal.SIGCONT)
    assert tell(owner, "three") == "journal.fenced"
    assert tell(owner, "four") == "journal.fenced"
    await journal.append([said("five")])
    assert [r.body()["msg"] for r in await journal.read(after=1)] == ["one", "two", "five"]
    assert await journal.verify() is None
    await journal.close()


async def test_of_several_that_open_at_once_exactly_one_writes(store, started):
    await (await store.create(KEY, {})).close()
    racers = [started(str(store.root), "race") for _ in range(3)]
    for process in racers:
        process.stdin.write("go\n")
    words = [line(process) for process in racers]
    assert sorted(words) == ["reader journal.in_use", "reader journal.in_use", "writer"]
    answers = [tell(process, "x") for process in racers]
    assert sorted(answers) == ["2", "journal.readonly", "journal.readonly"]


async def test_many_openings_in_one_process_at_once_have_one_writer(store):
    await (await store.create(KEY, {})).close()
    for _ in range(5):
        opened = await asyncio.gather(*(store.open(KEY) for _ in range(6)))
        assert sum(journal.info.writable for journal in opened) == 1
        for journal in opened:
            await journal.close()
