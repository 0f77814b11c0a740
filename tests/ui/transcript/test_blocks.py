"""Markdown blocks: streaming in any pieces equals one parse (invariant 13)."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.ui.transcript import blocks
from desktop_app.ui.transcript.blocks import BlockStream, code_of, normalise, split, verbatim

ATOMS = [
    "# h\n", "para", "text ", "\n", "\n\n", "- a", "- ", "  - b\n", "1. x\n", "```", "```py\n",
    "~~~\n", "code\n", "    ind\n", "> q", "> ", "| a | b |\n", "|---|---|\n", "| c | d |\n",
    "---", "--", "-", "=", "===\n", "*", "**b**", "[a]: http://x\n", "[a]:", "'t", "[a][a]",
    "\t", " ", "<div>\n", "\r", "\r\n", "\0", "`x", "&amp;", "***\n", "+ z\n", "\x0b", "\u2028",
    "a\\\n", "文字", "😀",
]  # fmt: skip
texts = st.lists(st.sampled_from(ATOMS) | st.text(max_size=4), max_size=25).map("".join)


def in_pieces(text: str, rnd: random.Random) -> BlockStream:
    stream = BlockStream()
    at = 0
    while at < len(text):
        n = rnd.choice([1, 1, 2, 3, 7, 40])
        stream.append(text[at : at + n])
        at += n
    return stream


@settings(max_examples=300, deadline=None)
@given(texts, st.randoms(use_true_random=False))
def test_streaming_gives_the_blocks_of_one_parse(text: str, rnd: random.Random) -> None:
    stream = in_pieces(text, rnd)
    assert stream.blocks == BlockStream.of(text).blocks == split(normalise(text))
    assert stream.text == normalise(text)


@settings(max_examples=150, deadline=None)
@given(texts, st.randoms(use_true_random=False))
def test_append_names_the_first_changed_block(text: str, rnd: random.Random) -> None:
    stream, at = BlockStream(), 0
    while at < len(text):
        n = rnd.choice([1, 2, 5, 20])
        before = list(stream.blocks)
        first = stream.append(text[at : at + n])
        assert stream.blocks[:first] == before[:first]
        at += n


@settings(max_examples=150, deadline=None)
@given(texts, st.randoms(use_true_random=False))
def test_long_paragraphs_in_pieces_are_the_same_too(text: str, rnd: random.Random) -> None:
    was, blocks.LONGEST = blocks.LONGEST, 12
    chunk, blocks._CHUNK = blocks._CHUNK, 5
    try:
        assert in_pieces(text, rnd).blocks == split(normalise(text))
    finally:
        blocks.LONGEST, blocks._CHUNK = was, chunk


def test_the_items_of_a_list_are_blocks_that_count_on() -> None:
    text = "1. a\n1. b\n   - c\n\n7. d\n\n- x\n- y\n"
    found = [(b.marker, b.number, text[b.start : b.end]) for b in BlockStream.of(text).blocks]
    assert found == [
        (".", 1, "1. a"), (".", 2, "1. b\n   - c"), (".", 3, "7. d"), ("-", 0, "- x"),
        ("-", 0, "- y"),
    ]  # fmt: skip


def test_a_very_long_text_is_shown_without_a_parse(monkeypatch) -> None:
    monkeypatch.setattr(blocks, "LIMIT", 500)
    text = "# head\n\n" + "word " * 400 + "\n" + "x" * 9000
    rnd = random.Random(1)
    stream = in_pieces(text, rnd)
    assert stream.blocks == BlockStream.of(text).blocks
    assert {block.kind for block in stream.blocks} == {"plain"}
    assert "".join(text[b.start : b.end] for b in stream.blocks) == text


def test_nested_quotes_and_brackets_do_not_hang() -> None:
    assert BlockStream.of("> " * 10_000 + "x").blocks
    assert BlockStream.of("[" * 100_000).blocks
    assert BlockStream.of("a" + "\u0301" * 50_000).blocks


def test_code_is_given_without_its_fence_and_indent() -> None:
    text = "  ```py\n  a = 1\n    b\n  ```\n"
    (block,) = split(text)
    assert (block.info, block.closed) == ("py", True)
    assert code_of(text, block) == "a = 1\n  b"
    (block,) = split("    x\n\n    y\n")
    assert code_of("    x\n\n    y\n", block) == "x\n\ny"


def test_an_open_fence_grows_and_closes() -> None:
    stream = BlockStream.of("```py\na\n")
    assert not stream.blocks[0].closed
    stream.append("b\n``")
    assert code_of(stream.text, stream.blocks[0]) == "a\nb\n``"
    stream.append("`\nafter")
    assert [b.kind for b in stream.blocks] == ["code", "prose"]
    assert code_of(stream.text, stream.blocks[0]) == "a\nb"


def test_references_are_found_for_the_whole_text() -> None:
    stream = in_pieces("see [it][x]\n\nmore\n\n[x]: https://example.com\n\nend", random.Random(3))
    assert "X" in stream.references


def test_a_persons_words_stay_as_typed() -> None:
    text = "# not a heading\n* nor a list\n\n```sh\nls\n```\nend"
    kinds = [(b.kind, text[b.start : b.end]) for b in verbatim(text)]
    assert kinds == [
        ("prose", "# not a heading\n* nor a list"),
        ("code", "```sh\nls\n```"),
        ("prose", "end"),
    ]
