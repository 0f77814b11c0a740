"""Colours of code."""

from __future__ import annotations

import pytest

from desktop_app.ui.transcript import highlight
from desktop_app.ui.transcript.highlight import Highlighter

PY = (
    'class Box:\n    """doc\n    more"""\n'
    "    def area(self) -> int:  # note\n        return f(2) * 3\n"
)
RS = 'fn main() {\n    /* a\n b */ println!("x");\n}\n'


def spans(lines: list, code: str) -> list[tuple[str, str]]:
    out = []
    for line, text in zip(lines, code.split("\n"), strict=False):
        out += [(text[a : a + n], role) for a, n, role in line]
    return out


def letters(lines: list, code: str) -> list[tuple[int, int, str, str]]:
    """The colour of each letter."""
    return [
        (row, a + i, text[a + i], role)
        for row, (line, text) in enumerate(zip(lines, code.split("\n"), strict=False))
        for a, n, role in line
        for i in range(n)
        if not text[a + i].isspace()
    ]


def whole(language: str, code: str) -> Highlighter:
    highlight.load(language)
    made = Highlighter(language, code)
    while not made.advance(10_000):
        pass
    return made


def test_kinds_of_words() -> None:
    found = spans(whole("python", PY).lines, PY)
    assert ("class", "k") in found
    assert ("Box", "t") in found
    assert ("area", "f") in found
    assert ("f", "f") in found  # a call
    assert ("# note", "c") in found
    assert ("2", "n") in found
    assert ('"""doc', "s") in found
    assert ('    more"""', "s") in found


@pytest.mark.parametrize(("language", "code"), [("python", PY), ("rust", RS)])
def test_growing_code_gets_the_same_colours(language: str, code: str) -> None:
    highlight.load(language)
    growing = Highlighter(language, "", growing=True)
    for n in range(1, len(code) + 1):
        growing.grow(code[:n])
        growing.advance(10_000)
    assert letters(growing.lines, code) == letters(whole(language, code).lines, code)


def test_a_lexer_that_cannot_go_on_colours_when_the_code_ends() -> None:
    code = '{"a": [1, true]}\n'
    highlight.load("json")
    growing = Highlighter("json", code, growing=True)
    growing.advance(10)
    growing.finish()
    while not growing.advance(10):
        pass
    assert ('"a"', "t") in spans(growing.lines, code)


def test_only_what_is_seen_is_lexed() -> None:
    code = PY * 400
    highlight.load("python")
    made = Highlighter("python", code)
    made.advance(20, seconds=60)
    assert 20 < len(made.lines) < 400


def test_an_unknown_language_is_plain() -> None:
    assert highlight.load("no-such-language") is None
    assert Highlighter("no-such-language", "x").advance(5)
