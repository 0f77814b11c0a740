"""Messages and their content blocks, in the JSON that AgentScope 2.x writes.

Shapes: ``reference`` AgentScope 2.0.11 ``agentscope.message`` as measured on its own output
(``tests/data/samples``). Unknown fields of messages and blocks are kept and written back, since a
newer writer may have put something there. Times are naive local ISO strings, ids are strings.

One *reply* (a person's message to the final answer, all its iterations) is one assistant ``Msg``
whose ``id`` is the reply id; its blocks stand in the order they came to be: thinking, text, tool
calls, tool results, next iteration.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    model_validator,
)

from .ids import new_id, now_iso

Role = Literal["user", "assistant", "system"]
ToolCallState = Literal["pending", "asking", "allowed", "submitted", "finished"]
ToolResultState = Literal["success", "error", "interrupted", "denied", "running"]
FinishedReason = Literal["completed", "interrupted", "exceed_max_iters", "error"]


@cache
def _blank(kind: type[BaseModel]) -> dict[str, Any]:
    """The fields of a model in their order, with their defaults where they have a steady one."""
    return {name: field.default for name, field in kind.model_fields.items()}


class WireModel(BaseModel):
    """Keeps unknown fields; dumps with ``to_json``."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    @classmethod
    def made(cls, extra: dict[str, Any] | None = None, /, **fields: Any) -> Self:
        """One of fields that are known to be right, and of those that the model does not declare:
        ``model_construct`` at a tenth of its cost, which every step pays several times. Fields
        without a default, or whose default is made each time, are needed. Which were given is not
        noted: a set of their names would be larger than the rest."""
        made = cls.__new__(cls)
        put = object.__setattr__  # past pydantic's own, which allows fields alone
        put(made, "__dict__", {**_blank(cls), **fields})
        put(made, "__pydantic_fields_set__", set())
        put(made, "__pydantic_extra__", extra or {})
        put(made, "__pydantic_private__", None)
        return made

    def to_json(self) -> str:
        """One line of JSON, UTF-8 characters kept. Lone surrogates are escaped, not lost."""
        try:
            return self.model_dump_json()
        except ValueError:  # pydantic refuses lone surrogates; the json module escapes them
            import json

            return json.dumps(self.model_dump(), ensure_ascii=True, separators=(",", ":"))


class Usage(WireModel):
    """Tokens of one model call, as the provider measured them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class _Block(WireModel):
    id: str = Field(default_factory=new_id)
    created_at: str | None = Field(default_factory=now_iso)
    finished_at: str | None = None


class TextBlock(_Block):
    """Plain text or Markdown."""

    type: Literal["text"] = "text"
    text: str = ""


class ThinkingBlock(_Block):
    """A model's thinking. Provider extras (``signature`` …) are kept byte for byte."""

    type: Literal["thinking"] = "thinking"
    thinking: str = ""


class Base64Source(WireModel):
    """Bytes inline, as unwrapped base64."""

    type: Literal["base64"] = "base64"
    data: str
    media_type: str


class URLSource(WireModel):
    """Bytes elsewhere; ``workspace:///data/…`` is relative to the workspace's root."""

    type: Literal["url"] = "url"
    url: str
    media_type: str


Source = Annotated[Base64Source | URLSource, Field(discriminator="type")]


class DataBlock(_Block):
    """An image, audio or other payload."""

    type: Literal["data"] = "data"
    source: Source
    name: str | None = None


class HintBlock(_Block):
    """A note to the model that the person did not write."""

    type: Literal["hint"] = "hint"
    hint: str | list[TextBlock | DataBlock] = ""
    source: str | None = None


class ToolCallBlock(_Block):
    """A tool call. ``id`` is the provider's and may repeat; ``input`` is raw JSON text and may be
    cut short. Our operation id, when there is one, is in ``op_id`` (an extra of ours)."""

    type: Literal["tool_call"] = "tool_call"
    name: str
    input: str = "{}"
    state: ToolCallState = "pending"
    suggested_rules: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


class ToolResultBlock(_Block):
    """What a tool answered. ``id`` is the call's id; ``output`` a string or text/data blocks."""

    type: Literal["tool_result"] = "tool_result"
    name: str
    output: str | list[TextBlock | DataBlock] = ""
    state: ToolResultState = "success"
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])

    def text(self) -> str:
        """The text of the output, data blocks left out."""
        if isinstance(self.output, str):
            return self.output
        return "".join(b.text for b in self.output if isinstance(b, TextBlock))


class UnknownBlock(_Block):
    """A block kind that this version does not know; kept as it came."""

    type: str


_KINDS = {"text", "thinking", "data", "hint", "tool_call", "tool_result"}


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        kind = cast(dict[str, Any], value).get("type")
    else:
        kind = getattr(value, "type", "")
    return kind if isinstance(kind, str) and kind in _KINDS else "unknown"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[DataBlock, Tag("data")]
    | Annotated[HintBlock, Tag("hint")]
    | Annotated[ToolCallBlock, Tag("tool_call")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[UnknownBlock, Tag("unknown")],
    Discriminator(_kind),
]
BLOCKS: TypeAdapter[list[Block]] = TypeAdapter(list[Block], config=ConfigDict(defer_build=True))
AnyBlock = (
    TextBlock
    | ThinkingBlock
    | DataBlock
    | HintBlock
    | ToolCallBlock
    | ToolResultBlock
    | UnknownBlock
)


class Msg(WireModel):
    """One message of a session."""

    name: str
    content: list[Block] = Field(default_factory=list[Block])
    role: Role
    id: str = Field(default_factory=new_id)
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    created_at: str | None = Field(default_factory=now_iso)
    usage: Usage | None = None
    finished_at: str | None = None
    finished_reason: FinishedReason | None = None
    structured_output: Any = None
    error: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _text_content(cls, value: Any) -> Any:
        if isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            if isinstance(text := fields.get("content"), str):
                return {**fields, "content": [{"type": "text", "text": text}]}
        return value  # pyright: ignore[reportUnknownVariableType]

    @classmethod
    def user(cls, text: str, *, name: str = "user", blocks: list[AnyBlock] | None = None) -> Msg:
        """A person's message: its text, then attachments."""
        content: list[Any] = [TextBlock(text=text, finished_at=now_iso())] if text else []
        return cls(name=name, role="user", content=[*content, *(blocks or [])])

    def text(self) -> str:
        """All text blocks, joined with a blank line."""
        return "\n\n".join(b.text for b in self.content if isinstance(b, TextBlock))

    def tool_calls(self) -> list[ToolCallBlock]:
        return [b for b in self.content if isinstance(b, ToolCallBlock)]

    def tool_results(self) -> list[ToolResultBlock]:
        return [b for b in self.content if isinstance(b, ToolResultBlock)]
