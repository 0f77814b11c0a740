"""Which agents there are, what a person made of them, and what their new sessions begin with."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .agent.foreign import workspace_of
from .errors import SessionError
from .ids import now_us
from .sessions.appdb import AgentRow, AppDb
from .sessions.base import SessionKey

DEFAULT_AGENT = "default"
DEFAULT_NAME = "Assistant"
MODES = ("", "default", "accept_edits", "explore", "dont_ask")  # that an agent may begin with
NAME_CHARS = 60
INSTRUCTION_CHARS = 32_000  # more would be a good part of a small window


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent as lists show it. ``model`` is empty where it has none of its own: its sessions
    begin with the model for all; ``mode`` is empty for the usual one. ``instructions`` are added to
    the built-in prompt. ``made``: a person made it; others are only known from sessions."""

    id: str
    name: str
    model: str = ""
    instructions: str = ""
    mode: str = ""
    made: bool = False


class Agents:
    """Those of the catalogue, and those that only sessions tell of; the default one always. It
    has no model of its own: what is set for it is the model for all.

    What is changed here is what sessions begin with from then on: one that was begun keeps what it
    began with (``begin``)."""

    def __init__(self, db: AppDb) -> None:
        self._db = db
        self._rows: dict[str, AgentRow] = {}
        self._seen: set[str] = set()

    async def load(self, keys: Iterable[SessionKey]) -> None:
        """Read the catalogue; ``keys`` are those of all sessions."""
        self._rows = {row.id: row for row in await self._db.agents()}
        for key in keys:
            self.saw(key)

    def saw(self, key: SessionKey) -> None:
        """A session of an agent: it is there, whether the catalogue has it or not."""
        if workspace_of(key) is None:
            self._seen.add(key.agent_id)
            if key.agent_id not in self._rows:
                self._rows[key.agent_id] = AgentRow(key.agent_id, key.agent_id)

    def others(self) -> list[AgentEntry]:
        """All but the default one, by name."""
        made = [_entry(row) for row in self._rows.values() if row.id != DEFAULT_AGENT]
        return sorted(made, key=lambda a: (a.name.casefold(), a.id))

    def get(self, agent_id: str) -> AgentEntry:
        """One of them; one that nobody heard of is what its id says."""
        if agent_id == DEFAULT_AGENT:
            return AgentEntry(DEFAULT_AGENT, DEFAULT_NAME)
        row = self._rows.get(agent_id)
        return _entry(row) if row is not None else AgentEntry(agent_id, agent_id)

    def model_of(self, agent_id: str) -> str:
        """The model of its own; empty without one."""
        return self.get(agent_id).model

    def begin(self, agent_id: str) -> dict[str, Any]:
        """What the record of a new session keeps of its agent."""
        one = self.get(agent_id)
        kept: dict[str, Any] = {"agent_name": one.name}
        if one.instructions:
            kept["instructions"] = one.instructions
        return kept

    # -- what a person does ----------------------------------------------------------------------

    async def make(
        self, name: str, *, instructions: str = "", model: str = "", mode: str = ""
    ) -> AgentEntry:
        """A new agent. SessionError ``agent.name``, ``agent.taken``, ``agent.long``,
        ``agent.mode``, and those of the catalogue; nothing is changed then."""
        row = AgentRow(
            self._free_id(name), name.strip(), instructions.strip(), model,
            position=len(self._rows), mode=mode, made_us=now_us(),
        )  # fmt: skip
        return await self._keep(row)

    async def edit(
        self, agent_id: str, *, name: str, instructions: str, model: str, mode: str
    ) -> AgentEntry:
        """Change one, also one that was only known from sessions. Errors as ``make``;
        ``agent.builtin`` for the default one."""
        self._check_own(agent_id)
        old = self._rows.get(agent_id) or AgentRow(agent_id, agent_id)
        row = replace(old, name=name.strip(), prompt=instructions.strip(), model=model, mode=mode)
        return await self._keep(replace(row, made_us=old.made_us or now_us()))

    async def remove(self, agent_id: str) -> None:
        """Its sessions stay as they are, and go on with what they began with."""
        self._check_own(agent_id)
        await self._db.remove_agent(agent_id)
        self._rows.pop(agent_id, None)
        if agent_id in self._seen:
            self._rows[agent_id] = AgentRow(agent_id, agent_id)

    async def set_model(self, agent_id: str, model: str) -> None:
        """New sessions of an agent begin with this model; empty: with the model for all. Raises
        SessionError as the catalogue does; nothing is changed then."""
        known = self._rows.get(agent_id) or AgentRow(agent_id, agent_id)
        row = replace(known, model=model)
        await self._db.put_agent(row)
        self._rows[agent_id] = row

    async def _keep(self, row: AgentRow) -> AgentEntry:
        self._check(row)
        await self._db.put_agent(row)
        self._rows[row.id] = row
        return _entry(row)

    def _check_own(self, agent_id: str) -> None:
        if agent_id == DEFAULT_AGENT:
            raise SessionError("agent.builtin")

    def _check(self, row: AgentRow) -> None:
        if not row.name or len(row.name) > NAME_CHARS or not row.name.isprintable():
            raise SessionError("agent.name", most=NAME_CHARS)
        if len(row.prompt) > INSTRUCTION_CHARS:
            raise SessionError("agent.long", most=INSTRUCTION_CHARS, chars=len(row.prompt))
        if row.mode not in MODES:
            raise SessionError("agent.mode", mode=row.mode)
        others = [one.name for one in self._rows.values() if one.id != row.id]
        if row.name.casefold() in {name.casefold() for name in (DEFAULT_NAME, *others)}:
            raise SessionError("agent.taken", name=row.name)

    def _free_id(self, name: str) -> str:
        """Of letters, digits and hyphens, as the name is: it names the agent's folders."""
        stem = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40] or "agent"
        taken = {DEFAULT_AGENT, *self._rows, *self._seen}
        if stem != "agent" and stem not in taken:
            return stem
        return f"{stem}-{secrets.token_hex(4)}"


def _entry(row: AgentRow) -> AgentEntry:
    made = bool(row.made_us)
    return AgentEntry(row.id, row.name or row.id, row.model, row.prompt, row.mode, made)
