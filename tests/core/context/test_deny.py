"""A "must not" that names a tool, a path or a host is also offered as a deny rule that works."""

from __future__ import annotations

from typing import Any

import pytest

from desktop_app.core.agent.permissions import Permissions
from desktop_app.core.context.deny import deny_suggestions
from desktop_app.core.context.rules import modality
from desktop_app.core.context.types import LedgerItem
from desktop_app.core.state import PermissionContext
from desktop_app.core.tools.base import Verdict

TOOLS = ["Bash", "Read", "Write", "Edit", "Grep", "mcp__mail__send"]


def item(text: str) -> LedgerItem:
    return LedgerItem(id="constraint-u1-0", kind="constraint", text=text, modality=modality(text))


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Never touch config/prod.toml.", [("Write", "config/prod.toml"), ("Edit",)]),
        ("不要修改目录 src/pay 里的任何文件。", [("Write", "src/pay/**"), ("Edit",)]),
        ("Do not open secrets/.env", [("Read", "secrets/.env"), ("Grep",), ("Write",), ("Edit",)]),
        ("You must not call api.pay.example again.", [("*", "host:api.pay.example")]),
        ("Never fetch https://x.example:8443/a?b", [("*", "host:x.example")]),
        ("Don't use Bash.", [("Bash", None)]),
        ("Never use mcp__mail__send without asking.", [("mcp__mail__send", None)]),
        ("Never push to main.", []),
        ("Always write to out/a.md.", []),
        ("Never mail anna@x.example.", []),
    ],
)
def test_rules_are_offered(text: str, rules: list[tuple[str | None, ...]]) -> None:
    found = deny_suggestions([item(text), item(text)], TOOLS)
    assert [s.rule.tool_name for s in found] == [r[0] for r in rules]
    for suggestion, rule in zip(found, rules, strict=True):
        if len(rule) > 1:
            assert suggestion.rule.rule_content == rule[1]
        assert suggestion.rule.behavior == "deny"
        assert (suggestion.item, suggestion.sentence) == ("constraint-u1-0", text)


def test_a_rule_that_was_taken_back_offers_nothing() -> None:
    gone = item("Never touch a/b.py.")._replace(status="revoked")
    assert deny_suggestions([gone], TOOLS) == []


@pytest.mark.parametrize(
    ("text", "tool", "args", "denied"),
    [
        ("Never touch config/prod.toml.", "Edit", {"file_path": "config/prod.toml"}, True),
        ("Never touch config/prod.toml.", "Edit", {"file_path": "config/test.toml"}, False),
        ("Never change src/pay/ please.", "Write", {"file_path": "src/pay/a/b.py"}, True),
        ("Never call x.example.", "Bash", {"command": "curl https://api.x.example/v1"}, True),
        ("Never call x.example.", "Bash", {"command": "curl https://x.example.org/v1"}, False),
        ("Never call x.example.", "Bash", {"command": "curl https://ax.example/v1"}, False),
        ("Never call x.example.", "http_get", {"o": [{"url": "http://x.example:80"}]}, True),
        ("Never use Bash.", "Bash", {"command": "ls"}, True),
    ],
)
def test_an_accepted_rule_refuses_the_call(
    text: str, tool: str, args: dict[str, Any], denied: bool
) -> None:
    permissions = Permissions(PermissionContext(mode="bypass"))
    for suggestion in deny_suggestions([item(text)], TOOLS):
        permissions.add(suggestion.rule)
    decided = permissions.decide(tool, args, Verdict("ask"), effect="unsafe")
    assert decided.behavior == ("deny" if denied else "allow")


def test_a_host_rule_never_allows_anything() -> None:
    permissions = Permissions(PermissionContext())
    permissions.add({"tool_name": "Bash", "rule_content": "host:x.example", "behavior": "allow"})
    args = {"command": "curl https://x.example"}
    decided = permissions.decide("Bash", args, Verdict("ask"), effect="unsafe")
    assert decided.behavior == "ask"
