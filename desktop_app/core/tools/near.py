"""Why a text was not found: what the nearest place looks like."""

from __future__ import annotations

import difflib
import re

MAX_LINES = 50_000
_NUMBERED = re.compile(r"(?m)^ *\d+\t")
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})


def explain(text: str, old: str, path: str) -> str:
    """A message to the model: that ``old`` is not in ``text``, and what may be meant instead.
    Both have plain newlines."""
    head = f"old_string was not found in {path!r}. "
    wanted = old.split("\n")
    if all(_NUMBERED.match(line) for line in wanted if line):
        bare = _NUMBERED.sub("", old)
        if bare in text:
            return head + "It holds the line numbers that Read prints; leave them out."
    lines = text.split("\n")[:MAX_LINES]
    for same, what in ((_squeezed, "spaces, tabs or blank lines"), (_alike, "quotes or dashes")):
        at = _match(lines, wanted, same)
        if at is not None:
            found = "\n".join(lines[at : at + len(wanted)])[:1_000]
            return head + f"Line {at + 1} differs only in {what}. The file has exactly:\n{found}"
    near = _nearest(lines, wanted)
    if near is None:
        return head + "Nothing in it is similar. Read the file again."
    number, line, which = near
    return head + f"Nearest to {which!r} is line {number}:\n{line[:500]}"


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _alike(line: str) -> str:
    return "".join(line.translate(_ALIKE).split())


def _match(lines: list[str], wanted: list[str], same: object) -> int | None:
    """Index of the first line from which ``wanted`` matches after ``same``."""
    assert callable(same)
    target = [str(same(w)) for w in wanted]
    first = next((i for i, t in enumerate(target) if t), None)
    if first is None:
        return None
    have = [str(same(line)) for line in lines]
    for i, line in enumerate(have):
        if target[first] in line and i >= first:
            window = have[i - first : i - first + len(target)]
            if len(window) == len(target) and all(
                t in h if k in (0, len(target) - 1) else t == h
                for k, (t, h) in enumerate(zip(target, window, strict=True))
            ):
                return i - first
    return None


def _nearest(lines: list[str], wanted: list[str]) -> tuple[int, str, str] | None:
    """(line number, line, the wanted line it is near to), or None."""
    line = max(wanted, key=lambda w: len(w.strip()))
    target = line.strip()[:300]
    words = sorted(re.findall(r"\w{3,}", target), key=len, reverse=True)[:3]
    if not words:
        return None
    pool = [(i, text) for i, text in enumerate(lines) if any(w in text for w in words)][:400]
    best: tuple[float, int, str] | None = None
    matcher = difflib.SequenceMatcher(None, "", target, autojunk=False)
    for i, text in pool:
        matcher.set_seq1(text.strip()[:300])
        if matcher.real_quick_ratio() < 0.5 or matcher.quick_ratio() < 0.5:
            continue
        ratio = matcher.ratio()
        if ratio >= 0.5 and (best is None or ratio > best[0]):
            best = (ratio, i, text)
    return (best[1] + 1, best[2], target[:120]) if best else None
