"""Long results made short: what a model sees of a result that would fill its window.

Text keeps its head and tail, and between them a digest: the lines that are rare in kind or look
like a diagnosis, with their numbers. JSON keeps its structure. The whole is kept elsewhere; the
marker says what was left out. Pure functions over text; run them in a thread for megabytes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from .digest import digest
from .shape import json_shape
from .textfile import printable

HEAD, TAIL = 0.55, 0.30  # of the allowance
MAX_DIGEST = 12
SHORTER = 4  # times the first try: a form that fits after all is hardly shorter
LINE_CHARS = 2_000  # of one digest line at most; less when the allowance is small


@dataclass(frozen=True, slots=True)
class Bounded:
    """``text`` is what the model sees. ``cut`` false: it is the whole result. ``kept_head`` and
    ``kept_tail`` are characters, ``lines`` the lines of the whole, ``digest`` (line number, line).
    """

    text: str
    cut: bool
    whole_bytes: int
    lines: int
    kind: str = "whole"  # whole, text, json
    head: str = ""
    tail: str = ""
    digest: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def kept_head(self) -> int:
        return len(self.head)

    @property
    def kept_tail(self) -> int:
        return len(self.tail)


def rough_tokens(text: str) -> int:
    """An upper guess without a tokenizer: three bytes of UTF-8 a token."""
    return (len(text.encode("utf-8", "replace")) + 2) // 3


def bound(
    text: str,
    *,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    count: Callable[[str], int] = rough_tokens,
) -> Bounded:
    """``text`` within ``max_tokens`` (by ``count``) and ``max_chars``; one of them is needed.

    A result that fits comes back as it is, so bounding twice changes nothing. ``ValueError``
    without a limit.
    """
    if max_tokens is None and max_chars is None:
        raise ValueError("a limit is needed")
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        text = printable(text)
        data = text.encode("utf-8")
    size = len(data)
    lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)

    def fits(candidate: str) -> bool:
        if max_chars is not None and len(candidate) > max_chars:
            return False
        # a text much longer than any tokenizer's best needs no counting
        if max_tokens is not None and len(candidate) > max_tokens * 16:
            return False
        return max_tokens is None or count(candidate) <= max_tokens

    if fits(text):
        return Bounded(text, False, size, lines)
    room = min(n for n in (max_chars, max_tokens and max_tokens * 4) if n is not None)
    maker = _Maker(text, data, lines)
    while room > 60:
        made = maker.make(room)
        if fits(made.text):
            return made
        room = int(room * 0.85)
    short = text[: safe_cut(text, max(0, room // 4))]
    while short and not fits(short):
        short = short[: len(short) // 2]
    return Bounded(short, True, size, lines, "text", short)


class _Maker:
    """Shortened forms of one text; what is costly is found out once."""

    def __init__(self, text: str, data: bytes, lines: int) -> None:
        self.text, self.data, self.lines = text, data, lines
        self.size = len(data)
        self._shape = json_shape(text)
        self._found: list[tuple[int, str]] | None = None

    def make(self, room: int) -> Bounded:
        """About ``room`` characters."""
        made = None
        if self._shape is not None:
            made = _json(self._shape(room), self.size, self.lines, room)
        return made or self._text(room)

    def _text(self, room: int) -> Bounded:
        text, lines = self.text, self.lines
        free = room - min(160, room // 3)
        head = text[: _line_cut(text, int(free * HEAD), back=True)]
        start = _line_cut(text, len(text) - int(free * TAIL), back=False)
        tail = text[max(start, len(head)) :]
        first = head.count("\n") + (0 if head.endswith("\n") else 1)
        last = lines - tail.count("\n") - (0 if tail.endswith("\n") else 1)
        rest = free - len(head) - len(tail) - 60
        kept: list[tuple[int, str]] = []
        if rest > 40 and last > first:
            if self._found is None:
                self._found = self._telling(free)
            kept = _fit([f for f in self._found if first < f[0] <= last], rest)
        dropped = max(0, last - first)
        what = f"{dropped:,} of {lines:,} lines" if dropped > 1 else "part of a long line"
        middle = f"[… {what} left out; {self.size:,} bytes in all]"
        if kept:
            listed = "\n".join(f"{n}: {line}" for n, line in kept)
            middle += f"\n[rare or telling lines among them:]\n{listed}\n[…]"
        join = "" if head.endswith("\n") or not head else "\n"
        shown = f"{head}{join}{middle}\n{tail}"
        return Bounded(shown, True, self.size, lines, "text", head, tail, kept)

    def _telling(self, free: int) -> list[tuple[int, str]]:
        """Telling lines, also those that a shorter form of the text leaves out first."""
        head, tail = int(free * HEAD / SHORTER), int(free * TAIL / SHORTER)
        first = self.text.count("\n", 0, head)
        last = self.lines - self.text.count("\n", len(self.text) - tail)
        return digest(self.data, 3 * MAX_DIGEST, first, last)


def _json(shaped: str, size: int, lines: int, room: int) -> Bounded | None:
    text = f"{shaped}\n[structure of {size:,} bytes of JSON; long parts are shortened]"
    if len(text) > room:
        return None
    return Bounded(text, True, size, lines, "json", shaped)


def _fit(found: list[tuple[int, str]], room: int) -> list[tuple[int, str]]:
    """The most telling lines that fit, in their order in the text."""
    each = max(40, min(LINE_CHARS, room // max(1, min(len(found), 4))))
    kept: list[tuple[int, str]] = []
    for number, line in found:
        shown = line if len(line) <= each else line[: safe_cut(line, each - 1)] + "…"
        room -= len(shown) + len(str(number)) + 3
        if room < 0 or len(kept) == MAX_DIGEST:
            break
        kept.append((number, shown))
    return sorted(kept)


def _line_cut(text: str, at: int, *, back: bool) -> int:
    """A place near ``at`` to cut: at a line's border when one is near, else between characters."""
    at = min(max(at, 0), len(text))
    if back:
        line = text.rfind("\n", max(0, at - at // 3), at)
        return line + 1 if line >= 0 else safe_cut(text, at)
    span = len(text) - at
    line = text.find("\n", at, at + span // 3)
    return line + 1 if line >= 0 else safe_cut(text, at)


_JOINERS = {"\u200d", "\u200c", "\ufe0e", "\ufe0f"}


def _joins(text: str, at: int) -> bool:
    """Whether the characters on both sides of ``at`` belong together."""
    left, right = text[at - 1], text[at]
    if right < "\u0300":
        return left == "\r" and right == "\n"
    if right in _JOINERS or left == "\u200d" or unicodedata.category(right)[0] == "M":
        return True
    if "\U0001f3fb" <= right <= "\U0001f3ff":  # skin tones
        return True
    flags = "\U0001f1e6", "\U0001f1ff"
    if not (flags[0] <= right <= flags[1] and flags[0] <= left <= flags[1]):
        return False
    run = at
    while run > 0 and at - run < 64 and flags[0] <= text[run - 1] <= flags[1]:
        run -= 1
    return (at - run) % 2 == 1


def safe_cut(text: str, at: int) -> int:
    """The largest place at or before ``at`` that splits no character as people see it and no
    escape sequence; looks back 64 characters at most."""
    at = min(max(at, 0), len(text))
    if at in (0, len(text)):
        return at
    escape = text.rfind("\x1b", max(0, at - 24), at)
    if escape >= 0 and not any(c.isalpha() for c in text[escape + 1 : at]):
        at = escape
    low = max(0, at - 64)
    place = at
    while place > low and place < len(text) and _joins(text, place):
        place -= 1
    return place if place > low else at
