"""A service of its own for each test, and the page over it; containers of a test are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.ui.machines.page import MachinesPage
from desktop_app.ui.machines.view_model import MachinesViewModel
from tests.helpers.docker import remove_leftovers


@pytest.fixture
def service(
    run: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Slipway]:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    made = run(Slipway.open(paths(home)))
    yield made
    ids = [row.id for row in run(made.db.workspaces(forgotten=True)) if row.backend == "docker"]
    ids += [row.id for row in run(made.db.workspaces()) if row.backend == "docker"]
    assert run(made.close(), 30_000) == []
    for workspace_id in ids:
        remove_leftovers(workspace_id)


@pytest.fixture
def page(qtbot: Any, service: Slipway, run: Callable[..., Any]) -> Iterator[MachinesPage]:
    vm = MachinesViewModel(service)
    made = MachinesPage(vm)
    qtbot.addWidget(made)
    qtbot.addWidget(made.status)
    made.resize(1392, 800)
    made.show()
    yield made
    run(made.close_tasks(), 20_000)
