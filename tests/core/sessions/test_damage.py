"""A journal that was damaged: read up to the last good record, nothing deleted, nothing wrong."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.base import NewRecord, OpUpdate, SessionKey
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import KEY, said


@pytest.fixture
def store(tmp_path):
    return SqliteJournalStore(tmp_path / "journals")


async def fill(store, count: int, key: SessionKey = KEY) -> list[bytes]:
    journal = await store.create(key, {})
    for start in range(0, count, 50):
        ops = [OpUpdate(f"op{start}", "intent", "Bash")]
        texts = range(start, min(start + 50, count))
        await journal.append([said(f"message {n} " + "x" * (n * 37 % 900)) for n in texts], ops=ops)
    whole = [record.raw for record in await journal.read()]
    await journal.close()
    return whole


def sql(store, statement: str, *params, key: SessionKey = KEY) -> None:
    raw = sqlite3.connect(store.folder(key) / "journal.db")
    with raw:
        raw.execute(statement, params)
    raw.close()


CHANGES = {
    "body": ('UPDATE record SET body = CAST(\'{"msg":"forged"}\' AS BLOB) WHERE seq = ?', 300),
    "kind": ("UPDATE record SET kind = 'title' WHERE seq = ?", 300),
    "time": ("UPDATE record SET ts_us = ts_us + 1 WHERE seq = ?", 300),
    "hash": ("UPDATE record SET hash = zeroblob(32) WHERE seq = ?", 300),
    "blob": ("UPDATE record SET blob = '../../secret' WHERE seq = ?", 300),
    "gone": ("DELETE FROM record WHERE seq = ?", 300),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_damage_in_the_newest_records_is_found_when_opening(store, change):
    whole = await fill(store, 320)
    statement, seq = CHANGES[change]
    sql(store, statement, seq)
    journal = await store.open(KEY)
    info = journal.info
    assert (info.writable, info.why, info.params["seq"]) == (False, "journal.damaged", 300)
    assert info.head == 299
    assert [r.raw for r in await journal.read()] == whole[:299]
    assert [r.seq for r in await journal.read(newest_first=True, limit=1)] == [299]
    with pytest.raises(SessionError, match=r"journal\.damaged") as met:
        await journal.append([said("on top of damage")])
    assert met.value.params["seq"] == 300
    with pytest.raises(SessionError, match=r"journal\.damaged"):
        await journal.save_draft(b"no")
    after = [r.seq for r in await journal.salvage()]
    assert set(after) >= set(range(1, 322)) - {300}, "the rest can still be shown"
    await journal.close()
    raw = sqlite3.connect(store.folder(KEY) / "journal.db")
    left = raw.execute("SELECT count(*) FROM record").fetchone()[0]
    raw.close()
    assert left == (320 if change == "gone" else 321)


@pytest.mark.parametrize("change", ["body", "kind", "time"])
async def test_damage_further_back_is_found_when_it_is_read(store, change):
    whole = await fill(store, 600)
    statement, seq = CHANGES[change]
    sql(store, statement, seq)
    journal = await store.open(KEY)
    assert journal.info.writable, "opening checks the newest records only"
    assert len(await journal.read(newest_first=True, limit=200)) == 200
    with pytest.raises(SessionError, match=r"journal\.damaged") as met:
        await journal.read(after=250, limit=100)
    assert met.value.params["seq"] == 300
    assert [r.raw for r in await journal.read()] == whole[:299]
    assert not journal.info.writable
    await journal.close()


@pytest.mark.parametrize("change", CHANGES)
async def test_verify_finds_the_first_damage(store, change):
    await fill(store, 1200)
    statement, seq = CHANGES[change]
    sql(store, statement, seq)
    journal = await store.open(KEY)
    assert await journal.verify() == 300
    assert (journal.info.why, journal.info.head) == ("journal.damaged", 299)
    await journal.close()


async def test_a_record_put_in_between_is_found(store):
    await fill(store, 10)
    sql(store, "INSERT INTO record SELECT 12, kind, v, ts_us, gen, ignorable, crc, hash, blob, body"
        " FROM record WHERE seq = 5")  # fmt: skip
    journal = await store.open(KEY)
    assert journal.info.params["seq"] == 12
    await journal.close()


async def test_flipped_bytes_are_never_read_as_something_else(store, tmp_path):
    """Whatever byte changes: what is read is a beginning of what was written, and is all of it
    unless the journal says that it is damaged."""
    whole = await fill(store, 60)
    other = SessionKey("ann", "guide", "other")
    await fill(store, 5, other)
    path = store.folder(KEY) / "journal.db"
    clean = path.read_bytes()
    rng = random.Random(7)
    found = 0
    for _ in range(150):
        broken = bytearray(clean)
        for _ in range(rng.choice([1, 1, 1, 8, 600])):
            broken[rng.randrange(len(broken))] ^= rng.randrange(1, 256)
        path.write_bytes(broken)
        try:
            journal = await store.open(KEY)
        except SessionError as error:
            assert error.code in ("journal.damaged", "journal.newer", "disk.failed")  # noqa: PT017
            continue
        try:
            bad = await journal.verify()
            read = [record.raw for record in await journal.read()]
            await journal.operations()
            await journal.draft()
        except SessionError as error:
            assert error.code == "journal.damaged"  # noqa: PT017
            read = [record.raw for record in await journal.read()]
            bad = 0
        assert read == whole[: len(read)]
        if journal.info.why is None:
            assert read == whole
        found += bad is not None or journal.info.why is not None
        await journal.salvage()
        await journal.close()
        assert path.exists()
    assert found > 75, "most bytes of a journal are checked"
    untouched = await store.open(other)
    assert untouched.info.writable
    await untouched.close()


@pytest.mark.parametrize("junk", [b"", b"junk", bytes(9000), b"SQLite format 3\x00" + bytes(4080)])
async def test_a_file_that_is_no_journal_opens_empty_and_is_left_alone(store, junk):
    await fill(store, 3)
    path = store.folder(KEY) / "journal.db"
    path.write_bytes(junk)
    journal = await store.open(KEY)
    assert (journal.info.why, journal.info.head, await journal.read()) == ("journal.damaged", 0, [])
    assert (await journal.operations(), await journal.draft()) == ([], b"")
    assert await journal.snapshot() is None
    with pytest.raises(SessionError, match=r"journal\.damaged"):
        await journal.append([said("no")])
    await journal.close()
    assert path.read_bytes() == junk
    with pytest.raises(SessionError, match=r"session\.exists"):
        await store.create(KEY, {})


async def test_a_torn_log_gives_a_beginning(store, tmp_path):
    """The log cut at any sector, its index lost: a beginning of what was written, and writable."""
    journal = await store.create(KEY, {})
    await journal.append([said("early")])
    await journal.close()
    journal = await store.open(KEY)
    for n in range(8):
        await journal.append([said(f"{n} " + "x" * 700)])
    whole = [record.raw for record in await journal.read()]
    used = journal._file.log_bytes + 32 + 24 * (journal._file.log_bytes // 4096)
    image = tmp_path / "image"
    shutil.copytree(store.root, image, ignore=shutil.ignore_patterns("*-shm"))
    await journal.close()
    log = SqliteJournalStore(image).folder(KEY) / "journal.db-wal"
    content = log.read_bytes()
    seen: set[int] = set()
    for cut in range(0, used + 512, 512):
        torn = tmp_path / f"cut{cut}"
        shutil.copytree(image, torn)
        at = SqliteJournalStore(torn)
        (at.folder(KEY) / "journal.db-wal").write_bytes(content[:cut])
        journal = await at.open(KEY)
        read = [record.raw for record in await journal.read()]
        assert read == whole[: len(read)]
        assert len(read) >= 2
        assert journal.info.writable
        await journal.append([said("goes on")])
        assert await journal.verify() is None
        await journal.close()
        shutil.rmtree(torn)
        seen.add(len(read))
    assert seen == set(range(2, len(whole) + 1))


async def test_a_database_without_its_log_gives_a_beginning(store, tmp_path):
    journal = await store.create(KEY, {})
    for n in range(5):
        await journal.append([NewRecord("user.message", {"msg": str(n)})])
    whole = [record.raw for record in await journal.read()]
    image = tmp_path / "image"
    shutil.copytree(store.root, image, ignore=shutil.ignore_patterns("*-shm", "*-wal"))
    await journal.close()
    journal = await SqliteJournalStore(image).open(KEY)
    read = [record.raw for record in await journal.read()]
    assert read == whole[: len(read)]
    assert read
    assert journal.info.writable
    await journal.close()
