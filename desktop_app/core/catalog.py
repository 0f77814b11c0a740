"""What lists show of workspaces and sessions, and how changes of them are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .errors import SlipwayError
from .sessions.base import SessionKey
from .workspaces.base import WorkspaceInfo

SessionState = Literal["idle", "running", "parked", "interrupted", "readonly", "elsewhere"]
"""``elsewhere``: a turn is under way in another process of this computer, or waits there."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of a session list. ``used`` is the share of the context window, 0 to 1, or None."""

    key: SessionKey
    workspace_id: str
    title: str
    updated_us: int
    state: SessionState = "idle"
    pinned: bool = False
    foreign: bool = False  # files of another program, without a journal of ours: read-only history
    used: float | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    """One workspace with its sessions, newest first."""

    info: WorkspaceInfo
    sessions: tuple[SessionSummary, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkspacesChanged:
    """The list of workspaces, or one workspace's state, changed."""

    workspace_id: str | None = None


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """Sessions of a workspace came, went or changed their row."""

    workspace_id: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class ModelsChanged:
    """More is known of the models."""


@dataclass(frozen=True, slots=True)
class RescueTold:
    """A rescue copy was made by itself, or could not be: where it is, with how much, or why not."""

    workspace_id: str
    name: str
    folder: str = ""
    files: int = 0
    bytes: int = 0
    error: SlipwayError | None = None


CatalogEvent = WorkspacesChanged | SessionsChanged | ModelsChanged | RescueTold
