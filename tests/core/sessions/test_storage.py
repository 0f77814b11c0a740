"""Sessions as a service stores them, over journals."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg
from desktop_app.core.sessions.base import Record, SessionKey
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.sessions.storage import JournalStorage, SessionConfig, SessionSource
from desktop_app.core.state import AgentState

ADDRESS = ("u1", "a1", "s1")


def newest_state(records: Sequence[Record]) -> AgentState:
    """The part of the real fold that these tests need: what was handed in last."""
    for record in reversed(records):
        if record.kind == "state.replaced":
            return AgentState.model_validate(record.body()["state"])
    return AgentState(session_id="")


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return MemoryJournalStore() if request.param == "memory" else SqliteJournalStore(tmp_path)


@pytest.fixture
def storage(store):
    return JournalStorage(store, newest_state)


def spoken(*texts: str) -> AgentState:
    return AgentState(session_id="s1", context=[Msg.user(text) for text in texts])


async def test_first_made_then_updated_then_read_back(storage):
    async with storage:
        assert await storage.get_session(*ADDRESS) is None
        config = SessionConfig.model_validate({"workspace_id": "w1", "name": "Plan", "theirs": [1]})
        made = await storage.upsert_session(
            "u1", "a1", config, state=spoken("hello"), session_id="s1", source=SessionSource.TEAM
        )
        assert made.state.context[0].text() == "hello"
        state = made.state
        state.context.append(Msg.user("你好 \U0001f680"))
        await storage.update_session_state(*ADDRESS, state)
        record = await storage.get_session(*ADDRESS)
        assert record.state == state
        assert record.config == config
        assert record.config.model_extra == {"theirs": [1]}
        assert (record.id, record.source) == ("s1", SessionSource.TEAM)
        assert record.updated_at >= record.created_at
        assert record.created_at.utcoffset() is not None


async def test_updating_what_is_not_there_is_a_key_error(storage):
    with pytest.raises(KeyError):
        await storage.update_session_state(*ADDRESS, AgentState())
    await storage.upsert_session("u1", "a1", SessionConfig(), session_id="s1")
    assert await storage.delete_session(*ADDRESS)
    assert not await storage.delete_session(*ADDRESS)
    with pytest.raises(KeyError):
        await storage.update_session_state(*ADDRESS, AgentState())


async def test_without_an_id_each_session_is_new_and_the_state_carries_the_address(storage):
    first = await storage.upsert_session("u1", "a1", SessionConfig(), state=AgentState())
    second = await storage.upsert_session("u1", "a1", SessionConfig())
    assert first.id != second.id
    assert first.state.session_id == first.id
    assert {h.id for h in await storage.list_sessions("u1", "a1")} == {first.id, second.id}
    assert await storage.list_sessions("u2", "a1") == []


async def test_a_whole_state_is_one_record_and_the_same_state_is_none(storage, store):
    await storage.upsert_session("u1", "a1", SessionConfig(), session_id="s1")
    for state in [spoken("a"), spoken("b")]:
        await storage.update_session_state(*ADDRESS, state)
        await storage.update_session_state(*ADDRESS, state)
    journal = await store.open(SessionKey(*ADDRESS))
    kinds = [record.kind for record in await journal.read()]
    assert kinds == ["session.created", "state.replaced", "state.replaced"]
    await journal.close()


async def test_a_changed_configuration_is_kept_and_the_state_stays(storage):
    await storage.upsert_session("u1", "a1", SessionConfig(), spoken("a"), session_id="s1")
    changed = SessionConfig(name="Renamed", chat_model_config={"model": "m"})
    record = await storage.upsert_session("u1", "a1", changed, session_id="s1")
    assert record.config == changed
    assert record.state.context[0].text() == "a"


async def test_unknown_fields_of_a_state_survive(storage):
    state = AgentState.model_validate({"session_id": "s1", "future": {"x": 1}})
    await storage.upsert_session("u1", "a1", SessionConfig(), state, session_id="s1")
    record = await storage.get_session(*ADDRESS)
    assert record.state.model_extra == {"future": {"x": 1}}


async def test_a_session_that_is_in_use_is_read_but_not_overwritten(storage, store):
    await storage.upsert_session("u1", "a1", SessionConfig(), spoken("a"), session_id="s1")
    holder = await store.open(SessionKey(*ADDRESS))
    assert (await storage.get_session(*ADDRESS)).state.context[0].text() == "a"
    with pytest.raises(SessionError, match=r"journal\.in_use"):
        await storage.update_session_state(*ADDRESS, spoken("b"))
    await holder.close()
    await storage.update_session_state(*ADDRESS, spoken("b"))


async def test_lists_are_by_last_use(storage):
    for name in ("s1", "s2", "s3"):
        await storage.upsert_session("u1", "a1", SessionConfig(), session_id=name)
    await storage.update_session_state(*ADDRESS, spoken("again"))
    assert [h.id for h in await storage.list_sessions("u1", "a1")] == ["s1", "s3", "s2"]
