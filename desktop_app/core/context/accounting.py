"""Who uses the window: a measured anchor, estimates for what came since, and an upper bound.

    x = ln(measured input / sum of estimates)            learned per model: the ratio r = e^mean(x)
    anchored:   mean = measured + r * growth             upper = mean + 0.25 * r * |growth|
    otherwise:  mean = r * sum of estimates              upper = mean * (1 + 0.18), 0.25 untaught

The anchor is the provider's own count of the last call; it holds while the envelope (model, system
text, tools) is the same and the prompt has only grown. A compaction, or a change of the envelope,
lets go of the anchor but not of the ratio. The margins are the worst under-estimates measured.
Decisions are made on ``upper``; what is shown as used is ``total``.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from desktop_app.core.messages import Usage

from .build import Envelope, Prompt
from .pricing import Piece, Pricer
from .tokens import ClassCounter, Counter
from .types import CATEGORIES, Breakdown, Category, Item, Limits

GROWTH_MARGIN = 0.25
BLIND_GROWTH_MARGIN = 0.6  # while the prompts measured were too small to teach a ratio
TAUGHT_MARGIN = 0.18
UNTAUGHT_MARGIN = 0.25
LEARN_FROM = 500  # estimated tokens; in less, frames and a provider's own additions drown the text
MAX_ITEMS = 200  # of a breakdown; the parts hold everything
TURNS_LOOKED_AT = 6


@dataclass(slots=True)
class TokenRatio:
    """Measured tokens per estimated one. ``worst`` is a decaying maximum of its errors (in ln)."""

    n: int = 0
    log_ratio: float = 0.0
    worst: float = 0.0

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio)

    @property
    def margin(self) -> float:
        if not self.n:
            return UNTAUGHT_MARGIN
        return max(TAUGHT_MARGIN, math.expm1(min(self.worst, 1.0)))

    def learn(self, measured: int, estimated: float) -> None:
        x = math.log(measured / estimated)
        x = min(max(x, math.log(0.25)), math.log(4.0))
        error = abs(x - self.log_ratio) if self.n else 0.0
        self.worst = max(0.95 * self.worst, error)
        self.log_ratio += max(0.2, 1 / (self.n + 1)) * (x - self.log_ratio)
        self.n += 1


class Ratios:
    """Ratios by model and counter; one object for all sessions, so that a new one starts taught."""

    def __init__(self) -> None:
        self._known: dict[str, TokenRatio] = {}

    def of(self, model: str, counter: str) -> TokenRatio:
        return self._known.setdefault(f"{model}|{counter}", TokenRatio())

    def to_json(self) -> dict[str, Any]:
        return {k: [r.n, r.log_ratio, r.worst] for k, r in self._known.items() if r.n}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Ratios:
        """Entries that are not what ``to_json`` writes are left out."""
        ratios = cls()
        for key, entry in value.items():
            try:
                n, log_ratio, worst = entry
                found = TokenRatio(int(n), float(log_ratio), float(worst))
            except (TypeError, ValueError):
                continue
            if found.n > 0 and abs(found.log_ratio) <= math.log(4.0) and 0 <= found.worst <= 4:
                ratios._known[key] = found
        return ratios


def measured_input(usage: Usage) -> int:
    """Tokens of the whole prompt. ``input_tokens`` holds the cached ones by our convention; a
    provider that leaves them out shows by caching more than it counts."""
    cached = usage.cache_input_tokens + usage.cache_creation_input_tokens
    return usage.input_tokens + (cached if cached > usage.input_tokens else 0)


@dataclass(slots=True)
class _Anchor:
    epoch: object
    envelope: Envelope
    messages: int
    raw: float
    measured: int


class Accounting:
    """The accounting of one session with one model. Cost is O(new messages) while the prompts come
    from one ``PromptBuilder``; texts are counted once whatever objects hold them."""

    def __init__(
        self,
        limits: Limits,
        *,
        model: str = "",
        ratios: Ratios | None = None,
        counter: Counter | None = None,
    ) -> None:
        self.limits = limits
        self.model = model
        counter = counter or ClassCounter(model)
        self.ratio = (ratios or Ratios()).of(model, counter.name)
        self.pricer = Pricer(counter, model)
        self._anchor: _Anchor | None = None
        self._start_over(None)

    def fork(self) -> Accounting:
        """An account with the same limits, ratio and counted texts, and sums of its own: for
        weighing prompts that are not the session's. It has no anchor."""
        other = copy(self)
        other._anchor = None
        other._start_over(None)
        return other

    # Sums over closed messages, kept while the epoch lasts.

    def _start_over(self, epoch: object) -> None:
        self._epoch = epoch
        self._done = 0
        self._raw: dict[Category, float] = dict.fromkeys(CATEGORIES, 0.0)
        self._sum = 0.0
        self._turns: list[float] = []  # sum at each of the person's messages
        self._top: list[Piece] = []  # the biggest pieces, biggest first
        self._labels: dict[str, str] = {}  # call id -> what its result is called

    def _advance(self, prompt: Prompt) -> None:
        if prompt.epoch is not self._epoch or prompt.closed < self._done:
            self._start_over(prompt.epoch)
        for index in range(self._done, prompt.closed):
            pieces = self.pricer.message(prompt.messages[index], index, self._labels)
            if pieces and pieces[0].turn:
                self._turns.append(self._sum)
            for piece in pieces:
                self._raw[piece.category] += piece.raw
                self._sum += piece.raw
                if len(self._top) < MAX_ITEMS or piece.raw > self._top[-1].raw:
                    insort(self._top, piece, key=lambda p: -p.raw)
                    del self._top[MAX_ITEMS:]
        self._done = prompt.closed

    def _weigh(self, prompt: Prompt) -> tuple[dict[Category, float], list[Piece], list[float]]:
        """Raw parts, biggest pieces and turn marks of the whole prompt."""
        self._advance(prompt)
        raw, turns = dict(self._raw), list(self._turns[-TURNS_LOOKED_AT:])
        pieces = list(self.pricer.envelope(prompt.envelope))
        labels = dict(self._labels) if prompt.closed < len(prompt.messages) else {}
        fixed = sum(p.raw for p in pieces)
        live = 0.0
        for index in range(prompt.closed, len(prompt.messages)):
            found = self.pricer.message(prompt.messages[index], index, labels)
            if found and found[0].turn:
                turns.append(self._sum + live)
            pieces.extend(found)
            live += sum(p.raw for p in found)
        for piece in pieces:
            raw[piece.category] += piece.raw
        biggest = sorted([*self._top, *pieces], key=lambda p: -p.raw)[:MAX_ITEMS]
        return raw, biggest, [t + fixed for t in turns[-TURNS_LOOKED_AT:]]

    def observe(self, usage: Usage | None, prompt: Prompt) -> None:
        """A call made with ``prompt`` was measured. None and zero say nothing."""
        if usage is None or (measured := measured_input(usage)) <= 0:
            return
        raw, _, _ = self._weigh(prompt)
        estimated = sum(raw.values())
        if estimated <= 0:
            return
        if estimated >= LEARN_FROM:
            self.ratio.learn(measured, estimated)
        self._anchor = _Anchor(
            prompt.epoch, prompt.envelope, len(prompt.messages), estimated, measured
        )

    def overflowed(self, prompt: Prompt, tokens: int | None = None) -> None:
        """The provider refused ``prompt`` as too long; ``tokens`` when it said how long it is. The
        estimate was too low, so the ratio learns at least the window, and the anchor is let go."""
        raw, _, _ = self._weigh(prompt)
        estimated = sum(raw.values())
        self._anchor = None
        if estimated > 0:
            least = max(tokens or 0, self.limits.window, round(estimated * self.ratio.ratio))
            self.ratio.learn(least, estimated)

    def breakdown(self, prompt: Prompt, limits: Limits | None = None) -> Breakdown:
        """The account of ``prompt``; O(new items)."""
        limits = limits or self.limits
        raw, pieces, turns = self._weigh(prompt)
        estimated = sum(raw.values())
        mean, upper, anchor = self._bounds(prompt, estimated)
        total = max(0, round(mean))
        top = max(total, math.ceil(upper))
        scale = total / estimated if estimated else 0.0
        known = anchor.messages if anchor else -1
        items = tuple(
            Item(p.category, p.label, round(p.raw * scale), p.ref, measured=p.place < known)
            for p in pieces
        )
        return Breakdown(
            total=total,
            upper=top,
            measured=min(anchor.measured, total) if anchor else 0,
            limits=limits,
            parts=_shares(raw, total),
            items=items,
            turns_left=self._forecast(turns, top, limits),
        )

    def estimate(self, text: str) -> float:
        """Tokens of a text by this model's ratio, without a frame."""
        return self.pricer.texts.count(text) * self.ratio.ratio

    def upper(self, raw: float) -> float:
        """The upper bound of so many raw tokens that the provider has not measured."""
        return raw * self.ratio.ratio * (1 + self.ratio.margin)

    def _bounds(self, prompt: Prompt, estimated: float) -> tuple[float, float, _Anchor | None]:
        ratio, anchor = self.ratio.ratio, self._anchor
        if (
            anchor is not None
            and anchor.epoch is prompt.epoch
            and (anchor.envelope is prompt.envelope or anchor.envelope == prompt.envelope)
        ):
            growth = ratio * (estimated - anchor.raw)
            mean = max(0.0, anchor.measured + growth)
            margin = GROWTH_MARGIN if self.ratio.n else BLIND_GROWTH_MARGIN
            return mean, mean + margin * abs(growth), anchor
        mean = ratio * estimated
        return mean, mean * (1 + self.ratio.margin), None

    def _forecast(self, turns: list[float], upper: int, limits: Limits) -> float | None:
        """How many turns like the last ones fit until the alert mark."""
        if len(turns) < 2:
            return None
        growth = self.ratio.ratio * (turns[-1] - turns[0]) / (len(turns) - 1)
        if growth <= 0:
            return None
        return max(0.0, (limits.mark(limits.alert) - upper) / growth)


def _shares(raw: Mapping[Category, float], total: int) -> dict[Category, int]:
    """Whole numbers in proportion to ``raw`` that add up to ``total`` (largest remainder)."""
    estimated = sum(raw.values())
    if estimated <= 0:
        return {c: total if c == "system" else 0 for c in CATEGORIES}
    exact = {c: raw[c] * total / estimated for c in CATEGORIES}
    parts: dict[Category, int] = {c: int(exact[c]) for c in CATEGORIES}
    missing = total - sum(parts.values())
    for category in sorted(CATEGORIES, key=lambda c: parts[c] - exact[c])[:missing]:
        parts[category] += 1
    return parts
