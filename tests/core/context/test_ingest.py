"""What tools bring in stays a share of the window, alone and together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.ingest import allowances, bound_results, result_limit
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
