"""A server's standard output in lines: whole ones, few that are no message, no flood."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.mcp import lines
from desktop_app.core.mcp.lines import ENCODING, TOLD, flooded


def read(pieces: Iterable[bytes], errors: str = "strict") -> list[str]:
    decoder = codecs.getincrementaldecoder(ENCODING)(errors)
    return "".join(decoder.decode(piece) for piece in pieces).split("\n")[:-1]


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=9), st.integers(1, 7))
def test_messages_come_whole_however_they_are_cut(texts: list[str], size: int) -> None:
    messages = [f'{{"text": "{text}"}}' for text in texts]
    raw = "".join(f"{message}\n" for message in messages).encode("utf-8", "surrogatepass")
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    assert read(pieces, "surrogatepass") == messages


def test_a_message_of_five_megabytes_passes() -> None:
    message = b"[" + b"x" * 5_000_000 + b"]"
    pieces = [message[at : at + 65536] for at in range(0, len(message), 65536)]
    assert read([*pieces, b"\n{}\n"]) == [message.decode(), "{}"]


def test_noise_is_told_a_little_and_dropped_until_the_next_message() -> None:
    noise = [b"Welcome!\n"] * (TOLD + 30)
    assert read([*noise, b"\n\n{}\n", b"again\n"]) == ["Welcome!"] * TOLD + ["{}", "again"]


def test_a_line_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE", 1000)
    (told,) = read([b"{" + b"x" * 500] * 3)
    assert "a line of more than" in flooded(ValueError(told))
    assert read([b"{" + b"x" * 500] * 3 + [b"\n{}\n"]) == [told], "nothing after it"


def test_noise_is_given_up_only_when_it_comes_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "NOISE", 1000)
    told = read([b"x" * 99 + b"\n"] * 30 + [b"{}\n"])[-1]
    assert "that are no messages" in flooded(ValueError(told))
    assert not flooded(told)
    assert not flooded(ValueError("x" * 99))
    monkeypatch.setattr(lines, "WINDOW", -1.0)  # all of it comes later than that
    assert read([*[b"x" * 99 + b"\n"] * 30, b"{}\n"])[-1] == "{}"


def test_what_is_written_to_a_server_is_utf_8() -> None:
    assert "é{}\n".encode(ENCODING) == b"\xc3\xa9{}\n"
