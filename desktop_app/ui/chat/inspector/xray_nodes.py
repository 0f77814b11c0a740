"""The context as a tree: the window, its categories, what each holds. No Qt, no words.

Categories always add up to what is used; what a breakdown does not list one by one (it lists the
biggest things only) is the rest of its category.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from desktop_app.core.context.types import CATEGORIES, Breakdown, Item
from desktop_app.ui.widgets.tiles import REST, Tile

SHOWN = 60  # of a category or a group, one by one; the rest is one tile


@dataclass(frozen=True, slots=True)
class Node:
    """Something that fills the window. ``estimated`` of its tokens are not confirmed; ``item`` is
    what it is when it is one thing; ``count`` how many things it stands for."""

    key: str
    category: str
    tokens: int
    estimated: int
    item: Item | None = None
    children: tuple[Node, ...] = ()
    count: int = 1

    def find(self, path: Sequence[str]) -> Node | None:
        """The node at the end of a path of keys."""
        node: Node | None = self
        for key in path:
            node = next((c for c in node.children if c.key == key), None) if node else None
        return node

    def walk(self) -> Iterator[Node]:
        """Every node below this one, the biggest branch first."""
        for child in self.children:
            yield child
            yield from child.walk()


def tree(breakdown: Breakdown) -> Node:
    """The used part of the window."""
    by_category: dict[str, list[Item]] = {name: [] for name in CATEGORIES}
    for item in breakdown.items:
        by_category[item.category].append(item)
    listed = sum(i.tokens for i in breakdown.items if not i.measured)
    open_rest = max(0, breakdown.total - breakdown.measured - listed)
    unlisted = {
        name: max(0, n - sum(i.tokens for i in by_category[name]))
        for name, n in breakdown.parts.items()
    }
    spread = min(1.0, open_rest / max(1, sum(unlisted.values())))
    made = [
        _category(name, breakdown.parts.get(name, 0), by_category[name], unlisted[name], spread)
        for name in CATEGORIES
        if breakdown.parts.get(name, 0) > 0
    ]
    return _branch("window", "", made)


def _category(name: str, tokens: int, items: list[Item], rest: int, spread: float) -> Node:
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(group_of(item), []).append(item)
    if len(groups) == 1 or name != "mcp":
        leaves = _leaves(name, items)
    else:
        leaves = [
            _branch(f"group:{key}", name, _leaves(name, found)) for key, found in groups.items()
        ]
    if rest > 0:
        leaves = _with_rest(name, leaves, rest, round(rest * spread))
    node = _branch(name, name, leaves)
    return replace(node, tokens=tokens, estimated=min(tokens, node.estimated))


def group_of(item: Item) -> str:
    """The MCP server of a tool; empty for anything else."""
    return item.label.partition(": ")[0] if item.category == "mcp" else ""


def _leaves(category: str, items: Sequence[Item]) -> list[Node]:
    """The biggest things one by one, what is left as one."""
    keep = nlargest(SHOWN, items, key=lambda i: i.tokens) if len(items) > SHOWN else items
    seen: dict[str, int] = {}
    made: list[Node] = []
    for item in sorted(keep, key=lambda i: -i.tokens):
        nth = seen[item.ref] = seen.get(item.ref, -1) + 1
        key = f"{item.ref}#{nth}" if nth else item.ref
        made.append(Node(key, category, item.tokens, 0 if item.measured else item.tokens, item))
    if len(items) > len(made):
        kept = {id(i) for i in keep}
        small = [i for i in items if id(i) not in kept]
        tokens = sum(i.tokens for i in small)
        open_tokens = sum(i.tokens for i in small if not i.measured)
        made.append(Node(REST, category, tokens, open_tokens, count=len(small)))
    return made


def _with_rest(category: str, leaves: list[Node], rest: int, estimated: int) -> list[Node]:
    for place, node in enumerate(leaves):
        if node.key == REST:
            both = replace(node, tokens=node.tokens + rest, estimated=node.estimated + estimated)
            return [*leaves[:place], both, *leaves[place + 1 :]]
    return [*leaves, Node(REST, category, rest, estimated, count=0)]


def _branch(key: str, category: str, children: Sequence[Node]) -> Node:
    ordered = tuple(sorted(children, key=lambda n: -n.tokens))
    return Node(
        key,
        category,
        sum(n.tokens for n in ordered),
        sum(n.estimated for n in ordered),
        children=ordered,
        count=sum(n.count for n in ordered),
    )


def tiles(root: Node, breakdown: Breakdown, *, whole: bool) -> list[Tile]:
    """The tiles of a level: of the window its categories' things, of a category its own. ``whole``
    adds what is kept for the answer and what is free."""
    found: list[Tile] = []
    for child in root.children:
        inner = child.children if not root.category and child.children else (child,)
        found += [_tile(n) for n in inner]
    if whole and not root.category:
        limits = breakdown.limits
        free = max(0, limits.window - breakdown.total - limits.reserve)
        found.append(Tile("reserve", "reserve", "", limits.reserve))
        found.append(Tile("free", "free", "", free))
    return found


def _tile(node: Node) -> Tile:
    name = node.item.label if node.item is not None else ""
    return Tile(node.key, node.category, name, node.tokens, node.estimated, node.count)
