"""The tree's view model on a real data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer

from desktop_app.core.catalog import SessionsChanged
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.ui.workspaces.view_model import WorkspacesViewModel

Run = Callable[..., Any]


@pytest.fixture
def service(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slipway]:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    made = run(Slipway.open(paths(tmp_path / "home")), 20_000)
    yield made
    assert run(made.close(), 30_000) == []


@pytest.fixture
def vm(service: Slipway, run: Run) -> Iterator[WorkspacesViewModel]:
    made = WorkspacesViewModel(service)
    yield made
    run(made.close(), 20_000)


def test_a_flood_of_changes_does_not_keep_the_list_from_coming(
    qtbot: Any, run: Run, service: Slipway, vm: WorkspacesViewModel, tmp_path: Path
) -> None:
    vm.start()
    qtbot.waitUntil(lambda: vm.listed, timeout=10_000)
    flood = QTimer(interval=1)
    flood.timeout.connect(lambda: service.tell(SessionsChanged("somewhere")))
    flood.start()
    try:
        (tmp_path / "new").mkdir()
        run(service.add_folder(str(tmp_path / "new"), trusted=True), 20_000)
        qtbot.waitUntil(lambda: [w.info.name for w in vm.workspaces] == ["new"], timeout=20_000)
    finally:
        flood.stop()
