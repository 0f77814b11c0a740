"""The pieces that leave the context whole: a person's message, or one step of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_app.core.messages import Msg

from .build import from_iteration, from_user
from .iterations import iterations, signed
from .pricing import Pricer


@dataclass(frozen=True, slots=True)
class Atom:
    """Blocks ``start`` to ``end`` of message ``message`` (places in the state's context). ``raw``
    tokens are before the ratio; ``open`` waits for results; ``thinks`` begins with signed thinking
    and ``loop`` says that some step of its reply does."""

    message: int
    start: int
    end: int
    raw: float
    person: bool
    open: bool = False
    thinks: bool = False
    loop: bool = False


def _raw(pricer: Pricer, messages: Sequence[Msg]) -> float:
    return sum(p.raw for m in messages for p in pricer.message(m, 0, {}))


def atoms(context: Sequence[Msg], pricer: Pricer) -> list[Atom]:
    """All of ``context`` in order; every block is in exactly one atom."""
    found: list[Atom] = []
    for place, msg in enumerate(context):
        if msg.role != "assistant":
            raw = _raw(pricer, from_user(msg))
            found.append(Atom(place, 0, len(msg.content), raw, person=msg.role == "user"))
            continue
        steps = iterations(msg.content)
        if not steps:
            found.append(Atom(place, 0, len(msg.content), 0.0, person=False))
            continue
        loop = any(signed(b) for b in msg.content)
        for number, step in enumerate(steps):
            raw = _raw(pricer, from_iteration(msg, step, number, set(), False))
            found.append(
                Atom(
                    place,
                    step.start,
                    step.end,
                    raw,
                    person=False,
                    open=not step.answered,
                    thinks=any(signed(b) for b in step.head),
                    loop=loop,
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Cut:
    """What stays: atoms from ``first`` on, and ``request``, the person's last message, when it lies
    before (a model must find what it was asked as a live message)."""

    first: int
    request: int | None = None

    def covered(self, found: Sequence[Atom]) -> list[Atom]:
        return [a for n, a in enumerate(found[: self.first]) if n != self.request]

    def kept(self, found: Sequence[Atom]) -> list[Atom]:
        own = [] if self.request is None else [found[self.request]]
        return [*own, *found[self.first :]]


def cut_for(found: Sequence[Atom], budget: float) -> Cut:
    """The newest atoms that fit ``budget`` raw tokens together. The person's last message stays
    while it fits half of it, or is the newest of all; what waits for results stays always. A reply
    with signed thinking is cut before a step that begins with it, where there is one, so that what
    stays of the loop stays whole."""
    last = max((n for n, a in enumerate(found) if a.person), default=None)
    left = budget
    if last is not None and (found[last].raw <= budget / 2 or last == len(found) - 1):
        left -= found[last].raw
    else:
        last = None
    first = len(found)
    while first and (first - 1 == last or found[first - 1].raw <= left):
        first -= 1
        left -= 0 if first == last else found[first].raw
    opened = next((n for n, a in enumerate(found) if a.open), len(found))
    first = min(opened, _at_thinking(found, first, opened))
    return Cut(first, last if last is not None and last < first else None)


def _at_thinking(found: Sequence[Atom], first: int, opened: int) -> int:
    """``first``, or a later step of the same reply that begins with signed thinking."""
    if first < len(found) and found[first].start > 0 and found[first].loop:
        for later in range(first, min(opened + 1, len(found))):
            if found[later].message != found[first].message:
                break
            if found[later].thinks:
                return later
    return first
