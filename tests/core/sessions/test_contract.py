"""The journal's contract: one suite, every store."""

from __future__ import annotations

import asyncio

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.base import (
    JournalStore,
    NewRecord,
    OpUpdate,
    SessionKey,
)
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.sessions.sqlite import SqliteJournalStore

KEY = SessionKey("ann", "guide", "s1")


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path) -> JournalStore:
    return MemoryJournalStore() if request.param == "memory" else SqliteJournalStore(tmp_path)


def said(text: str) -> NewRecord:
    return NewRecord("user.message", {"msg": text})


async def test_create_writes_the_first_record_with_the_ids_and_the_config(store):
    journal = await store.create(KEY, {"workspace_id": "w", "title": "Plan"})
    (first,) = await journal.read()
    assert (first.seq, first.kind) == (1, "session.created")
    assert first.body() == {
        "workspace_id": "w",
        "title": "Plan",
        "user_id": "ann",
        "agent_id": "guide",
        "session_id": "s1",
    }
    assert journal.info.head == 1
    assert journal.info.writable
    await journal.close()
    assert await store.keys() == [KEY]


async def test_a_second_create_is_refused_and_a_missing_session_is_a_key_error(store):
    await (await store.create(KEY, {})).close()
    with pytest.raises(SessionError, match=r"session\.exists"):
        await store.create(KEY, {})
    with pytest.raises(KeyError):
        await store.open(SessionKey("ann", "guide", "nobody"))


async def test_records_come_back_after_closing_in_order_with_every_character(store):
    journal = await store.create(KEY, {})
    odd = "NUL \x00, half an emoji \ud83d, line \u2028, 中文, \U0001f680"
    made = await journal.append([said(odd), NewRecord("later.kind", {"n": 1}, v=7, ignorable=True)])
    assert [r.seq for r in made] == [2, 3]
    await journal.close()
    journal = await store.open(KEY)
    back = await journal.read(after=1)
    assert back == made
    assert back[0].body() == {"msg": odd}
    assert (back[1].v, back[1].ignorable) == (7, True)
    await journal.close()


async def test_read_by_range_limit_order_and_kind(store):
    journal = await store.create(KEY, {})
    for n in range(2, 12):
        await journal.append([NewRecord("title" if n % 5 == 0 else "user.message", {"n": n})])

    async def seqs(**how) -> list[int]:
        return [r.seq for r in await journal.read(**how)]

    assert await seqs(after=3, before=7) == [4, 5, 6]
    assert await seqs(after=3, limit=2) == [4, 5]
    assert await seqs(newest_first=True, limit=3) == [11, 10, 9]
    assert await seqs(before=5, newest_first=True, limit=2) == [4, 3]
    assert await seqs(kinds=["title"]) == [5, 10]
    assert await seqs(kinds=["title"], newest_first=True, limit=1) == [10]
    assert await seqs(kinds=[]) == []
    assert await seqs(after=11) == []
    assert await seqs(before=0) == []
    assert await seqs(limit=0) == []
    await journal.close()


async def test_an_append_that_fails_leaves_nothing(store):
    journal = await store.create(KEY, {})
    await journal.append([said("go")], ops=[OpUpdate("s1:2:0", "intent", "Bash")])
    await journal.save_draft(b"so far")
    with pytest.raises(SessionError, match=r"operation\.repeated"):
        await journal.append(
            [said("never")],
            ops=[OpUpdate("s1:9:0", "planned", "Read"), OpUpdate("s1:2:0", "intent", "Bash")],
        )
    with pytest.raises(TypeError):
        await journal.append([said("fine"), NewRecord("bad", {"x": object()})])
    assert [r.kind for r in await journal.read()] == ["session.created", "user.message"]
    assert [op.op_id for op in await journal.operations()] == ["s1:2:0"]
    assert await journal.draft() == b"so far"
    assert (await journal.append([said("on")]))[0].seq == 3
    await journal.close()


async def test_drafts_are_replaced_cleared_by_an_append_or_left(store):
    journal = await store.create(KEY, {})
    assert await journal.draft() == b""
    await journal.save_draft(b"a")
    await journal.save_draft("streaming 中".encode())
    await journal.append([said("x")], draft=None)
    await journal.close()
    journal = await store.open(KEY)
    assert await journal.draft() == "streaming 中".encode()
    await journal.append([said("y")])
    assert await journal.draft() == b""
    await journal.append([said("z")], draft=b"next")
    assert await journal.draft() == b"next"
    await journal.close()


async def test_operations_keep_what_they_are_and_move_from_state_to_state(store):
    journal = await store.create(KEY, {})
    first = OpUpdate("s1:2:0", "intent", "Read", "call_0", "read", "ab12")
    second = OpUpdate("s1:2:1", "asking", "Bash", "call_0", "unsafe", "cd34")
    await journal.append([NewRecord("assistant.message", {})], ops=[first, second])
    await journal.append([NewRecord("tool.result", {})], ops=[OpUpdate("s1:2:0", "done")])
    await journal.close()
    journal = await store.open(KEY)
    done, asking = await journal.operations()
    assert (done.state, done.tool, done.call_id, done.effect) == ("done", "Read", "call_0", "read")
    assert (done.args_sha, done.attempt, done.intent_seq, done.result_seq) == ("ab12", 1, 2, 3)
    assert (asking.state, asking.tool, asking.intent_seq) == ("asking", "Bash", None)
    assert [op.op_id for op in await journal.operations("asking", "intent")] == ["s1:2:1"]
    await journal.append([], ops=[OpUpdate("s1:2:1", "intent")])
    (intent,) = await journal.operations("intent")
    assert intent.intent_seq == 3
    assert intent.writer_gen == journal.info.writer_gen
    await journal.close()


async def test_an_unsafe_operation_starts_once_unless_a_new_attempt_is_declared(store):
    journal = await store.create(KEY, {})
    for effect, refused in [("unsafe", True), ("compensable", True), ("read", False)]:
        op = OpUpdate(f"s1:2:{effect}", "intent", "Tool", effect=effect)
        await journal.append([said("x")], ops=[op])
        if refused:
            with pytest.raises(SessionError, match=r"operation\.repeated"):
                await journal.append([], ops=[op])
        else:
            await journal.append([], ops=[op])
    again = OpUpdate("s1:2:unsafe", "intent", "Tool", effect="unsafe", attempt=2)
    await journal.append([said("the person said run it again")], ops=[again])
    assert (await journal.operations("intent"))[0].attempt == 2
    await journal.close()


async def test_blobs_by_hash(store):
    journal = await store.create(KEY, {})
    ref = await journal.put_blob(b"\x00big\xff" * 100_000)
    assert await journal.put_blob(b"\x00big\xff" * 100_000) == ref
    empty = await journal.put_blob(b"")
    assert await journal.get_blob(ref) == b"\x00big\xff" * 100_000
    assert await journal.get_blob(empty.sha256) == b""
    for wrong in ["0" * 64, "../../../etc/passwd", ""]:
        with pytest.raises(SessionError, match=r"blob\.missing"):
            await journal.get_blob(wrong)
    await journal.close()


async def test_snapshots_rotate_and_the_newest_is_given(store):
    journal = await store.create(KEY, {})
    assert await journal.snapshot() is None
    for n in range(2, 8):
        await journal.append([said(str(n))])
        await journal.put_snapshot(n, f"state at {n}".encode())
    await journal.close()
    journal = await store.open(KEY)
    assert await journal.snapshot() == (7, b"state at 7")
    await journal.close()


async def test_the_second_opening_looks_on_and_follows(store):
    writer = await store.create(KEY, {})
    reader = await store.open(KEY)
    assert (reader.info.writable, reader.info.why) == (False, "journal.in_use")
    with pytest.raises(SessionError, match=r"journal\.readonly"):
        await reader.append([said("no")])
    with pytest.raises(SessionError, match=r"journal\.readonly"):
        await reader.save_draft(b"no")
    with pytest.raises(SessionError, match=r"journal\.readonly"):
        await reader.put_blob(b"no")
    waiting = asyncio.gather(reader.wait_for_change(1, 30.0))
    await writer.append([said("hello")])
    assert await waiting == [2]
    assert [r.seq for r in await reader.read(after=1)] == [2]
    assert reader.info.head == 2
    assert await reader.wait_for_change(2, 0.01) == 2
    await writer.close()
    await reader.close()
    again = await store.open(KEY)
    assert again.info.writable
    await again.close()


async def test_reading_only_on_request_does_not_take_the_lease(store):
    await (await store.create(KEY, {})).close()
    reader = await store.open(KEY, write=False)
    assert (reader.info.writable, reader.info.why) == (False, "journal.readonly")
    writer = await store.open(KEY)
    assert writer.info.writable
    await writer.close()
    await reader.close()


async def test_a_stolen_lease_fences_the_former_writer(store):
    old = await store.create(KEY, {})
    await old.append([said("mine")])
    new = await store.open(KEY, steal=True)
    assert new.info.writable
    assert new.info.writer_gen > old.info.writer_gen
    with pytest.raises(SessionError, match=r"journal\.fenced"):
        await old.append([said("too late")])
    assert (old.info.writable, old.info.why) == (False, "journal.fenced")
    with pytest.raises(SessionError, match=r"journal\.fenced"):
        await old.save_draft(b"too late")
    await new.append([said("theirs")])
    assert [r.body().get("msg") for r in await new.read(after=1)] == ["mine", "theirs"]
    assert len(await old.read()) == 3
    await old.close()
    third = await store.open(KEY)
    assert third.info.why == "journal.in_use", "closing a fenced journal must not free the lease"
    await third.close()
    await new.close()


async def test_a_closed_journal_says_so_and_closing_twice_is_nothing(store):
    journal = await store.create(KEY, {})
    await journal.close()
    await journal.close()
    for call in (
        journal.append([said("x")]),
        journal.read(),
        journal.draft(),
        journal.operations(),
        journal.snapshot(),
        journal.verify(),
    ):
        with pytest.raises(SessionError, match=r"journal\.closed"):
            await call


async def test_order_of_calls_is_order_of_effect(store):
    journal = await store.create(KEY, {})
    calls = [journal.append([said(str(n))]) for n in range(30)]
    *made, seen = await asyncio.gather(*calls, journal.read(after=1))
    assert [m[0].seq for m in made] == list(range(2, 32))
    assert [r.body()["msg"] for r in seen] == [str(n) for n in range(30)]
    await journal.close()


async def test_a_deleted_session_is_gone_and_its_name_is_free(store):
    journal = await store.create(KEY, {})
    with pytest.raises(SessionError, match=r"journal\.in_use"):
        await store.delete(KEY)
    await journal.append([said("secret")])
    await journal.close()
    await store.delete(KEY)
    await store.delete(KEY)
    assert await store.keys() == []
    with pytest.raises(KeyError):
        await store.open(KEY)
    journal = await store.create(KEY, {})
    assert journal.info.head == 1
    await journal.close()


async def test_verify_finds_nothing_wrong_with_what_was_written(store):
    journal = await store.create(KEY, {})
    for n in range(20):
        await journal.append([said(str(n)), said("b")])
    assert await journal.verify() is None
    await journal.close()
