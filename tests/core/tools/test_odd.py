"""Of a long JSON array the items that are unlike the others are shown."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.tools.bounds import bound
from desktop_app.core.tools.odd import odd_ones


def pods(count: int = 300) -> list[Any]:
    return [
        {"pod": f"web-{n}", "status": "Running", "restarts": 0, "ip": f"10.0.{n // 250}.{n % 250}"}
        for n in range(count)
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"status": "CrashLoopBackOff"},
        {"restarts": 7},
        {"restarts": None},
        {"message": "node not ready"},
        {"ip": "permission denied"},
    ],
    ids=str,
)
def test_the_one_that_differs_is_found_and_shown(change: dict[str, Any]) -> None:
    rows = pods()
    rows[171].update(change)
    assert odd_ones(rows, 0, len(rows), 5) == [171]
    shown = bound(json.dumps(rows), max_tokens=700)
    assert shown.kind == "json"
    assert '"pod": "web-171"' in shown.text
    (value,) = change.values()
    assert json.dumps(value) in shown.text
    assert "163 more" in shown.text  # between the first eight and it


@pytest.mark.parametrize("odd", ["?", None, 5, ["x"]])
def test_an_item_of_another_type_is_odd(odd: Any) -> None:
    rows: list[Any] = [*pods(120), odd, *pods(120)]
    assert odd_ones(rows, 0, len(rows), 5)[0] == 120


def test_in_a_list_of_lines_it_is_the_telling_line() -> None:
    lines = [f"12:00:{n % 60:02} request {n} took {n * 7 % 90} ms" for n in range(400)]
    lines[222] = "disk sda1 is on fire"
    assert odd_ones(lines, 0, len(lines), 5) == [222]
    assert "disk sda1 is on fire" in bound(json.dumps({"lines": lines}), max_tokens=500).text


def test_where_all_differ_none_is_odd() -> None:
    rng = Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(200)]
    assert odd_ones([{w: w} for w in words], 0, 200, 5) == []
    assert odd_ones(list(range(1000)), 0, 1000, 5) == []
    assert odd_ones([{"n": n, "half": n % 2 == 0} for n in range(300)], 0, 300, 5) == []


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=120,
), st.integers(1, 8))  # fmt: skip
def test_any_value_is_looked_at_and_the_limit_holds(value: Any, most: int) -> None:
    items = value if isinstance(value, list) else [value] * 3
    found = odd_ones(items, 1, len(items), most)
    assert len(found) <= most
    assert len(set(found)) == len(found)
    assert all(1 <= n < len(items) for n in found)
    text = json.dumps({"v": items, "more": [items] * 20})
    assert len(bound(text, max_chars=600).text) <= 600


def test_a_line_that_only_a_shorter_form_leaves_out_is_told_too() -> None:
    """The first form that is tried may still show it in its head."""
    rng = Random(3)
    log = [f"2026-11-0{n % 9} INFO req={rng.getrandbits(128):032x} ok" for n in range(200)]
    for place in range(5, 195, 5):
        lines = [*log[:place], "the port of falcon-tundra-369 is 37192", *log[place:]]
        made = bound("\n".join(lines), max_tokens=900, count=lambda t: len(t) // 2)
        assert made.cut
        assert "37192" in made.text, place
