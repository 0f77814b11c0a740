"""The context as a tree: the window, its categories, what each holds. No Qt, no words.

Every level adds up to the one above: what a breakdown does not list one by one (it lists the
biggest things only) is one node with what is too small to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    for item in (*breakdown.items, *breakdown.rest):
        if item.tokens > 0 and item.category in by_category:
            by_category[item.category].append(item)
    made = [_category(name, found) for name, found in by_category.items() if found]
    return _branch("window", "", made)


def _category(name: str, items: list[Item]) -> Node:
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    if name != "mcp":
        return _branch(name, name, _leaves(name, items))
    made = [_branch(f"group:{key}", name, _leaves(name, found)) for key, found in groups.items()]
    return _branch(name, name, made)


def _leaves(category: str, items: Sequence[Item]) -> list[Node]:
    """The biggest things one by one, what is left as one."""
    single = [i for i in items if i.count == 1]
    keep = nlargest(SHOWN, single, key=lambda i: i.tokens)
    seen: dict[str, int] = {}
    made: list[Node] = []
    for item in keep:
        nth = seen[item.ref] = seen.get(item.ref, -1) + 1
        key = f"{item.ref}#{nth}" if nth else item.ref
        made.append(Node(key, category, item.tokens, 0 if item.measured else item.tokens, item))
    kept = {id(i) for i in keep}
    small = [i for i in items if id(i) not in kept]
    if small:
        tokens = sum(i.tokens for i in small)
        unsure = sum(i.tokens for i in small if not i.measured)
        made.append(Node(REST, category, tokens, unsure, count=sum(i.count for i in small)))
    return made


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
        found.append(Tile("reserve", "reserve", "", breakdown.limits.reserve))
        found.append(Tile("free", "free", "", breakdown.free))
    return found


def _tile(node: Node) -> Tile:
    name = node.item.label if node.item is not None else ""
    return Tile(node.key, node.category, name, node.tokens, node.estimated, node.count)
