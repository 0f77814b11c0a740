"""What a context is made of: messages of the person and steps of replies, each weighed and read
once, when it comes.

A part follows from its blocks alone. Blocks are appended or replaced, never changed in place, so a
part is good for as long as its blocks are the same objects; a compaction puts together what was
read long ago.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import NamedTuple

from desktop_app.core.messages import AnyBlock, Msg

from .build import TASK_TOOLS, from_iteration, from_user
from .giving import size_of
from .iterations import Iteration, iterations, signed
from .pieces import pieces_of
from .pricing import Piece, Pricer
from .reading import Step, Words, read_step, read_words

MOST = 4  # messages looked at with a step, which brings one or two
FEW = 12  # new blocks of one that are read on the event loop; more wait for a thread


class Part(NamedTuple):
    """Blocks ``start`` to ``end`` of a message. ``pieces`` are what they cost, ``raw`` their sum
    before the ratio; ``open`` waits for results, ``thinks`` begins with signed thinking, ``tasks``
    shows the task list. ``words`` is of the person, ``step`` of a reply; ``said`` and ``found`` are
    the tokens that they would take in a ledger."""

    start: int
    end: int
    raw: float
    pieces: list[Piece]
    person: bool = False
    open: bool = False
    thinks: bool = False
    tasks: bool = False
    words: Words | None = None
    step: Step | None = None
    said: float = 0.0
    found: float = 0.0


class Atom(NamedTuple):
    """A part in its place: of message ``message`` of the state's context. ``loop`` says that some
    step of its reply begins with signed thinking."""

    message: int
    start: int
    end: int
    raw: float
    person: bool
    open: bool = False
    thinks: bool = False
    loop: bool = False


@dataclass(slots=True)
class Entry:
    """The parts of one message, good for these ``blocks``."""

    role: str
    blocks: list[AnyBlock]
    parts: list[Part]
    loop: bool
    placed: tuple[int, list[Atom]] = field(default=(-1, []))
    raw: float = 0.0  # of all
    images: float = 0.0  # of these, of images
    tasks: bool = False  # the task list is shown in it
    row: bytes = b""  # as it is kept beside a snapshot, once it was: see ``kept``

    def __post_init__(self) -> None:
        self.raw = sum(p.raw for p in self.parts)
        self.images = sum(x.raw for p in self.parts for x in p.pieces if x.category == "images")
        self.tasks = any(p.tasks for p in self.parts)

    def is_of(self, msg: Msg) -> bool:
        now = msg.content
        return (
            len(now) == len(self.blocks)
            and msg.role == self.role
            and all(map(is_, self.blocks, now))
        )

    def at(self, place: int) -> list[Atom]:
        """Its atoms, for a context in which it stands at ``place``."""
        was, atoms = self.placed
        if was != place:
            loop = self.loop
            atoms = [
                Atom(place, p.start, p.end, p.raw, p.person, p.open, p.thinks, loop)
                for p in self.parts
            ]
            self.placed = (place, atoms)
        return atoms


def _nothing(msg: Msg) -> Entry | None:
    return None


class Parts:
    """The parts of one session's messages, weighed for one model."""

    def __init__(self, pricer: Pricer) -> None:
        self._pricer = pricer
        self._known: dict[str, Entry] = {}
        self._before: Callable[[Msg], Entry | None] = _nothing
        self.read = 0  # parts read afresh: what a test of O(new items) looks at

    def of(self, context: Sequence[Msg], *, keep: bool = True) -> list[Entry]:
        """Of each message of ``context`` in order. O(new parts) and one look at each message.
        ``keep`` False: of a context that is not the session's, nothing is remembered."""
        if keep:
            found = [self.entry(msg) for msg in context]
            self.forget(context)
            return found
        known = ((msg, self._known.get(msg.id)) for msg in context)
        return [e if e is not None and e.is_of(m) else self._entry(m, e) for m, e in known]

    def entry(self, msg: Msg) -> Entry:
        """Of one message of the session."""
        entry = self._had(msg)
        if entry is None or not entry.is_of(msg):
            entry = self._known[msg.id] = self._entry(msg, entry)
        return entry

    def _had(self, msg: Msg) -> Entry | None:
        """What was read of ``msg``, now or before: of its first blocks, or of others."""
        entry = self._known.get(msg.id)
        if entry is None and (entry := self._before(msg)) is not None:
            self._known[msg.id] = entry
        return entry

    def forget(self, context: Sequence[Msg]) -> None:
        """Forget what is not in ``context`` once that is most of it."""
        if len(known := self._known) > 2 * len(context) + 64:
            self._known = {m.id: known[m.id] for m in context if m.id in known}

    def known(self, msg: Msg) -> Entry | None:
        """The entry of ``msg`` where it was read as it is."""
        entry = self._known.get(msg.id)
        return entry if entry is not None and entry.is_of(msg) else None

    def knows(self, msg: Msg) -> bool:
        """Whether ``msg`` was read as it is."""
        return self.known(msg) is not None

    def adopt(self, before: Callable[[Msg], Entry | None]) -> None:
        """Ask ``before`` for what an earlier reading gave, where a message was not read yet; an
        answer is good for its own ``blocks`` only, which ``msg`` may have gone on from."""
        self._before = before

    def advance(self, context: Sequence[Msg]) -> None:
        """Read what has come at the end of ``context``, a little at a time: it is asked for with
        every step. The rest is read when it is wanted."""
        for msg in context[-MOST:]:
            entry = self._had(msg)
            new = len(msg.content) - (len(entry.blocks) if entry is not None else 0)
            if new <= FEW and (entry is None or not entry.is_of(msg)):
                self._known[msg.id] = self._entry(msg, entry)

    def _entry(self, msg: Msg, known: Entry | None) -> Entry:
        blocks = list(msg.content)
        if msg.role != "assistant":
            pieces = self._pieces(from_user(msg))
            words = read_words(msg) if msg.role == "user" else None
            raw = sum(p.raw for p in pieces)
            texts, said = self._pricer.texts, 0.0
            if words is not None:
                said = texts.count(words.text)
                texts.count_lines(words.text)  # as it will stand in a ledger
                pieces_of(words.said, texts, "")
            part = Part(0, len(blocks), raw, pieces, msg.role == "user", words=words, said=said)
            self.read += 1
            return Entry(msg.role, blocks, [part], False)
        if known is None or known.role != msg.role or not known.parts:
            return self._reply(msg, blocks, iterations(blocks), [], {})
        if len(blocks) > len(known.blocks) and all(map(is_, known.blocks, blocks)):
            # It has grown, in its last step or after it.
            last = known.parts[-1].start
            return self._reply(msg, blocks, iterations(blocks, last), known.parts[:-1], {})
        former = {id(known.blocks[p.start]): (p, known) for p in known.parts if p.end > p.start}
        return self._reply(msg, blocks, iterations(blocks), [], former)

    def _reply(
        self,
        msg: Msg,
        blocks: list[AnyBlock],
        steps: Sequence[Iteration],
        parts: Sequence[Part],
        former: dict[int, tuple[Part, Entry]],
    ) -> Entry:
        """``parts`` and what ``steps`` are after them; one that is among ``former`` is not read
        again."""
        made = list(parts)
        for step in steps:
            part, entry = former.get(id(blocks[step.start]), (None, None))
            if part is not None and entry is not None:
                was, now = entry.blocks[part.start : part.end], blocks[step.start : step.end]
                if len(was) == len(now) and all(map(is_, was, now)):
                    made.append(part._replace(start=step.start, end=step.end))
                    continue
            made.append(self._part(msg, step))
        if not made:
            made.append(Part(0, len(blocks), 0.0, []))
        return Entry(msg.role, blocks, made, any(p.thinks for p in made))

    def _part(self, msg: Msg, step: Iteration) -> Part:
        self.read += 1
        pieces = self._pieces(from_iteration(msg, step, 0, set(), False))
        read, count = read_step(msg, step), self._pricer.texts.count
        for found in read.found:
            self._pricer.texts.count_lines(f"- {found.item.text}")
        return Part(
            step.start,
            step.end,
            sum(p.raw for p in pieces),
            pieces,
            open=not step.answered,
            thinks=any(signed(b) for b in step.head),
            tasks=any(c.name in TASK_TOOLS for c in step.calls),
            step=read,
            found=sum(size_of(f.item, count) for f in read.found),
        )

    def _pieces(self, built: Sequence[Msg]) -> list[Piece]:
        labels: dict[str, str] = {}
        return [p for m in built for p in self._pricer.message(m, 0, labels)]
