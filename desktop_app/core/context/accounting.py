"""Who uses the window: a measured anchor, estimates for what came since, and an upper bound.

    anchored:   mean = measured + r * growth             upper = mean + spread * r * |growth|
    otherwise:  mean = r * sum of estimates              upper = mean * (1 + margin)

The anchor is the provider's own count of the last call; it holds while the envelope (model, system
text, tools) is the same and the prompt has only grown. A compaction, or a change of the envelope,
lets go of the anchor but not of the ratio (``ratios``). The counter's spread is the worst that its
estimates were found to be under the truth; the margin of a taught ratio is less, because in a whole
prompt kinds of content mix. Decisions are made on ``upper``; what is shown as used is ``total``.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import deque
from copy import copy
from dataclasses import dataclass
from heapq import nlargest
from operator import attrgetter, is_

from desktop_app.core.ids import now_us
from desktop_app.core.messages import Usage
from desktop_app.core.state import AgentState

from .aiming import Aim
from .build import Envelope, Prompt, compaction_part
from .counted import Counted, digest
from .figures import HISTORY, CallCount, Forecast, drift_of, forecast_of
from .parts import Parts
from .pricing import Piece, Pricer
from .ratios import Ratios
from .running import KEPT, Running
from .shares import MAX_ITEMS, Sums, share
from .tokens import EXACT_SPREAD, ClassCounter, Counter
from .types import Breakdown, Category, Item, Limits

BLIND = 2.0  # times the counter's spread, while what was measured was too small to teach a ratio
IMAGE_MARGIN = 0.35  # of images: their makers' formulas change from model to model
LEARN_FROM = 500  # estimated tokens; in less, frames and a provider's own additions drown the text
SANE = 100  # times the window or the estimate; more is no count of tokens
SAME = 0.01  # raw tokens: sums of the same pieces in another order
TURNS_LOOKED_AT = 6
TURNS_KEPT = 32


def measured_input(usage: Usage) -> int:
    """Tokens of the whole prompt. ``input_tokens`` holds the cached ones by our convention; a
    provider that leaves them out shows by caching more than it counts."""
    cached = usage.cache_input_tokens + usage.cache_creation_input_tokens
    return usage.input_tokens + (cached if cached > usage.input_tokens else 0)


_Shares = tuple[dict[Category, int], tuple[Item, ...], tuple[Item, ...]]
_RAW = attrgetter("raw")


@dataclass(slots=True)
class _Anchor:
    """A prompt that was measured. ``messages`` of it are before its tail."""

    epoch: object
    envelope: Envelope
    messages: int
    weighed: _Weighed
    measured: int


@dataclass(slots=True)
class _Weighed:
    """A prompt's estimates in raw tokens: all but the tail, the tail, and by their pieces."""

    body: float
    tail: float
    images: float  # of the body
    last: list[Piece]  # of the tail
    candidates: list[Piece]  # of the body: those that may be among the biggest
    made_of: tuple[Sums, Sums, list[Piece]]  # the body: what is closed, the envelope, the rest
    summed: Sums | None = None

    @property
    def raw(self) -> float:
        return self.body + self.tail

    def biggest(self) -> list[Piece]:
        """Of the body, biggest first."""
        return sorted(self.candidates, key=lambda p: -p.raw)[:MAX_ITEMS]

    @property
    def sums(self) -> Sums:
        """Of the body. Added up when somebody asks who uses it; a step only asks how much."""
        if self.summed is None:
            closed, ahead, pieces = self.made_of
            self.summed = closed.copy()
            self.summed.merge(ahead)
            self.summed.add(pieces)
        return self.summed


class Accounting:
    """The accounting of one session with one model. Cost is O(new messages) while the prompts come
    from one ``PromptBuilder``, and next to nothing for a prompt that it gave before; texts are
    counted once whatever objects hold them.

    ``calls`` may be shared by the accounts of a session's models: its history of measured calls.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        model: str = "",
        ratios: Ratios | None = None,
        counter: Counter | None = None,
        calls: deque[CallCount] | None = None,
    ) -> None:
        self.limits = limits
        self.model = model
        counter = counter or ClassCounter(model)
        self.ratio = (ratios or Ratios()).of(model, counter.name)
        self._spread = counter.spread
        self._exact = counter.spread <= EXACT_SPREAD
        self._counter = counter.name
        self._named: tuple[Envelope, str] | None = None  # the envelope whose digest is known
        self.pricer = Pricer(counter, model)
        self.parts = Parts(self.pricer)
        self.running = Running(self.parts, self.pricer.texts)
        self.aim = Aim(self)
        self.calls: deque[CallCount] = deque(maxlen=HISTORY) if calls is None else calls
        self._anchor: _Anchor | None = None
        self._growths: dict[str, float] = {}  # finished turn -> raw tokens that it brought
        self._told: tuple[object, ...] = ()  # what the newest breakdown was made of
        self._breakdown: Breakdown | None = None
        # A step asks often for one prompt: what it was weighed at, and what its gauge is made of.
        self._newest: tuple[Prompt, _Weighed] | None = None
        self._gauged: tuple[tuple[object, ...], tuple[int, int]] | None = None
        self._ahead: tuple[list[Piece], Sums] = ([], Sums())  # of the newest envelope
        self._ahead_sum = 0.0
        self._start_over(None)

    def share(self, other: Accounting) -> None:
        """Go on from what ``other`` counted and read, where it weighs alike: other marks of the
        same model make nothing to be read again."""
        if (other.model, other._counter) == (self.model, self._counter):
            self.pricer, self.parts, self.running = other.pricer, other.parts, other.running

    def fork(self) -> Accounting:
        """An account with the same limits, ratio and counted texts, and sums of its own: for
        weighing prompts that are not the session's. It has no anchor."""
        other = copy(self)
        other._anchor = None
        other._growths = dict(self._growths)
        other._breakdown = None
        other._newest = other._gauged = None
        other.aim = Aim(other)
        other.calls = self.calls.copy()
        other._start_over(None)
        return other

    def advance(self, state: AgentState) -> None:
        """Read what has come at the end, a little at a time, so that a compaction has little to do.
        Asked for with every step."""
        self.parts.advance(state.context)
        self.running.advance(state.context, compaction_part(state), self.of_w(KEPT), self.aim)

    # Sums over closed messages, kept while the epoch lasts.

    def _start_over(self, epoch: object) -> None:
        self._epoch = epoch
        self._done = 0
        self._sums = Sums()
        self._sum = 0.0
        self._top: list[Piece] = []  # the biggest pieces, biggest first
        self._labels: dict[str, str] = {}  # call id -> what its result is called
        self._turn: tuple[str, float] | None = None  # the turn that goes on, and where it began

    def _advance(self, prompt: Prompt) -> None:
        if prompt.epoch is not self._epoch or prompt.closed < self._done:
            self._start_over(prompt.epoch)
        for index in range(self._done, prompt.closed):
            pieces = self.pricer.message(prompt.messages[index], index, self._labels)
            if pieces and pieces[0].turn:
                self._turn_begins(pieces[0].ref)
            self._sums.add(pieces)
            for piece in pieces:
                self._sum += piece.raw
                if len(self._top) < MAX_ITEMS or piece.raw > self._top[-1].raw:
                    insort(self._top, piece, key=lambda p: -p.raw)
                    del self._top[MAX_ITEMS:]
        self._done = prompt.closed

    def _turn_begins(self, ref: str) -> None:
        if self._turn is not None:
            # What it brought when it was new: masking it later tells nothing of the next one.
            self._growths.setdefault(self._turn[0], self._sum - self._turn[1])
            while len(self._growths) > TURNS_KEPT:
                del self._growths[next(iter(self._growths))]
        self._turn = (ref, self._sum)

    def _weigh(self, prompt: Prompt) -> _Weighed:
        """What the whole prompt is estimated at, piece by piece."""
        if self._newest is not None and self._newest[0] is prompt:
            return self._newest[1]
        self._advance(prompt)
        pieces: list[Piece] = []
        last: list[Piece] = []
        labels = dict(self._labels) if prompt.closed < len(prompt.messages) else {}
        for index in range(prompt.closed, len(prompt.messages)):
            found = self.pricer.message(prompt.messages[index], index, labels)
            (pieces if index < prompt.stable else last).extend(found)
        ahead, of_ahead = self._envelope(prompt.envelope)
        closed = self._sums.copy()
        body = self._sum + self._ahead_sum + sum(p.raw for p in pieces)
        tail = sum(p.raw for p in last)
        images = closed.images() + sum(p.raw for p in pieces if p.category == "images")
        candidates = [*self._top, *ahead, *pieces]
        weighed = _Weighed(body, tail, images, last, candidates, (closed, of_ahead, pieces))
        self._newest = prompt, weighed
        return weighed

    def _envelope(self, envelope: Envelope) -> tuple[list[Piece], Sums]:
        """Its pieces, and their sums, which are made once while it stays the same."""
        pieces = self.pricer.envelope(envelope)
        if pieces is not self._ahead[0]:
            sums = Sums()
            sums.add(pieces)
            self._ahead = pieces, sums
            self._ahead_sum = sums.total()
        return self._ahead

    def observe(self, usage: Usage | None, prompt: Prompt) -> Counted | None:
        """A call made with ``prompt`` was measured; what is worth keeping of it. None, zero and
        nonsense say nothing."""
        if usage is None or (measured := measured_input(usage)) <= 0:
            return None
        weighed = self._weigh(prompt)
        if weighed.raw <= 0 or measured > SANE * max(weighed.raw, self.limits.window):
            return None
        mean, upper, _ = self._bounds(prompt, weighed)
        window = self.limits.window
        call = CallCount(measured, round(mean), math.ceil(upper), window, self.model, now_us())
        self.calls.append(call)
        if weighed.raw >= LEARN_FROM:
            self.ratio.learn(measured, weighed.raw)
        self._anchor = _Anchor(prompt.epoch, prompt.envelope, prompt.stable, weighed, measured)
        name = self._name_of(prompt.envelope)
        return Counted(call, prompt.stable, weighed.body, weighed.tail, name, self._counter)

    def resume(self, known: Counted, prompt: Prompt) -> bool:
        """Go on from a call that was counted before the program was closed; whether ``prompt``
        still begins with what was sent then, in the same envelope."""
        same = (known.call.model, known.counter) == (self.model, self._counter)
        if not same or not 0 < known.messages <= len(prompt.messages):
            return False
        if known.envelope != self._name_of(prompt.envelope):
            return False
        count = known.messages
        front = prompt.messages[:count]
        sent = Prompt(prompt.envelope, front, min(prompt.closed, count), count, prompt.epoch)
        weighed = self.fork()._weigh(sent)
        if abs(weighed.body - known.body) > SAME:
            return False
        weighed.tail = known.tail
        measured = known.call.measured
        self._anchor = _Anchor(prompt.epoch, prompt.envelope, count, weighed, measured)
        return True

    def _name_of(self, envelope: Envelope) -> str:
        if self._named is None or self._named[0] is not envelope:
            self._named = (envelope, digest(envelope))
        return self._named[1]

    def overflowed(self, prompt: Prompt, tokens: int | None = None) -> None:
        """The provider refused ``prompt`` as too long; ``tokens`` when it said how long it is. The
        estimate was too low, so the ratio learns at least the window, and the anchor is let go."""
        raw = self._weigh(prompt).raw
        self._anchor = None
        if raw > 0:
            least = max(tokens or 0, self.limits.window, round(raw * self.ratio.ratio))
            self.ratio.learn(least, raw)

    def breakdown(self, prompt: Prompt, limits: Limits | None = None) -> Breakdown:
        """The account of ``prompt``; O(new items)."""
        limits = limits or self.limits
        now = (prompt, limits, self._anchor, self.ratio.log_ratio, self.ratio.n)
        if self._breakdown is not None and all(map(is_, now, self._told)):
            return self._breakdown
        weighed = self._weigh(prompt)
        mean, upper, anchor = self._bounds(prompt, weighed)
        total = max(0, round(mean))
        top = max(total, math.ceil(upper))
        measured = min(anchor.measured, total) if anchor else 0
        parts, items, rest = _shares(weighed, anchor, total, measured)
        self._told = now
        found = (parts, items, rest)
        self._breakdown = self._broken_down(total, top, measured, limits, found)
        return self._breakdown

    def foresee(self, envelope: Envelope, pieces: list[Piece], last: list[Piece]) -> Breakdown:
        """The account of a prompt of these ``pieces``, and ``last`` in its tail, that nobody has
        built or measured."""
        body = [*self.pricer.envelope(envelope), *pieces]
        sums = Sums()
        sums.add(body)
        biggest = nlargest(MAX_ITEMS, body, key=_RAW)
        raw = (sums.total(), sum(p.raw for p in last))
        weighed = _Weighed(*raw, sums.images(), last, biggest, (sums, Sums(), []))
        mean, upper = self._unmeasured(weighed.raw, weighed.images)
        total = max(0, round(mean))
        found = _shares(weighed, None, total, 0)
        return self._broken_down(total, max(total, math.ceil(upper)), 0, self.limits, found)

    def foresee_sum(self, envelope: Envelope, raw: float, images: float) -> tuple[int, int]:
        """Total and upper estimate of a prompt of ``raw`` tokens, of which ``images`` are of
        images, after ``envelope``."""
        raw += sum(p.raw for p in self.pricer.envelope(envelope))
        mean, upper = self._unmeasured(raw, images)
        total = max(0, round(mean))
        return total, max(total, math.ceil(upper))

    def _broken_down(
        self, total: int, upper: int, measured: int, limits: Limits, found: _Shares
    ) -> Breakdown:
        return Breakdown(
            total=total,
            upper=upper,
            measured=measured,
            limits=limits,
            parts=found[0],
            items=found[1],
            rest=found[2],
            history=tuple(self.calls),
            forecast=self._forecast(upper, limits),
            drift=drift_of([c for c in self.calls if c.model == self.model]),
        )

    def gauge(self, prompt: Prompt) -> tuple[int, int]:
        """Total and upper estimate of ``prompt``, as ``breakdown`` has them, handed out to
        nothing: what a decision needs, at a fraction of the cost."""
        now = (prompt, self._anchor, self.ratio.log_ratio, self.ratio.n)
        if self._gauged is None or not all(map(is_, now, self._gauged[0])):
            mean, upper, _ = self._bounds(prompt, self._weigh(prompt))
            total = max(0, round(mean))
            self._gauged = now, (total, max(total, math.ceil(upper)))
        return self._gauged[1]

    def weigh(self, prompt: Prompt) -> float:
        """What ``prompt`` is estimated at before the ratio and without the anchor."""
        return self._weigh(prompt).raw

    def estimate(self, text: str) -> float:
        """Tokens of a text by this model's ratio, without a frame."""
        return self.pricer.texts.count(text) * self.ratio.ratio

    def raw(self, tokens: float) -> float:
        """Raw tokens whose upper bound is ``tokens``."""
        return tokens / self.upper(1.0)

    def of_w(self, share: float) -> float:
        """The same of a share of W."""
        return self.raw(share * self.limits.usable)

    def upper(self, raw: float) -> float:
        """The upper bound of a prompt of so many raw tokens that the provider has not measured."""
        return raw * self.ratio.ratio * (1 + self.ratio.margin(self._spread))

    def _bounds(self, prompt: Prompt, weighed: _Weighed) -> tuple[float, float, _Anchor | None]:
        ratio, anchor = self.ratio.ratio, self._anchor
        if (
            anchor is not None
            and anchor.epoch is prompt.epoch
            and (anchor.envelope is prompt.envelope or anchor.envelope == prompt.envelope)
        ):
            moved = weighed.body - anchor.weighed.body
            came, went = max(0.0, moved), max(0.0, -moved)
            if weighed.tail != anchor.weighed.tail:
                came, went = came + weighed.tail, went + anchor.weighed.tail
            if self._exact:  # what a first prompt taught is of its tools, which are no text
                ratio = max(1.0, ratio)
            mean = max(0.0, anchor.measured + ratio * (came - went))
            images = weighed.images - anchor.weighed.images
            upper = mean + ratio * (
                self._growth_margin * (came + went) + IMAGE_MARGIN * abs(images)
            )
            return mean, upper, anchor
        return *self._unmeasured(weighed.raw, weighed.images), None

    def _unmeasured(self, raw: float, images: float) -> tuple[float, float]:
        mean = self.ratio.ratio * raw
        upper = mean * (1 + self.ratio.margin(self._spread))
        return mean, upper + self.ratio.ratio * IMAGE_MARGIN * images

    @property
    def _growth_margin(self) -> float:
        return self._spread if self.ratio.n else BLIND * self._spread

    def _forecast(self, upper: int, limits: Limits) -> Forecast | None:
        """Turns like the last ones until the alert mark."""
        growths = [*self._growths.values()][-TURNS_LOOKED_AT:]
        room = limits.mark(limits.alert) - upper
        return forecast_of([g * self.ratio.ratio for g in growths], room)


def _shares(weighed: _Weighed, anchor: _Anchor | None, total: int, measured: int) -> _Shares:
    """What each part has of the total. An unchanged tail counts as measured wherever it stands."""
    sums, known = weighed.sums, Sums()
    if weighed.last:
        sums = sums.copy()
        sums.add(weighed.last)
    messages, same_tail = -1, False
    if anchor is not None:
        messages, same_tail = anchor.messages, weighed.tail == anchor.weighed.tail
        known = anchor.weighed.sums
        if same_tail and weighed.last:
            known = known.copy()
            known.add(weighed.last)
    listed = [(p, p.place < messages) for p in weighed.biggest()]
    listed += [(p, same_tail) for p in weighed.last]
    listed.sort(key=lambda pair: -pair[0].raw)
    return share(sums, known, listed[:MAX_ITEMS], total, measured)
