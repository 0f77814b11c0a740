"""Going on from an earlier place of a session in a new one. The session itself stays as it is: what
was done cannot be taken back by forgetting it."""

from __future__ import annotations

from typing import Any

from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg
from desktop_app.core.sessions.base import Record, SessionKey

from .answers import said
from .base import Branch
from .opened import Opened


class Branching(Opened):
    """The part of a ``SessionConversation`` that makes new ones of it."""

    async def branch(self, message_id: str, *, after: bool = False) -> Branch:
        self._check_free()
        at, following = await self._message(message_id)
        body: dict[str, Any] = at.body()
        text, attachments = said(Msg.model_validate(body.get("msg") or {}))
        until = (following.seq if following is not None else None) if after else at.seq
        return Branch(await self._fork(until), text, tuple(attachments))

    async def _message(self, message_id: str) -> tuple[Record, Record | None]:
        """The record of a message of the person, and that of the next one."""
        found: Record | None = None
        for record in await self.log.journal.read(kinds=("user.message",)):
            if found is not None:
                return found, record
            if message_id.encode() in record.raw:  # of a long session only what may be it is parsed
                msg: dict[str, Any] = record.body().get("msg") or {}
                found = record if msg.get("id") == message_id else None
        if found is None:
            raise SessionError("message.unknown", id=message_id)
        return found, None

    async def fork_before_compaction(self, compaction_id: str) -> SessionKey:
        entry = next((c for c in self.log.now.compactions if c.id == compaction_id), None)
        if entry is None:
            raise SessionError("compaction.unknown", id=compaction_id)
        return await self._fork(entry.seq)

    async def _fork(self, before: int | None) -> SessionKey:
        if self._setting.fork is None:
            raise SessionError("session.no_fork")
        return await self._setting.fork(before)
