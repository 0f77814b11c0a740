"""The virtual transcript view: rows, their model, and the view that paints them."""

from __future__ import annotations

from .model import IdRole, RowRole, RowSource, TranscriptModel
from .rows import (
    Action,
    CompactionRow,
    HeaderRow,
    MarkdownRow,
    NoticeRow,
    Row,
    ToolRow,
    ToolStatus,
    UserRow,
)
from .view import TranscriptView

__all__ = [
    "Action",
    "CompactionRow",
    "HeaderRow",
    "IdRole",
    "MarkdownRow",
    "NoticeRow",
    "Row",
    "RowRole",
    "RowSource",
    "ToolRow",
    "ToolStatus",
    "TranscriptModel",
    "TranscriptView",
    "UserRow",
]
