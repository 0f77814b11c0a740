"""Output of programs made fit to be shown."""

from __future__ import annotations

from desktop_app.ui.transcript.diff import parse_diff
from desktop_app.ui.transcript.terminal import terminal, visible
from tests.ui.transcript.samples import DIFF


def test_colours_and_titles_are_taken_out() -> None:
    assert terminal("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b(B") == "red plain"
    assert terminal("a\x00b\tc\n") == "a\ufffdb\tc\n"


def test_a_line_written_over_is_shown_in_its_last_form() -> None:
    assert terminal("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"
    assert terminal("long words\rshort") == "shortwords"


def test_characters_that_hide_are_written_out() -> None:
    assert visible("ls \u202ecod.exe\u200b") == "ls ⟨202E⟩cod.exe⟨200B⟩"
    assert visible("echo 中文 x") == "echo 中文 x"


def test_a_difference_has_numbers_and_signs() -> None:
    text, lines = parse_diff(DIFF + "@@ -60,1 +62,1 @@\n-a\n+b\n\\ No newline at end of file\n")
    assert text.split("\n")[1] == "    table.to_markdown(out)"
    assert [(line.number, line.sign) for line in lines] == [
        ("41", " "), ("42", "-"), ("42", "+"), ("43", "+"), ("44", "+"), ("", "@"),
        ("60", "-"), ("62", "+"),
    ]  # fmt: skip
