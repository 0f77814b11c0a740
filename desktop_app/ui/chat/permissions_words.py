"""Words for modes and rules: what each means, where a rule comes from, what is wrong with one."""

from __future__ import annotations

from desktop_app.core.agent.permissions import FILE_TOOLS
from desktop_app.core.agent.permissions_check import Problem
from desktop_app.core.state import Mode, Rule
from desktop_app.ui.i18n import tr

from . import tool_words


def mode_meaning(mode: Mode) -> str:
    """What happens in a mode, in plain words."""
    match mode:
        case "default":
            return tr(
                "Reads in the workspace and runs commands that only read. You are asked before "
                "anything is written, run or read outside."
            )
        case "accept_edits":
            return tr("As above, and files in the workspace are written without asking.")
        case "explore":
            return tr(
                "Looking only: writing and running are refused. You are asked before anything "
                "outside is read."
            )
        case "dont_ask":
            return tr(
                "For work that you do not watch: whatever would be asked is refused, and the agent "
                "goes on without it."
            )
        case "bypass":
            return tr(
                "Commands run and files change without a question. Only what is dangerous or "
                "private is still asked."
            )


def bypass_warning() -> str:
    """What a person must know before nothing is asked any more."""
    return tr(
        "A page or a file that the agent reads can make it run commands with your rights. Use this "
        "only where nothing can be lost: in a copy, a container or a machine of its own."
    )


def behavior_heading(behavior: str) -> str:
    match behavior:
        case "deny":
            return tr("Always refused")
        case "ask":
            return tr("Always asked")
        case _:
            return tr("Always allowed")


def behavior_name(behavior: str) -> str:
    match behavior:
        case "deny":
            return tr("Refuse")
        case "ask":
            return tr("Ask")
        case _:
            return tr("Allow")


def source_words(source: str) -> str:
    """Where a rule comes from."""
    match source:
        case "suggested":
            return tr("from “Always”")
        case "session" | "":
            return tr("added here")
        case "userSettings":
            return tr("your settings")
        case "projectSettings":
            return tr("this workspace")
        case _:
            return source


def content_words(rule: Rule) -> str:
    """The rule's pattern, or that it is about every call."""
    content = (rule.rule_content or "").strip()
    return content if content not in ("", "*") else tr("every call")


def hint(tool: str) -> str:
    """How a rule for ``tool`` is written."""
    if tool == "Bash":
        return tr(
            "A whole line (npm test), or words and :* for every command that begins so "
            "(npm test:*). A line that does more than this is still asked about."
        )
    if tool in FILE_TOOLS:
        return tr(
            "A path or a pattern, relative to the workspace: docs/notes.md, src/**, **/*.md. "
            "Empty for every file."
        )
    return tr("Leave it empty: the rule is about every call of this tool.")


def problem_words(problem: Problem) -> str:
    """Why a rule will not do; empty when it will."""
    match problem:
        case "":
            return ""
        case "tool":
            return tr("Choose a tool.")
        case "prefix":
            return tr("Words are needed before :*")
        case "exact":
            return tr("End it with :* to mean every command that begins so.")
        case "pattern":
            return tr("This is not a pattern for paths.")
        case "name":
            return tr("A rule for this tool has no pattern.")


def everything_warning(tool: str) -> str:
    """Said when an allow rule is about every call."""
    return tr(
        "Every call of {tool} would run without a question, except what is dangerous or private.",
        tool=tool_words.title(tool),
    )
