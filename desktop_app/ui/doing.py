"""What a page's view model does in tasks, and how it tells that something failed."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks

_log = logging.getLogger(__name__)


class Doing(QObject):
    """Runs what may take time in tasks of its own. Failures come out as ``failed``; one that was
    not foreseen is logged and told as ``internal.failed``."""

    failed = Signal(object)  # SlipwayError

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = Tasks(self._task_failed)

    def _run(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        self._tasks.start(self._guarded(work), name=name)

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except SlipwayError as error:
            self.failed.emit(error)

    def _task_failed(self, name: str, error: BaseException) -> None:
        _log.error("%s failed", name, exc_info=error)
        detail = f"{type(error).__name__}: {error}"
        self.failed.emit(SlipwayError("internal.failed", what=name, error=detail))
