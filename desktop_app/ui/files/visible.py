"""Text of others with nothing hidden in it."""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cf", "Cc", "Co", "Cs", "Cn", "Zl", "Zp"}
_PLAIN_SPACES = {" ", "　"}  # the second is the ordinary space of Chinese text


def visible(text: str) -> tuple[str, list[tuple[int, int]]]:
    """``text`` with every character that could hide something made a visible mark, and where the
    marks are (start, end). ``⇥`` stands for a tab, ``⟨U+202E⟩`` for anything else."""
    if text.isascii() and text.isprintable():
        return text, []
    out: list[str] = []
    marks: list[tuple[int, int]] = []
    at = 0
    for char in text.replace("\r\n", "\n"):
        kind = unicodedata.category(char)
        if char == "\n" or (
            kind not in _HIDDEN and (kind != "Zs" or char in _PLAIN_SPACES) and char != "\u115f"
        ):
            out.append(char)
            at += 1 if ord(char) < 0x10000 else 2  # Qt counts UTF-16 units
            continue
        mark = "⇥" if char == "\t" else f"⟨U+{ord(char):04X}⟩"
        if char != "\t":
            marks.append((at, at + len(mark)))
        out.append(mark)
        at += len(mark)
    return "".join(out), marks
