"""Means with bootstrap confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

ROUNDS = 2000


class Interval(NamedTuple):
    """A mean and the middle 95 % of its bootstrap distribution (percentile method)."""

    mean: float
    low: float
    high: float


def interval(values: Sequence[float]) -> Interval:
    """Of independent values, one a seed. ValueError without any."""
    if not values:
        raise ValueError("no values")
    rng, size = Random(0), len(values)
    means = sorted(sum(rng.choices(values, k=size)) / size for _ in range(ROUNDS))
    cut = round(0.025 * ROUNDS)
    return Interval(sum(values) / size, means[cut], means[ROUNDS - 1 - cut])


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """Of pairs, the same seed on both sides."""
    return interval([a - b for a, b in zip(ours, theirs, strict=True)])
