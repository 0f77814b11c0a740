"""Text of others with nothing hidden in it."""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cf", "Cc", "Co", "Cs", "Cn", "Zl", "Zp"}
_PLAIN_SPACES = {" ", "　"}  # the second is the ordinary space of Chinese text


def visible(text: str) -> tuple[str, list[tuple[int, int]]]:
    """``text`` with every character that could hide something made a visible mark, and where the
    marks are (start, end). ``⇥`` stands for a tab, ``⟨U+202E⟩`` for anything else."""
    out: list[str] = []
    marks: list[tuple[int, int]] = []
    at = 0
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            out.append("\n")
            at += 1
        if line.replace("　", " ").isprintable() and "\u115f" not in line:  # as most lines are
            out.append(line)
            at += _units(line)
            continue
        at = _marked(line, out, marks, at)
    return "".join(out), marks


def _units(text: str) -> int:
    """Qt counts UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _marked(line: str, out: list[str], marks: list[tuple[int, int]], at: int) -> int:
    """One line, character by character; where it ends."""
    for char in line:
        kind = unicodedata.category(char)
        if kind not in _HIDDEN and (kind != "Zs" or char in _PLAIN_SPACES) and char != "\u115f":
            out.append(char)
            at += _units(char)
            continue
        mark = "⇥" if char == "\t" else f"⟨U+{ord(char):04X}⟩"
        if char != "\t":
            marks.append((at, at + len(mark)))
        out.append(mark)
        at += len(mark)
    return at
