"""The context window in a person's hands: its account, compactions and their undo."""

from __future__ import annotations

from collections.abc import AsyncIterator

from desktop_app.core import events as ev
from desktop_app.core.context.types import Breakdown, CompactionRecord

from .driving import Driving


class Compacting(Driving):
    """What happens by itself in a turn is the engine's."""

    async def breakdown(self) -> Breakdown:
        return await self.engine.breakdown()

    async def compactions(self) -> list[CompactionRecord]:
        return list(self.log.now.compactions)

    def compact(self) -> AsyncIterator[ev.Event]:
        self._check_free()

        async def work() -> None:
            await self.engine.compact("manual", self._stream.emit)
            self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

        return self._stream.start(work, "compact")

    async def undo_compaction(self) -> list[ev.Event]:
        self._check_free()
        events: list[ev.Event] = [await self.engine.undo()]
        events.append(ev.ContextChanged(await self.engine.breakdown()))
        for event in events:
            self._stream.emit(event)
        return events
