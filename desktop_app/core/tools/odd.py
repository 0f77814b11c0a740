"""Items of a long JSON array that are unlike the others: what a reader of the whole would stop at.

Three signs, each only where most items are alike: other keys (or another type) than most have; a
value that few have where few different ones occur (one "failed" among a hundred "ok"); and what
``digest`` finds in the items written a line each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, cast

from .digest import RARE, digest

KEYS = 60  # of one item that are looked at
VALUES = 8  # different ones of a key, beyond which none of them is rare
LONGEST = 80  # characters of a value that is compared
LINE = 2_000  # characters of an item written as a line
MOST = 50_000  # items that are written as lines
_BARE: tuple[Hashable, ...] = (int, float, bool, None)


def odd_ones(items: Sequence[Any], first: int, last: int, most: int) -> list[int]:
    """Places of at most ``most`` items between ``first`` and ``last`` (from 0, the end excluded)
    that are unlike the others, the most telling first."""
    kinds = [_kind(i) for i in items]
    limit = max(1, len(items) // RARE)
    found = [n for n in _rare(kinds, limit) if first <= n < last]
    found += _values(items, limit, first, last)
    if len(items) > MOST or all(k in _BARE for k in set(kinds)):
        return list(dict.fromkeys(found))[:most]
    lines = "\n".join(
        json.dumps(i, ensure_ascii=False, default=str)[:LINE].replace("\n", " ") for i in items
    )
    data = lines.encode("utf-8", "replace")
    found += [number - 1 for number, _ in digest(data, most, first, last)]
    return list(dict.fromkeys(found))[:most]


def _kind(item: Any) -> Hashable:
    if isinstance(item, dict):
        return frozenset(cast(dict[str, Any], item))
    return None if item is None else cast(Hashable, type(item))


def _rare(values: Sequence[Hashable], limit: int) -> list[int]:
    """Places of values that few have, the rarest first, where one value is that of most."""
    counts = Counter(values)
    if not counts or counts.most_common(1)[0][1] * 2 <= len(values):
        return []
    rare = [n for n, value in enumerate(values) if counts[value] <= limit]
    return sorted(rare, key=lambda n: (counts[values[n]], n))


def _values(items: Sequence[Any], limit: int, first: int, last: int) -> list[int]:
    """Items with a value that few have of a key whose values are few."""
    rows = [(n, cast(dict[str, Any], i)) for n, i in enumerate(items) if isinstance(i, dict)]
    found: list[int] = []
    for key in list(dict.fromkeys(k for _, r in rows[:RARE] for k in r))[:KEYS]:
        places = [n for n, row in rows if key in row]
        if len(places) * 2 <= len(items):
            continue
        values = [_plain(items[n][key]) for n in places]
        if len(set(values)) <= VALUES:
            found += [places[n] for n in _rare(values, limit) if first <= places[n] < last]
    return found


def _plain(value: Any) -> Hashable:
    """A value that can be compared; of long and of nested ones only that they are."""
    if isinstance(value, str):
        return value[:LONGEST]
    if value is None or isinstance(value, bool | int | float):
        return (type(value), value)
    return cast(Hashable, type(value))
