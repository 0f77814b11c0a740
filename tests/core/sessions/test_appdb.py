"""app.db: rows, trash with undo, forgetting, versions, backups and damage."""

from __future__ import annotations

import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions import appdb_file
from desktop_app.core.sessions.appdb import AgentRow, AppDb, Placement, WorkspaceRow
from desktop_app.core.sessions.base import NewRecord, SessionKey
from desktop_app.core.sessions.memory import MemoryJournalStore

KEY = SessionKey("ann", "guide", "s1")


@pytest.fixture
async def db(tmp_path):
    opened = await AppDb.open(tmp_path / "app.db")
    yield opened
    await opened.close()


async def test_workspaces_keep_every_field_and_the_persons_order(db, tmp_path):
    notes = WorkspaceRow(
        "w1", "Notes 笔记", folder="/home/ann/notes", root="/home/ann/notes/.slipway",
        generation="C", trusted=True, config={"image": "x"}, last_used_us=5,
    )  # fmt: skip
    for row in [notes, WorkspaceRow("w2", "Code", backend="docker"), WorkspaceRow("w3", "Third")]:
        await db.put_workspace(row)
    await db.order_workspaces(["w3", "w1"])
    await db.rename_workspace("w2", "Code\n<b>/x")
    await db.trust_workspace("w2", True)
    await db.close()
    db = await AppDb.open(tmp_path / "app.db")
    third, first, second = await db.workspaces()
    assert [third.id, first.id, second.id] == ["w3", "w1", "w2"]
    assert first.config == {"image": "x"}
    assert (first.name, first.folder, first.generation) == ("Notes 笔记", notes.folder, "C")
    assert first.trusted
    assert first.last_used_us == 5
    assert (second.name, second.backend, second.trusted) == ("Code\n<b>/x", "docker", True)
    await db.put_workspace(WorkspaceRow("w1", "Renamed"))
    assert [row.id for row in await db.workspaces()] == ["w3", "w1", "w2"]
    await db.close()


async def test_a_part_of_the_config_is_kept_beside_what_others_change(db):
    off = {"ann": ["one"], "bob": []}
    await db.put_workspace(
        WorkspaceRow("w1", "Notes", config={"docker": {"image": "x"}, "skills_off": off})
    )
    await db.forget_workspace("w1")
    left = 1_764_488_000_123_456_789
    await db.configure("w1", machine="笔记", left_ns=left, skills_off={"bob": ["two"]})
    row = await db.workspace("w1")
    assert row.config == {
        "docker": {"image": "x"}, "machine": "笔记", "left_ns": left,
        "skills_off": {"ann": ["one"], "bob": ["two"]},
    }  # fmt: skip
    assert row.forgotten_us is not None
    with pytest.raises(KeyError):
        await db.configure("w9", machine="x")


async def test_a_forgotten_workspace_keeps_its_sessions_and_can_be_recalled(db):
    await db.put_workspace(WorkspaceRow("w1", "Notes", folder="/n"))
    await db.place(Placement(KEY, "w1", "Plan"))
    await db.forget_workspace("w1")
    assert await db.workspaces() == []
    assert [row.id for row in await db.workspaces(forgotten=True)] == ["w1"]
    assert (await db.workspace_of("/n")).forgotten_us is not None
    assert [p.key for p in await db.placements("w1")] == [KEY]
    await db.recall_workspace("w1")
    assert [row.id for row in await db.workspaces()] == ["w1"]
    with pytest.raises(KeyError):
        await db.forget_workspace("nobody")
    with pytest.raises(KeyError):
        await db.workspace("nobody")


async def test_agents(db):
    agent = AgentRow("a1", "Guide", "Be plain.", "guide", ("Read", "Bash"), {"mode": "default"}, 2)
    await db.put_agent(agent)
    await db.put_agent(AgentRow("a0", "First", position=1))
    assert [row.id for row in await db.agents()] == ["a0", "a1"]
    assert await db.agent("a1") == agent
    made = replace(agent, mode="explore", made_us=7)
    await db.put_agent(made)
    assert await db.agent("a1") == made
    await db.remove_agent("a1")
    with pytest.raises(KeyError):
        await db.agent("a1")


async def test_sessions_pinned_first_titled_tagged_and_moved(db):
    other = SessionKey("ann", "guide", "s2")
    await db.place(Placement(KEY, "w1", created_us=1))
    await db.place(Placement(other, "w1", created_us=2))
    await db.pin(KEY, True)
    await db.set_title(KEY, "t" * 10_000)
    await db.tag(KEY, ["work", "工作"])
    first, second = await db.placements("w1")
    assert (first.key, first.pinned, first.tags) == (KEY, True, ("work", "工作"))
    assert first.title == "t" * 10_000
    assert second.key == other
    await db.move(other, "w2")
    assert [p.key for p in await db.placements("w1")] == [KEY]
    assert len(await db.placements()) == 2
    with pytest.raises(KeyError):
        await db.pin(SessionKey("ann", "guide", "nobody"), True)


async def test_trash_undo_and_purge(db):
    store = MemoryJournalStore()
    await (await store.create(KEY, {})).close()
    await db.place(Placement(KEY, "w1", "Plan", pinned=True))
    with pytest.raises(SessionError, match=r"session\.not_trashed"):
        await db.purge(KEY, store)
    await db.trash(KEY)
    assert await db.placements("w1") == []
    assert [p.title for p in await db.placements("w1", trashed=True)] == ["Plan"]
    await db.restore(KEY)
    (back,) = await db.placements("w1")
    assert (back.pinned, back.trashed_us) == (True, None)
    await db.trash(KEY)
    await db.purge(KEY, store)
    assert await store.keys() == []
    assert await db.placements("w1", trashed=True) == []


async def test_the_file_is_the_owners_alone(db, tmp_path):
    await db.put_agent(AgentRow("a", "A"))
    for path in tmp_path.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


async def test_damage_is_set_aside_the_backup_used_and_the_rest_rebuilt_from_journals(tmp_path):
    path = tmp_path / "app.db"
    store = MemoryJournalStore()
    db = await AppDb.open(path)
    await db.put_workspace(WorkspaceRow("w1", "Notes"))
    await db.place(Placement(KEY, "w1", "Old"))
    await db.close()
    await (await AppDb.open(path)).close()
    (tmp_path / "backups").rename(tmp_path / "moved")  # so that the next opening makes one anew
    await (await AppDb.open(path)).close()
    assert len(appdb_file.backups(path)) == 1
    late = await store.create(SessionKey("ann", "guide", "s2"), {"workspace_id": "w1"})
    await late.append([NewRecord("title", {"title": "First"})])
    await late.append([NewRecord("title", {"title": "Newest"})])
    await late.close()
    broken = bytearray(path.read_bytes())
    broken[4096 : 4096 * 3] = b"\xff" * 4096 * 2
    path.write_bytes(broken)

    db = await AppDb.open(path)
    (notice,) = db.notices
    assert notice.code == "appdb.damaged"
    assert Path(notice.params["aside"]).read_bytes() == bytes(broken)
    assert [row.name for row in await db.workspaces()] == ["Notes"]
    assert [p.title for p in await db.placements("w1")] == ["Old"]
    assert await db.rebuild(store) == 1
    assert {p.title for p in await db.placements("w1")} == {"Old", "Newest"}
    assert await db.rebuild(store) == 0
    await db.close()


@pytest.mark.parametrize("junk", [b"not a database at all", bytes(8192), b"SQLite format 3\x00"])
async def test_a_file_that_is_no_database_is_kept_and_the_program_opens(tmp_path, junk):
    path = tmp_path / "app.db"
    path.write_bytes(junk)
    db = await AppDb.open(path)
    (notice,) = db.notices
    assert Path(notice.params["aside"]).read_bytes() == junk
    await db.put_agent(AgentRow("a", "A"))
    await db.close()


async def test_a_newer_file_is_read_and_not_changed(tmp_path):
    path = tmp_path / "app.db"
    db = await AppDb.open(path)
    await db.put_agent(AgentRow("a", "A"))
    await db.close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version={appdb_file.VERSION + 1}")
    raw.close()
    before = path.read_bytes()
    db = await AppDb.open(path)
    assert [n.code for n in db.notices] == ["appdb.newer"]
    assert not db.writable
    assert [row.id for row in await db.agents()] == ["a"]
    with pytest.raises(SessionError, match=r"appdb\.newer"):
        await db.put_agent(AgentRow("b", "B"))
    await db.close()
    assert path.read_bytes() == before


async def test_agents_of_the_first_version_are_kept_and_nobody_made_them(tmp_path):
    path = tmp_path / "app.db"
    raw = sqlite3.connect(path)
    for table in ("workspace", "session"):
        fields = next(t for t in appdb_file._TABLES.split(";") if f"TABLE {table}(" in t)
        raw.execute(fields)
    raw.execute(
        "CREATE TABLE agent(id TEXT PRIMARY KEY, name TEXT NOT NULL, prompt TEXT NOT NULL,"
        " model TEXT NOT NULL, tools TEXT NOT NULL, rules TEXT NOT NULL,"
        " position INTEGER NOT NULL) STRICT"
    )
    raw.execute("INSERT INTO agent VALUES('analyst', 'analyst', '', 'second', '[]', '{}', 0)")
    raw.execute("PRAGMA user_version=1")
    raw.commit()
    raw.close()
    db = await AppDb.open(path)
    (row,) = await db.agents()
    assert (row.id, row.model, row.mode, row.made_us) == ("analyst", "second", "", 0)
    (kept,) = appdb_file.backups(path)
    raw = sqlite3.connect(kept)
    assert raw.execute("PRAGMA user_version").fetchall() == [(1,)]
    raw.close()
    await db.put_agent(replace(row, mode="explore"))
    await db.close()
    again = await AppDb.open(path)
    assert (await again.agents())[0].mode == "explore"
    await again.close()


async def test_an_older_file_is_migrated_after_a_backup(tmp_path, monkeypatch):
    path = tmp_path / "app.db"
    db = await AppDb.open(path)
    await db.put_agent(AgentRow("a", "A"))
    await db.close()
    now = appdb_file.VERSION
    monkeypatch.setattr(appdb_file, "VERSION", now + 1)
    monkeypatch.setitem(
        appdb_file.MIGRATIONS, now, lambda db: db.run("UPDATE agent SET name = 'migrated'")
    )
    had = len(appdb_file.backups(path))
    db = await AppDb.open(path)
    assert [row.name for row in await db.agents()] == ["migrated"]
    backups = appdb_file.backups(path)
    assert len(backups) == had + 1
    raw = sqlite3.connect(backups[0])
    assert raw.execute("SELECT name FROM agent").fetchall() == [("A",)]
    assert raw.execute("PRAGMA user_version").fetchall() == [(now,)]
    raw.close()
    await db.close()


async def test_three_backups_are_kept(db):
    for _ in range(5):
        await db._call(appdb_file.backup, db._db)
    assert len(appdb_file.backups(db._db.path)) == appdb_file.KEPT


async def test_ten_thousand_placements_are_read_at_once(db):
    many = [
        Placement(SessionKey("ann", "guide", f"s{n}"), f"w{n % 40}", f"Title {n}", created_us=n + 1)
        for n in range(10_000)
    ]
    from desktop_app.core.sessions.appdb import _place

    await db._write(lambda raw: _place(raw, many))
    assert len(await db.placements("w7")) == 250
