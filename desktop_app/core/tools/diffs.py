"""Unified diffs, bounded in time and size: for metadata and for the question to the person."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from .textfile import lines_of, printable

MAX_CHARS = 60_000  # of a diff that is kept
MAX_MIDDLE = 2_000  # changed lines that are compared line by line
CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Diff:
    """``text`` is the unified diff; ``cut`` when it was shortened."""

    text: str
    added: int
    removed: int
    cut: bool


def unified(old: str, new: str, path: str) -> Diff:
    """The diff of two texts. Common lines at both ends are set aside first, so that the costly
    comparison sees only what lies between; a very long middle is shown as replaced."""
    a, b = lines_of(printable(old)), lines_of(printable(new))
    start, shortest = 0, min(len(a), len(b))
    while start < shortest and a[start] == b[start]:
        start += 1
    end = 0
    while end < shortest - start and a[-1 - end] == b[-1 - end]:
        end += 1
    mid_a, mid_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(mid_a) + len(mid_b) > MAX_MIDDLE:
        codes = [("replace", 0, len(mid_a), 0, len(mid_b))]
    else:
        codes = difflib.SequenceMatcher(None, mid_a, mid_b, autojunk=False).get_opcodes()
    added = sum(j2 - j1 for tag, _, _, j1, j2 in codes if tag != "equal")
    removed = sum(i2 - i1 for tag, i1, i2, _, _ in codes if tag != "equal")
    if not added and not removed:
        return Diff("", 0, 0, False)
    full = [
        ("equal", 0, start, 0, start),
        *((t, i1 + start, i2 + start, j1 + start, j2 + start) for t, i1, i2, j1, j2 in codes),
        ("equal", len(a) - end, len(a), len(b) - end, len(b)),
    ]
    lines = [f"--- {path}" if old else "--- /dev/null", f"+++ {path}"]
    lines.extend(_hunks([c for c in full if c[1] < c[2] or c[3] < c[4]], a, b))
    text, cut = _bounded(lines)
    return Diff(text, added, removed, cut)


def _hunks(codes: list[tuple[str, int, int, int, int]], a: list[str], b: list[str]) -> list[str]:
    out: list[str] = []
    for group in _grouped(codes):
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        out.append(f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@")
        for tag, g1, g2, h1, h2 in group:
            if tag == "equal":
                out.extend(" " + line for line in a[g1:g2])
            else:
                out.extend("-" + line for line in a[g1:g2])
                out.extend("+" + line for line in b[h1:h2])
    return out


def _grouped(
    codes: list[tuple[str, int, int, int, int]],
) -> list[list[tuple[str, int, int, int, int]]]:
    """Changes with ``CONTEXT`` equal lines around them, as difflib groups them."""
    groups: list[list[tuple[str, int, int, int, int]]] = []
    group: list[tuple[str, int, int, int, int]] = []
    last = len(codes) - 1
    for k, (tag, i1, i2, j1, j2) in enumerate(codes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        head = min(CONTEXT, i2 - i1)
        if k == 0:
            group.append((tag, i2 - head, i2, j2 - head, j2))
        elif k == last:
            group.append((tag, i1, i1 + head, j1, j1 + head))
        elif i2 - i1 > 2 * CONTEXT:
            group.append((tag, i1, i1 + CONTEXT, j1, j1 + CONTEXT))
            groups.append(group)
            group = [(tag, i2 - CONTEXT, i2, j2 - CONTEXT, j2)]
        else:
            group.append((tag, i1, i2, j1, j2))
    if any(tag != "equal" for tag, *_ in group):
        groups.append(group)
    return groups


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start if not length else start + 1},{length}"


def _bounded(lines: list[str]) -> tuple[str, bool]:
    size, kept = 0, list[str]()
    for line in lines:
        if len(line) > 2_000:
            line = line[:2_000] + f" [+{len(line) - 2_000} characters]"
        size += len(line) + 1
        if size > MAX_CHARS:
            kept.append(f"[{len(lines) - len(kept)} more lines]")
            return "\n".join(kept), True
        kept.append(line)
    return "\n".join(kept), False
