"""Hears from the Docker engine in use which workspaces' containers changed, instead of asking again
and again. While it does not hear, whoever needs to know has to look."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from .errors import SlipwayError
from .places import Places
from .tasks import Tasks
from .workspaces.docker.events import changes

log = logging.getLogger(__name__)

FIRST, MOST = 1.0, 15.0  # seconds before the engine is asked again after it went


class Hearing:
    """``heard(workspace_id)`` of a change; ``turned()`` when it began to hear or does not hear any
    more: what happened meanwhile is not told. ``on`` says which."""

    def __init__(
        self, places: Places, heard: Callable[[str], None], turned: Callable[[], None]
    ) -> None:
        self.on = False
        self._places, self._heard, self._turned = places, heard, turned
        self._task: asyncio.Task[None] | None = None
        self._tasks = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))

    def start(self) -> None:
        """Begin, unless it has."""
        if self._task is None or self._task.done():
            self._task = self._tasks.replace(self._hear(), name="hear the engine")

    def stop(self) -> None:
        self._tasks.cancel("hear the engine")
        self._task, self.on = None, False

    async def _hear(self) -> None:
        pause = FIRST
        while True:
            try:
                engine = await self._places.engines.engine()
                async with aclosing(changes(engine)) as found:
                    async for workspace_id in found:
                        if workspace_id:
                            self._heard(workspace_id)
                        else:
                            pause = FIRST
                            self._turn(True)
            except SlipwayError as error:
                log.debug("the engine is not heard: %s", error)
            self._turn(False)
            await asyncio.sleep(pause)
            pause = min(pause * 2, MOST)

    def _turn(self, on: bool) -> None:
        if on != self.on:
            self.on = on
            self._turned()

    async def close(self) -> None:
        self.stop()
        await self._tasks.close()
