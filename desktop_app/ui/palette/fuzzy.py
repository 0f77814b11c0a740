"""How well a few typed letters fit a name, and which letters they hit."""

from __future__ import annotations

from dataclasses import dataclass

_BOUNDARY = set(" -_/.:·,()[]")


@dataclass(frozen=True, slots=True)
class Match:
    """``score`` is larger for better fits; ``hits`` are (start, length) in the name."""

    score: float
    hits: tuple[tuple[int, int], ...]


def match(query: str, name: str) -> Match | None:
    """Fit ``query`` to ``name``; every word of the query must be found, in any order. A word is
    found as a piece of the name (best at the start of a word) or, when it has at least two
    letters, as letters in order of which each starts a word or follows the last one hit."""
    text = name.casefold()
    if len(text) != len(name):  # "ß" grows when folded: places would not fit
        text = name.lower() if len(name.lower()) == len(name) else name
    words = query.casefold().split()
    if not words:
        return Match(0.0, ())
    score = 0.0
    places: set[int] = set()
    for word in words:
        found = _piece(word, text) or _letters(word, text)
        if found is None:
            return None
        score += found[0]
        places.update(found[1])
    return Match(score - len(name) * 0.01, _runs(sorted(places)))


def _starts(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in _BOUNDARY


def _piece(word: str, text: str) -> tuple[float, range] | None:
    best: tuple[float, range] | None = None
    at = text.find(word)
    while at >= 0:
        score = 10.0 + len(word) + (6.0 if at == 0 else 4.0 if _starts(text, at) else 0.0)
        if best is None or score > best[0]:
            best = (score, range(at, at + len(word)))
        at = text.find(word, at + 1)
    return best


def _letters(word: str, text: str) -> tuple[float, list[int]] | None:
    if len(word) < 2:
        return None
    places: list[int] = []
    score, last = 0.0, -1
    for char in word:
        follows = bool(places) and text[last + 1 : last + 2] == char
        if follows:
            at = last + 1
            score += 2.0
        else:
            at = text.find(char, last + 1)
            while at >= 0 and not _starts(text, at):
                at = text.find(char, at + 1)
            if at < 0:
                return None
            score += 1.5
        places.append(at)
        last = at
    return score, places


def _runs(places: list[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for at in places:
        if runs and runs[-1][0] + runs[-1][1] == at:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((at, 1))
    return tuple(runs)
