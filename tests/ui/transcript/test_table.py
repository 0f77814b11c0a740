"""Widths of a table's columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop_app.ui.transcript.table import _shared, _word

columns = st.lists(st.tuples(st.integers(1, 300), st.integers(0, 900)), min_size=1, max_size=12)


@given(columns, st.integers(1, 2000))
def test_shares_never_take_from_what_a_column_needs(
    pairs: list[tuple[int, int]], width: int
) -> None:
    least = [a for a, _ in pairs]
    want = [a + b for a, b in pairs]
    fair = _shared(least, want, width)
    assert all(a <= f <= w for a, f, w in zip(least, fair, want, strict=True))
    assert sum(fair) <= max(width, sum(least))
    if sum(want) >= width >= sum(least):
        assert width - sum(fair) < len(fair), "all there is is given out"


def test_a_narrow_column_keeps_its_word_beside_a_wide_one() -> None:
    assert _shared([80, 60], [80, 900], 400) == [80, 320]


def test_lines_break_between_words_and_between_chinese_characters() -> None:
    assert _word("replacement under warranty") == "replacement"
    assert len(_word("客户走访记录归档")) == 2
    assert _word("") == ""
