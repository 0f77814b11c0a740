"""The rows of a transcript: what the view paints, and what a page hands to its model.

A row is small and immutable except for its growing text; the view never knows of sessions or
events. Consecutive ``ToolRow``s are drawn as one joined card. Ids are unique within a transcript
and stable, so that a row can be found, scrolled to and updated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ToolStatus = Literal[
    "arguments", "waiting", "running", "success", "error", "denied", "interrupted", "cut", "unknown"
]


@dataclass(frozen=True, slots=True)
class Action:
    """A button or link inside a row; the view emits ``actionTriggered(row_id, action.id)``."""

    id: str
    label: str
    icon: str | None = None
    enabled: bool = True
    tooltip: str = ""


@dataclass(slots=True)
class UserRow:
    id: str
    time: str
    text: str
    attachments: tuple[str, ...] = ()
    badge: str = ""  # "2 constraints pinned"
    actions: tuple[Action, ...] = ()  # icon buttons in the head, on hover and focus
    more: tuple[Action, ...] = ()  # in the row's menu only


@dataclass(slots=True)
class HeaderRow:
    """Who answers: agent, model, time; at the right the thinking, when there was some."""

    id: str
    name: str
    detail: str
    time: str
    thinking: str = ""
    thinking_label: str = ""  # "Thought for 6 s"
    expanded: bool = False
    actions: tuple[Action, ...] = ()  # icon buttons in the head, on hover and focus


@dataclass(slots=True)
class MarkdownRow:
    """Markdown text; ``growing`` while it streams; ``stopped`` when it was cut."""

    id: str
    text: str
    growing: bool = False
    stopped: bool = False
    more: tuple[Action, ...] = ()


@dataclass(slots=True)
class ToolRow:
    """One tool call. ``summary`` is the one-line argument (path or command) in mono; ``note`` the
    right-hand remark ("lines 1-400 of 48,212", "exit 0 · 3.8 s"). Expanded: ``arguments`` (pretty
    JSON), ``diff`` (unified), ``output`` (plain text, bounded by the page). ``offload`` is the line
    under the card ("1.9 MB offloaded, 2.1k tokens kept") with its action. ``partial``: the content
    is not loaded yet; the view asks with ``needContent`` when the row is opened."""

    id: str
    name: str
    icon: str
    summary: str
    status: ToolStatus
    note: str = ""
    arguments: str = ""
    output: str = ""
    diff: str = ""
    offload: str = ""
    actions: tuple[Action, ...] = ()
    expanded: bool = False
    partial: bool = False
    more: tuple[Action, ...] = ()


@dataclass(slots=True)
class CompactionRow:
    """ "Compacted 162k to 39k tokens", a bar of the two shares, a second line, actions."""

    id: str
    title: str
    detail: str
    before: float
    after: float
    actions: tuple[Action, ...] = ()
    more: tuple[Action, ...] = ()


@dataclass(slots=True)
class NoticeRow:
    """A card with a reason and actions. ``tone`` picks colour, icon and shape."""

    id: str
    tone: Literal["info", "warning", "danger", "success"]
    title: str
    detail: str = ""
    actions: tuple[Action, ...] = ()


Row = UserRow | HeaderRow | MarkdownRow | ToolRow | CompactionRow | NoticeRow
