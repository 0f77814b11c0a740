"""What a sandbox cost, counted from looks at it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from desktop_app.core.spending import HOUR_US, Spending

START = 1_700_000_000_000_000


@pytest.fixture
async def spending(tmp_path: Path) -> Spending:
    made = Spending(tmp_path / "spent.json")
    await made.load()
    return made


async def test_time_counts_while_it_runs_and_at_the_price_of_then(spending: Spending) -> None:
    see = spending.see
    see("a", running=True, started_us=START, price=1.0, at_us=START)
    see("a", running=True, started_us=START, price=1.0, at_us=START + HOUR_US)
    assert spending.of("a").usd == pytest.approx(1.0)
    see("a", running=False, price=2.0, at_us=START + 2 * HOUR_US)
    assert spending.of("a").usd == pytest.approx(3.0)
    see("a", running=False, price=2.0, at_us=START + 9 * HOUR_US)
    assert spending.of("a").usd == pytest.approx(3.0), "paused it costs nothing"
    see("a", running=True, started_us=START, price=1.0, at_us=START + 9 * HOUR_US)
    assert spending.of("a").usd == pytest.approx(3.0), "its first start was long ago"
    assert spending.of("never").usd == 0
    await spending.close()


async def test_what_was_not_seen_counts_to_the_end_of_the_lease_at_most(tmp_path: Path) -> None:
    path = tmp_path / "spent.json"
    first = Spending(path)
    ends = START + HOUR_US
    first.see("a", running=True, started_us=START, ends_us=ends, price=1.0, at_us=START)
    await first.close()  # as after a kill: it was running when it was last seen
    again = Spending(path)
    await again.load()
    again.see("a", running=False, price=1.0, at_us=START + 50 * HOUR_US)
    assert again.of("a").usd == pytest.approx(1.0)
    await again.close()


async def test_a_file_of_something_else_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "spent.json"
    path.write_text('{"a": {"usd": "much", "running": 1, "seen_us": -5}, "b": 7}')
    made = Spending(path)
    await made.load()
    assert (made.of("a").usd, made.of("a").running, made.of("a").seen_us) == (0.0, False, 0)
    await made.close()


async def test_a_months_cost_is_that_of_its_own_days_also_of_sandboxes_that_are_gone(
    spending: Spending,
) -> None:
    turn = int(datetime(2026, 3, 1).timestamp() * 1e6)
    see = spending.see
    begin = turn - 2 * HOUR_US
    see("a", running=True, started_us=begin, price=1.0, at_us=begin)
    see("a", running=True, price=1.0, at_us=turn + HOUR_US)
    see("b", running=True, started_us=turn, price=4.0, at_us=turn)
    see("b", running=False, price=4.0, at_us=turn + HOUR_US)
    assert spending.in_month("2026-02") == pytest.approx(2.0)
    assert spending.in_month("2026-03") == pytest.approx(1.0 + 4.0)
    assert spending.of("a").usd == pytest.approx(3.0)
    await spending.save()
    again = Spending(spending._path)
    await again.load()
    assert again.in_month("2026-03") == pytest.approx(5.0)
    for months in range(1, 20):
        at = int(datetime(2027 + months // 12, months % 12 + 1, 1).timestamp() * 1e6)
        again.see("b", running=True, started_us=at - HOUR_US, price=1.0, at_us=at)
        again.see("b", running=False, price=1.0, at_us=at)
    assert len(again.of("b").months) == 13
    await again.close()
    await spending.close()
