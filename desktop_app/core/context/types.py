"""Shapes that accounting and compaction share with the loop and the window.

Window arithmetic, one rule everywhere (``Limits``): ``reserve = min(max_output, 16384, 0.2 x
window)``; ``W = window - reserve - min(4096, 0.02 x window)``. Marks apply to W.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from desktop_app.core.models.base import LimitSource

from .figures import CallCount, Drift, Forecast

Category = Literal[
    "system",
    "tools",
    "mcp",
    "skills",
    "ledger",
    "user",
    "assistant",
    "thinking",
    "result",
    "images",
]
CATEGORIES: tuple[Category, ...] = (
    "system",
    "tools",
    "mcp",
    "skills",
    "ledger",
    "user",
    "assistant",
    "thinking",
    "result",
    "images",
)
Filler = Literal["reserve", "free"]  # of the window, beside what is in the prompt
Trigger = Literal[
    "alert", "danger", "oversize", "overflow", "resume", "model_switch", "manual", "item"
]
"""``item``: one result or image that a person took out of the prompt."""


@dataclass(frozen=True)
class Limits:
    """Marks of one model's window, in tokens. ``alert``, ``danger``, ``target`` are shares of W;
    ``kept`` is a reserve that the person set. What follows from them is worked out once."""

    window: int
    max_output: int
    source: LimitSource = "built_in"
    alert: float = 0.65
    danger: float = 0.85
    target: float = 0.45
    kept: int | None = None

    @cached_property
    def reserve(self) -> int:
        if self.kept is not None:
            return min(self.kept, self.window // 2)
        return int(min(self.max_output, 16384, 0.2 * self.window))

    @property
    def answer(self) -> int:
        """How long an answer may be asked to be."""
        return min(self.reserve, self.max_output)

    @cached_property
    def usable(self) -> int:
        """W: what a request may hold at most."""
        return self.window - self.reserve - int(min(4096, 0.02 * self.window))

    def mark(self, share: float) -> int:
        return int(self.usable * share)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that fills the window, or (``count`` not 1) several small ones together.

    ``ref`` finds it: an op id, a message id, a tool's name. ``tokens`` is ``measured`` when it was
    in a prompt that the provider counted (its share of that count), otherwise estimated.
    ``group`` says who is behind it, and so what can be done about it:

        system  tools  mcp:<server>  skill:<name>  ledger  user  assistant  thinking  result
        images  reserve  free

    A skill's text that a tool read into the context is a ``result`` of the skill's group. The list
    of skills is one item a skill; what stands around it is group ``skill:``.
    """

    category: Category | Filler
    label: str
    tokens: int
    ref: str
    measured: bool = False
    group: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Who uses the window. All numbers are tokens.

    ``upper`` is the p95 estimate on which every decision is made; ``measured`` is how many of
    ``total`` the provider confirmed at the last call (the rest was estimated since). ``items`` are
    the biggest things, biggest first (``MAX_ITEMS``); ``rest`` holds all others, one entry a
    category and group. Always:

        sum(parts.values()) == total == sum(i.tokens for i in (*items, *rest))
        parts[c] == the tokens of the items and rests of category c

    ``history`` are the last calls that the provider counted, oldest first (``HISTORY``), with what
    had been estimated; ``forecast`` and ``drift`` are None without enough of them.
    """

    total: int
    upper: int
    measured: int
    limits: Limits
    parts: dict[Category, int]
    items: tuple[Item, ...]
    rest: tuple[Item, ...] = ()
    history: tuple[CallCount, ...] = ()
    forecast: Forecast | None = None
    drift: Drift | None = None

    @property
    def share(self) -> float:
        """Of the whole window, 0 to 1."""
        return self.total / self.limits.window if self.limits.window else 0.0

    @property
    def turns_left(self) -> float | None:
        """Turns until the alert mark; None when nothing can be said."""
        return self.forecast.turns if self.forecast else None

    @property
    def free(self) -> int:
        """What nobody uses: the window without ``total`` and the reserve, at least 0."""
        return max(0, self.limits.window - self.total - self.limits.reserve)

    def tiles(self) -> tuple[Item, ...]:
        """Everything in the window: items, rests, then the reserve and what is free. Adds up to the
        window, unless the prompt reaches into the reserve."""
        reserve = Item("reserve", "", self.limits.reserve, "reserve", True, "reserve")
        free = Item("free", "", self.free, "free", not self.total > self.measured, "free")
        return (*self.items, *self.rest, reserve, free)


ItemKind = Literal[
    "task",
    "constraint",
    "preference",
    "user_msg",
    "pending",
    "inflight",
    "decision",
    "fact",
    "artifact",
    "error",
    "question",
]
Modality = Literal["must", "must_not", "should", "info"]
Origin = Literal[
    "user", "system", "todo_tool", "tool_args", "assistant", "summariser", "human_edit"
]
ItemStatus = Literal["open", "done", "superseded", "revoked"]
Fate = Literal["kept", "masked", "summarised", "dropped"]
Status = Literal["committed", "undone", "failed"]


class Evidence(NamedTuple):
    """Where an item comes from: a message or block id, and the words there. ``more`` are fields of
    a newer version."""

    ref: str
    quote: str = ""
    more: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Evidence:
        """From JSON."""
        more = {k: v for k, v in value.items() if k not in ("ref", "quote")}
        return cls(str(value["ref"]), str(value.get("quote", "")), more or None)

    def body(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"ref": self.ref, "quote": self.quote, **(self.more or {})}


class LedgerItem(NamedTuple):
    """One thing that a compaction carries on. ``id`` is stable: ``kind-source-n``; ``text`` stands
    in the prompt as it is. Items are added and closed, never rewritten, except by a person
    (``human_edit``). ``by`` is what superseded or revoked it: an item's id or the person's words.
    ``more`` are fields of a newer version.
    """

    id: str
    kind: ItemKind
    text: str
    modality: Modality = "info"
    origin: Origin = "assistant"
    evidence: Sequence[Evidence] = ()
    status: ItemStatus = "open"
    pinned: bool = False
    by: str = ""
    more: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> LedgerItem:
        """From JSON. KeyError, TypeError for what is none."""
        known = {k: v for k, v in value.items() if k in cls._fields and k != "more"}
        known["evidence"] = tuple([Evidence.of(e) for e in value.get("evidence", ())])
        more = {k: v for k, v in value.items() if k not in known}
        if not all(isinstance(value[name], str) for name in ("id", "kind", "text")):
            raise TypeError("an item's name, kind and words are texts")
        return cls(**known, more=more or None)

    def body(self) -> dict[str, Any]:
        """As JSON has it."""
        body: dict[str, Any] = dict(zip(_ITEM, self, strict=False))
        body["evidence"] = [e.body() for e in self.evidence]
        return body if self.more is None else {**body, **self.more}


_ITEM = LedgerItem._fields[:-1]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person said about a proposed compaction. ``keep``: message or block ids that stay
    live whatever their age; ``drop``: ids of messages, blocks or ledger items that are left out of
    the prompt altogether (still journalled and offloaded); ``edits``: ledger item id to the
    person's own text; ``focus``: what a model's notes should pay attention to; ``notes``: whether a
    model writes any."""

    keep: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    edits: Mapping[str, str] = field(default_factory=dict[str, str])
    focus: str = ""
    notes: bool = True

    def body(self) -> dict[str, Any]:
        """For the record; empty when nothing was chosen."""
        values = {
            "keep": sorted(self.keep),
            "drop": sorted(self.drop),
            "edits": dict(self.edits),
            "focus": self.focus,
        }
        return {k: v for k, v in values.items() if v}


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One line of a preview. ``ref`` is a message id, a block id (results) or "ledger"; ``before``
    and ``after`` are estimated tokens."""

    fate: Fate
    ref: str
    category: Category
    label: str
    before: int
    after: int


@dataclass(slots=True)
class CompactionRecord:
    """What a compaction did; the body of the ``compaction`` record (``applying.record_body``).
    ``id`` names it in the log, where failed ones (``gen`` 0) stand too: they changed nothing and
    say why, with ``code`` and ``params`` as a SlipwayError does.

    ``applying.apply(record, state)`` does it again, ``applying.undo(record, state)`` takes it back:
    ``ledger`` is the state's new part, ``masks`` the results and arguments that were cut in place
    (``{"message", "block", "text"}``, block counted after the compaction), ``undo`` the former
    texts, blocks and part. ``tier`` 1 only masked, 2 wrote ledger and summary; ``summariser`` None
    when no model took part.
    """

    gen: int
    trigger: Trigger
    summary: str
    covered_ids: list[str]  # messages that left the context whole, in order
    covered_blocks: dict[str, list[str]]  # message id -> ids of its first blocks, which left
    kept_ids: list[str]
    before: int
    after: int  # estimated; corrected by the next measured call
    limits: dict[str, Any]
    summariser: str | None
    seconds: float
    offload_path: str | None = None
    pinned: int = 0  # constraints carried on, word for word
    pending: int = 0
    ts_us: int = 0
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    places: list[int] = field(default_factory=list[int])  # of covered_ids in the former context
    tier: int = 2
    usage: dict[str, Any] | None = None  # of the summariser's call, as it measured it
    choices: dict[str, Any] = field(default_factory=dict[str, Any])  # ``Choices.body``
    masks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    id: str = ""
    seq: int = 0  # of its record in the journal
    status: Status = "committed"
    before_measured: int = 0  # how much of ``before`` the provider had counted
    measured: int | None = None  # ``after``, corrected by the provider's count of the next call
    cost: float | None = None  # US dollars of the summariser's call; None where no price is known
    drafted: bool = False  # made ahead, in the background; a ``spent`` record has its cost
    filled: list[int] = field(default_factory=list[int])  # earlier ones whose notes came with it
    code: str = ""
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    ledger: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    undo: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
