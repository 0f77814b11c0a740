"""What of the compacted past must not be lost, kept by rules: no model sees it on the way.

The ledger is a projection of the messages that left the context: what the person said, the rules
they set and took back, what they pinned, what is still to be done, what the agent decided and
found, which files were touched and how, what failed last; beside them what a model noted and was
proven, each frozen once written. Nothing that a tool returned becomes an instruction, and secrets
are masked in everything but the person's own words. It renders as two texts (``ledger_text``) and
lies in the state under ``middle_context["slipway"]["compaction"]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import Field, PrivateAttr, model_validator

from desktop_app.core.messages import (
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    WireModel,
)

from .artifacts import Action, touched
from .build import slipway
from .findings import changes, findings, shape
from .giving import Told, gives_way, newest_that_fit, said_already, size_of
from .glimpses import Glimpse, glimpses, is_data, newest_lines, size_of_line
from .iterations import Iteration, iterations
from .redact import redact
from .rules import about_the_same, modality, rules_in, takes_back
from .said import PASTED, Said, fit
from .todos import TodoList, is_list, update, update_text
from .types import Evidence, ItemKind, ItemStatus, LedgerItem

FILES = 60  # shown one by one
FAILED = 10
SKILLS = 20

Count = Callable[[str], float]
Answers = list[tuple[ToolCallBlock, ToolResultBlock]]


class Pin(WireModel):
    """Something the person pinned, byte for byte. ``who`` wrote it: user, assistant, a tool."""

    id: str
    who: str
    text: str
    edited: bool = False


class Touched(WireModel):
    path: str
    read: int = 0
    written: int = 0
    edited: int = 0
    deleted: int = 0
    ref: str = ""

    @property
    def changed(self) -> bool:
        return bool(self.written or self.edited or self.deleted)


class Failed(WireModel):
    """A call that failed and was not done since; ``why`` is its first telling line."""

    what: str
    why: str = ""
    ref: str = ""


class Note(WireModel):
    """What a model told about one compaction; never rewritten."""

    gen: int
    text: str


class Room(WireModel):
    """Tokens for the parts of a ledger that give way, and how many files are listed; ``read``
    whether these are also files that were only read."""

    said: float
    found: float
    notes: float
    seen: float
    shown: int = FILES
    read: bool = True


@dataclass(slots=True)
class Index:
    """Of a ledger, for looking up: shapes of its decisions and facts, good while it has so many
    items, and paths of its files."""

    shapes: set[str] = field(default_factory=set[str])
    counted: int = -1
    paths: list[str] = field(default_factory=list[str])


class Ledger(WireModel):
    """See the module. ``gen`` is the compaction it belongs to, ``last`` the highest there was.

    ``written`` is how far ``context.jsonl`` reaches into the live messages: ``[message id,
    blocks]`` or None. ``cut`` is the message whose front left. ``held`` is the trigger of a
    compaction that was undone: automatic compaction then waits for the next mark. ``latest`` is
    the id of the person's newest message when it is not live any more. ``shown`` is how many files
    are listed. ``hidden`` are ids of items that the person left out. ``older`` counts what left
    the ledger for want of room, by kind. ``later`` are pins set or taken back since the compaction.
    ``pinned`` and ``history`` are the texts as they stand in the prompt.
    """

    gen: int = 0
    last: int = 0
    said: list[Said] = Field(default_factory=list[Said])
    left_out: int = 0  # of the person's messages, no longer shown at all
    items: list[LedgerItem] = Field(default_factory=list[LedgerItem])  # rules, decisions, facts
    pins: list[Pin] = Field(default_factory=list[Pin])
    lists: list[TodoList] = Field(default_factory=list[TodoList])
    files: list[Touched] = Field(default_factory=list[Touched])
    failed: list[Failed] = Field(default_factory=list[Failed])
    skills: list[str] = Field(default_factory=list[str])
    seen: list[Glimpse] = Field(default_factory=list[Glimpse])
    notes: list[Note] = Field(default_factory=list[Note])
    foreign: str = ""  # a summary that somebody else wrote
    tasks: list[str] = Field(default_factory=list[str])
    todo: list[str] = Field(default_factory=list[str])  # of ``lists`` and the live messages
    written: list[Any] | None = None
    cut: str | None = None
    held: str | None = None
    latest: str | None = None
    shown: int = FILES
    hidden: list[str] = Field(default_factory=list[str])
    older: dict[str, int] = Field(default_factory=dict[str, int])
    later: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    pinned: str = ""
    history: str = ""
    _index: Index = PrivateAttr(default_factory=Index)
    _unseen: list[Glimpse] = PrivateAttr(default_factory=list[Glimpse])  # for want of room

    @model_validator(mode="before")
    @classmethod
    def _first_form(cls, value: Any) -> Any:
        """Rules and failures were plain strings in the first form."""
        if not isinstance(value, dict) or "rules" not in value:
            return value  # pyright: ignore[reportUnknownVariableType]
        fields = dict(cast(dict[str, Any], value))
        rules: list[str] = fields.pop("rules")
        fields["items"] = [
            {"id": f"constraint-rule-{n}", "kind": "constraint", "text": r, "origin": "user"}
            for n, r in enumerate(rules)
        ]
        fields["failed"] = [{"what": f} for f in fields.get("failed", ())]
        return fields

    # -- taking in ---------------------------------------------------------------------------

    def absorb(self, messages: Sequence[Msg], count: Count) -> None:
        """Take in messages that leave the context, oldest first."""
        answers: Answers = []
        for msg in messages:
            if msg.role == "user":
                self.take_person(msg, count)
            elif msg.role == "assistant":
                for step in iterations(msg.content):
                    self.take_step(msg, step, answers)
        self.glimpse(answers)

    def glimpse(self, answers: Answers) -> None:
        """Take in what stood out in answers to calls, all that leave at once, oldest first."""
        self.seen += glimpses(answers, {g.text for g in self.seen})

    def fork(self) -> Ledger:
        """A copy to go on with. What its lists hold is shared and is replaced, never changed, but
        for ``lists``."""
        other = self.model_copy()
        for name, value in self.__dict__.items():
            if isinstance(value, list):
                setattr(other, name, list(cast(list[Any], value)))
        other.lists = [n.model_copy(deep=True) for n in self.lists]
        other.older = dict(self.older)
        index = self._index
        other._index = Index(set(index.shapes), index.counted, list(index.paths))
        return other

    def take_person(self, msg: Msg, count: Count) -> None:
        """Take in a message of the person."""
        data = [b for b in msg.content if isinstance(b, DataBlock)]
        names = [f"[{b.name or b.source.media_type}]" for b in data]
        text = "\n".join(t for t in (msg.text(), " ".join(names)) if t)
        if not text.strip():
            return
        pasted = len(text) > PASTED and count(text) > PASTED
        for number, rule in enumerate(rules_in(text, pasted=pasted)):
            self._rule(rule, msg.id, number)
        if is_pinned(msg.metadata):
            self.pins.append(Pin(id=msg.id, who="user", text=text))
        else:
            self.said.append(Said(id=msg.id, text=text))

    def _rule(self, rule: str, ref: str, number: int) -> None:
        """A rule, or what takes earlier ones back."""
        rules = [i for i in self.items if i.kind == "constraint"]
        if takes_back(rule):
            meant = [i for i in rules if i.status == "open" and about_the_same(rule, i.text)]
            for item in meant:
                self._close(item, "revoked", rule)
            if meant:
                return
        known = next((i for i in rules if i.text == rule), None)
        if known is not None:
            if known.status != "open" or known.by:
                self._close(known, "open", "")
            return
        evidence = [Evidence(ref=ref, quote=rule)]
        item = LedgerItem(id=f"constraint-{ref}-{number}", kind="constraint", text=rule)
        item.origin, item.modality, item.evidence = "user", modality(rule), evidence
        self._index.counted += self._index.counted == len(self.items)
        self.items.append(item)

    def _close(self, item: LedgerItem, status: ItemStatus, by: str) -> None:
        """Close (or open) an item: by one in its place, since copies of the ledger share it."""
        place = next(n for n, i in enumerate(self.items) if i is item)
        self.items[place] = item.model_copy(update={"status": status, "by": by})

    def take_step(self, msg: Msg, step: Iteration, answers: Answers) -> None:
        """Take in a step of a reply; its ``answers`` are added for ``glimpse``."""
        called = [c.input for c in step.calls]
        for block in step.head:
            if not isinstance(block, TextBlock):
                continue
            if is_pinned(msg.metadata):
                self.pins.append(Pin(id=block.id, who="assistant", text=block.text))
            update_text(self.lists, block.text, msg.id)
            for number, found in enumerate(findings(block.text, called, last=not step.calls)):
                name = f"{found.kind}-{block.id}-{number}"
                self.found(found.kind, name, found.text, Evidence(ref=msg.id, quote=found.quote))
        for call, result in zip(step.calls, step.results, strict=True):
            if result is not None:
                self._call(call, result)
                if result.state == "success" and not is_list(call.name):
                    answers.append((call, result))

    def found(
        self, kind: ItemKind, name: str, text: str, evidence: Evidence, *, by_model: bool = False
    ) -> bool:
        """Add a decision or a fact; False when it stands there already, closed or not. A decision
        of the agent that tells a change closes the one that it names; a model's closes nothing."""
        index, wanted = self._index, shape(text)
        if index.counted != len(self.items):
            index.shapes = {shape(i.text) for i in self.items if i.kind != "constraint"}
        if wanted in index.shapes:
            return False
        if by_model and said_already(text, [i for i in self.items if i.kind != "constraint"]):
            return False
        index.shapes.add(wanted)
        if kind == "decision" and changes(text) and not by_model:
            for item in list(self.items):
                still = item.kind == "decision" and item.status == "open"
                if still and about_the_same(text, item.text):
                    self._close(item, "superseded", name)
        item = LedgerItem(id=name, kind=kind, text=text, evidence=[evidence])
        item.origin = "summariser" if by_model else "assistant"
        self.items.append(item)
        index.counted = len(self.items)
        return True

    def _call(self, call: ToolCallBlock, result: ToolResultBlock) -> None:
        if is_pinned(result.metadata):
            self.pins.append(Pin(id=_name_of(call), who=call.name, text=result.text()))
        arguments = arguments_of(call)
        about = next((str(arguments[k]) for k in _ABOUT if isinstance(arguments.get(k), str)), "")
        what = redact(f"{call.name} {about[:120]}".strip())
        self.failed = [f for f in self.failed if f.what != what]
        if result.state == "error":
            why = _why(result.text())
            self.failed = [*self.failed, Failed(what=what, why=why, ref=call.id)][-FAILED:]
        elif result.state == "success":
            update(self.lists, call.name, arguments, result.text()[:400], call.id)
            for path, action in touched(call.name, arguments):
                self._touch(path, action, call.id)
            if call.name == "Skill" and (name := str(arguments.get("skill", ""))):
                self.skills = [*(s for s in self.skills if s != name), name][-SKILLS:]

    def _touch(self, path: str, action: Action, ref: str) -> None:
        paths = self._index.paths
        if len(paths) != len(self.files):
            paths[:] = [f.path for f in self.files]
        known = Touched(path=path)
        if path in paths:
            at = paths.index(path)
            del paths[at]
            known = self.files.pop(at).model_copy()
        known.ref = ref
        setattr(known, action, getattr(known, action) + 1)
        paths.append(path)
        self.files.append(known)

    def open_lists(self, live: Iterable[Msg]) -> None:
        """Set ``todo``: what is open by the lists of the past and of the messages that stay."""
        lists = [n.model_copy(deep=True) for n in self.lists]
        for msg in live:
            for step in iterations(msg.content) if msg.role == "assistant" else ():
                for block in step.head:
                    if isinstance(block, TextBlock):
                        update_text(lists, block.text, msg.id)
                for call, result in zip(step.calls, step.results, strict=True):
                    if result is not None and result.state == "success":
                        answer = result.text()[:400]
                        update(lists, call.name, arguments_of(call), answer, call.id)
        self.todo = [redact(t.text) for n in lists for t in n.open()]
        self.todo = list(dict.fromkeys(self.todo))

    # -- what it says ------------------------------------------------------------------------

    @property
    def rules(self) -> list[str]:
        """Rules that hold, in the person's words."""
        return [i.text for i in self.of("constraint")]

    def of(self, kind: ItemKind) -> list[LedgerItem]:
        """Open items of a kind that the person did not leave out."""
        items = self.items
        return [
            i for i in items if i.kind == kind and i.status == "open" and i.id not in self.hidden
        ]

    def said_id(self, place: int) -> str:
        """The id of the item that a message of the person is."""
        return f"{'user_msg' if place else 'task'}-{self.said[place].id}-0"

    def protected(self) -> list[str]:
        """Texts that stand in the prompt byte for byte: rules, pins, whole messages of the person,
        open tasks, what a person wrote into an item."""
        hidden = set(self.hidden)
        said = [
            s.text
            for n, s in enumerate(self.said)
            if (s.whole or s.edited) and self.said_id(n) not in hidden
        ]
        pins = [p.text for p in self.pins if p.id not in hidden]
        edited = [i.text for i in self.items if i.origin == "human_edit" and i.id not in hidden]
        todo = [t for t in self.todo if f"pending-{t}" not in hidden]
        return [*said, *self.rules, *pins, *self.tasks, *todo, *edited]

    def fit_said(self, budget: float, count: Count, where: str) -> None:
        """Bring the person's messages into ``budget`` tokens (``said.fit``). Rules and pins are
        never touched."""
        if self.said:
            self.said, left_out = fit(self.said, budget, count, where)
            self.left_out += left_out

    def fit(self, room: Room, count: Count, where: str) -> None:
        """Bring what gives way into ``room``. Decisions go before facts, the newest first; what
        the person wrote or pinned always stays."""
        self.fit_said(room.said, count, where)
        changed = sum(f.changed for f in self.files)
        self.shown = room.shown if room.read else min(room.shown, max(8, changed))
        self.fit_found(room.found, count)
        self._unseen, self.seen = newest_lines(self.seen, room.seen, count)

    def fit_found(self, room: float, count: Count) -> None:
        """Bring decisions and facts into ``room`` tokens (``giving.newest_that_fit``)."""
        self.items, gone = newest_that_fit(self.items, room, count)
        for item in gone:
            self.older[item.kind] = self.older.get(item.kind, 0) + 1

    def fit_seen(self, more: float, most: float, count: Count) -> None:
        """Give lines of results ``more`` tokens than they have, up to ``most``; those that ``fit``
        left out come back, the newest first. What an item says already needs no line."""
        room = sum(size_of_line(g, count) for g in self.seen)
        told = Told(i for i in self.items if i.status == "open" and i.id not in self.hidden)
        lines = [g for g in (*self._unseen, *self.seen) if g.text not in told]
        self._unseen, self.seen = newest_lines(lines, max(room, min(room + more, most)), count)

    def found_size(self, count: Count) -> float:
        """Tokens of what ``fit_found`` looks at."""
        return sum(size_of(i, count) for i in self.items if gives_way(i))

    def noted(self, count: Count) -> float:
        """Tokens of the narratives."""
        return sum(count(n.text) for n in self.notes)


_ABOUT = ("file_path", "path", "command", "pattern", "url", "query", "skill", "target")


def _name_of(call: ToolCallBlock) -> str:
    """Our operation's id where there is one: the provider's may repeat."""
    own = (call.model_extra or {}).get("op_id")
    return own if isinstance(own, str) else call.id


def _why(text: str) -> str:
    """The first line of an error that tells something and poses as nothing."""
    for line in text.splitlines()[:40]:
        line = line.strip()
        if len(line) > 3 and is_data(line):
            return redact(line[:160])
    return ""


def ledger_from(part: dict[str, Any]) -> Ledger:
    """A ledger of its own (changing it changes nothing else) from the state's part."""
    return Ledger.model_validate(part)


def is_pinned(metadata: dict[str, Any]) -> bool:
    """Whether a message or a result was pinned: ``slipway.pinned``, or ``is_constraint`` as other
    programs mark it."""
    return bool(slipway(metadata).get("pinned") or metadata.get("is_constraint"))


def arguments_of(call: ToolCallBlock) -> dict[str, Any]:
    """A call's arguments; empty when they are no JSON object."""
    try:
        value = json.loads(call.input)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
