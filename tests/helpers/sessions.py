"""A conversation on real parts (journal, folder, tools) with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from desktop_app.core.agent.conversation import Agent, SessionConversation, Setting
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.ratios import Ratios
from desktop_app.core.errors import ModelError
from desktop_app.core.events import Event
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.models.base import ChatModel
from desktop_app.core.sessions.base import JournalStore, SessionKey
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.registry import builtin_tools
from desktop_app.core.workspaces.local_workspace import LocalWorkspace

KEY = SessionKey("local", "default", "s1")


@dataclass
class Bench:
    """One folder, one store, one model; ``open`` may be called again after ``close``."""

    folder: Path
    model: ChatModel
    store: JournalStore = field(default_factory=MemoryJournalStore)
    tools: Sequence[Any] = field(default_factory=builtin_tools)
    max_iterations: int = 50
    failures: list[BaseException] = field(default_factory=list)
    runner: Runner | None = None  # with one, the session has the folder's MCP servers
    others: dict[str, ChatModel] = field(default_factory=dict)  # models by id, beside ``model``
    policy: Policy = field(default_factory=Policy)
    ratios: Ratios | None = None
    offloader: Any = None
    waited: list[float] = field(default_factory=list)  # between tries of a model call

    def __post_init__(self) -> None:
        self.tasks = Tasks(lambda _name, error: self.failures.append(error))

    async def open(self, key: SessionKey = KEY, **config: Any) -> SessionConversation:
        try:
            journal = await self.store.open(key)
        except KeyError:
            journal = await self.store.create(key, config)
        workspace = LocalWorkspace(self.folder, id="w", trusted=True)
        await workspace.initialize()
        setting = Setting(
            Agent(name="Tester", prompt="Be exact.", max_iterations=self.max_iterations),
            workspace,
            self._model,
            self.model.info.id,
            self.tools,
            McpManager(workspace, self.runner, key.agent_id, key.session_id)
            if self.runner is not None
            else None,
            sleep=self._sleep,
            compaction=lambda: self.policy,
            ratios=self.ratios,
            offloader=self.offloader,
        )
        return await SessionConversation.open(journal, setting, self.tasks)

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    def _model(self, model_id: str) -> ChatModel:
        if (other := self.others.get(model_id)) is not None:
            return other
        if model_id != self.model.info.id:
            raise ModelError("model.unknown", model=model_id)
        return self.model

    async def close(self) -> None:
        await self.tasks.close()
        assert not self.failures, self.failures


async def collect(events: AsyncIterator[Event]) -> list[Event]:
    """All events of a run."""
    async with aclosing(cast(Any, events)) as stream:
        return [event async for event in stream]


def kinds(events: Sequence[Event]) -> list[str]:
    return [type(e).__name__ for e in events]


def of(events: Sequence[Event], kind: type) -> list[Any]:
    return [e for e in events if isinstance(e, kind)]
