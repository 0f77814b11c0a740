"""What a person is told before a call is allowed: what it touches, the risk, what "always" means.

Reason codes come from the tools and the rules of ``core``; every one has its words here.
"""

from __future__ import annotations

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


def reason(code: str, params: dict[str, Any]) -> tuple[Level, str]:
    """How bad a reason is, and its words; an unknown code is shown as it is, never as harmless."""
    safe = {key: visible(str(value))[0] for key, value in params.items()}
    match code:
        case "file.write":
            return "low", tr("writes inside the workspace")
        case "shell.unlisted":
            return "medium", tr(
                "{program} is not on the list of commands that only read",
                program=safe.get("program", ""),
            )
        case "shell.redirects":
            return "medium", tr("it writes into {path}", path=safe.get("path", ""))
        case "shell.compound":
            return "medium", tr("the line does more than run commands that only read")
        case "shell.dangerous":
            return "high", tr("this kind of command can destroy data or reach the network")
        case "shell.deletes_outside":
            return "high", tr(
                "it deletes {what}, which may lie outside of the workspace",
                what=safe.get("what", ""),
            )
        case "shell.deletes_all":
            return "high", tr(
                "it deletes everything in {what}, and nothing brings that back",
                what=safe.get("what", ""),
            )
        case "shell.deletes_matches":
            return "high", tr(
                "it deletes whatever {what} matches, and nothing brings that back",
                what=safe.get("what", ""),
            )
        case "shell.deletes_folder":
            return "high", tr(
                "it deletes {what} with everything in it, and nothing brings that back",
                what=safe.get("what", ""),
            )
        case "shell.sensitive_path":
            return "high", tr("it names {path}, which is private", path=safe.get("path", ""))
        case "shell.git_config":
            return "medium", tr("the settings of this repository could make git run a program")
        case "shell.wildcard":
            return "medium", tr(
                "what {pattern} stands for could be an option or lie elsewhere",
                pattern=safe.get("pattern", ""),
            )
        case "shell.reads_below":
            return "medium", tr(
                "it reads everything below {path}, too much to look through for secrets",
                path=safe.get("path", ""),
            )
        case "path.outside":
            return "medium", tr("{path} is outside the workspace", path=safe.get("path", ""))
        case "path.secret":
            return "high", tr("{path} may hold secrets", path=safe.get("path", ""))
        case "path.runs_code":
            return "high", tr(
                "{path} can make other programs run code later", path=safe.get("path", "")
            )
        case "path.kept_by_program":
            return "high", tr("{path} is kept by this program itself", path=safe.get("path", ""))
        case "mcp.call":
            return "medium", tr(
                "the server {server} does not say that it only reads", **_server(safe)
            )
        case "mcp.reads":
            return "low", tr("the server {server} says that it only reads", **_server(safe))
        case "rule.ask":
            return "medium", tr("a rule says to ask: {rule}", rule=safe.get("rule", ""))
        case _:
            return "medium", code


def _server(params: dict[str, str]) -> dict[str, str]:
    return {"server": params.get("server", "")}


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
