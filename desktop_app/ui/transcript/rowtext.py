"""A row as text: for the clipboard, for search, and for those who hear the window."""

from __future__ import annotations

from desktop_app.ui.i18n import tr

from .rows import CompactionRow, HeaderRow, MarkdownRow, NoticeRow, Row, ToolRow, UserRow
from .toolcard import status_word


def source(row: Row) -> str:
    """What copying the whole row as Markdown gives, and what a search looks through."""
    match row:
        case UserRow() | MarkdownRow():
            return row.text
        case HeaderRow():
            return row.thinking if row.expanded else ""
        case ToolRow():
            return _tool(row)
        case CompactionRow():
            return "\n".join(part for part in (row.title, row.detail) if part)
        case NoticeRow():
            return "\n".join(part for part in (row.title, row.detail) if part)


def _tool(row: ToolRow) -> str:
    head = f"{row.name} {row.summary}".strip()
    if not row.expanded:
        return head
    parts = (row.arguments if not row.diff else "", row.diff, row.output)
    return "\n".join([head, *(part.rstrip("\n") for part in parts if part)])


def searchable(row: Row) -> str:
    """The text in which a search looks: what the row shows or can show."""
    if isinstance(row, HeaderRow):
        return row.thinking
    if isinstance(row, ToolRow):
        parts = (row.name, row.summary, row.arguments if not row.diff else "", row.diff, row.output)
        return "\n".join(part for part in parts if part)
    return source(row)


def size_hint(row: Row) -> int:
    """Characters that decide the row's height, for the estimate."""
    match row:
        case UserRow() | MarkdownRow():
            return len(row.text)
        case ToolRow() if row.expanded:
            return min(3000, 60 * (row.output.count("\n") + row.arguments.count("\n") + 2))
        case HeaderRow() if row.expanded:
            return len(row.thinking)
        case NoticeRow():
            return len(row.detail) + 120
        case _:
            return 0


def spoken(row: Row) -> str:
    """The row for assistive technology."""
    match row:
        case UserRow():
            return tr("You: {words}", words=row.text[:2000])
        case HeaderRow():
            parts = [row.name, row.detail, row.time, row.thinking_label]
            return ", ".join(part for part in parts if part)
        case MarkdownRow():
            return row.text[:4000]
        case ToolRow():
            words = [status_word(row.status), row.note, row.summary]
            rest = ", ".join(part for part in words if part)
            return tr("Tool {name}, {rest}", name=row.name, rest=rest)
        case CompactionRow():
            return f"{row.title}. {row.detail}".strip()
        case NoticeRow():
            tones = {
                "info": tr("Note"),
                "warning": tr("Warning"),
                "danger": tr("Error"),
                "success": tr("Success"),
            }
            return f"{tones[row.tone]}: {row.title}. {row.detail}".strip()
