"""Which decisions and facts a ledger keeps when not all of them fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .entities import entities
from .types import LedgerItem

Count = Callable[[str], float]
LINE = 2  # tokens: what an item's line costs beside its text
DECISIONS = 0.6  # of the room, before facts get theirs


def gives_way(item: LedgerItem) -> bool:
    """Whether an item may be left out: what the person wrote or pinned never is."""
    return item.kind != "constraint" and item.origin != "human_edit" and not item.pinned


def size_of(item: LedgerItem, count: Count) -> float:
    """Tokens of an item in the prompt; closed ones do not stand there."""
    return count(item.text) + LINE if item.status == "open" else 0.0


def said_already(text: str, items: Sequence[LedgerItem]) -> bool:
    """Whether what a model notes is in the agent's own words already, in a longer sentence perhaps:
    all its exact words (two at least) stand together in one of them."""
    named = set(entities(text))
    return len(named) > 1 and any(_own(i) and named <= set(entities(i.text)) for i in items)


class Told:
    """The same of many texts and of all items, whoever wrote them: ``text in told``."""

    def __init__(self, items: Iterable[LedgerItem]) -> None:
        self._by: dict[str, list[set[str]]] = {}
        for item in items:
            named = set(entities(item.text))
            for word in named:
                self._by.setdefault(word, []).append(named)

    def __contains__(self, text: object) -> bool:
        named = set(entities(str(text)))
        if len(named) < 2:
            return False
        return any(named <= other for other in self._by.get(min(named), ()))


def newest_that_fit(
    items: Sequence[LedgerItem], room: float, count: Count
) -> tuple[list[LedgerItem], list[LedgerItem]]:
    """``items`` without those that do not fit ``room`` tokens, and the open ones among these. The
    agent's own come before a model's, of each decisions before facts, the newest first."""
    stay = {id(i) for i in items if not gives_way(i)}
    left = room
    for own in (True, False):
        wanted = [i for i in items if id(i) not in stay and gives_way(i) and _own(i) == own]
        decisions = [i for i in wanted if i.kind == "decision"]
        facts = [i for i in wanted if i.kind != "decision"]
        first, over = _newest(decisions, DECISIONS * left, count)
        second, over = _newest(facts, over + (1 - DECISIONS) * left, count)
        third, left = _newest(decisions[: len(decisions) - len(first)], over, count)
        stay |= {id(i) for i in (*first, *second, *third)}
    gone = [i for i in items if id(i) not in stay and i.status == "open"]
    return [i for i in items if id(i) in stay], gone


def _own(item: LedgerItem) -> bool:
    return item.origin != "summariser"


def _newest(
    items: Sequence[LedgerItem], budget: float, count: Count
) -> tuple[list[LedgerItem], float]:
    """The newest of ``items`` that fit, in order, and what is left of the budget."""
    kept: list[LedgerItem] = []
    for item in reversed(items):
        size = size_of(item, count)
        if size > budget:
            break
        budget -= size
        kept.append(item)
    return kept[::-1], budget
