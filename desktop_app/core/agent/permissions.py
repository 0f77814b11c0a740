"""Permissions: whether a call runs, is refused, or is asked for.

Pure and synchronous: a tool looks at its call first (``Tool.check``) and hands its verdict in.
Order, first answer wins:

1. deny rules
2. the tool's own refusal
3. ask rules
4. the tool's safety questions: no rule and no mode switches them off
5. the tool allows it by itself (reading inside, a listed shell command, its own lists)
6. allow rules
7. the mode: default asks; accept_edits allows Write and Edit inside; explore refuses what is not
   reading and asks for the rest; dont_ask refuses; bypass allows

In dont_ask every question (3, 4 too) is a refusal: nobody is there to answer.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from desktop_app.core.errors import ToolFailure
from desktop_app.core.events import Effect
from desktop_app.core.state import PermissionContext, Rule
from desktop_app.core.tools.base import Behavior, Verdict
from desktop_app.core.tools.globs import matches as glob_matches
from desktop_app.core.tools.shell_rules import covers_line, covers_together
from desktop_app.core.tools.shell_words import commands_in

FILE_TOOLS = frozenset({"Read", "Write", "Edit", "Grep", "Glob"})
EDITS = frozenset({"Write", "Edit"})
Reason = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of a call. ``by`` is ``person`` when one must be asked; ``rule`` the rule that
    decided, when one did; ``suggest`` the rule that "always" would add."""

    behavior: Behavior
    by: Literal["person", "rule", "mode"]
    reasons: tuple[Reason, ...] = ()
    rule: Rule | None = None
    suggest: dict[str, Any] | None = None


class Permissions:
    """The rules and the mode of one session. ``cwd`` makes paths of past calls relative."""

    def __init__(self, context: PermissionContext, cwd: str = "") -> None:
        self.context = context
        self.cwd = cwd

    @property
    def mode(self) -> str:
        return self.context.mode

    def rules_on(self, name: str) -> bool:
        """Whether a rule could refuse a call of the tool ``name``, or ask for it."""
        tables = (self.context.deny_rules, self.context.ask_rules)
        return any(table.get(key) for table in tables if table for key in (name, "*"))

    # -- deciding ------------------------------------------------------------------------------

    def decide(
        self, name: str, args: dict[str, Any], verdict: Verdict, *, effect: Effect
    ) -> Decided:
        """What becomes of a call of the tool ``name``."""
        context = self.context
        subjects = verdict.subjects or self._subjects(name, args)
        if rule := self._find(context.deny_rules, name, subjects, broad=True, args=args):
            return Decided("deny", "rule", (("rule.deny", _params(rule)),), rule)
        if verdict.behavior == "deny":
            return Decided("deny", "mode", verdict.reasons)
        if rule := self._find(context.ask_rules, name, subjects, broad=True, args=args):
            return self._ask((("rule.ask", _params(rule)), *verdict.reasons), None, effect)
        if verdict.safety:
            return self._ask(verdict.reasons, None, effect)
        if verdict.behavior == "allow":
            return Decided("allow", "mode")
        if rule := self._find(context.allow_rules, name, subjects, broad=False):
            return Decided("allow", "rule", rule=rule)
        if name == "Bash" and (rule := self._together(subjects)):
            return Decided("allow", "rule", rule=rule)
        return self._by_mode(name, verdict, effect)

    def _by_mode(self, name: str, verdict: Verdict, effect: Effect) -> Decided:
        if self.mode == "bypass" or (self.mode == "accept_edits" and name in EDITS):
            return Decided("allow", "mode")
        return self._ask(verdict.reasons, verdict.rule, effect)

    def _ask(
        self,
        reasons: tuple[Reason, ...],
        suggest: dict[str, Any] | None,
        effect: Effect,
    ) -> Decided:
        """A question, where there is somebody to ask and the mode has room for it."""
        if self.mode == "dont_ask":
            return Decided("deny", "mode", (("mode.dont_ask", {}), *reasons))
        if self.mode == "explore" and effect != "read":
            return Decided("deny", "mode", (("mode.explore", {}), *reasons))
        return Decided("ask", "person", reasons, suggest=suggest)

    def _find(
        self,
        rules: dict[str, list[Rule]],
        name: str,
        subjects: Sequence[str],
        *,
        broad: bool,
        args: dict[str, Any] | None = None,
    ) -> Rule | None:
        for key in (name, "*"):
            for rule in rules.get(key, ()):
                content = rule.rule_content or ""
                if content.startswith(HOST):
                    if args is not None and names_host(content.removeprefix(HOST), args):
                        return rule
                elif covers(rule.rule_content, name, subjects, broad=broad):
                    return rule
        return None

    def _together(self, subjects: Sequence[str]) -> Rule | None:
        """The first of the shell's allow rules when they cover a line between them."""
        rules = [r for r in self.context.allow_rules.get("Bash", ()) if r.rule_content]
        contents = [r.rule_content or "" for r in rules]
        covered = len(rules) > 1 and all(covers_together(contents, line) for line in subjects)
        return rules[0] if covered and subjects else None

    # -- rules -----------------------------------------------------------------------------------

    def add(self, rule: dict[str, Any] | Rule) -> bool:
        """Add a rule; False when it was there already."""
        new = rule if isinstance(rule, Rule) else Rule.model_validate(rule)
        if any(_same(new, old) for old in self.rules()):
            return False
        self._table(new.behavior).setdefault(new.tool_name, []).append(new)
        return True

    def remove(self, rule: dict[str, Any] | Rule) -> bool:
        """Remove a rule; False when there was none."""
        gone = rule if isinstance(rule, Rule) else Rule.model_validate(rule)
        table = self._table(gone.behavior)
        kept = [r for r in table.get(gone.tool_name, []) if not _same(r, gone)]
        removed = len(kept) < len(table.get(gone.tool_name, []))
        if kept:
            table[gone.tool_name] = kept
        else:
            table.pop(gone.tool_name, None)
        return removed

    def rules(self) -> list[Rule]:
        """All rules: deny, ask, allow."""
        tables = (self.context.deny_rules, self.context.ask_rules, self.context.allow_rules)
        return [rule for table in tables for rules in table.values() for rule in rules]

    def _table(self, behavior: str) -> dict[str, list[Rule]]:
        match behavior:
            case "deny":
                return self.context.deny_rules
            case "ask":
                return self.context.ask_rules
            case _:
                return self.context.allow_rules

    def suggest_rule(self, name: str, verdict: Verdict) -> dict[str, Any] | None:
        """The rule that "always" would add for a call that is asked, or None when it would not
        help: safety questions stay questions."""
        return None if verdict.safety else verdict.rule

    def count(self, rule: dict[str, Any], past: Iterable[dict[str, Any]]) -> int:
        """How many past calls of the rule's tool (their arguments) it would have allowed."""
        content = cast("str | None", rule.get("rule_content"))
        name = str(rule.get("tool_name", ""))
        return sum(covers(content, name, self._subjects(name, args), broad=False) for args in past)

    def matches(
        self, rule: dict[str, Any], past_calls: Iterable[tuple[str, dict[str, Any]]]
    ) -> tuple[int, int]:
        """(would have allowed, of) over past calls given as (tool, arguments)."""
        name = rule.get("tool_name")
        mine = [args for tool, args in past_calls if tool == name]
        return self.count(rule, mine), len(mine)

    def _subjects(self, name: str, args: dict[str, Any]) -> tuple[str, ...]:
        """What rules are matched against, from the arguments alone (links not looked at)."""
        if name == "Bash":
            return (str(args.get("command", "")),)
        if name in FILE_TOOLS:
            given = str(args.get("file_path") or args.get("path") or ".")
            path = posixpath.normpath(posixpath.join(self.cwd, given))
            if self.cwd and (path == self.cwd or path.startswith(self.cwd.rstrip("/") + "/")):
                path = posixpath.relpath(path, self.cwd)
            return (path,)
        return (name,)


HOST = "host:"  # of a rule that forbids or asks: calls that name this host, or one below it


def names_host(host: str, value: Any) -> bool:
    """Whether arguments name a host anywhere in their texts."""
    if isinstance(value, str):
        pattern = rf"(?<![\w.-])(?:[\w-]+\.)*{re.escape(host)}(?![\w-]|\.\w)"
        return re.search(pattern, value, re.IGNORECASE) is not None
    if isinstance(value, dict):
        return any(names_host(host, v) for v in cast(dict[str, Any], value).values())
    if isinstance(value, list):
        return any(names_host(host, v) for v in cast(list[Any], value))
    return False


def covers(content: str | None, name: str, subjects: Sequence[str], *, broad: bool) -> bool:
    """Whether a rule's content covers a call. ``broad`` for rules that forbid or ask: they match
    when any part of the call does; an allow rule must cover all of it."""
    if content is None or content in ("", "*"):
        return True
    if content.startswith(HOST):
        return False  # needs the arguments: ``names_host``; it never allows anything
    fits = any if broad else all
    if name == "Bash":
        return fits(_bash(content, s, broad) for s in subjects)
    if name in FILE_TOOLS:
        return bool(subjects) and fits(_path(content, s) for s in subjects)
    return content == name


def _bash(content: str, command: str, broad: bool) -> bool:
    if not broad:
        return covers_line(content, command)
    if command.strip() == content.strip():
        return True
    prefix = content.removesuffix(":*").removesuffix("*").strip()
    return any(_starts(c, prefix) for c in commands_in(command))


def _starts(command: str, prefix: str) -> bool:
    return command == prefix or command.startswith(prefix + " ")


def _path(content: str, path: str) -> bool:
    pattern = content.removeprefix("./")
    try:
        if glob_matches(pattern, path):
            return True
        return pattern.endswith("/**") and path == pattern.removesuffix("/**")
    except ToolFailure:  # a rule that cannot be read covers nothing
        return False


def _same(a: Rule, b: Rule) -> bool:
    return (a.tool_name, a.rule_content, a.behavior) == (b.tool_name, b.rule_content, b.behavior)


def _params(rule: Rule) -> dict[str, Any]:
    return {"tool": rule.tool_name, "rule": rule.rule_content, "source": rule.source}
