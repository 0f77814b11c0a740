"""What is known of a container or a sandbox, and told of bringing one up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["absent", "stopped", "paused", "running", "failed"]
Stage = Literal["engine", "image", "create", "start", "connect"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What is known of a workspace's machine. ``absent``: not made yet, or removed. ``failed``:
    it cannot be asked; ``code`` and ``params`` are those of the error. ``engine`` says where it
    runs. Times are microseconds since 1970, 0 for unknown; memory is in bytes, 0 for no limit."""

    status: Status
    engine: str = ""
    name: str = ""
    image: str = ""
    started_us: int = 0
    ends_us: int = 0
    cpus: float = 0.0
    memory: int = 0
    exit_code: int | None = None
    out_of_memory: bool = False
    volatile: bool = False  # its working directory is in memory: the files go when it stops
    code: str = ""
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Measured by the engine. ``cpu`` is in CPUs (1.5: one and a half of them are busy); memory,
    disk and network in bytes, None where the engine does not say."""

    at_us: int
    cpu: float
    memory: int
    memory_limit: int
    processes: int | None = None
    disk: int | None = None
    received: int | None = None
    sent: int | None = None
    disk_limit: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where bringing up is. ``text`` is a line of the engine's own output; ``step`` of ``steps``
    when it counts (0 of 0: it does not)."""

    stage: Stage
    text: str = ""
    step: int = 0
    steps: int = 0
