"""Which rows of the table belong together, and what is written above them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from desktop_app.core.overview_row import OverviewRow
from desktop_app.ui.i18n import mark, tr

from .columns import KIND_ICONS, kind_name, runs_on

GROUPS: dict[str, tuple[str, ...]] = {
    "running": ("ready", "readonly", "starting"),
    "stopped": ("stopped", "paused"),
    "trouble": ("missing", "unreadable", "error"),
}
STATE_WORDS = {
    "running": mark("Open or running"),
    "stopped": mark("Stopped or paused"),
    "trouble": mark("With a problem"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """A heading above ``count`` rows that are alike in ``by``; the words are made when asked for,
    as the language may change."""

    by: str
    key: str
    count: int

    @property
    def id(self) -> str:
        return f"group\n{self.by}\n{self.key}"  # no workspace's id has a line break

    def title(self) -> str:
        if self.by == "kind":
            return kind_name(self.key)
        if self.by == "state":
            return tr(STATE_WORDS[self.key])
        return self.key or tr("This computer")


def group_key(by: str, row: OverviewRow) -> str:
    if by == "kind":
        return row.kind
    if by == "state":
        return next((name for name, states in GROUPS.items() if row.state in states), "trouble")
    return "" if row.kind == "local" else runs_on(row)


def by_group(by: str, rows: list[OverviewRow]) -> list[OverviewRow | Group]:
    """Headings, each with its rows in the order in which they came; only the rows for no ``by``."""
    if not by:
        return list(rows)
    found: dict[str, list[OverviewRow]] = {}
    for row in rows:
        found.setdefault(group_key(by, row), []).append(row)
    shown: list[OverviewRow | Group] = []
    for key in _in_order(by, found):
        shown += [Group(by, key, len(found[key])), *found[key]]
    return shown


def _in_order(by: str, keys: Iterable[str]) -> list[str]:
    """Kinds and states as they stand in their filters; engines by name, this computer first."""
    order = list(KIND_ICONS) if by == "kind" else list(GROUPS) if by == "state" else []
    return sorted(keys, key=lambda key: (order.index(key) if key in order else len(order), key))
