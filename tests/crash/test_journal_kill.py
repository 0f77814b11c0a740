"""kill -9 at any moment of writing: what was acknowledged is there and the chain is whole."""

from __future__ import annotations

import random
import signal
import time

import pytest

from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import KEY, child, end

pytestmark = pytest.mark.crash


async def check(store: SqliteJournalStore, lines: list[str]) -> int:
    """All of ``lines`` (what the child was acknowledged) is in the journal; its head."""
    journal = await store.open(KEY)
    assert journal.info.writable, journal.info
    assert await journal.verify() is None
    records = await journal.read()
    assert [r.seq for r in records] == list(range(1, len(records) + 1))
    ops = {op.op_id: op for op in await journal.operations()}
    for line in lines:
        seq, op_id = line.split()
        assert int(seq) <= len(records), "an acknowledged record is lost"
        assert ops[op_id].state in ("intent", "done")
        assert ops[op_id].intent_seq == int(seq)
    for record in records[1:]:
        assert await journal.get_blob(record.body()["blob"]), "a blob that a record names"
    # One transaction: a record and its operation are there together or not at all.
    started = {record.body()["n"] for record in records[1:]}
    assert started == {int(op_id.split(":")[1]) for op_id in ops}
    await journal.close()
    return len(records)


@pytest.mark.parametrize("seed", range(12))
async def test_killed_at_a_random_time(tmp_path, seed):
    rng = random.Random(seed)
    store = SqliteJournalStore(tmp_path)
    await (await store.create(KEY, {})).close()
    process = child(str(tmp_path), "write", "0")
    assert process.stdout.readline() == "writer\n"
    first = process.stdout.readline()
    time.sleep(rng.random() * 0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = [first.strip(), *process.stdout.read().split("\n")[:-1]]
    end(process)
    assert await check(store, lines) > 1


@pytest.mark.parametrize(
    "at", [1, 2, 3, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 50, 77, 120, 250]
)
async def test_killed_before_an_operation_on_the_disk(tmp_path, at):
    store = SqliteJournalStore(tmp_path)
    await (await store.create(KEY, {})).close()
    process = child(str(tmp_path), "write", "0", str(at))
    process.wait(60)
    assert process.returncode == -signal.SIGKILL
    said = process.stdout.read().split("\n")[:-1]
    end(process)
    await check(store, said[1:])
    # And it goes on: recovery left nothing that is in the way.
    journal = await store.open(KEY)
    assert journal.info.writable
    await journal.close()
