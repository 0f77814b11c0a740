"""How many tokens a tool's result may bring into the context, as shares of the window.

Absolute limits fail on small windows, and limits per result fail when four results arrive at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from desktop_app.core.tools.bounds import Bounded, bound

from .accounting import Accounting
from .classes import estimate
from .types import Limits

RESULT = 0.08  # of W, and never more than RESULT_MOST
RESULT_MOST = 12_000
RESULT_LEAST = 4_000  # on small windows, while that is no more than all may bring
BATCH = 0.25  # of W: all results of one step together
NARROW = 0.05  # of W: what they may bring even where the window is nearly full
FEWEST = 100  # tokens of any one: less tells nothing
# A cut costs the note that says where the whole is, and the call that fetches it: what saves less
# than that stays whole. All results of one step may exceed their share by so much together.
COST = 260  # tokens
SPARE = 0.02  # of W, on small windows


def result_limit(limits: Limits) -> int:
    """Tokens that one result may bring."""
    least = min(RESULT_LEAST, BATCH * limits.usable)
    return max(1, int(min(max(RESULT * limits.usable, least), RESULT_MOST)))


class Allowance:
    """What the ``count`` results of one step may bring, given out as they come: each is kept as
    soon as it is there, so none waits for the others. What one leaves, the next may have.

    ``free`` tokens are left in the window; ``share`` is what a result may have of its usual room.
    """

    def __init__(self, account: Accounting, count: int, free: float, share: float = 1.0) -> None:
        self.account = account  # that the results are counted by
        limits = account.limits
        usable = limits.usable
        self._each = result_limit(limits) * share
        self._left = min(BATCH * usable, max(free, NARROW * usable))
        self._spare = min(COST, SPARE * usable)
        self._count = max(1, count)

    def take(self, size: float) -> int | None:
        """To how many tokens a result of ``size`` (by the upper estimate) must be bounded; None
        where it may stay whole."""
        most = max(FEWEST, min(self._each, self._left / max(1, self._count)))
        self._count -= 1
        over = size - most
        if 0 < over <= self._spare:  # a cut would save less than it costs
            self._spare -= over
            most = size
        self._left = max(0.0, self._left - min(size, most))
        return None if size <= most else int(most)


def allowances(sizes: Sequence[float], limits: Limits) -> list[int | None]:
    """For results of one step, of so many tokens each by the upper estimate: to how many tokens
    each must be bounded, None where it may stay whole. The largest give way first, alike."""
    most = float(result_limit(limits))
    budget = BATCH * limits.usable
    capped = [min(s, most) for s in sizes]
    if sum(capped) > budget:
        most = _level(capped, budget)
    return [max(1, int(most)) if size > most else None for size in sizes]


def _level(sizes: Sequence[float], budget: float) -> float:
    """The height at which cutting all taller sizes makes their sum ``budget``."""
    left, tall = budget, len(sizes)
    for size in sorted(sizes):
        if size * tall > left:
            return left / tall
        left -= size
        tall -= 1
    return max(sizes, default=0.0)


def bound_results(texts: Sequence[str], account: Accounting) -> list[Bounded]:
    """The results of one step as they may enter the context, in order. Pure computing that takes
    a while for megabytes: run it in a thread."""

    def upper(text: str) -> int:
        return ceil(account.upper(estimate(text)))

    allowed = allowances([upper(t) for t in texts], account.limits)
    return [
        bound(text, max_chars=len(text) + 1)
        if most is None
        else bound(text, max_tokens=most, count=upper)
        for text, most in zip(texts, allowed, strict=True)
    ]
