"""Unified differences: their text, and the number and sign before each line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class DiffLine:
    """Number, sign ("+", "-", " ", "@") of one line of a difference; its text is in the box."""

    number: str
    sign: str


def parse_diff(diff: str) -> tuple[str, list[DiffLine]]:
    """The text of a unified difference and what stands before each line. File heads are left
    out; a hunk after the first is announced by a line of its own."""
    texts: list[str] = []
    lines: list[DiffLine] = []
    old = new = 0
    seen = False
    for line in diff.split("\n"):
        if line.startswith("@@"):
            numbers = line.split("@@")[1].split() if line.count("@@") > 1 else []
            try:
                old = int(numbers[0].lstrip("-").split(",")[0])
                new = int(numbers[1].lstrip("+").split(",")[0])
            except (IndexError, ValueError):
                old = new = 1
            if seen:
                texts.append("\u22ef")
                lines.append(DiffLine("", "@"))
            seen = True
        elif not seen or line.startswith("\\"):
            continue
        elif line.startswith("+"):
            texts.append(line[1:])
            lines.append(DiffLine(str(new), "+"))
            new += 1
        elif line.startswith("-"):
            texts.append(line[1:])
            lines.append(DiffLine(str(old), "-"))
            old += 1
        elif line.startswith(" ") or not line:
            texts.append(line[1:])
            lines.append(DiffLine(str(new), " "))
            old += 1
            new += 1
    while lines and not texts[-1] and lines[-1].sign == " ":
        texts.pop()
        lines.pop()
    return "\n".join(texts), lines
