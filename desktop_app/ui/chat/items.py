"""What a transcript is made of, before words: one small mutable item a row.

``fold`` makes items from history records and from live events, ``rows_from`` turns an item into
the row that is painted. Kept apart so that a change of language renders the same items anew and a
replay gives the same rows as the live run did.

Times are microseconds since the epoch; 0 means unknown.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from desktop_app.ui.transcript.rows import ToolStatus

Tone = Literal["info", "warning", "danger", "success"]


@dataclass(slots=True)
class UserItem:
    id: str
    text: str
    ts_us: int
    attachments: tuple[str, ...] = ()
    pinned: int = 0  # constraints taken from this message
    pin: bool = False  # by the person: kept byte for byte through every compaction


@dataclass(slots=True)
class ReplyItem:
    """The head of one reply: who answers, and all its thinking."""

    id: str
    reply_id: str
    ts_us: int
    model: str = ""
    thinking: dict[str, str] = field(default_factory=dict[str, str])  # block id -> text
    thinking_us: int = 0  # total time of finished thinking blocks
    thinking_open: str = ""  # block id under way
    expanded: bool = False


@dataclass(slots=True)
class TextItem:
    id: str
    reply_id: str
    text: str
    growing: bool = False
    stopped: bool = False
    pin: bool = False


@dataclass(slots=True)
class ToolItem:
    """One tool call. ``input`` is raw JSON text, maybe cut; ``args`` its parsed form or None.

    ``output`` is bounded: the newest ``LIVE_CHARS`` while it runs, the result afterwards.
    ``dropped`` counts characters that the bound left out."""

    id: str
    reply_id: str
    op_id: str
    call_id: str
    name: str
    input: str = ""
    args: dict[str, Any] | None = None
    status: ToolStatus = "arguments"
    output: str = ""
    dropped: int = 0
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    seconds: float = 0.0
    offloaded: str = ""
    whole_bytes: int = 0
    decided: Literal["", "person", "rule", "mode"] = ""
    expanded: bool | None = None  # what the person chose; None: as its state calls for
    pin: bool = False

    def set_input(self, value: str | dict[str, Any]) -> None:
        """Take whole arguments, as JSON text or parsed."""
        if isinstance(value, dict):
            self.args, self.input = value, json.dumps(value, ensure_ascii=False)
            return
        self.input = value
        try:
            parsed: Any = json.loads(value or "{}")
        except (ValueError, RecursionError):
            parsed = None
        self.args = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else None


@dataclass(slots=True)
class CompactionItem:
    id: str
    gen: int
    ts_us: int
    before: int
    after: int
    window: int
    seconds: float = 0.0
    messages: int = 0
    pinned: int = 0
    pending: int = 0
    summary: str = ""
    running: bool = False
    newest: bool = True
    undone_us: int = 0
    compaction_id: str = ""  # names it in the log
    cost: float | None = None  # US dollars
    model: str = ""  # that wrote the summary; empty without one
    trigger: str = ""
    measured: bool = False  # ``after`` is the provider's count, no estimate any more


@dataclass(slots=True)
class NoticeItem:
    """A card. ``code`` finds its words; ``actions`` are ids known to ``rows_from``."""

    id: str
    tone: Tone
    code: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    actions: tuple[str, ...] = ()
    reply_id: str = ""


Item = UserItem | ReplyItem | TextItem | ToolItem | CompactionItem | NoticeItem

LIVE_CHARS = 20_000
RESULT_CHARS = 200_000
