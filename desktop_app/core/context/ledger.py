"""What of the compacted past must not be lost, kept by rules: no model sees it on the way.

The ledger is a projection of the messages that left the context: what the person said, the rules
they set and took back, what they pinned, what is still to be done, what the agent decided and
found, which files were touched and how, what failed last; beside them what a model noted and was
proven, each frozen once written. Nothing that a tool returned becomes an instruction, and secrets
are masked in everything but the person's own words. It renders as two texts (``ledger_text``) and
lies in the state under ``middle_context["slipway"]["compaction"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import (
    Field,
    PrivateAttr,
    SkipValidation,
    field_serializer,
    field_validator,
    model_validator,
)

from desktop_app.core.messages import WireModel

from .build import slipway
from .cuts import Cuts
from .giving import Told, gives_way, newest_that_fit, size_of
from .glimpses import Glimpse, newest_lines, size_of_line
from .holdings import Holdings
from .pieces import Said
from .redact import redact
from .said import fitted
from .todos import Change, TodoList, bring
from .types import ItemKind, ItemStatus, LedgerItem

FILES = 60  # shown one by one
FAILED = 10
SKILLS = 20

Count = Callable[[str], float]


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

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Touched:
        """Of fields that are known to be right, at a fraction of what a model's checks cost."""
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", {**_TOUCHED, **fields})
        for name in ("__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__"):
            object.__setattr__(made, name, _EMPTY[name])
        return made

    @property
    def changed(self) -> bool:
        return bool(self.written or self.edited or self.deleted)


_TOUCHED = {"path": "", "read": 0, "written": 0, "edited": 0, "deleted": 0, "ref": ""}
_EMPTY: dict[str, Any] = {
    "__pydantic_extra__": {},
    "__pydantic_fields_set__": set(_TOUCHED),
    "__pydantic_private__": None,
}


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
    # rules, decisions, facts
    items: SkipValidation[list[LedgerItem]] = Field(default_factory=list[LedgerItem])
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
    _unseen: list[Glimpse] = PrivateAttr(default_factory=list[Glimpse])  # for want of room
    _cuts: Cuts | None = PrivateAttr(default=None)
    _held: Holdings | None = PrivateAttr(default=None)  # of ``items``: see ``hold``
    # Of ``said`` as that object: what each counts, and whether no two say the same.
    _sizes: tuple[list[Said], list[float], bool] | None = PrivateAttr(default=None)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Items that were put in as they are held are made when somebody looks at them."""
            if name == "items":
                made = self.__dict__["items"] = self._held.all()
                return made
            return super().__getattr__(name)

    def __eq__(self, other: object) -> bool:
        """Whether they say the same; what is known of it beside that may differ."""
        return isinstance(other, Ledger) and self.body() == other.body()

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def hold(self, items: Holdings) -> None:
        """Take ``items``, which nobody else changes from here on."""
        vars(self).pop("items", None)
        self._held = items

    @property
    def holdings(self) -> Holdings:
        """Its items with what they weigh, as far as that is known."""
        held, made = self._held, self.__dict__.get("items")
        if held is None or (made is not None and made is not held.own):
            held = self._held = Holdings(self.items)
            vars(self)["items"] = held.own
        return held

    @field_validator("items", mode="before")
    @classmethod
    def _read_items(cls, value: Any) -> Any:
        return [i if isinstance(i, LedgerItem) else LedgerItem.of(i) for i in value]

    @field_serializer("items")
    def _write_items(self, items: list[LedgerItem]) -> list[dict[str, Any]]:
        return [i.body() for i in items]

    @property
    def cuts(self) -> Cuts | None:
        """The pieces of what was said, as far as somebody looked for them."""
        return self._cuts

    @cuts.setter
    def cuts(self, cuts: Cuts | None) -> None:
        self._cuts = cuts

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

    def fork(self) -> Ledger:
        """A copy to go on with. What its lists hold is shared and is replaced, never changed, but
        for ``lists``."""
        other = self.model_copy()
        for name, value in self.__dict__.items():
            if isinstance(value, list):
                setattr(other, name, list(cast(list[Any], value)))
        if self.__dict__.get("items") is not None and self._held is not None:
            other.hold(self.holdings.copy())
        other.lists = [n.model_copy(deep=True) for n in self.lists]
        other.older = dict(self.older)
        return other

    def open_lists(self, live: Iterable[tuple[Change, str]]) -> None:
        """Set ``todo``: what is open by the lists of the past and by what the messages that stay do
        to them, each with what it was seen in."""
        lists, changes = self.lists, list(live)
        if changes:
            lists = [n.model_copy(deep=True) for n in lists]
            for change, ref in changes:
                bring(lists, change, ref)
        self.todo = list(dict.fromkeys(redact(t.text) for n in lists for t in n.open()))

    # -- what it says ------------------------------------------------------------------------

    @property
    def rules(self) -> list[str]:
        """Rules that hold, in the person's words."""
        return [i.text for i in self.of("constraint")]

    def told(self, kind: ItemKind) -> tuple[list[str], float]:
        """Texts of open items that the person did not leave out, and what they count on lines of
        their own; below 0 where that is not known."""
        return self.holdings.told(kind, frozenset(self.hidden))

    def of(self, kind: ItemKind, status: ItemStatus | None = "open") -> list[LedgerItem]:
        """Items of a kind (and status) that the person did not leave out."""
        if kind == "constraint":
            items = [self.holdings.at(n) for n in self.holdings.rules]
        else:
            items = [i for i in self.items if i.kind == kind]
        hidden = set(self.hidden)
        return [i for i in items if status in (i.status, None) and i.id not in hidden]

    def body(self) -> dict[str, Any]:
        """As ``model_dump``, at a fraction of its cost: what a state has of it."""
        body = dict(vars(self))
        body["items"] = list(self.items)
        for one in self.said:
            _ = one.text  # it may not have been read yet: see ``ahead``
        for name in _FLAT:
            body[name] = [_plain(one) for one in body[name]]
        body["lists"] = [n.model_dump() for n in self.lists]
        body["items"] = [i.body() for i in self.items]
        for name in ("skills", "tasks", "todo", "hidden", "later"):
            body[name] = list(body[name])
        body["written"] = None if self.written is None else list(self.written)
        return {**body, "older": dict(self.older), **(self.__pydantic_extra__ or {})}

    def said_id(self, place: int) -> str:
        """The id of the item that a message of the person is."""
        return f"{'user_msg' if place else 'task'}-{self.said[place].id}-0"

    def protected(self) -> list[str]:
        """Texts that stand in the prompt byte for byte: rules, pins, whole messages of the person,
        open tasks, what a person wrote into an item."""
        hidden = set(self.hidden)
        whole = [(n, s.text) for n, s in enumerate(self.said) if s.whole or s.edited]
        said = [t for n, t in whole if not hidden or self.said_id(n) not in hidden]
        pins = [p.text for p in self.pins if p.id not in hidden]
        edited = [t.text for t in self.holdings.edited() if t.id not in hidden]
        todo = [t for t in self.todo if f"pending-{t}" not in hidden]
        return [*said, *self.rules, *pins, *self.tasks, *todo, *edited]

    def fit_said(self, budget: float, count: Count, where: str) -> None:
        """Bring the person's messages into ``budget`` tokens (``said.fit``). Rules and pins are
        never touched."""
        if self.said:
            cuts = self._cuts = (self._cuts or Cuts()).upto(self.said, count)
            first, last = self.said[0].text, self.said[-1].text
            self.said, gone, sizes = fitted(self.said, budget, count, where, cuts)
            self.left_out += gone
            apart = first != last and not (cuts.again or cuts.long)
            if apart and not any(s.edited for s in self.said):
                texts = [s.text for s in self.said[1:-1]]
                apart = not (texts.count(first) or texts.count(last))
            self._sizes = self.said, sizes, apart

    @property
    def apart(self) -> bool:
        """Whether it is known that no two messages say the same."""
        return self._sizes is not None and self._sizes[0] is self.said and self._sizes[2]

    def said_sizes(self) -> list[float] | None:
        """What each message counts on lines of its own, where that is known."""
        sizes = self._sizes
        return sizes[1] if sizes is not None and sizes[0] is self.said else None

    def fit(self, room: Room, count: Count, where: str) -> float:
        """Bring what gives way into ``room``; what decisions and facts take then. Decisions go
        before facts, the newest first; what the person wrote or pinned always stays."""
        self.fit_said(room.said, count, where)
        changed = sum(f.changed for f in self.files)
        self.shown = room.shown if room.read else min(room.shown, max(8, changed))
        self._unseen, self.seen = newest_lines(self.seen, room.seen, count)
        return self.fit_found(room.found, count)

    def fit_found(self, room: float, count: Count) -> float:
        """Bring decisions and facts into ``room`` tokens (``giving.newest_that_fit``); what they
        take then."""
        size = self.found_size(count)
        if size <= room:
            return size
        held = self.holdings
        held.remember(count)
        kept, gone = newest_that_fit(self.items, room, count)
        self.hold(held.only(kept))
        for item in gone:
            self.older[item.kind] = self.older.get(item.kind, 0) + 1
        return self.found_size(count)

    def fit_seen(self, more: float, most: float, count: Count) -> None:
        """Give lines of results ``more`` tokens than they have, up to ``most``; those that ``fit``
        left out come back, the newest first. What an item says already needs no line."""
        if not self.seen and not self._unseen:
            return
        room = sum(size_of_line(g, count) for g in self.seen)
        told = Told(i for i in self.items if i.status == "open" and i.id not in self.hidden)
        lines = [g for g in (*self._unseen, *self.seen) if g.text not in told]
        self._unseen, self.seen = newest_lines(lines, max(room, min(room + more, most)), count)

    def found_size(self, count: Count) -> float:
        """Tokens of what ``fit_found`` looks at."""
        held = self.holdings
        if (size := held.found_size()) >= 0:
            return size
        return sum(size_of(i, count) for i in self.items if gives_way(i) and i.status == "open")

    def noted(self, count: Count) -> float:
        """Tokens of the narratives."""
        return sum(count(n.text) for n in self.notes)


_FLAT = ("said", "pins", "files", "failed", "seen", "notes")  # of models without models in them


def _plain(one: WireModel) -> dict[str, Any]:
    return one.model_dump() if one.__pydantic_extra__ else {**vars(one)}


def ledger_from(part: Mapping[str, Any]) -> Ledger:
    """A ledger of its own (changing it changes nothing else) from the state's part."""
    return Ledger.model_validate(dict(part))


PIN_MARKS = ("pinned", "is_constraint")  # without one of these words nothing is pinned


def is_pinned(metadata: dict[str, Any]) -> bool:
    """Whether a message or a result was pinned: ``slipway.pinned``, or ``is_constraint`` as other
    programs mark it."""
    return bool(slipway(metadata).get("pinned") or metadata.get("is_constraint"))
