"""Items to rows: every word and figure that the transcript shows. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from desktop_app.ui.errors import action_label, describe
from desktop_app.ui.i18n import tr, trc, trn
from desktop_app.ui.transcript.rows import (
    Action,
    CompactionRow,
    HeaderRow,
    MarkdownRow,
    NoticeRow,
    Row,
    ToolRow,
    UserRow,
)

from . import figures, tool_words
from .items import (
    CompactionItem,
    Item,
    NoticeItem,
    ReplyItem,
    TextItem,
    ToolItem,
    UserItem,
)
from .requests import words as request_words

_ON_THE_LINE = 60


def _same(model_id: str) -> str:
    return model_id


@dataclass(slots=True)
class Voice:
    """What rows need beyond their item: names, and whether anything can be done here at all."""

    agent: str = "Assistant"
    model_name: Callable[[str], str] = _same
    writable: bool = True
    count_tokens: Callable[[str], int] | None = None
    compacted: bool = False  # there is a ledger to look into


def row_from(item: Item, voice: Voice) -> Row:
    """The row of an item."""
    match item:
        case UserItem():
            return _user(item, voice)
        case ReplyItem():
            return _header(item, voice)
        case TextItem():
            more = () if item.growing else person_actions(item.pin, item.id, voice)
            if more:
                more = (*answer_actions(item.id, voice), *more)
            return MarkdownRow(item.id, item.text, item.growing, item.stopped, more)
        case ToolItem():
            return _tool(item, voice)
        case CompactionItem():
            return _compaction(item, voice)
        case NoticeItem():
            return _notice(item, voice)
        case _:
            assert_never(item)


def _user(item: UserItem, voice: Voice) -> UserRow:
    badge = tr("Pinned") if item.pin else ""
    if item.pinned and not item.pin:
        badge = trn("{n} constraint pinned", "{n} constraints pinned", item.pinned)
    time, more = figures.clock(item.ts_us), person_actions(item.pin, item.id, voice)
    if voice.writable and not item.id.startswith("x:"):
        again = Action("edit_again", tr("Edit and send again in a branch"), "pencil")
        more = (again, *more)
    return UserRow(item.id, time, item.text, item.attachments, badge, more=more)


def pin_actions(pinned: bool, row_id: str, voice: Voice) -> tuple[Action, ...]:
    """Pin or unpin, in a row's menu; nothing for rows that are in no journal yet."""
    if not voice.writable or row_id.startswith("x:"):
        return ()
    if pinned:
        return (Action("unpin", tr("Unpin"), "pin-off"),)
    return (Action("pin", tr("Pin: keep it through every compaction"), "pin"),)


def answer_actions(row_id: str, voice: Voice) -> tuple[Action, ...]:
    """Ways to go on from an answer in a new session."""
    if not voice.writable or row_id.startswith("x:"):
        return ()
    return (
        Action("answer_again", tr("Answer again in a branch"), "refresh-cw"),
        Action("branch", tr("Branch from here"), "git-branch"),
    )


def person_actions(pinned: bool, row_id: str, voice: Voice) -> tuple[Action, ...]:
    """The menu of what somebody said: pin it, see what the ledger took from it."""
    return (*pin_actions(pinned, row_id, voice), *ledger_actions(row_id, voice))


def ledger_actions(row_id: str, voice: Voice) -> tuple[Action, ...]:
    """The way to the ledger's items that came from a row, once there was a compaction."""
    if not voice.compacted or row_id.startswith("x:"):
        return ()
    return (Action("in_ledger", tr("What the ledger has of it"), "list-checks"),)


def agent_name(name: str) -> str:
    """The agent's name; the built-in one is translated."""
    return tr("Assistant") if name in ("", "Assistant", "assistant") else name


def _header(item: ReplyItem, voice: Voice) -> HeaderRow:
    thinking = "\n\n".join(text for text in item.thinking.values() if text)
    label = ""
    if item.thinking_open:
        label = tr("Thinking…")
    elif thinking and item.thinking_us:
        label = tr("Thought for {time}", time=figures.whole_seconds(item.thinking_us / 1_000_000))
    elif thinking:
        label = tr("Thought")
    return HeaderRow(
        item.id,
        agent_name(voice.agent),
        voice.model_name(item.model) if item.model else "",
        figures.clock(item.ts_us),
        thinking,
        label,
        item.expanded,
    )


def _tool(item: ToolItem, voice: Voice) -> ToolRow:
    diff = tool_words.diff_of(item)
    actions: list[Action] = []
    offload = ""
    if item.offloaded:
        actions.append(Action("open_offload", tr("Open"), None, True, item.offloaded))
        offload = _offload_line(item, voice)
    return ToolRow(
        id=item.id,
        name=tool_words.title(item.name),
        icon=tool_words.icon(item.name),
        summary=tool_words.summary(item.name, item.args),
        status=item.status,
        note=_tool_note(item),
        arguments=pretty(item),
        output=_output(item),
        diff=diff,
        offload=offload,
        actions=tuple(actions),
        expanded=_is_open(item),
        more=tool_more(item, voice),
    )


def tool_more(item: ToolItem, voice: Voice) -> tuple[Action, ...]:
    """What the menu of a finished call has: pin, take its result out of the prompt."""
    if item.status not in ("success", "error"):
        return ()
    ledger = ledger_actions(item.id, voice)
    if not voice.writable:
        return ledger
    out = Action("offload_now", tr("Take out of the prompt now"), "archive")
    return (*pin_actions(item.pin, item.id, voice), out, *ledger)


def _tool_note(item: ToolItem) -> str:
    note = tool_words.note(item)
    return " · ".join(p for p in (tr("Pinned"), note) if p) if item.pin else note


def _is_open(item: ToolItem) -> bool:
    """What a person opened or closed stays so; else output is shown while it comes, and what
    failed."""
    if item.expanded is not None:
        return item.expanded
    return item.status == "error" or (item.status == "running" and bool(item.output))


def _offload_line(item: ToolItem, voice: Voice) -> str:
    size = figures.size(item.whole_bytes) if item.whole_bytes else ""
    kept = item.metadata.get("tokens")
    if not isinstance(kept, int) and voice.count_tokens is not None:
        kept = voice.count_tokens(item.output)
    if size and isinstance(kept, int):
        return tr("{size} offloaded, {n} tokens kept", size=size, n=figures.tokens(kept))
    if size:
        return tr("{size} offloaded", size=size)
    return tr("Offloaded")


def _output(item: ToolItem) -> str:
    if not item.dropped:
        return item.output
    if item.status == "running":
        return f"[{tr('{size} above', size=figures.size(item.dropped))}]\n{item.output}"
    return f"{item.output}\n[{tr('{size} more', size=figures.size(item.dropped))}]"


def pretty(item: ToolItem) -> str:
    """The arguments as indented JSON; what is no JSON is shown as it came."""
    if item.args is None:
        return item.input
    # The diff shows the long strings of a change better than JSON does.
    hidden = ("old_string", "new_string", "content") if tool_words.diff_of(item) else ()
    shown = {k: v for k, v in item.args.items() if k not in hidden}
    only = next(iter(shown.values())) if len(shown) == 1 else None
    if isinstance(only, str) and len(only) <= _ON_THE_LINE and "\n" not in only:
        return ""  # one short value stands on the card's line already
    return json.dumps(shown, ensure_ascii=False, indent=2) if shown else ""


def compaction_title(item: CompactionItem) -> str:
    """From what to what, and whether the provider has counted it since."""
    sizes = {"before": figures.rough_tokens(item.before), "after": figures.rough_tokens(item.after)}
    if item.measured:
        return tr("Compacted {before} to {after} tokens, measured", **sizes)
    return tr("Compacted {before} to {after} tokens, estimated", **sizes)


def _compaction(item: CompactionItem, voice: Voice) -> CompactionRow:
    window = item.window or max(item.before, item.after, 1)
    before, after = item.before / window, item.after / window
    sizes = {"before": figures.rough_tokens(item.before), "after": figures.rough_tokens(item.after)}
    if item.running:
        title = tr("Compacting {n} tokens…", n=figures.rough_tokens(item.before))
        detail = tr("Writing the summary. You can go on reading.")
        return CompactionRow(item.id, title, detail, before, before, ())
    if item.undone_us:
        title = tr("Compaction undone {time}", time=figures.clock(item.undone_us))
        detail = tr("The conversation is as it was: {before} instead of {after} tokens", **sizes)
        return CompactionRow(item.id, title, detail, before, before, ())
    actions, more = [Action("view_summary", trc("compaction", "View"))], list[Action]()
    if item.newest and voice.writable:
        actions.append(Action("undo_compaction", tr("Undo"), "undo-2"))
        more.append(Action("compact_again", tr("Compact again with a focus…"), "fold-vertical"))
    return CompactionRow(
        item.id,
        compaction_title(item),
        compaction_detail(item),
        before,
        after,
        tuple(actions),
        tuple(more),
    )


def compaction_detail(item: CompactionItem) -> str:
    """ "12:31 · 8 s · 61 messages offloaded · task, 5 constraints and 3 pending items kept"."""
    parts = [figures.clock(item.ts_us)]
    if item.seconds:
        parts.append(figures.whole_seconds(item.seconds))
    if item.cost is not None:
        parts.append(figures.dollars(item.cost))
    if item.messages:
        parts.append(trn("{n} message offloaded", "{n} messages offloaded", item.messages))
    kept = [tr("task")]
    if item.pinned:
        kept.append(trn("{n} constraint", "{n} constraints", item.pinned))
    if item.pending:
        kept.append(trn("{n} pending item", "{n} pending items", item.pending))
    parts.append(tr("{things} kept", things=and_list(kept)))
    return " · ".join(part for part in parts if part)


def and_list(things: list[str]) -> str:
    """ "a", "a and b", "a, b and c" in the person's language."""
    if len(things) < 2:
        return "".join(things)
    return tr("{list} and {last}", list=tr(", ").join(things[:-1]), last=things[-1])


_WAYS = (
    "choose_model",
    "manage_models",
    "unlock_keys",
)  # of an error's words, that a card offers too


def notice_actions(item: NoticeItem, voice: Voice) -> tuple[Action, ...]:
    """The buttons of a card; none where nothing may be written."""
    if not voice.writable:
        return ()
    made: list[Action] = []
    if item.actions and (way := describe(item.code, item.params).action) in _WAYS:
        made.append(Action(way, action_label(way)))  # trying again alone would fail again
    for action in item.actions:
        match action:
            case "retry":
                made.append(Action("retry", tr("Try again"), "refresh-cw"))
            case "continue":
                made.append(Action("retry", tr("Continue"), "play"))
            case "compact":
                made.append(Action("compact", tr("Try again"), "refresh-cw"))
            case "compact_plain":
                made.append(Action("compact_plain", tr("Without the model")))
            case "trust_certificate":
                words = action_label("trust_certificate")
                made.append(Action("trust_certificate", words, "shield-check"))
            case "choose_model" if all(a.id != action for a in made):
                made.append(Action("choose_model", action_label("choose_model")))
            case _:
                pass
    return tuple(made)


def _notice(item: NoticeItem, voice: Voice) -> NoticeRow:
    title, detail = notice_words(item)
    return NoticeRow(item.id, item.tone, title, detail, notice_actions(item, voice))


def notice_words(item: NoticeItem) -> tuple[str, str]:
    """Title and text of a card."""
    match item.code:
        case "run.interrupted":
            return tr("You stopped this answer"), tr("What was written is kept.")
        case "run.cut":
            return (
                tr("The program ended while this was being written"),
                tr("The text above is what was saved. Nothing was run twice."),
            )
        case "run.max_iterations":
            return (
                tr("The agent paused after many steps"),
                tr("It reached the limit of steps for one message. Continue if it is on track."),
            )
        case "run.recovered":
            return _recovered(item)
        case "request.answered":
            return request_words.answered(item.params)
        case "outbox":
            return _outbox(item)
        case "journal.record":
            return (
                tr("One entry of this session cannot be read"),
                tr("Entry {seq} is damaged. Everything around it is intact.", **item.params),
            )
        case _:
            words = describe(item.code, item.params)
            return words.title, "\n".join(part for part in (words.reason, words.fix) if part)


def _outbox(item: NoticeItem) -> tuple[str, str]:
    n = int(item.params.get("pending") or 0)
    title = trn("{n} file waits for the workspace", "{n} files wait for the workspace", n)
    reason = ""
    if code := item.params.get("error"):
        reason = describe(str(code), item.params).reason
    kept = tr("Nothing is lost: it is kept here and delivered when the workspace can be reached.")
    return title, "\n".join(part for part in (reason, kept) if part)


def _recovered(item: NoticeItem) -> tuple[str, str]:
    n, unknown = int(item.params.get("n") or 0), int(item.params.get("unknown") or 0)
    title = trn(
        "The program ended while a tool was running",
        "The program ended while {n} tools were running",
        n,
    )
    if unknown:
        return title, trn(
            "Nothing was run twice. The outcome of one call is unknown: look before you go on.",
            "Nothing was run twice. The outcome of {n} calls is unknown: look before you go on.",
            unknown,
        )
    return title, tr("Nothing was run twice.")
