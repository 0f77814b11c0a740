"""What a session's compaction does by itself, as the person set it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from desktop_app.core.context.marks import DEFAULTS, CompactionSettings

CompactionMode = Literal["automatic", "ask", "remind"]


@dataclass(frozen=True, slots=True)
class Policy:
    """At the alert mark a compaction is offered, with a draft at hand unless ``mode`` is "remind";
    at the danger mark it is done, unless the person switched that off (``at_danger``; "automatic"
    is never without it). ``marks`` say where those are. ``notes`` is the model that writes the
    notes, a smaller one perhaps; empty: the session's own."""

    mode: CompactionMode = "automatic"
    at_danger: bool = True
    marks: CompactionSettings = DEFAULTS
    notes: str = ""

    @property
    def by_itself(self) -> bool:
        return self.mode == "automatic" or self.at_danger
