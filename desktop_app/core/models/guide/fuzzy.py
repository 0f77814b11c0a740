"""Forgiving typing: keywords of the lexicon and names of files within a small edit distance."""

from __future__ import annotations

import difflib
import re
import unicodedata

from .text import CJK

# Real words one edit away from a keyword; correcting them would change what was said.
_REAL = frozenset(
    re.findall(
        r"\S+",
        """
    mind fine lost last least lust mist road ready dead head lead bread tread real reach fill filed
    fire fine five mile line lined life file films word work world more most must mode made make
    male note node none nose tote vote wrote white write text test next tent copy cope core care
    could would should there their these those where when while then than that this they them form
    from some same sale sales salt save sane hold held help heap held cast cost count court mount
    sort sport short port part party wart want plan plane plain place plant clean clear group grown
    ground tie tidy name named game fame lame time tile tiles rename remain kind king king's bind
    fund funds wind hello hall hell tell talk take task tasks list lists listen left look book cook
    took open even oven read red rid ring print point paint saint point view views new news near
    show shown slow snow how now know row rows low words wards lords between below before after
    every very ever never over other mother another each both with without will well were here
    year month week today date data days date late rate state start stop step steps stem
    """,
    )
)


_INFLECTED = re.compile(r"(?:ings?|ed|es|d|s|er|ly)$")


def distance(a: str, b: str, limit: int) -> int:
    """Optimal string alignment distance (insert, delete, replace, swap), ``limit + 1`` if more."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i] + [0] * len(b)
        for j, cb in enumerate(b, 1):
            cost = ca != cb
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
            if i > 1 and j > 1 and ca == b[j - 2] and a[i - 2] == cb:
                current[j] = min(current[j], before[j - 2] + 1)
        before, previous = previous, current
    return previous[-1] if previous[-1] <= limit else limit + 1


def correct(text: str, vocabulary: frozenset[str]) -> tuple[str, dict[str, str]]:
    """``text`` with mistyped keywords put right (in lower case), and what was put right
    (corrected word -> as written). Words of under four letters only when they lack a vowel."""
    replaced: dict[str, str] = {}

    def one(m: re.Match[str]) -> str:
        word = m.group().lower()
        if word in vocabulary or word in _REAL or _INFLECTED.sub("", word) in vocabulary:
            return m.group()
        if len(word) < 3 or (len(word) < 4 and re.search("[aeiouy]", word)):
            return m.group()
        limit = 1 if len(word) < 8 else 2
        best = min(
            (
                (distance(word, w, limit), abs(len(w) - len(word)), w)
                for w in vocabulary
                if w[0] == word[0] or len(word) > 5 or w[1:2] == word[0]
            ),
            default=(9, 9, word),
        )
        if best[0] > limit:
            return m.group()
        replaced[best[2]] = m.group()
        return best[2]

    return re.sub(r"[A-Za-z]{3,}", one, text), replaced


def _flat(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub(rf"[^a-z0-9{CJK}]+", " ", text).strip()


def similarity(wanted: str, path: str) -> float:
    """How well a file's path answers to ``wanted``, 0 to 1. 1 is the very name."""
    name = path.rsplit("/", 1)[-1]
    if wanted in (path, name):
        return 1.0
    want, have, whole = _flat(wanted), _flat(name), _flat(path)
    if not want:
        return 0.0
    if want in (have, whole):
        return 0.98
    stem = _flat(name.rsplit(".", 1)[0])
    want_stem = _flat(re.sub(r"\.[A-Za-z0-9]{1,9}$", "", wanted))
    if stem in (want_stem, want):
        return 0.95
    words = want.split()
    if want in have:
        return 0.85 + 0.1 * len(want) / len(have)
    if all(w in have for w in words):
        return 0.84
    if all(w in whole or (w.endswith("s") and w[:-1] in whole) for w in words):
        return 0.8
    return 0.78 * max(
        difflib.SequenceMatcher(None, want, have).ratio(),
        difflib.SequenceMatcher(None, want_stem, stem).ratio(),
    )


def best_matches(wanted: str, paths: list[str], floor: float = 0.55) -> list[str]:
    """Paths that answer to ``wanted``, best first; only those about as good as the best."""
    scored = sorted(((similarity(wanted, p), p) for p in paths), key=lambda s: (-s[0], s[1]))
    if not scored or scored[0][0] < floor:
        return []
    top = scored[0][0]
    margin = 0.02 if top >= 0.95 else 0.12
    return [p for score, p in scored if score >= max(floor, top - margin)]
