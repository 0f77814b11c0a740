"""Rescue copies that are made by themselves, before a sandbox ends with everything in it.

A sandbox that is paused at the end of its lease keeps its disk. One that is ended does not, nor may
one whose lease can no longer be extended: what the agent keeps in it is copied to this computer
shortly before. The copy is no use of the sandbox, which would extend its lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from .catalog import RescueTold
from .errors import SlipwayError, WorkspaceError
from .ids import now_us
from .shelf import Shelf
from .tasks import Tasks
from .workspaces.e2b.workspace import E2BWorkspace
from .workspaces.remote.backend import unused
from .workspaces.remote.managed import looking
from .workspaces.remote.tree_tar import Moved

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
LEAD_SECONDS = 300.0  # before the end, at most a third of the lease
TRIES = 3  # for one lease


class Rescuer:
    """Watches the sandboxes of opened workspaces. ``rescue(workspace_id)`` makes a copy. What came
    of it is told to the listeners of ``shelf`` (``RescueTold``)."""

    def __init__(
        self, shelf: Shelf, rescue: Callable[[str], Awaitable[tuple[Path, Moved]]]
    ) -> None:
        self._shelf = shelf
        self._rescue = rescue
        self._tries: dict[str, tuple[tuple[str, int], int]] = {}  # by workspace: lease, tries
        self._tasks = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))
        self._going: set[str] = set()

    def start(self) -> None:
        """Watch until ``close``."""
        self._tasks.replace(self._watch(), name="watch leases")

    async def close(self) -> None:
        await self._tasks.close()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look()

    def look(self) -> None:
        """Begin what is due now; asks nobody for that."""
        for workspace_id, workspace in self._shelf.manager.opened().items():
            if not isinstance(workspace, E2BWorkspace) or not self._due(workspace):
                continue
            if workspace_id not in self._going:
                self._going.add(workspace_id)
                work = self._make(workspace_id, workspace)
                self._tasks.start(work, name=f"rescue {workspace_id}")

    def _due(self, workspace: E2BWorkspace) -> bool:
        machine, spec = workspace.machine, workspace.spec
        if not spec.rescue or machine.status != "running" or not machine.ends_us:
            return False
        lease, tries = self._tries.get(workspace.info.id, (("", 0), 0))
        if not workspace.ends_for_good or (lease == _lease(workspace) and tries >= TRIES):
            return False
        left = (machine.ends_us - now_us()) / 1e6
        return 0 < left <= min(LEAD_SECONDS, spec.timeout / 3)

    async def _make(self, workspace_id: str, workspace: E2BWorkspace) -> None:
        try:
            with unused(), looking():
                await workspace.changed()  # the lease may have been extended by somebody else
                if self._due(workspace):
                    await self._copy(workspace_id, workspace)
        finally:
            self._going.discard(workspace_id)

    async def _copy(self, workspace_id: str, workspace: E2BWorkspace) -> None:
        lease, name = _lease(workspace), workspace.info.name
        known, tries = self._tries.get(workspace_id, (lease, 0))
        tries = tries + 1 if known == lease else 1
        self._tries[workspace_id] = (lease, tries)
        try:
            folder, moved = await self._rescue(workspace_id)
        except SlipwayError as error:
            log.warning("a rescue copy of %s failed: %s", workspace_id, error)
            if error.code == "workspace.nothing_kept":
                self._tries[workspace_id] = (lease, TRIES)
            elif tries == TRIES:
                reason = str(error.params.get("detail") or error.code)
                told = WorkspaceError("workspace.rescue_failed", name=name, reason=reason)
                self._shelf.tell(RescueTold(workspace_id, name, error=told))
            return
        self._tries[workspace_id] = (lease, TRIES)
        self._shelf.tell(RescueTold(workspace_id, name, str(folder), moved.files, moved.bytes))


def _lease(workspace: E2BWorkspace) -> tuple[str, int]:
    """Which sandbox and which end: seconds, for clocks differ by parts of one."""
    return workspace.machine.name, workspace.machine.ends_us // 1_000_000
