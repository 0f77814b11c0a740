"""What a person is told before a call is allowed: what it touches, the risk, what "always" means.

Reason codes come from the tools and the rules of ``core``; every one has its words here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from desktop_app.core.events import Approval
from desktop_app.ui.i18n import tr, trn

from .foreign import visible

Level = Literal["low", "medium", "high"]
_ORDER: dict[Level, int] = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Facts:
    """The lines of a card. ``mono`` parts (paths, rules) stand in their own fields."""

    touches: str
    level: Level
    risk: str
    rule: str  # the exact rule; empty when "always" is not offered
    rule_words: str


def facts(approval: Approval, *, hidden: bool = False) -> Facts:
    """Everything a card says about ``approval``; ``hidden``: its text has invisible characters."""
    level, risks = _risks(approval)
    if hidden:
        level = "high"
        risks.insert(0, tr("it contains characters that cannot be seen; they are marked"))
    rule = _rule_text(approval.rule)
    return Facts(
        touches(approval),
        level,
        f"{level_word(level)}{tr(': ')}{tr('; ').join(risks)}",
        rule,
        _rule_words(approval) if rule else tr("not offered: this is asked every time"),
    )


def level_word(level: Level) -> str:
    match level:
        case "low":
            return tr("Low")
        case "medium":
            return tr("Medium")
        case "high":
            return tr("High")


def touches(approval: Approval) -> str:
    """What the call does, in a line."""
    preview, args = approval.preview, approval.arguments
    if server := visible(str(preview.get("server") or ""))[0]:
        tool = visible(str(preview.get("tool") or approval.name))[0]
        return tr("Calls {tool} of the MCP server {server}", tool=tool, server=server)
    if "command" in preview or "command" in args:
        if preview.get("background"):
            return tr("Runs a command in the background until it ends or the session does")
        return tr("Runs a command in the working folder")
    path = visible(str(preview.get("path") or args.get("file_path") or args.get("path") or ""))[0]
    if approval.name == "Write":
        if preview.get("new"):
            return tr("Writes {path}, a new file", path=path)
        return tr("Replaces {path}", path=path)
    if approval.name == "Edit":
        return tr("Changes {path}", path=path)
    if path:
        return tr("Reads {path}", path=path)
    return tr("Calls {name}", name=approval.name)


def _risks(approval: Approval) -> tuple[Level, list[str]]:
    worst: Level = "low"
    words: list[str] = []
    for code, params in approval.reasons:
        level, text = reason(code, params)
        words.append(text)
        if _ORDER[level] > _ORDER[worst]:
            worst = level
    return worst, words or [tr("inside the workspace")]


class _Safe(dict[str, str]):
    """Parameters of a reason with nothing hidden in them; empty where there is none."""

    def __missing__(self, name: str) -> str:
        return ""


_REASONS: dict[str, tuple[Level, Callable[[_Safe], str]]] = {
    "file.write": ("low", lambda p: tr("writes inside the workspace")),
    "shell.unlisted": (
        "medium",
        lambda p: tr(
            "{program} is not on the list of commands that only read", program=p["program"]
        ),
    ),
    "shell.redirects": ("medium", lambda p: tr("it writes into {path}", path=p["path"])),
    "shell.compound": (
        "medium",
        lambda p: tr("the line does more than run commands that only read"),
    ),
    "shell.dangerous": (
        "high",
        lambda p: tr("this kind of command can destroy data or reach the network"),
    ),
    "shell.deletes_outside": (
        "high",
        lambda p: tr("it deletes {what}, which may lie outside of the workspace", what=p["what"]),
    ),
    "shell.deletes_all": (
        "high",
        lambda p: tr(
            "it deletes everything in {what}, and nothing brings that back", what=p["what"]
        ),
    ),
    "shell.deletes_matches": (
        "high",
        lambda p: tr(
            "it deletes whatever {what} matches, and nothing brings that back", what=p["what"]
        ),
    ),
    "shell.deletes_folder": (
        "high",
        lambda p: tr(
            "it deletes {what} with everything in it, and nothing brings that back", what=p["what"]
        ),
    ),
    "shell.sensitive_path": (
        "high",
        lambda p: tr("it names {path}, which is private", path=p["path"]),
    ),
    "shell.git_config": (
        "medium",
        lambda p: tr("the settings of this repository could make git run a program"),
    ),
    "shell.wildcard": (
        "medium",
        lambda p: tr(
            "what {pattern} stands for could be an option or lie elsewhere", pattern=p["pattern"]
        ),
    ),
    "shell.reads_below": (
        "medium",
        lambda p: tr(
            "it reads everything below {path}, too much to look through for secrets", path=p["path"]
        ),
    ),
    "path.outside": ("medium", lambda p: tr("{path} is outside the workspace", path=p["path"])),
    "path.secret": ("high", lambda p: tr("{path} may hold secrets", path=p["path"])),
    "path.runs_code": (
        "high",
        lambda p: tr("{path} can make other programs run code later", path=p["path"]),
    ),
    "path.kept_by_program": (
        "high",
        lambda p: tr("{path} is kept by this program itself", path=p["path"]),
    ),
    "mcp.call": (
        "medium",
        lambda p: tr("the server {server} does not say that it only reads", server=p["server"]),
    ),
    "mcp.reads": (
        "low",
        lambda p: tr("the server {server} says that it only reads", server=p["server"]),
    ),
    "rule.ask": ("medium", lambda p: tr("a rule says to ask: {rule}", rule=p["rule"])),
}


def reason(code: str, params: dict[str, Any]) -> tuple[Level, str]:
    """How bad a reason is, and its words; an unknown code is shown as it is, never as harmless."""
    if code not in _REASONS:
        return "medium", code
    level, words = _REASONS[code]
    return level, words(_Safe({key: visible(str(value))[0] for key, value in params.items()}))


def _rule_text(rule: dict[str, Any] | None) -> str:
    if not rule:
        return ""
    content = rule.get("rule_content")
    return visible(str(content))[0] if content else str(rule.get("tool_name") or "")


def _rule_words(approval: Approval) -> str:
    hits, of = approval.rule_matches
    content = str((approval.rule or {}).get("rule_content") or "")
    if content.endswith(":*"):
        what = tr("every command that begins so, in this session.")
    elif not content:
        what = tr("every call of this tool, in this session.")
    elif any(c in content.replace("[*]", "").replace("[?]", "") for c in "*?"):
        what = tr("all that match, in this session.")
    else:
        what = tr("exactly this, in this session.")
    if not of:
        return what
    past = trn(
        "Would have allowed {hits} of {n} past call",
        "Would have allowed {hits} of {n} past calls",
        of,
        hits=hits,
    )
    return f"{what} {past}"
