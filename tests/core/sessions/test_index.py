"""The index of sessions: lists, full text in several scripts, rebuilding, forgetting."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_app.core.ids import set_factories
from desktop_app.core.sessions.appdb import Placement
from desktop_app.core.sessions.base import NewRecord, OpUpdate, SessionKey
from desktop_app.core.sessions.index import Index
from desktop_app.core.sessions.index_text import excerpt, match, terms, texts
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.sessions.sqlite import SqliteJournalStore


def key(name: str) -> SessionKey:
    return SessionKey("ann", "guide", name)


def said(text: str) -> NewRecord:
    return NewRecord("user.message", {"msg": {"role": "user", "content": [_text(text)]}})


def answered(text: str) -> NewRecord:
    return NewRecord("assistant.message", {"blocks": [_text(text)], "finish": "completed"})


def result(text: str) -> NewRecord:
    return NewRecord("tool.result", {"block": {"type": "tool_result", "output": text}})


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


DONE = NewRecord("turn.finished", {"reason": "completed"})


@pytest.fixture
async def index(tmp_path):
    opened = await Index.open(tmp_path / "index.db")
    yield opened
    await opened.close()


@pytest.fixture
def clock():
    now = [1000.0]

    def tick() -> float:
        now[0] += 1
        return now[0]

    set_factories(clock=tick)
    yield now
    set_factories()


async def make(store, name: str, *records: NewRecord, **created):
    journal = await store.create(key(name), {"workspace_id": "w1", **created})
    if records:
        await journal.append(records)
    return journal


async def test_a_list_shows_title_preview_counts_and_state(index, clock):
    store = MemoryJournalStore()
    plan = await make(store, "plan", said("Plan the\n move  to Oslo"), answered("Gladly."), DONE)
    waits = await make(store, "waits", said("Delete it"), title="Given")
    await waits.append([answered("")], ops=[OpUpdate("waits:2:0", "asking", "Bash")])
    for journal in (plan, waits):
        await index.refresh(journal)
    second, first = sorted(await index.rows("w1"), key=lambda row: row.title, reverse=True)
    assert (second.title, second.preview, second.state) == (
        "Plan the move to Oslo",
        "Gladly.",
        "idle",
    )
    assert (second.messages, second.results) == (2, 0)
    assert (first.title, first.state) == ("Given", "parked")
    await plan.append([NewRecord("title", {"title": "Oslo"}), said("And then?"), result("42")])
    await index.refresh(plan)
    row = await index.row(plan.info.key)
    assert (row.title, row.preview, row.state) == ("Oslo", "And then?", "open")
    assert (row.messages, row.results) == (3, 1)


async def test_order_is_by_last_message_and_pinned_first(index, clock):
    store = MemoryJournalStore()
    old = await make(store, "old", said("a"))
    new = await make(store, "new", said("b"))
    await old.append([NewRecord("tasks", {"tasks": []})])  # no message: does not move it up
    await index.refresh(old)
    await index.refresh(new)
    assert [row.key.session_id for row in await index.rows()] == ["new", "old"]
    await index.place([Placement(key("old"), "w1", pinned=True)])
    assert [row.key.session_id for row in await index.rows()] == ["old", "new"]
    assert [row.key.session_id for row in await index.rows(limit=1, offset=1)] == ["new"]


async def test_placements_decide_workspace_and_trash(index):
    store = MemoryJournalStore()
    await index.place([Placement(key("s1"), "w2", "Cached title")])
    (row,) = await index.rows("w2")
    assert row.title == "Cached title"
    await index.refresh(await make(store, "s1", said("needle")))
    assert [row.key.session_id for row in await index.rows("w2")] == ["s1"]
    assert await index.rows("w1") == []
    await index.place([Placement(key("s1"), "w2", trashed_us=5)])
    assert await index.rows("w2") == []
    assert await index.count("w2", trashed=True) == 1
    assert await index.search("needle") == []
    await index.place([Placement(key("s1"), "w2")])
    assert len(await index.search("needle")) == 1


@pytest.mark.parametrize(
    ("query", "finds"),
    [
        ("会话", True), ("话记", True), ("记录", True), ("会话记录", True), ("录", True),
        ("会", True), ("会记", False), ("録", False), ("テスト", True), ("スト", True),
        ("회의", True),
        ("résumé", True), ("resume", True), ("RESU", True), ("sume", False),
        ("main.py", True), ("core main", True), ("main core", True), ("core absent", False),
        ('"quoted" OR NEAR(', False), ("*", False), ("", False), ("会话 core", True),
        ("core会话", True),
    ],
)  # fmt: skip
async def test_search_in_several_scripts(index, query, finds):
    store = MemoryJournalStore()
    text = "看会话记录 core/main.py テスト 회의록 Résumé"
    await index.refresh(await make(store, "s1", said(text), said("unrelated")))
    hits = await index.search(query)
    assert [hit.seq for hit in hits] == ([2] if finds else [])
    if finds and query.isascii() is False and query in text:
        (hit,) = hits
        assert query in [hit.line[a:b] for a, b in hit.spans]


async def test_search_finds_answers_results_and_titles_at_their_place(index):
    store = MemoryJournalStore()
    journal = await make(store, "s1", answered("an aardvark"), result("error: aardvark not found"))
    await journal.append([NewRecord("title", {"title": "Old aardvark"})])
    await journal.append([NewRecord("title", {"title": "Aardvarks of Oslo"})])
    await index.refresh(journal)
    hits = await index.search("aardvark")
    assert [(hit.seq, hit.role) for hit in hits] == [(0, "title"), (3, "tool"), (2, "assistant")]
    assert await index.search("old") == []
    assert await index.search("aardvark", "elsewhere") == []
    assert len(await index.search("aardvark", "w1", limit=2)) == 2


async def test_a_state_handed_in_again_and_again_is_indexed_once(index):
    store = MemoryJournalStore()
    journal = await make(store, "s1")
    for n in range(3):
        context = [{"role": "user", "content": [_text(f"needle {i}")]} for i in range(n + 1)]
        await journal.append([NewRecord("state.replaced", {"state": {"context": context}})])
        await index.refresh(journal)
    assert len(await index.search("needle")) == 3
    assert (await index.row(key("s1"))).messages == 3


async def test_rebuild_reads_what_changed_reports_and_forgets_what_is_gone(tmp_path):
    store = SqliteJournalStore(tmp_path / "journals")
    for n in range(25):
        await (await make(store, f"s{n}", said(f"word{n}"))).close()
    seen: list[tuple[int, int]] = []
    index = await Index.open(tmp_path / "index.db")
    assert await index.rebuild(store, progress=lambda a, b: seen.append((a, b))) == 25
    assert seen == [(0, 25), (20, 25), (25, 25)]
    assert await index.count() == 25
    assert await index.rebuild(store) == 0
    journal = await store.open(key("s3"))
    await journal.append([said("later")])
    await journal.close()
    await store.delete(key("s4"))
    assert await index.rebuild(store) == 1
    assert [hit.key.session_id for hit in await index.search("later")] == ["s3"]
    assert await index.search("word4") == []
    assert await index.count() == 24
    await index.close()
    (tmp_path / "index.db").unlink()
    index = await Index.open(tmp_path / "index.db")
    assert await index.rebuild(store) == 24
    assert len(await index.search("word")) == 24
    await index.close()


async def test_a_cancelled_rebuild_goes_on_where_it_was(tmp_path, index):
    store = SqliteJournalStore(tmp_path / "journals")
    for n in range(12):
        await (await make(store, f"s{n}", said(f"word{n}"))).close()
    read: list[SessionKey] = []

    class Counting:
        async def keys(self):
            return await store.keys()

        def stamp(self, of):
            return store.stamp(of)

        async def open(self, of, *, write=True, steal=False):
            read.append(of)
            if len(read) == 6:
                task.cancel()
            return await store.open(of, write=write)

    task = asyncio.ensure_future(index.rebuild(Counting()))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 5 <= await index.count() < 12
    assert await index.rebuild(Counting()) <= 7
    assert await index.count() == 12


async def test_a_damaged_or_foreign_index_is_made_anew(tmp_path):
    path = tmp_path / "index.db"
    store = MemoryJournalStore()
    await make(store, "s1", said("needle"))
    for junk in (b"junk" * 4000, None):
        if junk is not None:
            path.write_bytes(junk)
        else:
            whole = bytearray(path.read_bytes())
            whole[4096:12288] = b"\xee" * 8192
            path.write_bytes(whole)
        index = await Index.open(path)
        await index.rebuild(store)
        assert len(await index.search("needle")) == 1
        await index.close()


async def test_a_forgotten_session_leaves_no_text_in_the_file(tmp_path):
    path = tmp_path / "index.db"
    index = await Index.open(path)
    store = MemoryJournalStore()
    secret = "xylophonesecret"
    await index.refresh(await make(store, "s1", said(secret * 3 + f" {secret}"), said("x" * 9000)))
    await index.refresh(await make(store, "s2", said("stays")))
    await index.forget(key("s1"))
    await index.close()
    assert secret.encode() not in path.read_bytes()
    index = await Index.open(path)
    assert [row.key.session_id for row in await index.rows()] == ["s2"]
    await index.close()


async def test_first_rows_of_ten_thousand_sessions(tmp_path, index):
    many = [
        Placement(key(f"s{n}"), f"w{n % 7}", f"Title {n}", created_us=n + 1) for n in range(10_000)
    ]
    await index.place(many)
    began = time.thread_time()
    first = await index.rows(limit=100)
    spent = time.thread_time() - began
    assert [row.title for row in first[:2]] == ["Title 9999", "Title 9998"]
    assert spent < 0.016, "the loop is not held"
    assert len(await index.rows("w3", limit=100)) == 100


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=40), st.text(max_size=12))
def test_any_text_has_terms_and_any_query_is_valid(text, query):
    import apsw

    raw = apsw.Connection(":memory:")
    raw.execute("CREATE VIRTUAL TABLE f USING fts5(b, tokenize='unicode61 remove_diacritics 2')")
    clean = text.encode("utf-8", "replace").decode().replace("\x00", " ")
    raw.execute("INSERT INTO f(b) VALUES(?)", (terms(clean),))
    if query_of := match(query.encode("utf-8", "replace").decode()):
        raw.execute("SELECT * FROM f WHERE f MATCH ?", (query_of,)).fetchall()
    line, spans = excerpt(text, query)
    assert all(0 <= a < b <= len(line) for a, b in spans)
    raw.close()


def test_bodies_of_any_shape_are_survived():
    odd = [{"msg": None}, {"msg": {"content": 5}}, {"blocks": [1, {"type": "text"}]}, {}]
    odd += [{"block": "x"}, {"state": []}, {"state": {"context": ["x", {"content": {}}]}}]
    for body in odd:
        for kind in ("user.message", "assistant.message", "tool.result", "state.replaced", "?"):
            assert texts(kind, body) == []
    assert texts("user.message", {"msg": {"content": "half \ud83d"}}) == [("user", "half ?")]
