"""What happened to each workspace lately: its machine came up or went, its context was compacted, a
rescue copy was made.

Kept beside the log (``state/``): it may be lost, nothing depends on it. Codes and figures; the
window has the words.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .ids import now_us
from .paths import ensure
from .tasks import Tasks

log = logging.getLogger(__name__)

KEPT = 20  # of each workspace
LINES = 2000  # of the file, after which it is written anew with what is kept

What = Literal[
    "started",
    "resumed",
    "paused",
    "stopped",
    "missing",
    "unreadable",
    "back",
    "moved",
    "failed",
    "rescued",
    "extended",
    "compacted",
]
# A workspace's state as it settles, and what it is called when it comes to that.
_SETTLED: dict[str, What] = {
    "paused": "paused",
    "stopped": "stopped",
    "missing": "missing",
    "unreadable": "unreadable",
    "error": "failed",
}
_CAME: dict[str, What] = {"paused": "resumed", "stopped": "started"}
_UP = ("ready", "readonly")


@dataclass(frozen=True, slots=True)
class Happening:
    """``what`` with ``params``: of ``paused`` and ``stopped`` ``elsewhere`` (true: not by this
    program); of ``failed`` ``code`` and its own; of ``rescued`` ``files`` and ``bytes``; of
    ``extended`` ``ends_us``; of ``compacted`` ``before`` and ``after`` in tokens; of ``moved``
    ``folder``, where it is now."""

    at_us: int
    what: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])


class Happenings:
    """In ``path``, a line each. ``load`` first; ``listen`` hears the ids of workspaces."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, deque[Happening]] = {}
        self._states: dict[str, str] = {}
        self._waiting: list[str] = []
        self._lines = 0
        self._listeners: list[Callable[[str], None]] = []
        self._tasks = Tasks(lambda name, error: log.warning("%s: %r", name, error))

    async def load(self) -> None:
        """Read what was kept; a line that is none is passed over."""
        for workspace_id, one in await asyncio.to_thread(_read, self._path):
            self._of(workspace_id).append(one)
            self._lines += 1

    def _of(self, workspace_id: str) -> deque[Happening]:
        return self._kept.setdefault(workspace_id, deque(maxlen=KEPT))

    def of(self, workspace_id: str) -> list[Happening]:
        """The newest first."""
        return list(reversed(self._kept.get(workspace_id, ())))

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Hear of a workspace to which something happened; returns the way to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def add(self, workspace_id: str, what: What, **params: Any) -> None:
        """Something happened now."""
        one = Happening(now_us(), what, params)
        self._of(workspace_id).append(one)
        self._waiting.append(_line(workspace_id, one))
        self._tasks.start(self._write(), name="keep what happened")
        for listener in list(self._listeners):
            listener(workspace_id)

    def saw(
        self, workspace_id: str, state: str, params: dict[str, Any], *, elsewhere: bool = False
    ) -> None:
        """The state that a workspace has now. The first that is seen of one is no event, and
        ``starting`` is on the way to another."""
        if state == "starting":
            return
        former = self._states.get(workspace_id)
        self._states[workspace_id] = state
        if former is None or former == state or (former in _UP and state in _UP):
            return
        if state in _UP:
            self.add(workspace_id, _CAME.get(former, "back"))
        elif state in ("paused", "stopped"):
            if former in (*_UP, "paused", "stopped"):  # else its engine answers again, no more
                self.add(workspace_id, _SETTLED[state], elsewhere=elsewhere)
        elif state in _SETTLED:
            self.add(workspace_id, _SETTLED[state], code=str(params.get("code", "")))

    def forget(self, workspace_id: str) -> None:
        """Its state, so that the next one that is seen is no event."""
        self._states.pop(workspace_id, None)

    async def _write(self) -> None:
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        self._lines += len(lines)
        anew = self._lines > LINES
        if anew:
            kept = [(n, one) for n, items in self._kept.items() for one in items]
            lines = [_line(n, one) for n, one in sorted(kept, key=lambda pair: pair[1].at_us)]
            self._lines = len(lines)
        await asyncio.to_thread(_append, self._path, lines, anew)

    async def close(self) -> None:
        await self._tasks.close()
        await self._write()


def _line(workspace_id: str, one: Happening) -> str:
    kept = {"id": workspace_id, "at_us": one.at_us, "what": one.what, "params": one.params}
    return json.dumps(kept, ensure_ascii=False, default=str)


def _read(path: Path) -> list[tuple[str, Happening]]:
    found: list[tuple[str, Happening]] = []
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return found
    for line in text.splitlines()[-LINES:]:
        try:
            kept = json.loads(line)
            one = Happening(int(kept["at_us"]), str(kept["what"]), dict(kept["params"]))
            found.append((str(kept["id"]), one))
        except (ValueError, TypeError, KeyError):
            continue
    return found


def _append(path: Path, lines: list[str], anew: bool) -> None:
    ensure(path.parent)
    text = "".join(f"{line}\n" for line in lines)
    if anew:
        part = path.with_name(f"{path.name}.part")
        part.write_text(text, "utf-8")
        part.replace(path)
        return
    with path.open("a", encoding="utf-8") as file:
        file.write(text)
