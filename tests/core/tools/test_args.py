"""Arguments as models write them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.args import parse_arguments, validate
from desktop_app.core.tools.registry import builtin_tools

TOOLS = {tool.name: tool for tool in builtin_tools()}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "more": {"type": "object"},
    },
    "required": ["name"],
}


def check(args: dict[str, Any]) -> dict[str, Any]:
    return validate("T", SCHEMA, args)


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ({"count": "5"}, {"count": 5}),
        ({"count": 5.0}, {"count": 5}),
        ({"ratio": "1.5"}, {"ratio": 1.5}),
        ({"on": "True"}, {"on": True}),
        ({"name": 7}, {"name": "7"}),
        ({"tags": "x"}, {"tags": ["x"]}),
        ({"tags": '["x", "y"]'}, {"tags": ["x", "y"]}),
        ({"more": '{"a": 1}'}, {"more": {"a": 1}}),
        ({"kind": None}, {}),
    ],
)
def test_harmless_mistakes_are_taken(given_: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert check({"name": "n", **given_}) == {"name": "n", **wanted}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "name is missing"),
        ({"name": None}, "name is null"),
        ({"name": ""}, "name must not be empty"),
        ({"name": True}, "name must be a string, got boolean"),
        ({"name": {"a": 1}}, "name must be a string, got object"),
        ({"name": "n", "count": "five"}, "count must be an integer, got string"),
        ({"name": "n", "count": 5.5}, "count must be an integer, got number"),
        ({"name": "n", "count": True}, "count must be an integer, got boolean"),
        ({"name": "n", "count": 0}, "count must be at least 1, got 0"),
        ({"name": "n", "count": "99"}, "count must be at most 9, got 99"),
        ({"name": "n", "on": "perhaps"}, "on must be a boolean"),
        ({"name": "n", "kind": "c"}, "kind must be one of a, b"),
        ({"name": "n", "tags": [1, [2]]}, "tags[1] must be a string, got array"),
        ({"name": "n", "tags": ["a", "b", "c"]}, "tags must have 0 to 2 entries, got 3"),
        ({"name": "n", "cuont": 1}, "there is no parameter 'cuont'; did you mean 'count'?"),
    ],
)
def test_the_rest_is_told_exactly(args: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        check(args)
    assert caught.value.code == "tool.bad_arguments"
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ('{"command": "ls', "cut short"),
        ('{"command": "ls"', "cut short"),
        ('{"command":', "cut short"),
        ('{"command": ls}', "not valid JSON"),
        ('{"command": "ls"} {}', "not valid JSON"),
        ("[1]", "a JSON object is needed, got array"),
        ("null", "a JSON object is needed, got null"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_broken_json(raw: str, told: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        parse_arguments("Bash", raw)
    assert caught.value.code == "tool.bad_arguments"
    assert told in caught.value.message


def test_json_that_is_nearly_right() -> None:
    assert parse_arguments("T", "") == {}
    assert parse_arguments("T", '{"a": "x\ny"}') == {"a": "x\ny"}
    assert parse_arguments("T", json.dumps('{"a": 1}')) == {"a": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), JSON))
def test_anything_is_either_right_or_told(args: dict[str, Any]) -> None:
    try:
        out = check(args)
    except ToolFailure as error:
        code = error.code
    else:
        assert check(out) == out
        code = "tool.bad_arguments"
    assert code == "tool.bad_arguments"


def test_every_tool_describes_itself() -> None:
    assert list(TOOLS) == [
        "Bash", "BashOutput", "BashStop", "Read", "Write", "Edit", "Grep", "Glob", "Skill",
        "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "AskUser",
    ]  # fmt: skip
    for tool in TOOLS.values():
        assert len(tool.description) > 20
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        json.dumps(tool.parameters)


def test_parameters_are_those_that_models_know() -> None:
    wanted = {
        "Bash": "command description timeout run_in_background",
        "BashOutput": "id wait until",
        "BashStop": "id",
        "Read": "file_path offset limit pages",
        "Write": "file_path content",
        "Edit": "file_path old_string new_string replace_all",
        "Grep": "pattern path output_mode glob type -A -B context -n -i multiline head_limit "
        "offset",
        "Glob": "pattern path head_limit offset",
        "Skill": "skill",
        "AskUser": "questions",
    }
    for name, parameters in wanted.items():
        assert list(TOOLS[name].parameters["properties"]) == parameters.split()
