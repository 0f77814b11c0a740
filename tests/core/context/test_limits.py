"""The window: who is believed, and what the marks make of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.context.limits import resolve, window_from_error
from desktop_app.core.context.marks import CompactionSettings
from desktop_app.core.context.types import Limits
from desktop_app.core.models.base import ModelInfo

INFO = ModelInfo("m", "m", window=128_000, max_output=8192)


def test_sources_are_believed_in_order() -> None:
    assert resolve(INFO).window == 128_000
    assert resolve(INFO, catalogue=64_000).source == "catalogue"
    assert resolve(INFO, catalogue=64_000, provider=32_000).window == 32_000
    assert resolve(INFO, provider=32_000, user=200_000).window == 200_000
    unknown = ModelInfo("m", "m", window=0, max_output=0, window_source="assumed")
    assert (resolve(unknown).window, resolve(unknown).source) == (8192, "assumed")


def test_a_number_that_the_provider_refused_to_pass_caps_even_the_person() -> None:
    limits = resolve(INFO, user=200_000, error=100_000)
    assert (limits.window, limits.source) == (100_000, "error")
    assert resolve(INFO, user=50_000, error=100_000).source == "user"


@pytest.mark.parametrize(
    ("text", "window"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9876 tokens.",
            8192,
        ),
        ("prompt is too long: 213462 tokens > 200000 maximum", 200_000),
        (
            "The input token count (1300000) exceeds the maximum number of tokens allowed "
            "(1048576).",
            1_048_576,
        ),
        (
            "the request exceeds the available context size (4096 tokens), try increasing it",
            4096,
        ),
        ("context window of 128,000 tokens exceeded", 128_000),
        ("Requested 40960 tokens but max_model_len=32768", 32_768),
        ("rate limit reached, try again in 20 s", None),
        ("", None),
    ],
)
def test_the_window_is_read_from_the_words_of_providers(text: str, window: int | None) -> None:
    assert window_from_error(text) == window


@given(st.integers(1024, 4_000_000), st.integers(0, 400_000))
def test_marks_are_in_order_inside_the_window(window: int, output: int) -> None:
    limits = Limits(window=window, max_output=output)
    assert 0 <= limits.reserve <= 16_384
    assert 0 < limits.mark(limits.target) < limits.mark(limits.alert)
    assert limits.mark(limits.alert) < limits.mark(limits.danger) < limits.usable <= window
    assert limits.usable + limits.reserve <= window


def test_marks_that_a_person_set_move_the_marks_and_the_reserve() -> None:
    marks = CompactionSettings(alert=0.5, danger=0.7, target=0.3, window=50_000, reserve=2000)
    limits = resolve(INFO, marks=marks)
    assert (limits.window, limits.source, limits.reserve) == (50_000, "user", 2000)
    assert limits.usable == 50_000 - 2000 - 1000
    assert limits.mark(limits.alert) == limits.usable // 2
    assert resolve(INFO, error=20_000, marks=marks).source == "error"
    assert resolve(INFO, marks=CompactionSettings(reserve=10**9)).reserve == 64_000
    assert CompactionSettings.from_json(marks.to_json()) == marks
    assert CompactionSettings().to_json() == {}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"alert": 0.9}, "danger"),  # the danger mark would be below it
        ({"alert": 0.4}, "alert"),
        ({"target": 0.01}, "target"),
        ({"danger": 1.5}, "danger"),
        ({"alert": float("nan")}, "alert"),
        ({"window": 12}, "window"),
        ({"reserve": -1}, "reserve"),
    ],
)
def test_marks_that_make_no_sense_are_told_and_never_used(
    values: dict[str, Any], problem: str
) -> None:
    assert CompactionSettings(**values).problem() == problem
    assert CompactionSettings.from_json(values) == CompactionSettings()


@pytest.mark.parametrize("value", [None, [], {"alert": "x", "window": True, "other": 1}])
def test_odd_settings_are_the_defaults(value: Any) -> None:
    assert CompactionSettings.from_json(value) == CompactionSettings()
