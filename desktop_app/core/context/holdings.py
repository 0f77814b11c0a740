"""Items of a ledger, with what each weighs: what stands in the prompt, and what it counts, is told
without an object for each item, as far as they were stored as columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress
from typing import Any

from .columns import Columns
from .giving import LINE, gives_way
from .tokens import CountCache
from .types import Evidence, ItemKind, LedgerItem

Count = Callable[[str], float]
_PLAIN = ("id", "kind", "text", "modality", "origin", "status", "pinned", "by")
_MAKE = ("id", "kind", "text", "modality", "origin", "evidence", "status", "pinned", "by", "more")


def columns_of(items: Holdings) -> dict[str, Sequence[Any]] | None:
    """``items`` as columns that ``Stored`` reads; None where something does not fit them."""
    own = items.all()
    if items.sizes is None or items.lines is None:
        return None
    for i in own:
        if i.more or len(i.evidence) != 1 or i.evidence[0].more or i.pinned:
            return None
        if i.origin == "human_edit":
            return None
    kinds: dict[ItemKind, None] = dict.fromkeys([i.kind for i in own])
    told = {kind: items.told(kind)[1] for kind in kinds}
    return {
        **{f"item_{name}": [getattr(i, name) for i in own] for name in _PLAIN},
        "item_ref": [i.evidence[0].ref for i in own],
        "item_quote": [None if (q := i.evidence[0].quote) == i.text else q for i in own],
        "item_sizes": items.sizes,
        "item_lines": items.lines,
        "item_rules": items.rules,
        "item_told": [[kind, size] for kind, size in told.items()],
        **{
            f"open_{kind}": array("q", [i.kind == kind and i.status == "open" for i in own])
            for kind in kinds
        },
        "item_found": [items.found_size()],
    }


class Stored:
    """Items as columns."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.sizes = columns.floats("item_sizes")
        self.told: dict[ItemKind, float] = dict(columns["item_told"])
        [self.found] = columns["item_found"]
        self.texts: list[str] = columns["item_text"]

    def texts_of(self, kind: ItemKind) -> list[str]:
        """Of open ones."""
        if kind not in self.told:
            return []
        return list(compress(self.texts, self._columns.ints(f"open_{kind}")))

    @cached_property
    def items(self) -> list[LedgerItem]:
        made: dict[str, Sequence[Any]] = {n: self._columns[f"item_{n}"] for n in _PLAIN}
        texts, quotes = self.texts, self._columns["item_quote"]
        none = [None] * len(texts)
        quotes = [t if q is None else q for t, q in zip(texts, quotes, strict=True)]
        rows = zip(self._columns["item_ref"], quotes, none, strict=True)
        made |= {"text": texts, "more": none, "evidence": list(zip(map(Evidence._make, rows)))}
        return list(map(LedgerItem._make, zip(*[made[name] for name in _MAKE], strict=True)))


class Holdings:
    """``own`` items after those that are ``stored``. Of all: tokens (``sizes``) and what each
    counts on a line of its own (``lines``), where that is known; ``rules`` are the places of
    rules."""

    __slots__ = ("_found", "_stored", "_told", "lines", "own", "rules", "sizes")

    def __init__(self, items: Sequence[LedgerItem] = (), count: Count | None = None) -> None:
        self._stored: Stored | None = None
        self.own = list(items)
        self.rules = [n for n, i in enumerate(self.own) if i.kind == "constraint"]
        self.sizes: array[float] | None = None
        self.lines: array[float] | None = None
        if isinstance(count, CountCache):
            self.sizes = array("d", count.counts([i.text for i in self.own]))
            self.lines = array("d", [count.unit(f"- {i.text}") for i in self.own])
        # Of open items, by kind: their texts, and what they count; of those that may give way, what
        # they take.
        self._told: dict[ItemKind, tuple[list[str], float]] = {}
        self._found = 0.0
        self._sum()

    @classmethod
    def load(cls, columns: Columns) -> Holdings:
        """What ``columns_of`` gave."""
        made = cls()
        made._stored = Stored(columns)
        made.rules = columns["item_rules"]
        made.sizes, made.lines = made._stored.sizes[:], columns.floats("item_lines")
        told, texts_of = made._stored.told, made._stored.texts_of
        made._told = {kind: (texts_of(kind), size) for kind, size in told.items()}
        made._found = made._stored.found
        return made

    def _sum(self) -> None:
        """The sums of all, in their order."""
        self._told, self._found = {}, 0.0
        if self.sizes is not None and self.lines is not None:
            for item, size, line in zip(self.all(), self.sizes, self.lines, strict=True):
                self._add(item, size, line)

    def _add(self, item: LedgerItem, size: float, line: float) -> None:
        if item.status != "open":
            return
        texts, lines = self._told.get(item.kind) or ([], 0.0)
        texts.append(item.text)
        self._told[item.kind] = texts, lines + line
        if gives_way(item):
            self._found += size + LINE

    def copy(self) -> Holdings:
        other = object.__new__(Holdings)
        other._stored, other.own, other.rules = self._stored, self.own[:], self.rules[:]
        other.sizes = self.sizes[:] if self.sizes is not None else None
        other.lines = self.lines[:] if self.lines is not None else None
        other._told = {kind: (texts[:], size) for kind, (texts, size) in self._told.items()}
        other._found = self._found
        return other

    def __len__(self) -> int:
        return len(self.own) + (len(self._stored.texts) if self._stored is not None else 0)

    def all(self) -> list[LedgerItem]:
        """All of them. Nobody changes the list."""
        if self._stored is not None:
            self.own, self._stored = [*self._stored.items, *self.own], None
        return self.own

    def at(self, place: int) -> LedgerItem:
        if self._stored is None:
            return self.own[place]
        first = len(self._stored.texts)
        return self.own[place - first] if place >= first else self._stored.items[place]

    def add(self, item: LedgerItem, count: Count) -> None:
        if item.kind == "constraint":
            self.rules.append(len(self))
        if self.sizes is not None and self.lines is not None:
            if isinstance(count, CountCache):
                size, line = count.count(item.text), count.unit(f"- {item.text}")
                self.sizes.append(size)
                self.lines.append(line)
                self._add(item, size, line)
            else:
                self.sizes = self.lines = None
        self.own.append(item)

    def put(self, place: int, item: LedgerItem) -> None:
        """One in the place of another of the same words."""
        self.all()[place] = item
        self._sum()

    def told(self, kind: ItemKind, hidden: frozenset[str] = frozenset()) -> tuple[list[str], float]:
        """The texts of open items, and what they count on lines of their own; below 0 where that
        is not known."""
        if self.lines is None:
            own = self.all()
            mine = [i.kind == kind and i.status == "open" and i.id not in hidden for i in own]
            return [i.text for i in compress(own, mine)], -1.0
        if not hidden:
            return self._told.get(kind) or ([], 0.0)
        texts, size = list[str](), 0.0
        for item, line in zip(self.all(), self.lines, strict=True):
            if item.kind == kind and item.status == "open" and item.id not in hidden:
                texts.append(item.text)
                size += line
        return texts, size

    def edited(self) -> list[LedgerItem]:
        """Those that a person wrote into."""
        return [i for i in self.own if i.origin == "human_edit"]

    def found_size(self) -> float:
        """Tokens of open decisions and facts that may give way; below 0 where that is not
        known."""
        return self._found if self.sizes is not None else -1.0

    def only(self, items: list[LedgerItem]) -> Holdings:
        """Those of them that are left."""
        made, all_of = Holdings(items), self.all()
        if self.sizes is not None and self.lines is not None:
            kept = {id(i) for i in items}
            stay = [id(i) in kept for i in all_of]
            made.sizes = array("d", compress(self.sizes, stay))
            made.lines = array("d", compress(self.lines, stay))
            made._sum()
        return made

    def remember(self, count: Count) -> None:
        """Let ``count`` know what was counted."""
        if isinstance(count, CountCache) and self.sizes is not None:
            count.keep_all([i.text for i in self.all()], self.sizes.tolist())
