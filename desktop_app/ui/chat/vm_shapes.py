"""What a view model of a conversation is handed and holds: messages that wait, rows' way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from desktop_app.core.agent.base import Attachment
from desktop_app.ui.transcript.rows import Row


@dataclass(slots=True)
class Queued:
    """The one message that is sent when the run ends."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(slots=True)
class Draft:
    """What stands in the composer of a session that is not shown."""

    text: str = ""
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    cursor: int = 0


def crash_params(error: BaseException) -> dict[str, Any]:
    """Parameters of ``run.crashed``."""
    return {"error": type(error).__name__, "detail": str(error)[:500]}


class RowSink(Protocol):
    """Where rows go: the part of ``TranscriptModel`` that a view model uses."""

    has_older: bool

    def extend(self, rows: Sequence[Row]) -> Any: ...

    def update(self, row: Row) -> Any: ...

    def extend_text(self, row_id: str, text: str) -> Any: ...

    def remove(self, row_id: str) -> Any: ...

    def prepend(self, rows: Sequence[Row], has_older: bool = False) -> Any: ...
