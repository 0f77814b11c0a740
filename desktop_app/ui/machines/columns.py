"""The columns of the table: their names, what a cell says, and in what order rows stand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desktop_app.core.overview_row import OverviewRow
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import mark, tr, trn
from desktop_app.ui.widgets import figures
from desktop_app.ui.widgets.badge import StateName

KIND_ICONS = {"local": "folder", "docker": "container", "e2b": "cloud"}
NONE = "–"
SOON_SECONDS = 900  # a lease with less left is shown in the colour of warnings

STATES: dict[str, tuple[StateName, str]] = {
    "ready": ("running", mark("Running")),
    "readonly": ("warning", mark("Read only")),
    "starting": ("busy", mark("Starting")),
    "stopped": ("idle", mark("Stopped")),
    "paused": ("paused", mark("Paused")),
    "missing": ("failed", mark("Not found")),
    "unreadable": ("failed", mark("No access")),
    "error": ("failed", mark("Error")),
}
# What a machine's error says in one or two words; others show the error's title.
UNREACHABLE = ("docker.none", "docker.not_running", "docker.silent", "docker.colima")


def kind_name(kind: str) -> str:
    return {"local": tr("Local"), "docker": "Docker", "e2b": "E2B"}.get(kind, kind)


def state_of(row: OverviewRow) -> tuple[StateName, str]:
    """The glyph and the word of a row's state."""
    if row.state == "ready" and row.kind == "local":
        if not row.trusted:
            return "warning", tr("Restricted")
        return "running", tr("Open")
    code = str(row.params.get("code", ""))
    if row.state == "error" and code:
        if code in UNREACHABLE:
            return "failed", tr("Engine not reachable")
        if code == "e2b.no_key":
            return "warning", tr("Key missing")
        return "failed", describe(code, row.params).title
    glyph, word = STATES.get(row.state, ("warning", row.state))
    return glyph, tr(word)


def runs_on(row: OverviewRow) -> str:
    if row.kind == "local":
        return tr("This computer")
    return row.engine or NONE


def servers(row: OverviewRow) -> str:
    if not row.servers:
        return NONE
    return tr("{up} of {all}", up=row.servers_up, all=row.servers)


def cpu_share(row: OverviewRow) -> float | None:
    """Of the CPUs that it may use, 0 to 1."""
    if row.cpu is None:
        return None
    return min(1.0, row.cpu / (row.cpus or 1.0))


def seconds_left(row: OverviewRow, now: float | None = None) -> float | None:
    if not row.ends_us:
        return None
    return max(0.0, row.ends_us / 1e6 - (time.time() if now is None else now))


def time_left(row: OverviewRow) -> str:
    left = seconds_left(row)
    return NONE if left is None else figures.duration(left)


def cost(row: OverviewRow) -> str:
    """Estimated, as the header's tip says."""
    amount = row.cost(int(time.time() * 1e6))
    if amount is None:
        return NONE
    return f"~${amount:.2f}" if amount >= 0.005 else "<$0.01"


def used(row: OverviewRow) -> str:
    if not row.used_us:
        return NONE
    return figures.ago(max(0.0, time.time() - row.used_us / 1e6))


def _size(n: int | None) -> str:
    return NONE if n is None else figures.size(n)


def _count(n: int | None) -> str:
    return NONE if n is None else figures.count(n)


def _known(n: float | None) -> tuple[bool, float]:
    """Those that are not known stand last when the largest stand first."""
    return (n is not None, n or 0)


@dataclass(frozen=True, slots=True)
class Column:
    """``title`` and ``tip`` are marked texts; ``width`` is unscaled; ``left`` says where text
    stands."""

    id: str
    title: str
    width: int
    text: Callable[[OverviewRow], str]
    key: Callable[[OverviewRow], Any]
    left: bool = False
    tip: str = ""


COLUMNS: tuple[Column, ...] = (
    Column("name", mark("Name"), 186, lambda r: r.name, lambda r: r.name.casefold(), True),
    Column("kind", mark("Kind"), 68, lambda r: kind_name(r.kind), lambda r: r.kind, True),
    Column("state", mark("State"), 168, lambda r: state_of(r)[1], lambda r: state_of(r), True),
    Column("engine", mark("Runs on"), 158, runs_on, lambda r: r.engine, True),
    Column(
        "sessions",
        mark("Sessions"),
        74,
        lambda r: _count(r.sessions),
        lambda r: r.sessions,
    ),
    Column(
        "offloaded",
        mark("Offloaded"),
        82,
        lambda r: _size(r.offloaded),
        lambda r: _known(r.offloaded),
        tip=mark("What left the context and is kept in the workspace"),
    ),
    Column("skills", mark("Skills"), 56, lambda r: _count(r.skills), lambda r: _known(r.skills)),
    Column(
        "mcp",
        mark("MCP"),
        66,
        servers,
        lambda r: _known(r.servers),
        True,
        mark("Connected servers of those that are declared"),
    ),
    Column(
        "cpu",
        mark("CPU"),
        98,
        lambda r: NONE if (share := cpu_share(r)) is None else figures.percent(share),
        lambda r: _known(cpu_share(r)),
        True,
        mark("Measured by the engine, of the processors that it may use"),
    ),
    Column("memory", mark("Memory"), 80, lambda r: _size(r.memory), lambda r: _known(r.memory)),
    Column(
        "disk",
        mark("Disk"),
        76,
        lambda r: _size(r.disk),
        lambda r: _known(r.disk),
        tip=mark("Of a container: what was written in it, without its image and its folder"),
    ),
    Column(
        "left",
        mark("Time left"),
        80,
        time_left,
        lambda r: r.ends_us or 1 << 62,
        tip=mark("Until the sandbox's lease is over; one in use is extended"),
    ),
    Column(
        "cost",
        mark("Cost"),
        72,
        cost,
        lambda r: _known(r.spent if r.spent or r.price else None),
        tip=mark("In all since it was made; estimated from a price you set"),
    ),
    Column("used", mark("Last used"), 76, used, lambda r: r.used_us),
)
BY_ID = {column.id: place for place, column in enumerate(COLUMNS)}


def describe_row(row: OverviewRow) -> str:
    """A row for a screen reader and for its tip."""
    parts = [row.name, kind_name(row.kind), state_of(row)[1]]
    parts.append(trn("{n} session", "{n} sessions", row.sessions))
    return ", ".join(parts)
