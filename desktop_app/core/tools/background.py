"""Commands that run on while the agent does something else: what is known of them, and who keeps
them.

A command belongs to its session: it outlives the turn that started it and ends with the session.
Everything that it prints is in one file of the session's folder; memory holds a short tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Why = Literal["exit", "timeout", "agent", "person", "closed", "lost", "flood", "failed"]
"""How a command ended: by itself, at its time limit, stopped by the agent or by the person, with
its session, with the program (its outcome is unknown), at the most that one may print, or its
workspace failed it (it could not be started, or was lost on the way)."""


@dataclass(frozen=True, slots=True)
class Ending:
    """``code`` is negative for a signal and None where nobody saw it; ``bytes`` is all output.
    ``error`` is the code of what failed: the command itself, or the keeping of its output."""

    why: Why
    code: int | None = None
    seconds: float = 0.0
    bytes: int = 0
    error: str = ""


@dataclass(slots=True)
class Command:
    """One command of a session, as its journal tells it.

    ``path`` is the file of its output as the agent sees it (empty where none could be made), ``at``
    the same for the backend. ``mark`` is the name under which the backend finds its processes after
    a crash. ``read_to`` counts the bytes of output that the agent has seen, ``told`` whether it
    knows of the end.
    """

    id: str
    op_id: str
    command: str
    started_us: int
    mark: str = ""
    path: str = ""
    at: str = ""
    read_to: int = 0
    told: bool = False
    ended: Ending | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A command to be started. ``argvs`` are tried in order until a program is there; ``timeout``
    in seconds, None for no limit."""

    op_id: str
    command: str
    argvs: tuple[list[str], ...]
    env: dict[str, str]
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Printed:
    """Output from byte ``start`` to byte ``end``; ``skipped`` bytes before it are left out."""

    data: bytes
    start: int
    end: int
    skipped: int = 0


class Commands(Protocol):
    """The background commands of one session."""

    async def start(self, wanted: Wanted) -> Command:
        """Start one; returns when it runs, or ended at once. ToolFailure ``shell.too_many`` and
        what ``Backend.run`` raises."""
        ...

    def get(self, command_id: str) -> Command | None: ...

    def all(self) -> Sequence[Command]:
        """Every command of the session, oldest first."""
        ...

    async def read(self, command: Command, *, limit: int) -> Printed:
        """What it printed since the agent read last: the newest ``limit`` bytes of it."""
        ...

    async def wait(self, command: Command, seconds: float, until: str = "") -> None:
        """Until it ends, at most ``seconds``; or until the text ``until`` is among what the agent
        has not read."""
        ...

    async def stop(self, command_id: str, by: Literal["agent", "person"]) -> None:
        """End it with everything that it started; returns when it is gone."""
        ...


def tell(command: Command) -> str:
    """State or end of a command in a sentence for the model."""
    ended = command.ended
    if ended is None:
        return "It is still running."
    after = f"after {ended.seconds:.1f} s"
    match ended.why:
        case "exit" if ended.code is not None and ended.code < 0:
            text = f"It was killed by signal {-ended.code} {after}."
        case "exit":
            text = f"It ended with exit code {ended.code} {after}."
        case "timeout":
            text = f"It was killed at its time limit, {after}."
        case "agent":
            text = f"It was stopped {after}; what it had done by then stays done."
        case "person":
            text = f"The person stopped it {after}; what it had done by then stays done."
        case "closed":
            text = f"It was ended together with the session, {after}."
        case "flood":
            text = f"It was killed {after}: it printed more than a command may."
        case "failed":
            text = f"The workspace failed it {after} ({ended.error})."
        case "lost":
            text = (
                "The program ended while it ran, and so did it: its outcome is unknown. Check "
                "before you repeat it."
            )
    if ended.error and ended.why != "failed":
        text += f" Not all of its output could be kept ({ended.error})."
    return text


def notice(commands: Sequence[Command]) -> str:
    """What the model is told of commands that ended while it looked elsewhere, or that it could not
    know to be running."""
    lines: list[str] = []
    for command in commands:
        where = f" All of its output is in {command.path}." if command.path else ""
        first = command.command.strip().split("\n", 1)[0]
        named = first if len(first) <= 120 else f"{first[:119]}…"
        lines.append(f"Background command {command.id} ({named}): {tell(command)}{where}")
    lines.append("BashOutput gives what you have not read of it.")
    return "<system-reminder>" + "\n".join(lines) + "</system-reminder>"
