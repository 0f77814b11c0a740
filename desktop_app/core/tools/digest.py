"""The telling lines of a long output, found without a model.

Two signs: a line whose kind is rare (digits and hexadecimal ids taken out, its beginning is what
few other lines have), and a line with a word of diagnosis. Fast on megabytes: the counting runs in
C over bytes, only candidates are looked at closely.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from itertools import accumulate

_DIGITS = bytes(range(256)).translate(bytes.maketrans(b"0123456789", b"#" * 10))
_WORDS = (
    b"error",
    b"fail",
    b"exception",
    b"traceback",
    b"exit code",
    b"panic",
    b"fatal",
    b"warning",
    b"denied",
    b"not found",
    b"assert",
    b"undefined",
)
_FINE = re.compile(rb"\b(?=[a-f#]*#)[0-9a-f#]{6,}\b|#+")
KEY = 48  # bytes of a line's beginning that make its kind
RARE = 50  # a kind is rare when at most one line in so many is of it
CANDIDATES = 4_000
HITS = 200


def digest(text: str, most: int, first: int, last: int) -> list[tuple[int, str]]:
    """At most ``most`` (line number from 1, line) out of lines ``first`` to ``last`` (from 0, the
    end excluded), in order."""
    data = text.encode("utf-8", "replace")
    lines = data.split(b"\n")
    last = min(last, len(lines))
    if last - first < 3:
        return []
    masked = data.lower().translate(_DIGITS)
    telling = _telling(masked, lines, first, last)
    for _ in range(5):
        masked = masked.replace(b"##", b"#")
    keys = [line.lstrip()[:KEY] for line in masked.split(b"\n")]
    counts = Counter(keys)
    limit = max(1, (last - first) // RARE)
    candidates = [i for i in range(first, last) if keys[i] and counts[keys[i]] <= limit]
    # where most lines are of a kind of their own, rarity says nothing: prose, unlike logs
    if len(candidates) > max(20, (last - first) // 5):
        candidates = _finer(candidates, keys, limit, last - first)
    ranked = sorted(
        {*candidates[:CANDIDATES], *telling},
        key=lambda i: (i not in telling, counts[keys[i]], i),
    )
    taken: list[int] = []
    kinds: Counter[bytes] = Counter()
    for i in ranked:
        if kinds[keys[i]] >= 2 or not lines[i].strip():
            continue
        kinds[keys[i]] += 1
        taken.append(i)
        if len(taken) == most:
            break
    return [(i + 1, lines[i].decode("utf-8", "replace").strip("\r")) for i in sorted(taken)]


def _finer(candidates: list[int], keys: list[bytes], limit: int, total: int) -> list[int]:
    """Candidates with hexadecimal ids taken out too; none when they are still too many."""
    some = candidates[:CANDIDATES]
    kinds = {i: _FINE.sub(b"#", keys[i]) for i in some}
    counts = Counter(kinds.values())
    rare = [i for i in some if counts[kinds[i]] <= max(1, limit * len(some) // total)]
    return rare if len(rare) <= max(20, total // 5) else []


def _telling(masked: bytes, lines: list[bytes], first: int, last: int) -> set[int]:
    """Lines with a word of diagnosis, the first and last of each word."""
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    begin, end = starts[first], starts[last] - 1
    out: set[int] = set()
    for word in _WORDS:
        at = masked.find(word, begin, end)
        hits = 0
        while at >= 0 and hits < HITS:
            line = bisect_right(starts, at) - 1
            out.add(line)
            hits += 1
            at = masked.find(word, starts[line + 1], end)
        if at >= 0 and (at := masked.rfind(word, begin, end)) >= 0:
            out.add(bisect_right(starts, at) - 1)
    return out
