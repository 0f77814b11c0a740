"""What a conversation is opened with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from desktop_app.core.context.ratios import Ratios
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.models.base import ChatModel, ModelInfo
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.workspaces.base import Offloader, Workspace

from .policy import Policy
from .run import MAX_ITERATIONS
from .toolbox import AnyTool


@dataclass(slots=True)
class Agent:
    """Who answers: its prompt and its limits. The model is the session's."""

    id: str = "default"
    name: str = "Assistant"
    prompt: str = ""
    max_iterations: int = MAX_ITERATIONS


def begun(agent: Agent, config: Mapping[str, Any]) -> Agent:
    """``agent`` as a session began with it, which its first record tells: its name, and the
    instructions that follow the built-in ones. What a person changed since is for new sessions."""
    name, instructions = config.get("agent_name"), config.get("instructions")
    named = name if isinstance(name, str) and name else agent.name
    if not isinstance(instructions, str) or not instructions:
        return replace(agent, name=named)
    return replace(agent, name=named, prompt=f"{agent.prompt}\n\n{instructions}")


@dataclass(slots=True)
class Setting:
    """Everything a conversation is opened with; ``models`` finds a model by id, ``infos`` what is
    known of it without loading it. ``sleep`` waits between two tries of a model call;
    ``compaction`` is what the person set for it; ``ratios`` is what calls have taught of counting;
    ``fork`` makes a session of the records before one of this one's, None of all, where it can;
    ``offloader`` keeps what leaves the context in the workspace's place."""

    agent: Agent
    workspace: Workspace
    models: Callable[[str], ChatModel]
    default_model: str
    tools: Sequence[AnyTool]
    mcp: McpManager | None = None
    infos: Callable[[str], ModelInfo] | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    compaction: Callable[[], Policy] = Policy
    ratios: Ratios | None = None
    fork: Callable[[int | None], Awaitable[SessionKey]] | None = None
    offloader: Offloader | None = None
