"""Making a workspace on a machine: look, make, show how far it is, take back."""

from __future__ import annotations

import asyncio
import logging
from typing import Literal

from PySide6.QtCore import QObject, Signal

from desktop_app.core.doctor import Doctor, Finding
from desktop_app.core.errors import SlipwayError
from desktop_app.core.service import Slipway
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.remote.managed import Progress
from desktop_app.ui.bridge import Coalescer

Kind = Literal["folder", "docker", "e2b"]
_log = logging.getLogger(__name__)


class Making(QObject):
    """What the dialog for a new workspace does, without a widget.

    A workspace whose machine did not come up, or was cancelled, stays known here so that another
    try changes it instead of making a second one; ``discard`` takes it out of the list again.
    """

    found = Signal(str, object)  # Kind, list[Finding]
    progressed = Signal(object)  # list[Progress]
    made = Signal(str)  # workspace id
    stopped = Signal()  # cancelled
    failed = Signal(object)  # SlipwayError

    def __init__(self, service: Slipway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self.doctor = Doctor(service.places, service.paths.data)
        self.workspace_id = ""
        self._tasks = Tasks(self._task_failed)
        self._steps: Coalescer[Progress] = Coalescer(self, self.progressed.emit, 50)
        self._making: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._making is not None and not self._making.done()

    def look(self, kind: Kind, key: str = "") -> None:
        """Have the doctor look at what ``kind`` needs."""
        self._tasks.replace(self._look(kind, key), name="look")

    async def _look(self, kind: Kind, key: str) -> None:
        findings: list[Finding]
        match kind:
            case "docker":
                findings = await self.doctor.docker()
            case "e2b":
                findings = await self.doctor.e2b(key)
            case _:
                findings = await self.doctor.folder()
        self.found.emit(kind, findings)

    def make(self, name: str, spec: DockerSpec | E2BSpec, key: str = "") -> None:
        """Make the workspace and bring its machine up."""
        if not self.busy:
            self._making = self._tasks.start(self._make(name, spec, key), name="make a workspace")

    async def _make(self, name: str, spec: DockerSpec | E2BSpec, key: str) -> None:
        try:
            if key:
                await self.service.places.keep_key(key)
            await self._row(name, spec)
            workspace = await self.service.machines.of(self.workspace_id)
            assert workspace is not None
            forget = workspace.watch_progress(self._steps.push)
            try:
                await self.service.machines.do(self.workspace_id, "start")
            finally:
                forget()
                self._steps.flush()
        except asyncio.CancelledError:
            self.stopped.emit()
            raise
        except SlipwayError as error:
            self.failed.emit(error)
        else:
            made, self.workspace_id = self.workspace_id, ""
            self.made.emit(made)

    async def _row(self, name: str, spec: DockerSpec | E2BSpec) -> None:
        """The workspace in the catalogue: a new one, or the one of the try before."""
        machines = self.service.machines
        if self.workspace_id:
            old = await machines.of(self.workspace_id)
            kind = "docker" if isinstance(spec, DockerSpec) else "e2b"
            if old is not None and old.info.backend == kind:
                await self.service.rename_workspace(self.workspace_id, name)
                await machines.change(self.workspace_id, spec)
                return
            await self._discard()
        self.workspace_id = (await machines.create(name, spec)).id

    def cancel(self) -> None:
        """End what is under way; ``stopped`` follows."""
        if self._making is not None:
            self._making.cancel()

    def discard(self) -> None:
        """Take back what was made of a workspace that did not come up."""
        if self.workspace_id:
            self._tasks.start(self._discard(), name="take a workspace back")

    async def _discard(self) -> None:
        made, self.workspace_id = self.workspace_id, ""
        try:
            await self.service.machines.do(made, "remove")
        except SlipwayError as error:
            _log.info("a machine that did not come up was not removed: %s", error)
        await self.service.forget_workspace(made)

    def _task_failed(self, name: str, error: BaseException) -> None:
        _log.error("%s failed", name, exc_info=error)
        detail = f"{type(error).__name__}: {error}"
        self.failed.emit(
            error
            if isinstance(error, SlipwayError)
            else SlipwayError("internal.failed", what=name, error=detail)
        )

    async def close(self) -> None:
        """End what is under way and take back what did not come up."""
        self._tasks.cancel("look")
        if self._making is not None and not self._making.done():
            self._making.cancel()
            await asyncio.wait([self._making])
        if self.workspace_id:
            await self._discard()
        self._steps.clear()
        await self._tasks.close()
