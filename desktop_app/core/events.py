"""What a run tells the world: one frozen dataclass a kind, a closed union.

A *record* is a line of the journal; an *event* is what a running turn emits to whoever watches.
AgentScope's 28 event kinds are an interchange format, mapped by the table in ``interchange.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .messages import FinishedReason, Msg, ToolResultBlock, ToolResultState, Usage

Effect = Literal["read", "idempotent", "compensable", "unsafe"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A turn began (or went on: ``resumed``)."""

    reply_id: str
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The person's message is in the journal."""

    msg: Msg


@dataclass(frozen=True, slots=True)
class ModelCallStarted:
    reply_id: str
    model: str
    tokens: int  # estimated size of the request
    iteration: int


@dataclass(frozen=True, slots=True)
class ModelCallFinished:
    reply_id: str
    usage: Usage | None  # measured; None when the provider did not say
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    reply_id: str
    block_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    reply_id: str
    block_id: str
    text: str


@dataclass(frozen=True, slots=True)
class BlockFinished:
    """A text or thinking block is whole."""

    reply_id: str
    block_id: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model began a tool call; its arguments may still stream. ``op_id`` is our own and is
    what every later event of this call carries."""

    reply_id: str
    op_id: str
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    reply_id: str
    op_id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """The call is whole. ``arguments`` is raw JSON text; ``parsed`` None when it is not JSON."""

    reply_id: str
    op_id: str
    call_id: str
    name: str
    arguments: str
    parsed: dict[str, Any] | None
    effect: Effect


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person is asked. ``preview`` is what will happen: ``{"command": …}`` or
    ``{"path": …, "diff": …}``; ``reasons`` are codes (``shell.unlisted``, ``file.write`` …) with
    parameters; ``rule`` is what "always" would add, and ``rule_matches`` how many past calls it
    would have allowed (hits, of all of that tool)."""

    op_id: str
    call_id: str
    name: str
    arguments: dict[str, Any]
    preview: dict[str, Any]
    reasons: tuple[tuple[str, dict[str, Any]], ...] = ()
    rule: dict[str, Any] | None = None
    rule_matches: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    reply_id: str
    approval: Approval


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    reply_id: str
    op_id: str
    allowed: bool
    by: Literal["person", "rule", "mode"]


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """AskUser: ``questions`` as in the tool's arguments; the run waits."""

    reply_id: str
    op_id: str
    questions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolStarted:
    reply_id: str
    op_id: str


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output of a running tool; not all of it may be kept."""

    reply_id: str
    op_id: str
    stream: Literal["stdout", "stderr", "progress"]
    text: str


@dataclass(frozen=True, slots=True)
class RequestAsked:
    """An MCP server asks for something while the call runs; the run waits with the call.
    ``request`` is a ``core.agent.requests.Request``."""

    reply_id: str
    op_id: str
    request: Any


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """What became of it. ``body`` is that of the record ``request.answered``: id, server, kind
    (sampling, form, visit), answer (accept, decline, cancel, failed, withdrawn), by, model, usage,
    cost in US dollars …"""

    reply_id: str
    op_id: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """``result`` is what the model will see. ``offloaded`` is the workspace path of the whole
    result when it was bounded, ``whole_bytes`` its size."""

    reply_id: str
    op_id: str
    state: ToolResultState
    result: ToolResultBlock
    seconds: float
    offloaded: str | None = None
    whole_bytes: int = 0


@dataclass(frozen=True, slots=True)
class TasksChanged:
    tasks: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CommandChanged:
    """A background command began or ended. ``command`` is a ``core.tools.background.Command``;
    beside a run or in one."""

    command: Any


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """Live output of a background command; not all of it, of a flood the newest."""

    command_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextChanged:
    """``breakdown`` is a ``core.context.Breakdown``."""

    breakdown: Any


@dataclass(frozen=True, slots=True)
class CompactionOffered:
    """The alert mark was passed; nothing was changed."""

    breakdown: Any


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    trigger: str
    tokens: int


@dataclass(frozen=True, slots=True)
class CompactionFinished:
    """``record`` is a ``core.context.CompactionRecord``."""

    record: Any


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """Nothing was changed. ``code`` and ``params`` as in SlipwayError."""

    trigger: str
    code: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class CompactionUndone:
    gen: int
    id: str = ""


@dataclass(frozen=True, slots=True)
class CompactionMeasured:
    """The provider counted the first call after a compaction: ``after`` is what that left."""

    id: str
    gen: int
    after: int


@dataclass(frozen=True, slots=True)
class DraftStarted:
    """A compaction is being prepared in the background; nothing was changed."""


@dataclass(frozen=True, slots=True)
class DraftReady:
    """``proposal`` is a ``core.context.Proposal`` that can be looked at and accepted."""

    proposal: Any


@dataclass(frozen=True, slots=True)
class DraftDropped:
    """There is no draft any more (or none came of it); ``code`` says why."""

    code: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class PinChanged:
    """The person pinned (or unpinned) a message or a result."""

    ref: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class Offloaded:
    """Something reached (or is on its way to) the workspace: messages, tool_result, data."""

    kind: Literal["messages", "tool_result", "data"]
    path: str
    count: int
    bytes: int
    delivered: bool


@dataclass(frozen=True, slots=True)
class TitleChanged:
    title: str


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything up to journal sequence ``seq`` is durable."""

    seq: int
    ts_us: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth a row that is no failure of the run: recovered operations, a retry."""

    code: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class RunParked:
    """The run waits for the person: approvals or a question. It survives a restart."""

    reply_id: str
    op_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunFinished:
    reply_id: str
    reason: FinishedReason
    code: str | None = None  # of the SlipwayError when reason is "error"
    params: dict[str, Any] = field(default_factory=dict[str, Any])


Event = (
    RunStarted
    | UserMessage
    | ModelCallStarted
    | ModelCallFinished
    | TextDelta
    | ThinkingDelta
    | BlockFinished
    | ToolCallStarted
    | ToolCallDelta
    | ToolCallReady
    | ApprovalRequested
    | ApprovalDecided
    | QuestionAsked
    | ToolStarted
    | ToolOutput
    | RequestAsked
    | RequestAnswered
    | ToolFinished
    | TasksChanged
    | CommandChanged
    | CommandOutput
    | ContextChanged
    | CompactionOffered
    | CompactionStarted
    | CompactionFinished
    | CompactionFailed
    | CompactionUndone
    | CompactionMeasured
    | DraftStarted
    | DraftReady
    | DraftDropped
    | PinChanged
    | Offloaded
    | TitleChanged
    | Saved
    | Notice
    | RunParked
    | RunFinished
)
