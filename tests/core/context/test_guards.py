"""Automatic compaction never goes round in circles, and a person is never held back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.context.guards import FAILURES, THRASH, TIGHTEST, Guards, refills
from desktop_app.core.context.types import CATEGORIES, Breakdown, Category, Item, Limits

W = 10_000


def test_three_attempts_that_gain_nothing_open_the_breaker_until_the_person_acts() -> None:
    guards, upper = Guards(), 8600
    tried = 0
    for _ in range(50):  # the loop of issue reports: the mark is passed at every call
        guards = guards.called()
        if guards.allows("danger", upper, W):
            tried += 1
            guards = guards.failed(upper, W)
    assert tried == 1
    for upper in (9700, 10_900, 10_950):
        assert guards.allows("danger", upper, W) is (upper != 10_950)
        guards = guards.failed(upper, W) if upper != 10_950 else guards
    assert guards.paused == "breaker"
    assert guards.failures == FAILURES
    assert guards.allows("manual", 10_950, W)
    assert guards.acted().allows("danger", 10_950, W)


def test_a_window_that_is_refilled_at_once_is_thrash_and_results_get_less_room() -> None:
    guards = Guards()
    for number in range(THRASH):
        assert guards.allows("danger", 9000, W)
        guards = guards.compacted("danger", 9000, 4000, W)
        assert (guards.paused == "thrash") is (number == THRASH - 1)
        guards = guards.called()
    assert guards.share == 0.5
    assert not guards.allows("danger", 4900, W)
    assert guards.allows("danger", 8600, W)  # it has grown; the next thrash halves once more
    for _ in range(20):
        guards = guards.compacted("danger", 9000, 4000, W).called()
    assert guards.share == 0.5**TIGHTEST


def test_compactions_with_calls_between_them_are_no_thrash() -> None:
    guards = Guards()
    for _ in range(12):
        guards = guards.compacted("danger", 8600, 4400, W)
        for _ in range(THRASH):
            guards = guards.called()
    assert (guards.paused, guards.share) == ("", 1.0)


def test_a_compaction_that_frees_little_is_no_progress() -> None:
    guards = Guards()
    for step in range(FAILURES):
        guards = guards.compacted("danger", 9000 + step, 8500, W)
    assert guards.paused == "breaker"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["called", "failed", "acted", "danger", "manual", "overflow"]),
            st.integers(0, 12_000),
        ),
        max_size=60,
    )
)
def test_its_state_survives_being_written_and_automatic_attempts_are_bounded(
    events: list[tuple[str, int]],
) -> None:
    guards = Guards()
    for what, upper in events:
        if what == "called":
            guards = guards.called()
        elif what == "failed":
            guards = guards.failed(upper, W)
        elif what == "acted":
            guards = guards.acted()
        elif what == "manual":
            guards = guards.compacted("manual", upper, upper // 2, W)
        elif guards.allows("danger", upper, W):
            guards = guards.compacted("danger", upper, upper // 2, W)
        assert Guards.from_body(guards.to_body()) == guards
        assert guards.allows("manual", upper, W)
        assert 0 < guards.share <= 1
    if guards.paused:
        assert not guards.allows("danger", guards.at, W)


def test_what_cannot_be_read_gives_a_fresh_one() -> None:
    assert Guards.from_body({"failures": "many"}) == Guards()
    assert Guards.from_body({**Guards().to_body(), "paused": "forever"}).paused == ""


def test_the_person_is_told_what_fills_the_window() -> None:
    limits = Limits(window=12_000, max_output=1000)
    parts: dict[Category, int] = dict.fromkeys(CATEGORIES, 0)
    items = (
        Item("mcp", "github: search", 6000, "search"),
        Item("system", "system", 500, "system"),
        Item("result", "Read big.log", 3000, "op1"),
    )
    told = Breakdown(9500, 9900, 0, limits, parts, items)
    assert (who := refills(told)) is not None
    assert who.label == "github: search"
    told = Breakdown(3500, 3900, 0, limits, parts, items[1:])
    assert (who := refills(told)) is not None
    assert who.label == "Read big.log"
