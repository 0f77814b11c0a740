"""What a compaction is told in: fates, kinds of ledger items, why something was not accepted."""

from __future__ import annotations

import re

from desktop_app.core.context.types import CompactionRecord, Fate, Item, LedgerItem, PreviewRow
from desktop_app.ui.chat import figures, tool_words
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.chat.item_words import item_name
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets.usage import category_name

FATES: tuple[Fate, ...] = ("kept", "masked", "summarised", "dropped")
FATE_ICONS: dict[str, str] = {
    "kept": "check",
    "masked": "eye-off",
    "summarised": "fold-vertical",
    "dropped": "archive",
}
KINDS = (
    "task",
    "constraint",
    "preference",
    "pending",
    "inflight",
    "decision",
    "fact",
    "artifact",
    "error",
    "question",
    "user_msg",
)


def fate_words(fate: str) -> str:
    """What becomes of a row."""
    names = {
        "kept": tr("Kept"),
        "masked": tr("Masked"),
        "summarised": tr("Summarised"),
        "dropped": tr("Left out"),
    }
    return names.get(fate, fate)


def group_words(group: str) -> str:
    """The heading of the rows of one fate."""
    names = {
        "front": tr("Front of the prompt, unchanged: system, tools, servers, skills"),
        "kept": tr("Kept byte for byte"),
        "masked": tr("Old tool results, replaced by a line that says where they are"),
        "summarised": tr("Conversation, carried on by the ledger and the summary"),
        "dropped": tr("Left out of the prompt; still offloaded and in the journal"),
    }
    return names.get(group, group)


def row_kind(row: PreviewRow) -> str:
    """The first column: the tool of a result, else who it is from."""
    if row.ref == "ledger":
        return tr("Ledger")
    if row.category == "result":
        return visible(tool_words.title(row.label.partition(" ")[0]))[0]
    return category_name(row.category)


def row_text(row: PreviewRow) -> str:
    """The words of a row, on one line, nothing hidden in them."""
    if row.ref == "ledger":
        return tr("What the compaction itself carries on")
    if row.category == "result":
        return visible(tool_words.one_line(row.label.partition(" ")[2], 160))[0]
    return visible(item_name(Item(row.category, row.label, row.before, row.ref)))[0]


def kind_words(kind: str) -> str:
    """The heading of ledger items of one kind."""
    names = {
        "task": tr("Task"),
        "constraint": tr("Constraints"),
        "preference": tr("Preferences"),
        "user_msg": tr("Said by you"),
        "pending": tr("Pending"),
        "inflight": tr("In flight"),
        "decision": tr("Decisions"),
        "fact": tr("Facts"),
        "artifact": tr("Results so far"),
        "error": tr("Open problems"),
        "question": tr("Open questions"),
    }
    return names.get(kind, kind)


def item_state(item: LedgerItem) -> str:
    """What must be said beside an item's text; empty for an open one."""
    parts: list[str] = []
    if item.pinned:
        parts.append(tr("pinned"))
    if item.origin == "human_edit":
        parts.append(tr("edited by you"))
    elif item.origin == "summariser":
        parts.append(tr("written by the model"))
    states = {"done": tr("done"), "superseded": tr("superseded"), "revoked": tr("revoked")}
    if item.status in states:
        parts.append(states[item.status])
    return " · ".join(parts)


def rejected_words(rule: str) -> str:
    """Why something was not accepted."""
    names = {
        "no_evidence": tr("Nothing in the conversation says so"),
        "mismatch": tr("It names something that is not where it points to"),
        "unlike": tr("What it points to says something else"),
        "modality": tr("It turns what was said into its opposite"),
        "not_theirs": tr("It is no rule of yours"),
        "order": tr("It comes from a tool and gives orders"),
        "echo": tr("It repeats what the model was told"),
        "poses": tr("It pretends to be a message, a call or an order"),
        "secret": tr("It holds what looks like a secret"),
        "too_long": tr("It is too long"),
        "no_room": tr("There was no room for it"),
        "unreadable": tr("It could not be read"),
        "live": tr("It belongs to what is under way and stays"),
        "empty": tr("Its new text is empty"),
        "not_editable": tr("It is made by rules and cannot be edited"),
        "unknown_item": tr("There is no such item any more"),
        "compaction.cut": tr("The summary was cut short"),
        "compaction.empty": tr("The summary was empty"),
        "compaction.failed": tr("The model did not write a summary"),
        "compaction.cannot_fit": tr("It was longer than the model takes"),
        "budget": tr("Newer notes took its room"),
        "blob.missing": tr("Stored content is gone"),
        "blob.corrupt": tr("Stored content is damaged"),
    }
    return names.get(rule, rule)


_PART = re.compile(r"part (\d+) of (\d+)|notes of (\d+)|notes (\d+)|(\d+) messages")


def rejected_name(text: str) -> str:
    """What was not accepted: a claim in its own words, a part of the work in ours."""
    names = {
        "summary": tr("The model's notes"),
        "notes": tr("The model's older notes"),
        "lines of results": tr("Lines of tool results"),
        "facts": tr("Older facts"),
        "decisions": tr("Older decisions"),
        "files": tr("Files that were only read"),
        "messages": tr("The middle of long messages of yours"),
    }
    if (found := _PART.fullmatch(text)) is None:
        return names.get(text, text)
    part, whole, owed, dropped, left = found.groups()
    if part is not None:
        return tr("Part {n} of {m} of what left", n=part, m=whole)
    if owed is not None:
        return tr("Notes on what compaction {n} took out", n=owed)
    if dropped is not None:
        return tr("Notes written with compaction {n}", n=dropped)
    return trn("{n} message", "{n} messages", int(left))


def delta_words(before: int, after: int, turns: float | None) -> str:
    """What is gained: "frees 123.1k, about 19 more turns"."""
    freed = figures.tokens(max(0, before - after))
    if turns is None or turns < 1:
        return tr("frees {freed}", freed=freed)
    return trn(
        "frees {freed}, about {n} more turn",
        "frees {freed}, about {n} more turns",
        round(turns),
        freed=freed,
    )


def record_words(record: CompactionRecord, model: str) -> str:
    """Time, cost and model of a compaction, on one line."""
    parts = [figures.when(record.ts_us, record.ts_us)]
    if record.seconds:
        parts.append(figures.whole_seconds(record.seconds))
    if record.cost is not None:
        parts.append(figures.dollars(record.cost))
    parts.append(model if record.summariser else tr("without a model"))
    if record.filled:
        parts.append(
            trn(
                "notes of {n} earlier compaction made up for",
                "notes of {n} earlier compactions made up for",
                len(record.filled),
            )
        )
    return " · ".join(p for p in parts if p)
