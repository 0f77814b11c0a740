"""A context as it stands, in sums that go on while it grows: a compaction chooses its cut from them
and takes the ledger of what is sure to leave from where it was left, without going through the
messages again.

Only the end of a context changes. What differs from last time is found by comparing the messages'
identity; from the first one that differs all is made anew.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Protocol

from desktop_app.core.asleep import asleep, awake
from desktop_app.core.messages import AnyBlock, Msg, ToolResultBlock
from desktop_app.core.state import AgentState

from . import ahead
from .build import compaction_part
from .intake import Intake
from .ledger import Ledger, is_pinned, ledger_from
from .parts import Parts
from .pins import settle
from .standing import Read, Standing
from .tokens import CountCache

FEW = 12  # atoms taken in on the event loop at once
MARGIN = 4  # atoms: plans are not foreseen more exactly than that
KEPT = 0.3  # of W: what is older than the newest so much leaves with nearly any compaction


class Aim(Protocol):
    """See ``aiming``."""

    def leaves(self, standing: Standing, ledger: Ledger) -> int: ...


class Kept(Protocol):
    """What was kept of a session that is opened again: see ``kept`` and ``ahead``."""

    @property
    def state(self) -> AgentState: ...

    @property
    def running(self) -> memoryview | None: ...


class Running:
    """Of one session with one model. A thread that plans and the event loop may both ask: whoever
    plans waits for the other, the loop never does (``advance``).

    Two readings of the past go on: one of what leaves with nearly any compaction, and one that is
    ahead of it, of what is likely to leave (``Aim``)."""

    def __init__(self, parts: Parts, count: CountCache) -> None:
        self._parts = parts
        self._count = count
        self._lock = threading.Lock()
        self._context: list[Msg] = []
        self._standing = Standing(self._context, read=parts.entry)
        self._part: dict[str, Any] = {}  # of the state, and the ledger that it is
        self._ledger = Ledger()
        self._settled = Ledger()
        self._sure: Read | None = None
        self._ahead: Read | None = None
        self._before: Callable[[], Kept | None] = lambda: None
        self._marks: dict[int, set[tuple[int, int]]] = {}  # pins of messages that are asleep

    def adopt(self, before: Callable[[], Kept | None]) -> None:
        """Go on from what ``before`` gives, where nothing was read yet."""
        if not self._context:
            self._before = before

    def standing(self, context: Sequence[Msg]) -> Standing:
        """Of ``context``, which does not change while it is used. O(new messages), and copies."""
        with self._lock:
            self._update(context)
            return self._standing.copy(context)

    def ledger(self, part: dict[str, Any]) -> Ledger:
        """The ledger of a state's part, of its own."""
        with self._lock:
            self._begin(part)
            return self._ledger.fork()

    def read(
        self, context: Sequence[Msg], part: dict[str, Any], keep: float, aim: Aim
    ) -> list[Read]:
        """The ledgers of what leaves whatever the plan, when ``keep`` raw tokens may stay at most,
        and of what is likely to: taken in as far as they go, to be gone on from by copies."""
        with self._lock:
            self._update(context)
            self._begin(part)
            both = (self._sure, self._ahead)
            pins = self._pins(0, max([r.upto for r in both if r is not None], default=0))
            # Marks are beside the text and may change there.
            self._sure, self._ahead = (r if self._holds(r, pins) else None for r in both)
            self._take_in(keep, aim)
            reads = [r for r in (self._sure, self._ahead) if r is not None]
            for read in reads:
                read.shared = True
            return reads

    def advance(self, context: Sequence[Msg], part: dict[str, Any], keep: float, aim: Aim) -> None:
        """Go on with what has come since and take in what is sure and what is likely to leave, a
        little at a time: O(new messages). Nothing while a thread is at it, or where more than the
        end is new: whoever plans looks at all of it."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            old, sure = self._context, self._unchanged()
            at, more = max(0, sure - FEW), len(context) - len(old)
            same = 0 <= more <= FEW and all(map(is_, old[at:sure], context[at:]))
            if same and self._is_of(part) and all(map(self._parts.knows, context[sure:])):
                self._go_on(context, sure)
                self._take_in(keep, aim, FEW)
        finally:
            self._lock.release()

    def dump(self, state: AgentState) -> bytes:
        """What is ready for a compaction of ``state``, to be kept beside it; empty where that is
        nothing."""
        with self._lock:
            part = compaction_part(state)
            if not self._context:
                self._load()
            if self._ahead is None or not self._is_of(part):
                return b""
            self._update(state.context)
            read = self._likely()
            if read is None or self._pins(0, read.upto) != read.pinned:
                return b""
            self._wake_pins()
            return ahead.dump(self._standing, read, self._marks, self._count)

    # -- under the lock ------------------------------------------------------------------------

    def _update(self, context: Sequence[Msg]) -> None:
        """Make ``_standing`` that of ``context``. Messages are compared by identity, as
        ``PromptBuilder`` does; what was the newest reply, or came after it, may have grown."""
        if not self._context:
            self._load()
        old, sure = self._context, min(self._unchanged(), len(context))
        if not all(map(is_, old[:sure], context)):
            sure = next(n for n in range(sure) if old[n] is not context[n])
        self._go_on(context, sure)
        self._parts.forget(context)

    def _load(self) -> None:
        """Begin with what was kept, where there is something that is sound."""
        kept, self._before = self._before(), lambda: None
        if kept is None or not kept.running:
            return
        state, part = kept.state, compaction_part(kept.state)
        self._begin(part)
        found = ahead.load(
            kept.running, state.context, self._settled, self._count, self._parts.entry
        )
        if found is not None:
            self._context = list(state.context)
            self._standing, self._ahead, self._marks = found
            self._standing.context = self._context

    def _unchanged(self) -> int:
        """How many of the messages can have changed only with their identity."""
        old = self._context
        return next((n for n in range(len(old) - 1, -1, -1) if old[n].role == "assistant"), 0)

    def _go_on(self, context: Sequence[Msg], sure: int) -> None:
        """The first ``sure`` messages are as they were."""
        standing, known = self._standing, self._standing.entries
        same = sure
        while same < min(len(known), len(context)):
            msg, entry = context[same], known[same]
            if entry is None and not (asleep(msg) and self._context[same] is msg):
                break  # what is asleep is as it was stored
            if entry is not None and self._parts.entry(msg) is not entry:
                break
            same += 1
        if same < len(known):
            standing.cut_back(same)
            if self._sure is not None and self._sure.upto > standing.firsts[same]:
                self._sure = None
            if self._ahead is not None and self._ahead.upto > standing.firsts[same]:
                self._ahead = None
        self._context[sure:] = context[sure:]
        standing.extend([self._parts.entry(m) for m in context[same:]])

    def _is_of(self, part: dict[str, Any]) -> bool:
        """Whether ``_ledger`` is that of ``part``."""
        return part is self._part or not (part or self._part)

    def _begin(self, part: dict[str, Any]) -> None:
        if not self._is_of(part):
            self._part, self._ledger = part, ledger_from(part)
            self._settled = self._ledger.fork()
            settle(self._settled)
            self._sure = self._ahead = None

    def _take_in(self, keep: float, aim: Aim, most: int | None = None) -> None:
        standing = self._standing
        last = standing.persons[-1] if standing.persons else 0
        most_of_all = min(last, standing.opened)
        sure = min(most_of_all, bisect_left(standing.raw, standing.raw[-1] - keep))
        likely = min(most_of_all, aim.leaves(standing, self._ledger)) - MARGIN
        if self._ahead is not None and self._ahead.upto > likely + 8 * MARGIN:
            self._ahead = None  # less leaves than was thought
        if self._sure is not None or self._ahead is None:
            self._sure = self._taken(self._sure, sure, most)
        if self._ahead is None and self._sure is not None and likely > self._sure.upto:
            self._sure.shared = True
            self._ahead = self._sure
        if self._ahead is not None:
            self._ahead = self._taken(self._ahead, likely, most)

    def _taken(self, read: Read | None, upto: int, most: int | None) -> Read:
        """``read`` gone on from, ``most`` atoms at once."""
        read = read or Read(Intake(self._settled, self._count))
        done = read.upto
        upto = upto if most is None else min(upto, done + most)
        if upto > done:
            read = read.copy() if read.shared else read
            read.take(self._standing, [(done, upto)])
            read.intake.cut()
            read.pinned |= self._pins(done, upto)
        return read

    def _pins(self, first: int, end: int) -> set[tuple[int, int]]:
        """What is pinned of the atoms from ``first`` to ``end``: messages (with their first atom)
        by their place and -1, results by that and their place in it."""
        firsts = self._standing.firsts
        at, to = bisect_left(firsts, first), bisect_left(firsts, end)
        found: set[tuple[int, int]] = set()
        context = self._context
        for place in awake(context[at:to]):
            found |= _pinned(at + place, context[at + place])
        for place, marks in self._marks.items():
            if at <= place < to and asleep(context[place]):
                found |= marks
        return found

    def _holds(self, read: Read | None, pins: set[tuple[int, int]]) -> bool:
        """Whether what is pinned now of what was read was pinned then."""
        if read is None:
            return False
        last = bisect_left(self._standing.firsts, read.upto)
        return {pin for pin in pins if pin[0] < last} == read.pinned

    def _likely(self) -> Read | None:
        """What is read ahead now: going on may have thrown it away."""
        return self._ahead

    def _wake_pins(self) -> None:
        """``_marks`` of all messages, as they are now."""
        pins = self._pins(0, len(self._standing.atoms))
        self._marks = {place: {p for p in pins if p[0] == place} for place, _ in pins}


_NONE: set[tuple[int, int]] = set()


def _pinned(place: int, msg: Msg) -> set[tuple[int, int]]:
    found = {(place, -1)} if msg.metadata and is_pinned(msg.metadata) else _NONE
    if msg.role == "user":
        return found
    blocks = enumerate(msg.content)
    marked = [(n, b) for n, b in blocks if b.type == "tool_result" and _marks(b)]
    results = {(place, n) for n, b in marked if is_pinned(_marks(b))} if marked else _NONE
    return found | results if results else found


def _marks(block: AnyBlock) -> dict[str, Any]:
    return block.metadata if isinstance(block, ToolResultBlock) else {}
