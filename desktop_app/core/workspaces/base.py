"""The workspace interface: an agent's execution environment, the same on every backend.

Four groups, as in the seeds: life cycle (developer), resources (agent), offload (agent), and
management (person). ``Offloader`` is AgentScope's protocol: any object with these three methods
may stand in for a workspace there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .backend import Backend
from .layout import Generation

if TYPE_CHECKING:
    from desktop_app.core.messages import DataBlock, Msg, ToolResultBlock
    from desktop_app.core.skills import SkillSet


@dataclass(frozen=True, slots=True)
class WorkspaceInfo:
    """What a list shows. ``folder`` is the person's folder (the working directory), ``root`` where
    ``sessions/ data/ skills/ .mcp`` are; they differ by ``.slipway`` for a folder we opened."""

    id: str
    name: str
    backend: str
    folder: str
    root: str
    generation: Generation
    trusted: bool
    foreign: bool  # written by another program (AgentScope), used in place
    state: Literal[
        "ready", "missing", "unreadable", "readonly", "stopped", "paused", "starting", "error"
    ]
    params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class OffloadEntry:
    """Something that left the context: for the browser of offloads. Times are microseconds."""

    session_id: str
    kind: Literal["messages", "tool_result", "data"]
    path: str  # relative to the workspace's root
    bytes: int
    modified_us: int
    items: int | None = None


class Offloader(Protocol):
    """What keeps what left the context. Returned references are paths as the agent sees them."""

    async def offload_context(self, session_id: str, msgs: Sequence[Msg], **kwargs: Any) -> str: ...

    async def offload_tool_result(
        self, session_id: str, tool_result: ToolResultBlock, **kwargs: Any
    ) -> str: ...

    async def offload_data_block(self, block: DataBlock) -> DataBlock: ...


class Workspace(Offloader, Protocol):
    """One workspace, opened."""

    @property
    def info(self) -> WorkspaceInfo: ...

    async def initialize(self) -> None:
        """Make it usable; idempotent. Nothing is made in a person's folder before a write."""
        ...

    async def close(self) -> None: ...

    async def refresh(self) -> WorkspaceInfo:
        """Look again what state it is in; changes nothing, raises nothing."""
        ...

    def check_free(self) -> None:
        """Raise WorkspaceError with why when another program may be using it."""
        ...

    async def reset(self) -> None:
        """Remove what we or AgentScope wrote (``sessions data skills .mcp``); the person's files
        stay."""
        ...

    def get_backend(self) -> Backend: ...

    async def get_instructions(self) -> str:
        """Text for the system prompt: where the agent is, the folder's own AGENTS.md if trusted."""
        ...

    def visible(self, path: str) -> str:
        """A path relative to the root as the agent sees it."""
        ...

    async def command_file(self, session_id: str, command_id: str) -> str:
        """A new, empty file for what a background command prints, relative to the root."""
        ...

    async def list_tools(self) -> list[Any]:
        """``core.tools.Tool`` objects bound to nothing but their arguments."""
        ...

    async def list_mcps(
        self, *, agent_id: str | None = None, session_id: str | None = None
    ) -> list[Any]: ...

    async def list_skills(self, *, agent_id: str | None = None) -> list[Any]:
        """``core.skills.Skill`` objects; those that cannot be loaded carry why. What
        a prompt may hold is ``skills_for_prompt``."""
        ...

    async def skills_for_prompt(self, agent_id: str | None = None) -> SkillSet:
        """The agent's skills; an empty set while the workspace is not trusted."""
        ...

    async def would_run(self, agent_id: str | None = None) -> Any:
        """What trust would bring in: commands, skills, an instruction file."""
        ...

    async def resolve(self, url: str) -> str | None:
        """The path of a payload's URL (``workspace:///data/…``), or None when it names none."""
        ...

    async def purge_session(self, *, agent_id: str, session_id: str) -> None: ...

    async def list_offloads(self, session_id: str | None = None) -> list[OffloadEntry]: ...
