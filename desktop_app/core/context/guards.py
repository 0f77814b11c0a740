"""What stops automatic compaction from going round in circles: a state machine without a clock.

Breaker: after ``FAILURES`` attempts in a row that gained nothing, automatic ones pause until the
person acts, the model or its window changes, or the prompt has grown by ``GROWTH`` of W. Thrash:
``THRASH`` compactions within as many model calls mean that something refills the window at once;
then results get half the room (once more each time) and automatic ones pause too. What the person
asks for is never held back.

Feed it in the order in which things happened; every method gives a new value, so that a replay of
the journal gives the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from .types import Breakdown, Item, Trigger

Paused = Literal["", "breaker", "thrash"]
FAILURES = 3
THRASH = 3  # compactions within so many calls
GROWTH = 0.1  # of W
PROGRESS = 0.1  # of W: freeing less is no progress
TIGHTEST = 3  # halvings of a result's room
BY_HAND: frozenset[Trigger] = frozenset({"manual", "oversize"})


@dataclass(frozen=True, slots=True)
class Guards:
    """``calls`` counts model calls, ``recent`` the calls after which a compaction was made, ``at``
    is the upper estimate when it paused or failed last, ``tight`` how often results were halved."""

    failures: int = 0
    calls: int = 0
    recent: tuple[int, ...] = ()
    paused: Paused = ""
    at: int = 0
    tight: int = 0

    # -- what happened -----------------------------------------------------------------------

    def called(self) -> Guards:
        """A model call was made."""
        calls = self.calls + 1
        return Guards(self.failures, calls, self.recent, self.paused, self.at, self.tight)

    def compacted(self, trigger: Trigger, before: int, after: int, usable: int) -> Guards:
        """A compaction was made; upper estimates in tokens."""
        if trigger in BY_HAND:
            return replace(self.acted(), recent=())
        if before - after < PROGRESS * usable and after > 0.5 * usable:
            return self.failed(after, usable)
        recent = (*self.recent, self.calls)[-THRASH:]
        if len(recent) == THRASH and recent[-1] - recent[0] < THRASH:
            tight = min(TIGHTEST, self.tight + 1)
            return replace(self, failures=0, recent=(), paused="thrash", at=after, tight=tight)
        return replace(self, failures=0, recent=recent, paused="", at=after)

    def failed(self, upper: int, usable: int) -> Guards:
        """An automatic attempt gained nothing or failed at an upper estimate of ``upper``."""
        failures = self.failures + 1
        paused: Paused = "breaker" if failures >= FAILURES else self.paused
        return replace(self, failures=failures, paused=paused, at=upper)

    def acted(self) -> Guards:
        """The person compacted, undid, pinned, changed the model, a window or the tools."""
        return replace(self, failures=0, paused="", at=0)

    # -- what may be done --------------------------------------------------------------------

    def allows(self, trigger: Trigger, upper: int, usable: int) -> bool:
        """Whether a compaction may be tried now. After an attempt that gained nothing the prompt
        must grow first; over W there is nothing else to do, until the breaker is open."""
        if trigger in BY_HAND or trigger == "model_switch":
            return True
        grown = upper >= self.at + GROWTH * usable
        if self.paused:
            return grown
        return not self.failures or grown or upper > usable

    @property
    def share(self) -> float:
        """Of a result's usual room, what it may have now."""
        return 0.5**self.tight

    def to_body(self) -> dict[str, Any]:
        return {**asdict(self), "recent": list(self.recent)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Guards:
        """What ``to_body`` wrote; anything else gives a fresh one."""
        try:
            paused = body.get("paused", "")
            return cls(
                failures=int(body["failures"]),
                calls=int(body["calls"]),
                recent=tuple(int(n) for n in body["recent"])[-THRASH:],
                paused=paused if paused in ("breaker", "thrash") else "",
                at=int(body["at"]),
                tight=min(TIGHTEST, max(0, int(body["tight"]))),
            )
        except (KeyError, TypeError, ValueError):
            return cls()


def refills(breakdown: Breakdown) -> Item | None:
    """Who fills the window: the largest item that a compaction could not or did not take away, for
    the person to act upon."""
    fixed = [i for i in breakdown.items if i.category in ("system", "tools", "mcp", "skills")]
    live = [i for i in breakdown.items if i.category not in ("system", "ledger")]
    held = sum(i.tokens for i in fixed)
    pool = fixed if held > 0.5 * breakdown.limits.usable else live
    return max(pool, key=lambda i: i.tokens, default=None)
