"""What a session is called."""

from __future__ import annotations

import pytest

from desktop_app.core.agent.titles import _bare


@pytest.mark.parametrize(
    ("made", "title"),
    [
        ('"Prices of rope"', "Prices of rope"),
        ("“报价汇总”", "报价汇总"),
        ('Search for "price 3"', 'Search for "price 3"'),
        ('"Late fee" and "notice"', '"Late fee" and "notice"'),
        (" Plain ", "Plain"),
        ('"', '"'),
        ("", ""),
    ],
)
def test_quotes_around_all_of_a_title_go_others_stay(made: str, title: str) -> None:
    assert _bare(made) == title
