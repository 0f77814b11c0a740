"""A session as one Markdown file: everything said and done, nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from desktop_app.core.agent.base import Conversation
from desktop_app.ui.i18n import tr

from . import figures, tool_words
from .fold import Fold
from .items import CompactionItem, Item, NoticeItem, ReplyItem, TextItem, ToolItem, UserItem
from .rows_from import Voice, agent_name, compaction_detail, compaction_title, notice_words

_RUN = re.compile(r"`+")


def fence(text: str, language: str = "") -> str:
    """``text`` as a code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def code(text: str) -> str:
    """``text`` as inline code, whatever backticks it has."""
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def markdown(items: Iterable[Item], title: str, voice: Voice) -> str:
    """The file's text."""
    parts = [f"# {title}" if title else ""]
    for item in items:
        parts.append(_part(item, voice))
    return "\n\n".join(part for part in parts if part) + "\n"


def _part(item: Item, voice: Voice) -> str:
    match item:
        case UserItem():
            head = " · ".join(p for p in (tr("You"), figures.clock(item.ts_us)) if p)
            files = "".join(f"\n- {code(name)}" for name in item.attachments)
            return f"## {head}\n\n{item.text}{chr(10) + files if files else ''}"
        case ReplyItem():
            named = voice.model_name(item.model) if item.model else ""
            head = " · ".join(
                p for p in (agent_name(voice.agent), named, figures.clock(item.ts_us)) if p
            )
            return f"## {head}"
        case TextItem():
            stopped = f"\n\n*{tr('stopped here')}*" if item.stopped else ""
            return item.text.rstrip() + stopped
        case ToolItem():
            return _tool(item)
        case CompactionItem():
            return f"> **{compaction_title(item)}**  \n> {compaction_detail(item)}"
        case NoticeItem():
            title, detail = notice_words(item)
            return "\n".join(f"> {line}" for line in (f"**{title}**", *detail.splitlines()))


def _tool(item: ToolItem) -> str:
    head = f"**{tool_words.title(item.name)}**"
    if summary := tool_words.summary(item.name, item.args):
        head += f" {code(summary)}"
    if note := tool_words.note(item):
        head += f" ({note})"
    diff = tool_words.diff_of(item)
    parts = [head]
    if diff:
        parts.append(fence(diff, "diff"))
    elif item.name in ("Bash", "PowerShell") and item.args:
        parts.append(fence(str(item.args.get("command") or ""), "sh"))
    if item.output:
        parts.append(fence(item.output))
    if item.offloaded:
        parts.append(tr("The whole result: {path}", path=code(item.offloaded)))
    return "\n\n".join(parts)


async def export_text(conversation: Conversation, voice: Voice) -> str:
    """The whole session as Markdown, read from its history; made in a thread."""
    import asyncio

    history = await conversation.history()
    title = conversation.title

    def make() -> str:
        fold = Fold()
        for entry in history.entries:
            fold.entry(entry)
        fold.settle((), running=False)
        return markdown(fold.items.values(), title, voice)

    return await asyncio.to_thread(make)


def file_name(title: str) -> str:
    """A name for the file, from the title."""
    kept = re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", title).strip(". ")
    return f"{' '.join(kept.split())[:80] or 'session'}.md"
