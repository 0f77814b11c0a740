"""Rules that a person sets are found in both languages and kept byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.context.rules import PASTED, rules_in


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Read a.md. Never touch b.md! Thanks.", ["Never touch b.md!"]),
        ("You must use v1.2 of x.py; then stop.", ["You must use v1.2 of x.py;"]),
        ("Don’t guess.\nKeep the headings", ["Don’t guess.", "Keep the headings"]),
        ("整理这些文件，不要删除原件。然后写摘要。", ["整理这些文件，不要删除原件。"]),
        ("必须用中文；只能改 notes 目录。", ["必须用中文；", "只能改 notes 目录。"]),
        ("请分别总结，别人的文件别动。", ["请分别总结，别人的文件别动。"]),
        ("特别好，级别也对。", []),
        ("Summarise the report for me please.", []),
        ("```\nyou must never\n```\nOnly in English.", ["Only in English."]),
        ("", []),
    ],
)
def test_rules_are_found(text: str, rules: list[str]) -> None:
    assert rules_in(text) == rules


@given(st.text(alphabet="ab .!;\n。不要must`~", max_size=200))
def test_every_rule_is_an_exact_piece_of_the_text(text: str) -> None:
    for rule in rules_in(text):
        assert rule in text
        assert rule == rule.strip()


def test_a_pasted_document_does_not_flood_the_rules() -> None:
    text = "\n".join(f"Section {n} must hold." for n in range(1000))
    assert len(rules_in(text, pasted=True)) == PASTED
    assert len(rules_in(text)) == 1000
