"""Permissions: the order of decisions, rules and what they cover, the modes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.agent.permissions import Permissions, covers
from desktop_app.core.events import Effect
from desktop_app.core.state import Mode, PermissionContext, Rule
from desktop_app.core.tools.base import Verdict

MODES: list[Mode] = ["default", "accept_edits", "explore", "bypass", "dont_ask"]
READ = Verdict("allow", subjects=("a.txt",))
OUTSIDE = Verdict("ask", (("path.outside", {}),), subjects=("/etc/x",))
WRITE = Verdict("ask", (("file.write", {}),), rule={"tool_name": "Write"}, subjects=("a.txt",))
SAFETY = Verdict("ask", (("path.secret", {}),), safety=True, subjects=(".env",))


def rule(tool: str, content: str | None, behavior: Any = "allow") -> Rule:
    return Rule(tool_name=tool, rule_content=content, behavior=behavior)


def decide(
    mode: Mode,
    name: str,
    verdict: Verdict,
    effect: Effect,
    *rules: Rule,
    args: dict[str, Any] | None = None,
) -> str:
    permissions = Permissions(PermissionContext(mode=mode))
    for r in rules:
        permissions.add(r)
    decided = permissions.decide(name, args or {}, verdict, effect=effect)
    return f"{decided.behavior} by {decided.by}"


@pytest.mark.parametrize(
    ("mode", "read", "outside", "write", "shell", "safety"),
    [
        ("default", "allow", "ask", "ask", "ask", "ask"),
        ("accept_edits", "allow", "ask", "allow", "ask", "ask"),
        ("explore", "allow", "ask", "deny", "deny", "deny"),
        ("bypass", "allow", "allow", "allow", "allow", "ask"),
        ("dont_ask", "allow", "deny", "deny", "deny", "deny"),
    ],
)
def test_modes(mode: Mode, read: str, outside: str, write: str, shell: str, safety: str) -> None:
    who = {"allow": "allow by mode", "ask": "ask by person", "deny": "deny by mode"}
    assert decide(mode, "Read", READ, "read") == who[read]
    assert decide(mode, "Read", OUTSIDE, "read") == who[outside]
    assert decide(mode, "Write", WRITE, "compensable") == who[write]
    unlisted = Verdict("ask", subjects=("make",))
    assert decide(mode, "Bash", unlisted, "unsafe") == who[shell]
    assert decide(mode, "Write", SAFETY, "compensable") == who[safety]


@pytest.mark.parametrize("mode", MODES)
def test_order(mode: Mode) -> None:
    deny, ask = rule("Write", "**", "deny"), rule("Write", "**", "ask")
    allow = rule("Write", "**")
    assert decide(mode, "Write", WRITE, "compensable", deny, ask, allow) == "deny by rule"
    asked = decide(mode, "Write", WRITE, "compensable", ask, allow)
    assert asked == ("deny by mode" if mode in ("explore", "dont_ask") else "ask by person")
    assert decide(mode, "Write", WRITE, "compensable", allow) == "allow by rule"
    # an allow rule never answers a safety question
    assert decide(mode, "Write", SAFETY, "compensable", allow) != "allow by rule"
    refused = Verdict("deny", subjects=("a.txt",))
    assert decide(mode, "Write", refused, "compensable", allow) == "deny by mode"


@given(st.sampled_from(MODES), st.sampled_from(["Write", "Edit", "Bash", "Read"]), st.booleans())
def test_safety_is_never_allowed(mode: Mode, name: str, with_rule: bool) -> None:
    rules = [rule(name, None)] if with_rule else []
    effect: Effect = "read" if name == "Read" else "unsafe"
    assert not decide(mode, name, SAFETY, effect, *rules).startswith("allow")


@pytest.mark.parametrize(
    ("content", "command", "covered"),
    [
        ("npm test", "npm test", True),
        ("npm test", " npm test ", True),
        ("npm test", "npm test -- x", False),
        ("npm test:*", "npm test", True),
        ("npm test:*", "npm test -- 'a; b' *.py", True),
        ("npm test:*", "npm tests", False),
        ("npm test:*", "npm test; rm -rf x", False),
        ("npm test:*", "npm test\nrm -rf x", False),
        ("npm test:*", "npm test & rm x", False),
        ("npm test:*", "npm test | sh", False),
        ("npm test:*", "npm test > ~/.bashrc", False),
        ("npm test:*", "npm test $(rm x)", False),
        ("npm test:*", 'npm test "$(rm x)"', False),
        ("npm test:*", "A=1 npm test", False),
        ("npm test:*", "sudo npm test", False),
        ("a && b", "a && b", True),
        ("a\nb", "a\nb", True),
        (":*", "rm x", False),
        ("npm *", "npm test", False),
        (None, "anything; at all", True),
        ("*", "anything; at all", True),
    ],
)
def test_shell_rules_that_allow(content: str | None, command: str, covered: bool) -> None:
    assert covers(content, "Bash", (command,), broad=False) is covered


@pytest.mark.parametrize(
    ("content", "command", "covered"),
    [
        ("rm:*", "rm x", True),
        ("rm:*", "ls; rm x", True),
        ("rm:*", "ls\nrm x", True),
        ("rm:*", "A=1 rm x", True),
        ("rm:*", "/bin/rm x", True),
        ("rm:*", "r\\m x", True),
        ("rm:*", "echo rm", False),
        ("rm -rf:*", "sudo rm -rf x", True),
        ("git push", "cd x && git push --force", True),
        ("rm *", "rm x", True),
    ],
)
def test_shell_rules_that_forbid_look_everywhere(content: str, command: str, covered: bool) -> None:
    assert covers(content, "Bash", (command,), broad=True) is covered


@pytest.mark.parametrize(
    ("content", "path", "covered"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", True),
        ("src/**", "srcs/a", False),
        ("*.md", "a.md", True),
        ("*.md", "d/a.md", False),
        ("**/*.{md,txt}", "d/a.txt", True),
        ("./a.txt", "a.txt", True),
        ("/etc/**", "/etc/hosts", True),
        ("/etc/**", "etc/hosts", False),
        ("**", "/etc/hosts", False),
        ("[", "x", False),
    ],
)
def test_path_rules(content: str, path: str, covered: bool) -> None:
    assert covers(content, "Read", (path,), broad=False) is covered


def test_a_rule_must_cover_every_path_to_allow_and_any_to_forbid() -> None:
    paths = ("src/a", "other/b")
    assert not covers("src/**", "Write", paths, broad=False)
    assert covers("src/**", "Write", paths, broad=True)


def test_other_tools_go_by_name() -> None:
    assert covers(None, "mcp__x", ("mcp__x",), broad=False)
    assert covers("mcp__x", "mcp__x", (), broad=False)
    assert not covers("mcp__y", "mcp__x", (), broad=False)


def test_rules_of_the_shell_work_together() -> None:
    line = Verdict("ask", subjects=("make all && make test | tail -5",))
    one, two = rule("Bash", "make all"), rule("Bash", "make test:*")
    assert decide("default", "Bash", line, "unsafe", one) == "ask by person"
    assert decide("default", "Bash", line, "unsafe", one, two) == "allow by rule"
    assert decide("default", "Bash", line, "unsafe", one, two, rule("Bash", "make:*", "deny")) == (
        "deny by rule"
    )
    worse = Verdict("ask", subjects=("make all && make test && ./x",))
    assert decide("default", "Bash", worse, "unsafe", one, two) == "ask by person"


def test_add_list_remove() -> None:
    permissions = Permissions(PermissionContext())
    new = {"tool_name": "Bash", "rule_content": "make:*", "behavior": "allow", "source": "session"}
    assert permissions.add(new)
    assert not permissions.add({**new, "source": "suggested"})
    assert [r.rule_content for r in permissions.rules()] == ["make:*"]
    assert permissions.context.allow_rules["Bash"][0].tool_name == "Bash"
    assert permissions.remove(new)
    assert not permissions.remove(new)
    assert permissions.context.allow_rules == {}


def test_what_a_rule_would_have_allowed() -> None:
    permissions = Permissions(PermissionContext(), cwd="/w")
    calls = [
        ("Bash", {"command": "make test"}),
        ("Bash", {"command": "make test; rm x"}),
        ("Bash", {"command": "ls"}),
        ("Write", {"file_path": "/w/src/a"}),
        ("Write", {"file_path": "src/../b"}),
        ("Write", {"file_path": "src/b"}),
    ]
    make = {"tool_name": "Bash", "rule_content": "make test:*"}
    assert permissions.matches(make, calls) == (1, 3)
    assert permissions.matches({"tool_name": "Write", "rule_content": "src/**"}, calls) == (2, 3)
    assert permissions.count(make, [args for tool, args in calls if tool == "Bash"]) == 1


def test_suggestion_only_where_it_helps() -> None:
    permissions = Permissions(PermissionContext())
    assert permissions.suggest_rule("Write", WRITE) == {"tool_name": "Write"}
    assert permissions.suggest_rule("Write", SAFETY) is None
    decided = permissions.decide("Write", {}, WRITE, effect="compensable")
    assert decided.suggest == {"tool_name": "Write"}


def test_states_of_agentscope_load() -> None:
    context = PermissionContext.model_validate(
        {
            "mode": "default",
            "allow_rules": {
                "Bash": [
                    {"tool_name": "Bash", "rule_content": "touch /srv/x:*", "behavior": "allow",
                     "source": "suggested"}
                ]
            },
        }
    )  # fmt: skip
    permissions = Permissions(context)
    verdict = Verdict("ask", subjects=("touch /srv/x",))
    assert permissions.decide("Bash", {}, verdict, effect="unsafe").by == "rule"
