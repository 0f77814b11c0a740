"""Names that providers take, and schemas that they take."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult, ListToolsResult

from desktop_app.core.mcp.connection import RemoteTool
from desktop_app.core.mcp.names import proposed_name, tool_name
from desktop_app.core.mcp.sift import sift_result
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.mcp.tools import McpTool, left_out, usable_schema
from desktop_app.core.workspaces.mcp_file import parse_mcp

SERVER = st.from_regex(r"[A-Za-z0-9_-]{1,70}", fullmatch=True)


def test_plain_names_stay_readable() -> None:
    assert tool_name("docs", "search") == "mcp__docs__search"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("mcp-server-time --local-timezone UTC", "time"),
        ("/opt/bin/mcp-server-time --local-timezone=Asia/Tokyo", "time"),
        (
            "node /n/@modelcontextprotocol/server-everything/dist/index.js",
            "everything",
        ),
        ("npx -y @modelcontextprotocol/server-filesystem@2026.1 /home/me", "filesystem"),
        ("npx @playwright/mcp@latest", "playwright"),
        ("npx -y figma-developer-mcp", "figma-developer"),
        ("uvx mcp-server-git --repository here", "git"),
        ("uvx --python 3.12 mcp-server-sqlite", "sqlite"),
        ("python3.11 -m mcp_server_fetch", "fetch"),
        ("uv run --directory /srv/weather server.py", "weather"),
        ("docker run -i --rm -e A=1 ghcr.io/github/github-mcp-server:1", "github"),
        ("python server.py", "server"),
        (r"C:\Tools\docs.exe", "docs"),
        ("", ""),
    ],
)
def test_a_server_is_called_after_its_program(line: str, name: str) -> None:
    assert proposed_name(line.split()) == name


def test_a_server_at_an_address_is_called_after_its_host() -> None:
    assert proposed_name([], "https://docs.example.org:8080/mcp?key=1") == "docs-example-org-8080"


def test_what_is_long_or_odd_keeps_its_beginning_and_gets_a_hash() -> None:
    long = "x" * 60
    a, b = tool_name(long, "search_a"), tool_name(long, "search_b")
    assert a != b
    assert a.startswith("mcp__xxx")
    assert tool_name("fs", "fs.read").startswith("mcp__fs__fs_read_")
    assert tool_name("工具", "x") != tool_name("工具箱", "x")


@given(SERVER, st.text(min_size=1, max_size=90), SERVER, st.text(min_size=1, max_size=90))
def test_names_are_valid_steady_and_apart(s: str, t: str, s2: str, t2: str) -> None:
    name = tool_name(s, t)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
    assert tool_name(s, t) == name
    assert ((s, t) == (s2, t2)) == (name == tool_name(s2, t2))


def test_two_ways_to_read_a_name_never_meet() -> None:
    assert tool_name("a__b", "c") != tool_name("a", "b__c")
    assert tool_name("a_", "b") != tool_name("a", "_b")


def test_schemas_are_made_acceptable_and_else_left_alone() -> None:
    assert usable_schema({}) == {"type": "object", "properties": {}}
    given_schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/P"}},
        "required": ["p", "ghost"],
        "$defs": {"P": {"type": "string"}},
    }
    made = usable_schema(given_schema)
    assert made["required"] == ["p"]
    assert made["properties"] == {"p": {"$ref": "#/$defs/P"}}
    assert made["$defs"] == {"P": {"type": "string"}}
    assert "required" not in usable_schema({"required": ["x"]})
    assert left_out(given_schema) == ("ghost",), "and it is told"
    assert left_out({"required": "x"}) == left_out({}) == ()
    assert given_schema["required"] == ["p", "ghost"]  # the server's own is not touched


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "inputSchema", "type", "text", "data", "annotations", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=5))
def test_whatever_a_server_lists_the_sdk_can_read_what_is_left(items: list[object]) -> None:
    bad: list[str] = []
    listing: dict[str, object] = {"tools": list(items)}
    sift_result(listing, lambda name, _: bad.append(name))
    parsed = ListToolsResult.model_validate(listing)
    assert len(parsed.tools) + len(bad) == len(items)
    result: dict[str, object] = {"content": list(items)}
    sift_result(result, lambda *_: None)
    assert len(CallToolResult.model_validate(result).content) == len(items)


def test_a_declaration_is_read_leniently_and_hides_its_secrets() -> None:
    text = """[{"name": "s", "is_stateful": true, "disabled": true, "execution_timeout": 5,
      "enable_tools": ["a", 3], "disable_tools": ["b"],
      "mcp_config": {"type": "stdio_mcp", "command": "x", "args": ["1"], "timeout": -1,
        "env": {"PORT": 3000, "ON": true, "BAD": [], "KEY": "secret-value"}}}]"""
    spec = ServerSpec.of(parse_mcp(text.encode()).all()[0])
    assert spec.env == {"PORT": "3000", "ON": "true", "KEY": "secret-value"}
    assert (spec.enabled, spec.call_seconds, spec.http_seconds) == (False, 5.0, 30.0)
    assert (spec.offers("a"), spec.offers("b"), spec.offers("c")) == (True, False, False)
    assert "secret-value" not in repr(spec)


@pytest.mark.parametrize(
    ("read_only", "idempotent", "effect"),
    [
        (False, False, "unsafe"),
        (False, True, "idempotent"),
        (True, False, "read"),
        (True, True, "read"),
    ],
)
def test_what_a_server_says_of_a_tool_decides_whether_it_may_run_again(
    read_only: bool, idempotent: bool, effect: str
) -> None:
    async def never(*_: Any) -> Any:
        raise AssertionError

    remote = RemoteTool("t", "", {"type": "object"}, read_only, idempotent)
    assert McpTool("server", remote, never).effect({}) == effect
