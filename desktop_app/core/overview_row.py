"""One workspace with its figures, as a row of the table over every backend (``overview.py``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .ids import now_us
from .spending import HOUR_US
from .workspaces.docker.engines import Tried
from .workspaces.docker.workspace import DockerWorkspace
from .workspaces.e2b.workspace import E2BWorkspace
from .workspaces.remote.managed import ManagedWorkspace

UP = ("ready", "readonly")


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One workspace. ``state`` and ``params`` are those of ``WorkspaceInfo``. None: not known.

    ``engine`` says where it runs: an engine, a sandbox's template. ``cpu`` is in CPUs and measured,
    ``memory`` and ``disk`` in bytes and measured; ``cpus`` and ``memory_limit`` are its limits, 0
    for none. ``spent`` is what it has cost up to ``spent_us`` (0: it does not run), in US dollars,
    estimated from ``price``, which the person set for an hour.
    ``theirs``: AgentScope made the machine; ``guarded``: and nothing may be changed in it.
    ``volatile``: its files are in memory and go when it stops.
    ``servers_up`` of ``servers`` MCP servers are connected. Times are microseconds since 1970, 0
    for none.
    """

    id: str
    name: str
    kind: str
    state: str
    params: dict[str, Any] = field(default_factory=dict[str, Any], compare=True, hash=False)
    folder: str = ""
    trusted: bool = True
    engine: str = ""
    sessions: int = 0
    running: int = 0  # sessions whose turn is under way
    waiting: int = 0  # sessions that wait for the person
    offloaded: int | None = None
    skills: int | None = None
    servers: int | None = None
    servers_up: int = 0
    cpu: float | None = None
    cpus: float = 0.0
    memory: int | None = None
    memory_limit: int = 0
    disk: int | None = None
    disk_limit: int = 0
    started_us: int = 0
    ends_us: int = 0
    pauses: bool = False  # when the lease is over; else its files are gone then
    price: float = 0.0
    spent: float = 0.0
    spent_us: int = 0
    used_us: int = 0
    theirs: bool = False
    guarded: bool = False
    volatile: bool = False

    @property
    def up(self) -> bool:
        return self.state in UP

    def cost(self, at_us: int) -> float | None:
        """Estimated US dollars in all, up to ``at_us``; None where nothing says a price."""
        if not self.price and not self.spent:
            return None
        running = max(0, at_us - self.spent_us) if self.spent_us and self.up else 0
        return self.spent + self.price * running / HOUR_US


def engine_name(one: Tried) -> str:
    """``Docker 29.1``, ``Docker 20.10 · rootless``, ``Podman 5.2``: what a list has room for."""
    product = one.product.split()[0] if one.product else "Docker"
    product = "Docker" if product == "Engine" else product
    short = f"{product} {'.'.join(one.version.split('.')[:2])}".strip()
    return f"{short} · rootless" if one.endpoint.how == "rootless" else short


def with_machine(row: OverviewRow, workspace: ManagedWorkspace) -> OverviewRow:
    """``row`` with what is known of the workspace's machine, without asking for it."""
    machine = workspace.machine
    price, engine, pauses = 0.0, machine.engine, False
    if isinstance(workspace, E2BWorkspace):  # one control plane: the template says more
        price, engine = workspace.spec.price, machine.image or workspace.spec.template
        pauses = workspace.spec.auto_pause and not workspace.theirs
    running = machine.status == "running"
    cpus, memory = machine.cpus, machine.memory
    if isinstance(workspace, DockerWorkspace) and not workspace.theirs:  # before there is one
        cpus, memory = cpus or workspace.spec.cpus, memory or workspace.spec.memory << 20
    return replace(
        row,
        theirs=bool(workspace.theirs),
        guarded=workspace.guarded,
        volatile=machine.volatile,
        engine=engine or row.engine,
        cpus=cpus,
        memory_limit=memory,
        started_us=machine.started_us if running else 0,
        ends_us=machine.ends_us if running else 0,
        pauses=pauses,
        price=price,
    )


def spent(rows: Iterable[OverviewRow], at_us: int | None = None) -> float:
    """Estimated US dollars of all of them."""
    at = now_us() if at_us is None else at_us
    return sum(cost for row in rows if (cost := row.cost(at)) is not None)
