"""Which agents there are, and which model a new session of each begins with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .agent.foreign import workspace_of
from .sessions.appdb import AgentRow, AppDb
from .sessions.base import SessionKey

DEFAULT_AGENT = "default"


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent as lists show it. ``model`` is empty where it has none of its own: its sessions
    begin with the model for all."""

    id: str
    name: str
    model: str = ""


class Agents:
    """Those of the catalogue, and those that only sessions tell of; the default one always. It
    has no model of its own: what is set for it is the model for all."""

    def __init__(self, db: AppDb) -> None:
        self._db = db
        self._rows: dict[str, AgentRow] = {}

    async def load(self, keys: Iterable[SessionKey]) -> None:
        """Read the catalogue; ``keys`` are those of all sessions."""
        self._rows = {row.id: row for row in await self._db.agents()}
        for key in keys:
            self.saw(key)

    def saw(self, key: SessionKey) -> None:
        """A session of an agent: it is there, whether the catalogue has it or not."""
        if key.agent_id not in self._rows and workspace_of(key) is None:
            self._rows[key.agent_id] = AgentRow(key.agent_id, key.agent_id)

    def others(self) -> list[AgentEntry]:
        """All but the default one, by name."""
        rows = (row for row in self._rows.values() if row.id != DEFAULT_AGENT)
        made = [AgentEntry(row.id, row.name or row.id, row.model) for row in rows]
        return sorted(made, key=lambda a: (a.name.casefold(), a.id))

    def model_of(self, agent_id: str) -> str:
        """The model of its own; empty without one."""
        row = self._rows.get(agent_id)
        return row.model if row is not None and agent_id != DEFAULT_AGENT else ""

    async def set_model(self, agent_id: str, model: str) -> None:
        """New sessions of an agent begin with this model; empty: with the model for all. Raises
        SessionError as the catalogue does; nothing is changed then."""
        known = self._rows.get(agent_id) or AgentRow(agent_id, agent_id)
        row = replace(known, model=model)
        await self._db.put_agent(row)
        self._rows[agent_id] = row
