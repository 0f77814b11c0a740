"""Whether a rule that a person writes can ever do what it says."""

from __future__ import annotations

from typing import Literal

from desktop_app.core.errors import ToolFailure
from desktop_app.core.state import Rule
from desktop_app.core.tools.globs import compile_glob

from .permissions import FILE_TOOLS, HOST

# ``tool``: no tool is named; ``prefix``: nothing before ``:*``; ``exact``: a wildcard that an
# allow rule of Bash takes literally; ``pattern``: no pattern for paths; ``name``: for other tools
# only all calls or none.
Problem = Literal["", "tool", "prefix", "exact", "pattern", "name"]


def rule_problem(rule: Rule) -> Problem:
    """What is wrong with a rule; empty when it will do."""
    content = (rule.rule_content or "").strip()
    if not rule.tool_name.strip():
        return "tool"
    if content in ("", "*"):
        return ""
    if content.startswith(HOST):
        named = bool(content.removeprefix(HOST).strip())
        return "" if named and rule.behavior != "allow" else "name"
    if rule.tool_name == "Bash":
        if not content.removesuffix(":*").strip():
            return "prefix"
        wild = content.endswith("*") and not content.endswith(":*")
        return "exact" if wild and rule.behavior == "allow" else ""
    if rule.tool_name in FILE_TOOLS:
        try:
            compile_glob(content.removeprefix("./"))
        except ToolFailure:
            return "pattern"
        return ""
    return "" if content == rule.tool_name else "name"
