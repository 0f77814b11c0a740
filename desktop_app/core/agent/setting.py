"""What a conversation is opened with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

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


@dataclass(slots=True)
class Setting:
    """Everything a conversation is opened with; ``models`` finds a model by id, ``infos`` what is
    known of it without loading it. ``sleep`` waits between two tries of a model call;
    ``compaction`` is what the person set for it; ``ratios`` is what calls have taught of counting;
    ``fork`` makes a session of the records before one of this one's, where that can be done;
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
    fork: Callable[[int], Awaitable[SessionKey]] | None = None
    offloader: Offloader | None = None
