"""Sessions as a service stores them: whole states by ``(user_id, agent_id, session_id)``.

``StorageBase`` has the three calls that an agent service makes each turn, under the names that
AgentScope 2.x gives them; ``JournalStorage`` answers them from journals. There a state is derived,
never kept: one that is handed in becomes one ``state.replaced`` record, and the history before it
stays.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Self

from pydantic import Field

from desktop_app.core.errors import SessionError
from desktop_app.core.ids import new_id
from desktop_app.core.messages import WireModel
from desktop_app.core.state import AgentState

from .base import Journal, JournalStore, NewRecord, Record, SessionKey

Fold = Callable[[Sequence[Record]], AgentState]
"""From all records of a journal to the state; ``core.agent.fold.fold``."""


class SessionSource(StrEnum):
    """What a session came from."""

    USER = "user"
    SCHEDULE = "schedule"
    CHANNEL = "channel"
    TEAM = "team"
    SOP = "sop"


class SessionConfig(WireModel):
    """What a session was made with. Fields of other programs are kept."""

    workspace_id: str = ""
    name: str = ""
    cwd: str | None = None
    chat_model_config: dict[str, Any] = Field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """A session without its state. Times are aware, in UTC."""

    id: str
    user_id: str
    agent_id: str
    config: SessionConfig
    source: SessionSource
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SessionRecord(SessionHeader):
    """A session with its state as it was when it was read."""

    state: AgentState


class StorageBase(ABC):
    """Where a service's sessions are. ``async with`` opens and closes it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None

    @abstractmethod
    async def get_session(
        self, user_id: str, agent_id: str, session_id: str
    ) -> SessionRecord | None:
        """The session, or None when there is none."""

    @abstractmethod
    async def upsert_session(
        self,
        user_id: str,
        agent_id: str,
        config: SessionConfig,
        state: AgentState | None = None,
        session_id: str | None = None,
        source: SessionSource = SessionSource.USER,
    ) -> SessionRecord:
        """Make a session (without an id: a new one), or change its configuration and, when one is
        given, its state."""

    @abstractmethod
    async def update_session_state(
        self, user_id: str, agent_id: str, session_id: str, state: AgentState
    ) -> None:
        """Replace the state of a session that exists; KeyError when it does not."""

    @abstractmethod
    async def list_sessions(self, user_id: str, agent_id: str) -> list[SessionHeader]:
        """The sessions of an agent, last used first; their states are not read."""

    @abstractmethod
    async def delete_session(self, user_id: str, agent_id: str, session_id: str) -> bool:
        """Remove a session for good; whether there was one."""


class JournalStorage(StorageBase):
    """``StorageBase`` over journals. A session is held only while a call is at work on it; while
    another holds it for writing, calls that write raise SessionError ``journal.in_use``."""

    def __init__(self, store: JournalStore, fold: Fold) -> None:
        self._store = store
        self._fold = fold

    async def get_session(
        self, user_id: str, agent_id: str, session_id: str
    ) -> SessionRecord | None:
        key = SessionKey(user_id, agent_id, session_id)
        try:
            async with self._opened(key, write=False) as journal:
                return await self._record(journal)
        except KeyError:
            return None

    async def upsert_session(
        self,
        user_id: str,
        agent_id: str,
        config: SessionConfig,
        state: AgentState | None = None,
        session_id: str | None = None,
        source: SessionSource = SessionSource.USER,
    ) -> SessionRecord:
        key = SessionKey(user_id, agent_id, session_id or new_id())
        changes: list[NewRecord] = []
        try:
            journal = await self._store.open(key)
        except KeyError:
            journal = await self._store.create(key, _created(config, source))
        async with _closing(journal):
            now = await self._record(journal)
            if now.config != config:
                changes.append(
                    NewRecord("session.config", {"config": _json(config)}, ignorable=True)
                )
            if state is not None:
                changes.extend(self._replacing(now.state, state, key))
            if changes:
                await _append(journal, changes)
            return await self._record(journal)

    async def update_session_state(
        self, user_id: str, agent_id: str, session_id: str, state: AgentState
    ) -> None:
        key = SessionKey(user_id, agent_id, session_id)
        async with self._opened(key, write=True) as journal:
            now = await self._record(journal)
            if changes := self._replacing(now.state, state, key):
                await _append(journal, changes)

    async def list_sessions(self, user_id: str, agent_id: str) -> list[SessionHeader]:
        found: list[SessionHeader] = []
        for key in await self._store.keys():
            if (key.user_id, key.agent_id) != (user_id, agent_id):
                continue
            try:
                async with self._opened(key, write=False) as journal:
                    found.append(await _header(journal))
            except (KeyError, SessionError):
                continue  # deleted meanwhile, or not readable now: get_session says why
        return sorted(found, key=lambda header: header.updated_at, reverse=True)

    async def delete_session(self, user_id: str, agent_id: str, session_id: str) -> bool:
        key = SessionKey(user_id, agent_id, session_id)
        if key not in await self._store.keys():
            return False
        await self._store.delete(key)
        return True

    @asynccontextmanager
    async def _opened(self, key: SessionKey, *, write: bool) -> AsyncGenerator[Journal]:
        async with _closing(await self._store.open(key, write=write)) as journal:
            yield journal

    async def _record(self, journal: Journal) -> SessionRecord:
        header = await _header(journal)
        records = await journal.read()
        state = await asyncio.to_thread(self._fold, records)
        return SessionRecord(
            *(header.id, header.user_id, header.agent_id, header.config, header.source),
            *(header.created_at, header.updated_at),
            state=_named(state, journal.info.key),
        )

    def _replacing(self, now: AgentState, state: AgentState, key: SessionKey) -> list[NewRecord]:
        """The record that makes ``state`` the state; none when it is already."""
        state = _named(state, key)
        if _json(state) == _json(now):
            return []
        return [NewRecord("state.replaced", {"state": _json(state)})]


def _created(config: SessionConfig, source: SessionSource) -> dict[str, Any]:
    return {
        "workspace_id": config.workspace_id,
        "title": config.name,
        "config": _json(config),
        "source": str(source),
    }


def _named(state: AgentState, key: SessionKey) -> AgentState:
    """The address is what a session is found by: the id inside a state follows it."""
    if state.session_id == key.session_id:
        return state
    return state.model_copy(update={"session_id": key.session_id})


def _json(model: WireModel) -> dict[str, Any]:
    return model.model_dump(mode="json")


async def _append(journal: Journal, records: Sequence[NewRecord]) -> None:
    info = journal.info
    if info.why == "journal.in_use":
        raise SessionError("journal.in_use", session=info.key.session_id, **info.params)
    await journal.append(records)


async def _header(journal: Journal) -> SessionHeader:
    key = journal.info.key
    (first,) = await journal.read(limit=1)
    (last,) = await journal.read(newest_first=True, limit=1)
    changed = await journal.read(kinds=["session.config"], newest_first=True, limit=1)
    body = first.body()
    config: Any = changed[0].body().get("config") if changed else body.get("config")
    source = str(body.get("source") or "")
    return SessionHeader(
        id=key.session_id,
        user_id=key.user_id,
        agent_id=key.agent_id,
        config=SessionConfig.model_validate(config or {}),
        source=SessionSource(source) if source in set(SessionSource) else SessionSource.USER,
        created_at=_time(first.ts_us),
        updated_at=_time(last.ts_us),
    )


def _time(us: int) -> datetime:
    return datetime.fromtimestamp(us / 1_000_000, UTC)


@asynccontextmanager
async def _closing(journal: Journal) -> AsyncGenerator[Journal]:
    try:
        yield journal
    finally:
        await journal.close()
