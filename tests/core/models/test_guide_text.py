"""Reading a request: mentions keep the person's own words, and no text breaks the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.messages import Msg
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.guide.engine import Answer, Want
from desktop_app.core.models.guide.fuzzy import best_matches, correct, distance
from desktop_app.core.models.guide.intents import recognise
from desktop_app.core.models.guide.lexicon import VOCABULARY
from desktop_app.core.models.guide.plans import decide
from desktop_app.core.models.guide.text import fold, mask
from tests.helpers.models import SCHEMAS

WORDS = st.sampled_from(
    [
        "list",
        "the files",
        "a.md",
        "“引用”",
        "'q'",
        "把",
        "重命名为",
        "b.txt",
        "and then",
        "，",
        "。",
        "*.csv",
        "data/x",
        "1.",
        "\n",
        "search for",
        "写入",
        "don't",
        ".md",
        "总结",
        "`",
        "“",
        "'",
    ]
)
REQUESTS = st.one_of(st.text(), st.lists(WORDS, max_size=14).map(" ".join))


@given(REQUESTS)
def test_any_text_is_answered_or_acted_on(text: str):
    request = ModelRequest("", [Msg.user(text)], SCHEMAS)
    got = decide(request)
    assert isinstance(got, Want | Answer)
    assert got.calls if isinstance(got, Want) else got.text
    for purpose in ("summary", "title"):
        assert isinstance(decide(ModelRequest("", [Msg.user(text)], purpose=purpose)), Answer)


@given(REQUESTS)
def test_folding_keeps_every_position(text: str):
    assert len(fold(text)) == len(text)
    masked = mask(text)
    for m in masked.mentions:
        assert m.text in text[m.start : m.end] or m.text in fold(text)[m.start : m.end]
    for position in range(len(masked.text)):
        if not "\ue000" <= masked.text[position] <= "\ue004":
            assert masked.text[position] == fold(text)[masked.place(position)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("读会议记录.md", ["会议记录.md"]),
        ("把a.txt重命名为b.txt", ["a.txt", "b.txt"]),
        ("看看三月.csv和四月.csv的差异", ["三月.csv", "四月.csv"]),
        ("open docs/plan.v2.md, please.", ["docs/plan.v2.md"]),
        ("e.g. version 2.0 at 5 p.m.", []),
        ('rename "my file.txt"', ["my file.txt"]),
        ("it's John's notes.md", ["notes.md"]),
    ],
)
def test_file_names_are_cut_out_of_running_text(text: str, names: list[str]):
    assert [m.text for m in mask(text).of("file")] == names


def test_mistyped_keywords_are_put_right_and_real_words_left_alone():
    assert correct("serach the fiels", VOCABULARY)[0] == "search the files"
    assert correct("never mind the road", VOCABULARY)[0] == "never mind the road"
    assert recognise("serach for Lsbon").slots["query"] == "Lsbon", "what is looked for stays"


@pytest.mark.parametrize(("a", "b", "d"), [("list", "lsit", 1), ("", "ab", 2), ("same", "same", 0)])
def test_distance(a: str, b: str, d: int):
    assert distance(a, b, 3) == distance(b, a, 3) == d


def test_names_are_matched_forgivingly_and_best_first():
    paths = ["notes/meeting.md", "data/Sales-March.csv", "data/sales-april.csv", "合同.txt"]
    assert best_matches("march sales", paths) == ["data/Sales-March.csv"]
    assert best_matches("meetng.md", paths) == ["notes/meeting.md"]
    assert best_matches("合同", paths) == ["合同.txt"]
    assert best_matches("zebra", paths) == []
