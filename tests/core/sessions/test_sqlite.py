"""What the SQLite journal adds to the contract: names, permissions, cost, versions, disks."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import shutil
import sqlite3
import stat
import tempfile
import time
from pathlib import Path

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions import schema
from desktop_app.core.sessions.base import NewRecord, SessionKey
from desktop_app.core.sessions.sqlite import SqliteJournalStore, part
from tests.helpers.journals import (
    KEY,
    Disk,
    broken_sync,
    full,
    largest_file,
    no_writing,
    said,
)

ODD_IDS = [
    "..", ".", "", "a/b", "../../etc/passwd", "C:\\x", "con", "NUL.txt", "a b", "A", "a",
    "\u00e9", "e\u0301", "会" * 200, "x" * 300, "end.", "nul\x00", "half \ud83d",
    "a-b", "a_b", "\U0001f680", "-rf", "~",
]  # fmt: skip


@pytest.fixture
def store(tmp_path):
    return SqliteJournalStore(tmp_path / "journals")


async def fill(store, count: int, key: SessionKey = KEY):
    journal = await store.create(key, {})
    for start in range(0, count, 500):
        texts = range(start, min(start + 500, count))
        await journal.append([said(f"message {n} " + "x" * 400) for n in texts])
    return journal


async def texts(journal) -> list[str]:
    return [record.body()["msg"] for record in await journal.read(after=1)]


async def test_no_id_leaves_the_folder_and_no_two_share_one(tmp_path, store):
    keys = [SessionKey(odd, "guide", odd) for odd in ODD_IDS]
    for key in keys:
        await (await store.create(key, {})).close()
    made = list(tmp_path.rglob("journal.db"))
    assert len(made) == len(ODD_IDS)
    assert all(path.resolve().is_relative_to(store.root.resolve()) for path in made)
    assert len({str(path).lower() for path in made}) == len(ODD_IDS)
    assert set(await store.keys()) == set(keys)
    assert all(len(part(odd).encode()) <= 120 for odd in ODD_IDS)
    for key in keys:
        journal = await store.open(key)
        assert (await journal.read())[0].body()["user_id"] == key.user_id
        await journal.close()
        await store.delete(key)
    assert await store.keys() == []


async def test_files_are_the_owners_alone(tmp_path, store):
    journal = await fill(store, 10)
    await journal.put_blob(b"x" * 1000)
    await journal.put_snapshot(3, b"state")
    for path in store.root.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    await journal.close()


async def test_one_sync_an_append_and_the_same_bytes_however_long_the_session(tmp_path):
    disk = Disk()
    store = SqliteJournalStore(tmp_path, vfs=disk.name)
    journal = await store.create(KEY, {})
    cost: list[tuple[int, int]] = []
    for fill_to in (10, 3000):
        while journal.info.head < fill_to:
            await journal.append([said("x" * 300)] * min(200, fill_to - journal.info.head))
        before = disk.syncs
        disk.writes.clear()
        for _ in range(40):
            await journal.append([said("x" * 300)])
        cost.append((disk.syncs - before, sum(len(data) for _, _, data in disk.writes)))
    await journal.close()
    (early_syncs, early_bytes), (late_syncs, late_bytes) = cost
    assert early_syncs <= 41
    assert late_syncs <= 41, "one each, one more when the log begins anew"
    assert late_bytes <= early_bytes * 1.5


async def test_a_draft_is_not_synced(tmp_path):
    disk = Disk()
    store = SqliteJournalStore(tmp_path, vfs=disk.name)
    journal = await store.create(KEY, {})
    await journal.append([said("x")])
    before = disk.syncs
    for _ in range(20):
        await journal.save_draft(b"so far" * 50)
    assert disk.syncs == before
    await journal.append([said("y")])
    assert disk.syncs == before + 1
    await journal.close()


async def test_opening_does_not_read_the_whole_session(store):
    await (await fill(store, 100)).close()
    long = SessionKey("ann", "guide", "long")
    await (await fill(store, 10_000, long)).close()

    async def seconds(key) -> float:
        began = time.perf_counter()
        journal = await store.open(key)
        assert len(await journal.read(newest_first=True, limit=50)) == 50
        spent = time.perf_counter() - began
        await journal.close()
        return spent

    short_time = min([await seconds(KEY) for _ in range(3)])
    long_time = min([await seconds(long) for _ in range(3)])
    assert long_time < max(4 * short_time, 0.1)


async def test_the_log_is_folded_back_while_appends_go_on(store):
    journal = await store.create(KEY, {})
    log = store.folder(KEY) / "journal.db-wal"
    for _ in range(60):
        await journal.append([said("x" * 200_000)])
        await asyncio.sleep(0)
    assert log.stat().st_size < 9 * 1024 * 1024, "12 MB were written"
    assert len(await journal.read()) == 61
    assert await journal.verify() is None
    await journal.close()
    assert not log.exists() or log.stat().st_size == 0


async def test_large_bodies_are_files_and_their_loss_is_damage(store):
    journal = await store.create(KEY, {})
    big = "中" * 200_000
    await journal.append([said("before"), said(big), said("after")])
    assert (store.folder(KEY) / "journal.db").stat().st_size < 200_000
    assert await texts(journal) == ["before", big, "after"]
    assert await journal.verify() is None
    (blob,) = [p for p in (store.folder(KEY) / "blobs").rglob("*") if p.is_file()]
    blob.write_bytes(blob.read_bytes()[:-1])
    with pytest.raises(SessionError, match=r"journal\.damaged") as met:
        await journal.read()
    assert met.value.params["seq"] == 3
    assert await texts(journal) == ["before"]
    assert (journal.info.writable, journal.info.head) == (False, 2)
    assert [r.seq for r in await journal.salvage()] == [1, 2, 4]
    await journal.close()


async def test_a_damaged_blob_is_told_and_put_right_by_the_same_bytes(store):
    journal = await store.create(KEY, {})
    ref = await journal.put_blob(b"result" * 100)
    path = store.folder(KEY) / "blobs" / ref.sha256[:2] / ref.sha256
    path.write_bytes(b"resulT" * 100)
    with pytest.raises(SessionError, match=r"blob\.corrupt"):
        await journal.get_blob(ref)
    await journal.put_blob(b"result" * 100)
    assert await journal.get_blob(ref) == b"result" * 100
    await journal.close()


async def test_damaged_and_foreign_snapshots_are_passed_over(store):
    journal = await fill(store, 10)
    for seq in (3, 5, 7):
        await journal.put_snapshot(seq, f"at {seq}".encode())
    folder = store.folder(KEY) / "snapshots"
    newest, second, third = sorted(folder.iterdir(), reverse=True)
    newest.write_bytes(newest.read_bytes()[:-1] + b"!")
    assert await journal.snapshot() == (5, b"at 5")
    other = await fill(store, 10, SessionKey("ann", "guide", "other"))
    await other.put_snapshot(5, b"theirs")
    await other.close()
    shutil.copy(store.folder(other.info.key) / "snapshots" / second.name, second)
    assert await journal.snapshot() == (3, b"at 3")
    third.write_bytes(b"\x00" * 50)
    assert await journal.snapshot() is None
    with pytest.raises(ValueError, match="no record 99"):
        await journal.put_snapshot(99, b"x")
    await journal.close()


async def test_a_newer_file_opens_read_only_and_stays_as_it_is(store):
    await (await fill(store, 20)).close()
    path = store.folder(KEY) / "journal.db"
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version={schema.VERSION + 1}")
    raw.close()
    before = path.read_bytes()
    journal = await store.open(KEY)
    assert (journal.info.writable, journal.info.why) == (False, "journal.newer")
    assert journal.info.schema == schema.VERSION + 1
    assert len(await journal.read()) == 21
    with pytest.raises(SessionError, match=r"journal\.readonly"):
        await journal.append([said("no")])
    await journal.close()
    assert path.read_bytes() == before


async def test_an_older_file_is_migrated_after_a_copy(store, monkeypatch):
    await (await fill(store, 20)).close()
    monkeypatch.setattr(schema, "VERSION", 2)
    monkeypatch.setitem(
        schema.MIGRATIONS, 1, lambda db: db.run("ALTER TABLE record ADD COLUMN later INTEGER")
    )
    journal = await store.open(KEY)
    assert (journal.info.schema, journal.info.writable) == (2, True)
    await journal.append([said("on")])
    assert await journal.verify() is None
    await journal.close()
    monkeypatch.undo()
    copy = sqlite3.connect(store.folder(KEY) / "journal.db.v1.backup")
    assert copy.execute("PRAGMA user_version").fetchall() == [(1,)]
    assert copy.execute("SELECT count(*) FROM record").fetchall() == [(21,)]
    copy.close()


async def test_a_migration_that_fails_changes_nothing(store, monkeypatch):
    await (await fill(store, 5)).close()

    def fails(db) -> None:
        db.run("DELETE FROM record")
        raise RuntimeError("no")

    monkeypatch.setattr(schema, "VERSION", 2)
    monkeypatch.setitem(schema.MIGRATIONS, 1, fails)
    with pytest.raises(RuntimeError):
        await store.open(KEY)
    monkeypatch.undo()
    journal = await store.open(KEY)
    assert journal.info.writable
    assert len(await journal.read()) == 6
    await journal.close()


async def test_a_cancelled_append_is_still_written_and_a_cancelled_open_holds_nothing(store):
    journal = await store.create(KEY, {})
    task = asyncio.ensure_future(journal.append([said("cut off")]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await texts(journal) == ["cut off"]
    await journal.close()
    task = asyncio.ensure_future(store.open(KEY))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(10):
        while not (journal := await store.open(KEY)).info.writable:
            await journal.close()
    await journal.close()


async def test_a_folder_that_vanishes_is_told_at_the_next_append(store):
    journal = await store.create(KEY, {})
    shutil.rmtree(store.folder(KEY))
    with pytest.raises(SessionError, match=r"journal\.missing"):
        await journal.append([said("into nothing")])
    with pytest.raises(SessionError, match=r"journal\.missing"):
        await journal.append([said("into nothing")])
    assert journal.info.writable is False
    await journal.close()


async def test_a_creation_that_was_cut_off_is_no_session_and_can_be_repeated(store):
    folder = store.folder(KEY)
    folder.mkdir(parents=True)
    (folder / "journal.db.new").write_bytes(b"half")
    (folder / "journal.db.new-journal").write_bytes(b"half")
    assert await store.keys() == []
    with pytest.raises(KeyError):
        await store.open(KEY)
    journal = await store.create(KEY, {})
    assert journal.info.head == 1
    await journal.close()


async def test_a_full_disk_is_told_nothing_is_half_there_and_it_goes_on(store):
    journal = await store.create(KEY, {})
    kept: list[str] = []
    with largest_file(64 * 1024), pytest.raises(SessionError, match=r"disk\.full") as met:
        for n in itertools.count():
            await journal.append([said(f"{n} " + "x" * 3000), said(f"{n} b")])
            kept += [f"{n} " + "x" * 3000, f"{n} b"]
    assert met.value.retryable
    assert await texts(journal) == kept
    with largest_file(1000), pytest.raises(SessionError, match=r"disk\.full"):
        await journal.put_blob(b"y" * 5000)
    assert not list(store.root.rglob("*.tmp"))
    await journal.append([said("space again")])
    await journal.put_blob(b"y" * 5000)
    assert await journal.verify() is None
    await journal.close()
    journal = await store.open(KEY)
    assert await texts(journal) == [*kept, "space again"]
    await journal.close()


async def test_no_session_is_made_on_a_full_disk(store):
    with largest_file(8192), pytest.raises(SessionError, match=r"disk\.full"):
        await store.create(KEY, {})
    assert await store.keys() == []
    await (await store.create(KEY, {})).close()


@pytest.mark.parametrize("failure", [full, broken_sync])
async def test_each_write_and_sync_of_an_append_may_fail(tmp_path, failure):
    """Fail the first, second, … operation on the disk: the append is refused whole, the next one
    works, and what was acknowledged is what is read after reopening."""
    disk = Disk()
    store = SqliteJournalStore(tmp_path, vfs=disk.name)
    journal = await store.create(KEY, {})
    wanted = "sync" if failure is broken_sync else "write"
    kept: list[str] = []
    for k in range(1, 12):
        left = k

        def fail(op: str, name: str) -> None:
            nonlocal left
            if op == wanted and name.endswith("-wal"):
                left -= 1
                if left == 0:
                    raise failure()

        await journal.save_draft(b"streaming")
        disk.before = fail
        try:
            await journal.append([said(f"{k} " + "x" * 6000), said(f"{k} b")])
        except SessionError as error:
            assert error.code == ("disk.full" if failure is full else "disk.failed")  # noqa: PT017
            disk.before = lambda op, name: None
            assert await texts(journal) == kept
            assert await journal.draft() == b"streaming"
            await journal.append([said(f"{k} again")])
            kept.append(f"{k} again")
        else:
            kept += [f"{k} " + "x" * 6000, f"{k} b"]
        disk.before = lambda op, name: None
    assert "1 again" in kept
    await journal.close()
    journal = await SqliteJournalStore(tmp_path).open(KEY)
    assert await texts(journal) == kept
    assert await journal.verify() is None
    await journal.close()


@pytest.mark.parametrize("seed", range(25))
async def test_after_a_power_cut_every_acknowledged_record_is_there(tmp_path, seed):
    rng = random.Random(seed)
    disk = Disk()
    store = SqliteJournalStore(tmp_path / "a", vfs=disk.name)
    journal = await store.create(KEY, {})
    kept: list[str] = []
    for n in range(rng.randrange(1, 30)):
        if rng.random() < 0.3:
            await journal.save_draft(rng.randbytes(rng.randrange(1, 9000)))
        else:
            text = f"{n} " + "x" * rng.randrange(5000)
            await journal.append([said(text)])
            kept.append(text)
        if rng.random() < 0.1:
            await journal.close()
            journal = await store.open(KEY)
    if rng.random() < 0.5:
        await journal.save_draft(b"never synced" * 200)
    after = SqliteJournalStore(tmp_path / "b")
    after.folder(KEY).mkdir(parents=True)
    disk.after_power_cut(after.folder(KEY), rng)
    await journal.close()
    journal = await after.open(KEY)
    assert journal.info.writable
    assert await texts(journal) == kept
    assert await journal.verify() is None
    await journal.close()


async def test_a_folder_that_may_not_be_written_is_read(monkeypatch):
    base = Path(tempfile.mkdtemp())
    try:
        store = SqliteJournalStore(base / "journals")
        await (await fill(store, 20)).close()
        crashed = SqliteJournalStore(base / "crashed")
        writer = await store.open(KEY)
        await writer.append([said("in the log")])
        shutil.copytree(store.root, crashed.root, ignore=shutil.ignore_patterns("*-shm"))
        await writer.close()
        with no_writing(base):
            for of, count in ((store, 22), (crashed, 22)):
                journal = await of.open(KEY)
                assert (journal.info.writable, journal.info.why) == (False, "disk.readonly")
                assert len(await journal.read()) == count
                with pytest.raises(SessionError, match=r"journal\.readonly"):
                    await journal.append([said("no")])
                await journal.close()
            with pytest.raises(SessionError, match=r"disk\.readonly"):
                await store.create(SessionKey("bob", "guide", "s1"), {})
            with pytest.raises(SessionError, match=r"disk\.readonly"):
                await store.delete(KEY)
    finally:
        shutil.rmtree(base)


async def test_times_do_not_order_anything(store):
    from desktop_app.core.ids import set_factories

    clock = iter([50.0, 40.0, 40.0, 4e9, -5.0, 0.0, 1.0])
    set_factories(clock=lambda: next(clock))
    try:
        journal = await store.create(KEY, {})
        for n in range(5):
            await journal.append([said(str(n))])
    finally:
        set_factories()
    assert await texts(journal) == [str(n) for n in range(5)]
    assert await journal.verify() is None
    await journal.close()


async def test_reading_leaves_nothing_beside_the_journal(store):
    await (await fill(store, 5)).close()
    before = sorted(os.listdir(store.folder(KEY)))
    journal = await store.open(KEY, write=False)
    await journal.read()
    await journal.close()
    assert sorted(os.listdir(store.folder(KEY))) == before


def test_a_kind_of_record_that_nobody_knows_is_kept():
    assert NewRecord("future.kind", {}).ignorable is False
