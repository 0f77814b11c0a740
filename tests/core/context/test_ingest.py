"""What tools bring in stays a share of the window, alone and together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.ingest import (
    BATCH,
    COST,
    FEWEST,
    NARROW,
    SPARE,
    Allowance,
    allowances,
    bound_results,
    result_limit,
)
from desktop_app.core.context.types import Limits


@given(
    st.lists(st.floats(0, 300_000), max_size=20),
    st.sampled_from([4096, 8192, 32_768, 200_000, 1_000_000]),
)
def test_each_result_and_all_together_stay_within_their_shares(
    sizes: list[float], window: int
) -> None:
    limits = Limits(window=window, max_output=4096)
    allowed = allowances(sizes, limits)
    brought = [s if a is None else a for s, a in zip(sizes, allowed, strict=True)]
    assert all(b <= result_limit(limits) for b in brought)
    assert sum(brought) <= 0.25 * limits.usable + len(sizes)
    assert all(a is None or a < s for s, a in zip(sizes, allowed, strict=True) if s >= 1)


def test_small_results_stay_whole_beside_large_ones() -> None:
    limits = Limits(window=32_768, max_output=4096)
    allowed = allowances([100, 50_000, 200, 50_000, 50_000, 50_000, 50_000], limits)
    assert allowed[0] is None
    assert allowed[2] is None
    assert len({a for a in allowed if a is not None}) == 1


def test_results_that_arrive_together_are_bounded_together() -> None:
    account = Accounting(Limits(window=32_768, max_output=4096))
    log = "\n".join(f"line {n}: all is well" for n in range(20_000)) + "\nERROR: disk full"
    found = bound_results(["short", log, log, log, log, log], account)
    assert found[0].text == "short"
    assert not found[0].cut
    total = sum(account.upper(account.pricer.texts.count(b.text)) for b in found)
    assert total <= 0.25 * account.limits.usable + 10
    assert all("disk full" in b.text for b in found[1:])


def test_what_a_cut_would_hardly_shorten_stays_whole() -> None:
    """Reported: in a window of 24,576 a result of 2.7 KB lost 400 bytes, and gained a note of as
    many that says where they are."""
    limits = Limits(window=24_576, max_output=4096)
    full = NARROW * limits.usable  # what is left in a window that is nearly full
    assert Allowance(Accounting(limits), 1, 0.0).take(full + 130) is None
    assert Allowance(Accounting(limits), 1, 0.0).take(full + COST + 1) == int(full)
    two = Allowance(Accounting(limits), 2, 0.0)
    assert two.take(full / 2 + 200) is None
    assert two.take(full / 2 + 200) is not None, "only so much for all of a step together"


@given(
    st.lists(st.floats(0, 300_000), max_size=12),
    st.sampled_from([4096, 8192, 24_576, 200_000]),
    st.floats(0, 1),
)
def test_results_given_out_one_by_one_stay_within_what_all_may_bring(
    sizes: list[float], window: int, free: float
) -> None:
    limits = Limits(window=window, max_output=4096)
    usable = limits.usable
    given_out = Allowance(Accounting(limits), len(sizes), free * usable)
    brought = [s if (m := given_out.take(s)) is None else m for s in sizes]
    most = min(BATCH * usable, max(free * usable, NARROW * usable))
    assert sum(brought) <= most + min(COST, SPARE * usable) + FEWEST * len(sizes) + 1
    assert all(b <= s for b, s in zip(brought, sizes, strict=True))
