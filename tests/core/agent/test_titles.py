"""What a session is called."""

from __future__ import annotations

import pytest

from desktop_app.core.agent.titles import _bare, _line


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


@pytest.mark.parametrize(
    ("made", "title"),
    [
        ("Tide tables", "Tide tables"),
        ("Tide tables of Harwich.", "Tide tables of Harwich"),
        ("# **Tide tables**\n", "Tide tables"),
        ("<think>They want\na name.</think>\n\nTitle: Tide tables", "Tide tables"),
        ("标题：潮汐表", "潮汐表"),
        ("snake_case in `a * b`", "snake_case in a * b"),
        ("Here is a program:\n\n```python\nprint()\n```", ""),
        ("One.\nTwo.\nThree.", ""),
        ("word " * 40, ""),
        ("<think>cut", ""),
    ],
)
def test_a_title_is_one_line_and_an_answer_is_none(made: str, title: str) -> None:
    assert _line(made) == title
