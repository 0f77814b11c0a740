"""Hearing from an engine: begun and ended as often as somebody looks."""

from __future__ import annotations

import asyncio
from typing import Any

from desktop_app.core.hearing import Hearing
from tests.helpers.mcp import until


class Deaf:
    """Places whose engine never answers, and how many ask it at this moment."""

    def __init__(self) -> None:
        self.engines = self
        self.asking = self.asked = 0

    async def engine(self) -> Any:
        self.asked += 1
        self.asking += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.asking -= 1


async def test_who_stopped_hearing_asks_no_more() -> None:
    places: Any = Deaf()
    hearing = Hearing(places, lambda _: None, lambda: None)
    for turn in (1, 2, 3):
        hearing.start()
        await until(lambda turn=turn: places.asked == turn)
        hearing.start()  # it goes on already
        hearing.stop()
    await until(lambda: places.asking == 0)
    assert places.asked == 3
    await hearing.close()
