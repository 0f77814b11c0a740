"""What a tool is, to the loop and to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from desktop_app.core.events import Effect
from desktop_app.core.messages import DataBlock, ToolResultState
from desktop_app.core.state import Task
from desktop_app.core.workspaces.backend import Backend

from .background import Commands

if TYPE_CHECKING:
    from .paths import Ahead

Emit = Callable[[Literal["stdout", "stderr", "progress"], str], None]


@dataclass(slots=True)
class FileVersions:
    """Which version of each file this session has read: absolute path -> ``FileInfo.version``.

    Write and Edit refuse a file that was not read here or has changed since. Rebuilt from the
    journal (tool results carry it in ``metadata["slipway"]["read"]``).
    """

    seen: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class ToolContext:
    """What a tool may use. ``root`` is the workspace's own root (where offloads and skills are) and
    ``backend.cwd`` the working directory; file tools stay inside these two and ``extra_dirs``."""

    backend: Backend
    root: str
    session_id: str
    agent_id: str
    op_id: str
    files: FileVersions
    tasks: list[Task]
    emit: Emit
    extra_dirs: tuple[str, ...] = ()
    max_read_bytes: int = 8 << 20
    skills: Any = None  # core.skills.SkillSet of this agent
    images: bool = False  # whether the model takes images
    holds: Callable[[str, str], bool] | None = None  # whether the model still sees a tool's text
    commands: Commands | None = None  # those of the session that run in the background
    ahead: Ahead | None = None  # the call's file, being looked at already


@dataclass(frozen=True, slots=True)
class Aside:
    """Bytes of a result that the model is not given; ``label`` (in brackets) stands for them in
    the text."""

    label: str
    data: bytes
    media_type: str


@dataclass(slots=True)
class ToolOutcome:
    """What came of a call. ``text`` may be megabytes: the loop bounds it before it enters the
    context. ``raw`` is the whole result as bytes when ``text`` is not all of it. ``aside`` is what
    the tool has still to save for the person."""

    text: str
    state: ToolResultState = "success"
    data: list[DataBlock] = field(default_factory=list[DataBlock])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: bytes | None = None
    aside: list[Aside] = field(default_factory=list[Aside])


Behavior = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A tool's own opinion on one call, before rules and mode.

    ``reasons`` are codes with parameters, for the window. ``safety`` questions cannot be switched
    off by a mode. ``rule`` is the narrowest rule that would allow this call and its like, or None.
    ``subjects`` is what rules are matched against: the resolved paths of a file tool (relative to
    the working directory where inside it), the command of Bash.
    """

    behavior: Behavior
    reasons: tuple[tuple[str, dict[str, Any]], ...] = ()
    safety: bool = False
    rule: dict[str, Any] | None = None
    subjects: tuple[str, ...] = ()


class Tool(Protocol):
    """A tool. Instances hold no state of a session: that is in ``ToolContext``."""

    name: str
    description: str
    parameters: dict[str, Any]  # JSON schema, type object

    def effect(self, args: dict[str, Any]) -> Effect:
        """What running this call may do; decides parallelism and recovery."""
        ...

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        """Whether it may run beside other safe calls of the same turn."""
        ...

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        """Look at the call, resolve its paths, say what it touches. Never changes anything."""
        ...

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        """What the person is shown when asked: ``{"command"}``, or ``{"path", "diff", "new"}``."""
        ...

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        """Do it. Raises ToolFailure; anything else is a defect and becomes ``tool.crashed``."""
        ...


class ExternalTool(Protocol):
    """A tool that a person (or another program) answers: the run parks. AskUser."""

    name: str
    description: str
    parameters: dict[str, Any]
    external: Literal[True]

    def validate(self, args: dict[str, Any]) -> None:
        """Raises ToolFailure when the arguments make no question."""
        ...

    def result(self, args: dict[str, Any], answer: dict[str, Any]) -> ToolOutcome: ...


ToolRunner = Callable[[dict[str, Any], ToolContext], Awaitable[ToolOutcome]]
