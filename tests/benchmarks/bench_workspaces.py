"""The table of 1,000 workspaces while 50 of them change each second.

The rows are made up (a thousand containers do not fit on a machine); from the core's listener on,
everything is the program's own: coalescing, sorting, painting, totals, the detail with its charts.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("SLIPWAY_KEYRING", "none")

from desktop_app.app import make_application
from desktop_app.core.loopwatch import LoopWatch
from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from tests.benchmarks.figures import limit

ROWS, EACH_SECOND, SECONDS, TURNS = 1000, 50, 8.0, 10
STATES = ("ready", "ready", "ready", "stopped", "paused")


def _rows(dice: random.Random) -> list[OverviewRow]:
    now = int(time.time() * 1e6)
    return [
        OverviewRow(
            f"w{n:04}",
            f"workspace {dice.randrange(10**6)}",
            ("local", "docker", "e2b")[n % 3],
            dice.choice(STATES),
            engine="Docker 29 · rootless",
            sessions=n % 40,
            offloaded=n * 40_000,
            skills=n % 9,
            servers=n % 4,
            cpu=dice.random() * 2,
            cpus=2.0,
            memory=dice.randrange(1 << 31),
            memory_limit=1 << 31,
            used_us=now - n * 10**8,
        )
        for n in range(ROWS)
    ]


def _changed(row: OverviewRow, dice: random.Random) -> OverviewRow:
    state = dice.choice(STATES)
    return replace(row, cpu=dice.random() * 2, memory=dice.randrange(1 << 31), state=state)


class _Timed:
    """The thread's CPU time of calls, the longest of them."""

    def __init__(self) -> None:
        self.longest: dict[str, float] = {}

    def wrap(self, owner: Any, name: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any) -> Any:
            began = time.thread_time()
            try:
                return inner(*args)
            finally:
                took = (time.thread_time() - began) * 1000
                self.longest[name] = max(took, self.longest.get(name, 0.0))

        setattr(owner, name, timed)


async def _measure(app: Any) -> list[dict[str, Any]]:
    from desktop_app.ui.machines.columns import BY_ID
    from desktop_app.ui.machines.page import MachinesPage
    from desktop_app.ui.machines.table_view import Table
    from desktop_app.ui.machines.view_model import MachinesViewModel
    from desktop_app.ui.theme import install

    install(app, "light")
    timed = _Timed()
    timed.wrap(Table, "paintEvent")
    timed.wrap(MachinesViewModel, "_put")
    timed.wrap(MachinesPage, "_count")
    dice = random.Random(7)
    with tempfile.TemporaryDirectory() as home:
        service = await Slipway.open(paths(Path(home)))
        vm = MachinesViewModel(service)
        page = MachinesPage(vm)
        page.resize(1392, 800)
        page.show()
        rows = _rows(dice)
        vm.listed = True
        vm.rows.replace(rows)
        vm.overview.watch = lambda _ids: None  # type: ignore[method-assign] - no machine is there
        page.table.sortByColumn(BY_ID["cpu"], page.table.horizontalHeader().sortIndicatorOrder())
        page.show_workspace("w0001")
        await asyncio.sleep(1.0)
        timed.longest.clear()
        watch = LoopWatch().start()
        began, cpu = time.monotonic(), time.process_time()
        while time.monotonic() - began < SECONDS:
            for _ in range(EACH_SECOND // TURNS):
                place = dice.randrange(ROWS)
                rows[place] = _changed(rows[place], dice)
                vm._heard([rows[place]], [])
            await asyncio.sleep(1 / TURNS)
        share = (time.process_time() - cpu) / (time.monotonic() - began) * 100
        watch.stop()
        held = max(watch.longest().ms, *timed.longest.values())
        await page.close_tasks()
        page.deleteLater()
        await service.close()
    name = f"{ROWS:,} workspaces, {EACH_SECOND} changing each second"
    return [
        limit(f"loop held (CPU): {name}", held, 16, "ms", "≤ 16 ms"),
        limit(f"CPU: {name}", share, 10, "%", "≤ 10 %"),
        limit("one paint of the table", timed.longest["paintEvent"], 16, "ms", "≤ 16 ms"),
    ]


def run() -> list[dict[str, Any]]:
    app = make_application()
    from desktop_app.ui.loop import AppEventLoop

    with asyncio.Runner(loop_factory=lambda: AppEventLoop(app)) as runner:
        return runner.run(_measure(app))


if __name__ == "__main__":
    for row in run():
        print(row)
