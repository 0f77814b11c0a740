"""The whole program in window tests: the guards of tests/ui, and a driver that starts and stops."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from tests.helpers.program import Driver
from tests.ui.conftest import (  # noqa: F401 - fixtures
    LogGuard,
    aloop,
    home,
    leak_guard,
    log_guard,
    run,
    session_loop,
    theme,
    turn,
)

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"


@pytest.fixture
def driver(
    qapp: QApplication,
    leak_guard: None,  # noqa: F811
    home: Path,  # noqa: F811
    run: Callable[..., Any],  # noqa: F811
    qtbot: Any,
) -> Iterator[Driver]:
    made = Driver(qapp, run, qtbot.waitUntil)
    yield made
    if made.alive:
        made.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A person's folder with three files."""
    place = tmp_path / "Field notes"
    place.mkdir()
    (place / "notes.md").write_text("# Notes\n\nThe harbour opens in May.\n")
    (place / "prices.csv").write_text("item,price\nrope,12\nsail,340\n")
    (place / "todo.txt").write_text("paint the hull\n")
    return place


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A workspace that AgentScope 2.0.11 wrote."""
    place = tmp_path / "agentscope"
    shutil.copytree(SAMPLES / "gen-c-2.0.11", place)
    for path in place.rglob("*"):  # long quiet: a fresh change may be another program's
        os.utime(path, (1.7e9, 1.7e9))
    return place
