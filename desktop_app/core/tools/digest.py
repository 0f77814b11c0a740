"""The telling lines of a long output, found without a model.

Two signs: a line whose kind is rare (its first words, numbers and hexadecimal ids taken out, are
what few other lines have), and a line with a word of diagnosis. Fast on megabytes: the counting
runs in C over bytes, only candidates are looked at closely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

# Taken out of a line before its kind is told: numbers, hashes and UUIDs vanish, and words stay
# apart enough. Deleting is one pass in C.
_HEX = b"0123456789abcdef"
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
)
KEY = 80  # bytes of a line's beginning that make its kind at first
WORDS = 6  # words that make it when looked at closely
RARE = 50  # a kind is rare when at most one line in so many is of it
CANDIDATES = 3_000
PIECE = 1 << 19  # bytes of one stretch
HITS = 200  # lines looked at for each word of diagnosis
SHARE = 5  # when more than one candidate in so many lines is left, rarity says nothing: prose


def digest(data: bytes, most: int, first: int, last: int) -> list[tuple[int, str]]:
    """At most ``most`` (line number from 1, line) of a text as UTF-8, out of lines ``first`` to
    ``last`` (from 0, the end excluded), the most telling first."""
    lines: list[bytes] = []
    masked: list[bytes] = []
    telling: set[int] = set()
    counts: Counter[bytes] = Counter()
    hits: Counter[bytes] = Counter()
    for piece in _pieces(data):
        lower = piece.lower()
        before = len(lines)
        lines += piece.split(b"\n")
        telling.update(i for i in _telling(lower, before, hits) if first <= i < last)
        some = lower.translate(None, _HEX).split(b"\n")
        masked += some
        counts.update([line[:KEY] for line in some])
    last = min(last, len(lines))
    total = last - first
    if total < 3:
        return []
    starts = [line[:KEY] for line in masked]
    limit = max(1, total // RARE)
    rare = [i for i in range(first, last) if counts[starts[i]] <= limit and starts[i].strip()]
    step = max(1, len(rare) // CANDIDATES)
    some = rare[::step]
    kinds = {i: _kind(masked[i]) for i in {*some, *telling}}
    common = Counter(kinds[i] for i in some)
    bound = max(1, limit // step)
    rare = [i for i in some if common[kinds[i]] <= bound]
    if len(rare) > max(20, len(some) // SHARE) and len(rare) * step * SHARE > total:
        rare = []
    return [
        (i + 1, lines[i].decode("utf-8", "replace").strip("\r"))
        for i in _best(rare, telling, kinds, common, most)
        if lines[i].strip()
    ]


def _kind(masked: bytes) -> bytes:
    return b" ".join(masked[:240].split(None, WORDS)[:WORDS])


def _best(
    rare: list[int],
    telling: set[int],
    kinds: dict[int, bytes],
    common: Counter[bytes],
    most: int,
) -> list[int]:
    """Diagnoses before what is only rare, rarer kinds before commoner ones, two of a kind at
    most."""
    seen = Counter(kinds[i] for i in telling)
    ranked = sorted(
        {*rare, *telling},
        key=lambda i: (i not in telling, max(common[kinds[i]], seen[kinds[i]]), i),
    )
    taken: list[int] = []
    of_kind: Counter[bytes] = Counter()
    for i in ranked:
        if of_kind[kinds[i]] < 2:
            of_kind[kinds[i]] += 1
            taken.append(i)
            if len(taken) == most:
                break
    return taken


def _pieces(data: bytes) -> Iterator[bytes]:
    """The text in stretches of whole lines, without the newline between them: each step in C holds
    the interpreter lock for a millisecond or two, not for all of it."""
    start = 0
    while start + PIECE < len(data):
        end = data.find(b"\n", start + PIECE)
        if end < 0:
            break
        yield data[start:end]
        start = end + 1
    yield data[start:]


def _telling(lower: bytes, before: int, hits: Counter[bytes]) -> set[int]:
    """Lines with a word of diagnosis, numbered from ``before``; of each word the first ``HITS`` in
    all and the last of every piece."""
    out: set[int] = set()
    number, counted = before, 0
    for word in _WORDS:
        number, counted = before, 0
        at = lower.find(word)
        while at >= 0:
            if hits[word] >= HITS:
                at = lower.rfind(word)
            number += lower.count(b"\n", counted, at)
            counted = at
            out.add(number)
            hits[word] += 1
            line_end = lower.find(b"\n", at)
            at = -1 if line_end < 0 else lower.find(word, line_end)
    return out
