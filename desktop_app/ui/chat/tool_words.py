"""What a tool call is called, and what is said about it: one table for all tools.

``summary`` is the one-line argument, ``note`` the remark at the right. Figures come from the
result's metadata (under ``slipway``, written by the tools); where a result of another program has
none, the note says less, never something wrong.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from desktop_app.ui.i18n import tr, trn

from . import figures
from .items import ToolItem

# Icon names are Lucide's; one icon per meaning (design tokens, section 3).
ICONS: dict[str, str] = {
    "Bash": "terminal",
    "BashOutput": "terminal",
    "BashStop": "terminal",
    "PowerShell": "terminal",
    "Read": "file-text",
    "Write": "file-pen",
    "Edit": "file-pen",
    "Grep": "search",
    "Glob": "folder-search",
    "Skill": "book-open",
    "AskUser": "message-circle-question-mark",
    "reset_tools": "wrench",
    "TaskCreate": "list-checks",
    "TaskGet": "list-checks",
    "TaskList": "list-checks",
    "TaskUpdate": "list-checks",
}


def icon(name: str) -> str:
    """The icon of a tool; an unknown one comes from an MCP server."""
    return ICONS.get(name, "plug")


def title(name: str) -> str:
    """The tool's name for people."""
    match name:
        case "Bash":
            return tr("Shell")
        case "BashOutput":
            return tr("Shell output")
        case "BashStop":
            return tr("Stop command")
        case "Read":
            return tr("Read")
        case "Write":
            return tr("Write")
        case "Edit":
            return tr("Edit file")
        case "Grep":
            return tr("Search")
        case "Glob":
            return tr("Find files")
        case "Skill":
            return tr("Skill")
        case "AskUser":
            return tr("Question")
        case "TaskCreate":
            return tr("New task")
        case "TaskGet" | "TaskUpdate":
            return tr("Task")
        case "TaskList":
            return tr("Tasks")
        case "reset_tools":
            return tr("Tool groups")
        case "":
            return tr("Tool")
        case _:
            return _of_server(name)


def _of_server(name: str) -> str:
    """``mcp__server__tool`` as a person says it, and what a rule calls a server's requests; any
    other name as it is."""
    kind, colon, server = name.partition(":")
    if colon and kind in ("sampling", "form", "visit"):
        asked = {"sampling": tr("asks the model"), "form": tr("asks for a form")}
        return f"{asked.get(kind, tr('asks for a visit'))} · {server}"
    parts = name.split("__", 2)
    return f"{parts[2]} · {parts[1]}" if len(parts) == 3 and parts[0] == "mcp" else name


_MCP_NAME = re.compile(r"\bmcp__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*__[A-Za-z0-9_-]+")


def named(text: str) -> str:
    """A text of the agent's with the tools of servers called as everywhere in the window."""
    return _MCP_NAME.sub(lambda found: title(found[0]), text)


_MAIN_ARGUMENT = {
    "Bash": "command",
    "PowerShell": "command",
    "BashOutput": "id",
    "BashStop": "id",
    "Read": "file_path",
    "Write": "file_path",
    "Edit": "file_path",
    "Skill": "skill",
    "TaskCreate": "subject",
    "TaskGet": "id",
}


def _task_change(args: dict[str, Any]) -> str:
    """ "#2: started" of a TaskUpdate."""
    words = {
        "pending": tr("to do"),
        "in_progress": tr("started"),
        "completed": tr("done"),
        "deleted": tr("dropped"),
    }
    word = words.get(str(args.get("status") or args.get("state") or ""), "")
    return one_line(": ".join(part for part in (f"#{args.get('id', '')}", word) if part))


def one_line(text: str, limit: int = 400) -> str:
    """A text on one line: line ends become a visible mark, so that nothing hides behind them."""
    flat = " ⏎ ".join(part.strip() for part in text.strip().splitlines())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def summary(name: str, args: dict[str, Any] | None) -> str:
    """The one-line argument of a call."""
    if not args:
        return ""
    if name in ("Grep", "Glob"):
        pattern, path = str(args.get("pattern") or ""), str(args.get("path") or "")
        where = path or str(args.get("glob") or "")
        return one_line(f"{pattern}  {where}".strip())
    if name == "AskUser":
        questions = args.get("questions")
        if isinstance(questions, list) and questions and isinstance(questions[0], dict):
            return one_line(str(cast("dict[str, Any]", questions[0]).get("question") or ""))
        return ""
    if name == "TaskUpdate":
        return _task_change(args)
    key = _MAIN_ARGUMENT.get(name)
    if key is not None and isinstance(args.get(key), str | int):
        return one_line(str(args[key]))
    if name == "reset_tools" and all(isinstance(on, bool) for on in args.values()):
        on = ", ".join(group for group, on in args.items() if on)
        return tr("{names} on", names=one_line(on)) if on else tr("all off")
    return one_line(" · ".join(_said(key, value) for key, value in args.items() if value != ""))


def _said(name: str, value: Any) -> str:
    """One argument of a tool that nothing is known of: a text speaks for itself, a figure not."""
    return value if isinstance(value, str) else f"{name} {json.dumps(value, ensure_ascii=False)}"


def meta(item: ToolItem, key: str) -> Any:
    """A value from the result's metadata: ours first, then the top level."""
    ours = item.metadata.get("slipway")
    if isinstance(ours, dict) and key in ours:
        return cast("dict[str, Any]", ours)[key]
    return item.metadata.get(key)


def number(item: ToolItem, *keys: str) -> int | None:
    """The first of ``keys`` in the metadata that is a whole number."""
    for key in keys:
        value = meta(item, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def diff_of(item: ToolItem) -> str:
    """The unified diff of a Write or Edit: from the result, else from an Edit's own arguments."""
    found = meta(item, "diff")
    if isinstance(found, str) and found:
        return found
    if item.name == "Edit" and item.args and item.status in ("waiting", "running", "arguments"):
        return edit_diff(item.args)
    return ""


def edit_diff(args: dict[str, Any]) -> str:
    """A diff of the two strings of an Edit, without line numbers of the file."""
    import difflib

    old, new = args.get("old_string"), args.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str) or len(old) + len(new) > 100_000:
        return ""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    return "\n".join(list(lines)[2:])


def diff_counts(diff: str) -> tuple[int, int]:
    """Lines added and removed by a unified diff; file headers do not count."""
    added = removed = 0
    in_hunk = not diff.startswith(("---", "+++", "diff "))
    for line in diff.splitlines():
        if line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line.startswith("+"):
            added += 1
        elif in_hunk and line.startswith("-"):
            removed += 1
    return added, removed


def note(item: ToolItem) -> str:
    """The remark at the right of a card."""
    match item.status:
        case "arguments":
            if item.args is not None or len(item.input) < 2_000:
                return ""
            return tr("{size} so far", size=figures.size(len(item.input)))
        case "denied":
            # The card says "Denied"; by the person needs no more words.
            if item.decided == "rule":
                return tr("by a rule")
            return tr("not in this mode") if item.decided == "mode" else ""
        case "success" | "error":
            return _joined(_figures(item), _time(item))
        case _:
            return ""


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _time(item: ToolItem) -> str:
    shown = item.seconds >= 1 or (item.name in ("Bash", "PowerShell") and item.seconds >= 0.05)
    return figures.duration(item.seconds) if shown else ""


def _figures(item: ToolItem) -> str:
    match item.name:
        case "Bash" | "PowerShell" | "BashOutput" | "BashStop":
            return _shell_note(item)
        case "Read":
            return _read_note(item)
        case "Write" | "Edit":
            added, removed = number(item, "added"), number(item, "removed")
            if added is None or removed is None:
                added, removed = diff_counts(diff_of(item))
            if item.status == "error":
                return ""
            if added or removed:
                return f"+{added} −{removed}"
            return tr("no change") if meta(item, "diff") == "" else ""
        case "Grep":
            hits, files = number(item, "matches"), number(item, "files")
            if hits is not None and files is not None:
                return _joined(
                    trn("{n} hit", "{n} hits", hits), trn("{n} file", "{n} files", files)
                )
            if hits is not None:
                return trn("{n} hit", "{n} hits", hits)
            if files is not None:
                return trn("{n} file", "{n} files", files)
        case "Glob":
            if (found := number(item, "matches")) is not None:
                return trn("{n} match", "{n} matches", found)
        case _:
            pass
    return ""


def _shell_note(item: ToolItem) -> str:
    if meta(item, "timed_out") is True:
        return tr("timed out")
    code = number(item, "exit", "exit_code", "returncode")
    if code is not None:
        return tr("exit {code}", code=code)
    if item.name == "Bash" and (command := meta(item, "command")) is not None:
        return tr("in the background as {id}", id=command)
    return ""


def _read_note(item: ToolItem) -> str:
    if item.status == "error":
        return ""
    image = meta(item, "image")
    if isinstance(image, dict):
        size = cast("dict[str, Any]", image).get("bytes")
        return figures.size(size) if isinstance(size, int) else ""
    document = meta(item, "pdf")
    if isinstance(document, dict):
        read = cast("dict[str, Any]", document).get("pages")
        total = cast("dict[str, Any]", document).get("total")
        n, of = len(read) if isinstance(read, list) else 0, total if isinstance(total, int) else 0
        return trn("{read} of {n} page", "{read} of {n} pages", of, read=n)
    lines = meta(item, "lines")
    if not isinstance(lines, dict):
        return ""
    span = cast("dict[str, Any]", lines)
    first, last, total = span.get("from"), span.get("to"), span.get("total")
    if not (isinstance(first, int) and isinstance(last, int)):
        return ""
    if not isinstance(total, int):  # the end was not looked for
        return tr("lines {first}–{last}", first=figures.count(first), last=figures.count(last))
    if first <= 1 and last >= total:
        return trn("{n} line", "{n} lines", total)
    return tr(
        "lines {first}–{last} of {total}",
        first=figures.count(first),
        last=figures.count(last),
        total=figures.count(total),
    )
