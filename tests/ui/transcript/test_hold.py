"""What of a growing paragraph is shown."""

from __future__ import annotations

import pytest

from desktop_app.ui.transcript.hold import presentable


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a **bo", "a **bo**"),
        ("a **bold**", "a **bold**"),
        ("a **", "a "),
        ("a `co", "a `co`"),
        ("a `code`", "a `code`"),
        ("see [the docs](https://exa", "see "),
        ("see [the docs]", "see "),
        ("see [the", "see "),
        ("see [the docs](https://example.com) and", "see [the docs](https://example.com) and"),
        ("an array a[0] is", "an array a[0] is"),
        ("text\n-", "text"),
        ("text\n---", "text"),
        ("text\n2", "text\n2"),
        ("- a\n- ", "- a"),
        ("| a | b |", ""),
        ("| a | b |\n|--", ""),
        ("| a | b |\n|---|---|\n| c", "| a | b |\n|---|---|\n| c"),
        ("- a\n- b", "- a\n- b"),
    ],
)
def test_half_written_things_are_held_back(source: str, shown: str) -> None:
    assert presentable(source) == shown


def test_every_prefix_of_a_text_is_presentable() -> None:
    text = "A **bold** `code` [link](https://example.com/a) ~~gone~~ *it* | x\n- a\n- b\n\n1. c"
    for n in range(len(text)):
        shown = presentable(text[:n])
        assert "](" not in shown or shown.endswith(")") or ") " in shown
