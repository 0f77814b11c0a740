"""AgentState: all that is needed to go on, in AgentScope's JSON.

Derived from the journal, exported and imported whole. Our own parts live under
``middle_context["slipway"]``, the one place that survives AgentScope's load and save.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import Field, model_validator

from .asleep import wake
from .ids import new_id, now_iso
from .messages import DataBlock, Msg, TextBlock, WireModel

Mode = Literal["default", "accept_edits", "explore", "bypass", "dont_ask"]
TaskState = Literal["pending", "in_progress", "completed"]


class ReplyContext(WireModel):
    """The reply under way; a resume must name ``reply_id``."""

    reply_id: str = ""
    cur_iter: int = 0
    structured_schema: dict[str, Any] | None = None
    structured_output: Any = None


class Rule(WireModel):
    """One permission rule; ``rule_content`` is a pattern in the tool's own terms."""

    tool_name: str
    rule_content: str | None = None
    behavior: Literal["allow", "deny", "ask"] = "allow"
    source: str = "session"


class PermissionContext(WireModel):
    mode: Mode = "default"
    working_directories: dict[str, dict[str, str]] = Field(
        default_factory=dict[str, dict[str, str]]
    )
    allow_rules: dict[str, list[Rule]] = Field(default_factory=dict[str, list[Rule]])
    deny_rules: dict[str, list[Rule]] = Field(default_factory=dict[str, list[Rule]])
    ask_rules: dict[str, list[Rule]] = Field(default_factory=dict[str, list[Rule]])


class ToolContext(WireModel):
    """AgentScope keeps whole files in ``read_file_cache``; we keep versions in ours instead."""

    max_cache_files: int = 100
    max_cache_bytes: float = 25000.0
    read_file_cache: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    activated_groups: list[str] = Field(default_factory=list[str])


class Task(WireModel):
    """One entry of the agent's task list; ids are "1", "2", …"""

    id: str
    subject: str
    description: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    created_at: str = Field(default_factory=now_iso)
    state: TaskState = "pending"
    owner: str | None = None
    blocks: list[str] = Field(default_factory=list[str])
    blocked_by: list[str] = Field(default_factory=list[str])


class TasksContext(WireModel):
    tasks: list[Task] = Field(default_factory=list[Task])


class AgentState(WireModel):
    """The state of one session. ``context`` is what has not been compacted."""

    session_id: str = Field(default_factory=new_id)
    summary: str | list[TextBlock | DataBlock] = ""
    context: list[Msg] = Field(default_factory=list[Msg])
    reply_context: ReplyContext = Field(default_factory=ReplyContext)
    permission_context: PermissionContext = Field(default_factory=PermissionContext)
    tool_context: ToolContext = Field(default_factory=ToolContext)
    tasks_context: TasksContext = Field(default_factory=TasksContext)
    middle_context: dict[str, Any] = Field(default_factory=dict[str, Any])

    def model_dump(self, *args: Any, **how: Any) -> dict[str, Any]:
        self._wake()
        return super().model_dump(*args, **how)

    def model_dump_json(self, *args: Any, **how: Any) -> str:
        self._wake()
        return super().model_dump_json(*args, **how)

    def _wake(self) -> None:
        """What writes them out looks past the attributes of messages that are asleep."""
        for msg in self.context:
            wake(msg)

    @model_validator(mode="before")
    @classmethod
    def _lift_old_reply_fields(cls, value: Any) -> Any:
        """AgentScope up to 2.0.4 kept reply_id and cur_iter at the top level."""
        if not isinstance(value, dict) or "reply_context" in value or "reply_id" not in value:
            return value  # pyright: ignore[reportUnknownVariableType]
        fields = dict(cast(dict[str, Any], value))
        fields["reply_context"] = {
            "reply_id": fields.pop("reply_id"),
            "cur_iter": fields.pop("cur_iter", 0),
        }
        return fields
