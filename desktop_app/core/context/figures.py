"""What is told of a context beside its parts: calls that were measured, the forecast, the drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HISTORY = 64  # calls that are kept
DRIFT_CALLS = 8  # the drift looks at so many of the last ones
NOTABLE = 0.10  # a drift that is worth a badge
SAMPLES = 3  # fewer say nothing


@dataclass(frozen=True, slots=True)
class CallCount:
    """One call of the model as the provider counted it, beside what had been estimated.

    ``measured``: tokens of the prompt by the provider. ``estimated`` and ``upper``: what
    ``Breakdown.total`` and ``.upper`` were when it was sent. ``window``: of the model then.
    ``at_us``: when the count arrived (microseconds since 1970; for display only).
    """

    measured: int
    estimated: int
    upper: int
    window: int
    model: str
    at_us: int

    @property
    def error(self) -> float:
        """Of the estimate, as a share of the truth: -0.1 was 10 % too low."""
        return (self.estimated - self.measured) / self.measured if self.measured else 0.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """How many more turns fit before compaction is offered (the alert mark, by the upper
    estimate). Its basis: ``samples`` finished turns, newest ones, that brought ``per_turn`` tokens
    on average; never fewer than ``SAMPLES``."""

    turns: float
    per_turn: int
    samples: int


@dataclass(frozen=True, slots=True)
class Drift:
    """Estimate against provider over the last ``calls`` measured calls (at most ``DRIFT_CALLS``).
    ``mean`` and ``worst`` are shares of the truth, signed: below 0 the estimate was too low.
    ``worst`` is the one farthest from 0. ``under``: calls whose upper estimate was too low."""

    mean: float
    worst: float
    calls: int
    under: int

    @property
    def notable(self) -> bool:
        """Whether a person should be told that the figures were off."""
        return abs(self.mean) >= NOTABLE


def drift_of(history: Sequence[CallCount]) -> Drift | None:
    """The drift over the newest calls; None without one."""
    calls = history[-DRIFT_CALLS:]
    if not calls:
        return None
    errors = [c.error for c in calls]
    return Drift(
        mean=sum(errors) / len(errors),
        worst=max(errors, key=abs),
        calls=len(errors),
        under=sum(c.measured > c.upper for c in calls),
    )


def forecast_of(growths: Sequence[float], room: float) -> Forecast | None:
    """The forecast from tokens that finished turns brought, newest last, and the ``room`` left.
    None with fewer than ``SAMPLES``, or when turns bring nothing."""
    if len(growths) < SAMPLES:
        return None
    per_turn = sum(growths) / len(growths)
    if per_turn < 1:
        return None
    return Forecast(max(0.0, room / per_turn), round(per_turn), len(growths))
