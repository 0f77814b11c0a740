"""Twenty servers with two hundred tools: the window stays usable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytestqt.qtbot import QtBot

from desktop_app.core.loopwatch import LoopWatch
from tests.helpers.mcp import declare, entry
from tests.ui.tools.test_mcp_panel import Stage


def test_no_callback_holds_the_loop(tmp_path: Path, run: Any, qtbot: QtBot) -> None:
    stage = Stage(tmp_path, run, qtbot)
    declare(stage.root, *(entry(f"s{n:02}", "raw.py", "ten") for n in range(20)))
    stage.panel.show()
    with LoopWatch() as watch:
        stage.up()
        stage.until(
            lambda: list(stage.states().values()) == ["ok"] * 20 and len(stage.panel.cards) == 20,
            60_000,
        )
        for card in stage.panel.cards[:3]:
            card.tools_button.click()
        stage.until(lambda: all(len(c._rows) == 10 for c in stage.panel.cards[:3]))
    assert watch.longest().ms < 16, watch.slowest()[:3]
    assert len(stage.manager.tools()) == 200
    stage.close()
