"""Moving a workspace to the newer layout in the window, with the real service and a real folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.tasks import Tasks
from desktop_app.ui.workspaces.migrate_dialog import MigrateDialog

Run = Callable[..., Any]
SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"


@pytest.fixture
def service(run: Run, home: Path) -> Iterator[Slipway]:
    made = run(Slipway.open(paths(home)))
    yield made
    assert run(made.close(), 30_000) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "w"
    shutil.copytree(SAMPLES / "gen-b-2.0.6", place)
    for path in [place, *place.rglob("*")]:
        os.utime(path, (1.7e9, 1.7e9))
    return place


@pytest.fixture
def tasks(run: Run) -> Iterator[Tasks]:
    failed: list[str] = []
    made = Tasks(lambda name, error: failed.append(f"{name}: {error!r}"))
    yield made
    run(made.close())
    assert failed == []


def opened(
    service: Slipway, run: Run, tasks: Tasks, folder: Path, qtbot: Any
) -> tuple[MigrateDialog, Any]:
    info = run(service.add_folder(str(folder), trusted=True))
    plan = run(service.migration(info.id))
    dialog = MigrateDialog(
        None,
        name="w",
        plan=plan,
        work=lambda pairs, progress: service.migrate(plan, info.id, pairs, progress),
        tasks=tasks,
    )
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog, plan


def press(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_the_person_sees_what_changes_and_chooses_who_gets_the_servers(
    service: Slipway, run: Run, tasks: Tasks, folder: Path, qtbot: Any
) -> None:
    dialog, plan = opened(service, run, tasks, folder, qtbot)
    assert dialog.focusWidget() is dialog.cancel
    assert [box.isEnabled() for box in dialog.boxes] == [False]
    QTest.keyClicks(dialog.agent.edit, "agent-1")
    assert dialog.boxes[0].isEnabled()
    dialog.boxes[0].setChecked(True)
    assert dialog.pairs() == [("agent-1", "s1")]
    press(dialog.go)
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=10_000)
    assert dialog.result() == 1
    written = json.loads((folder / ".mcp").read_text("utf-8"))
    assert list(written["mcps"]) == ["agent-1"]
    assert Path(plan.backup, "HOW-TO-GO-BACK.txt").is_file()


def test_cancelled_while_it_copies_nothing_is_changed(
    service: Slipway, run: Run, tasks: Tasks, folder: Path, qtbot: Any
) -> None:
    dialog, _plan = opened(service, run, tasks, folder, qtbot)
    press(dialog.go)
    press(dialog.cancel)  # before the task had its first turn
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=10_000)
    assert dialog.result() == 0
    assert (folder / ".mcp").read_text("utf-8").startswith("[")
    assert not list(folder.parent.glob("w.backup-*"))


def test_what_went_wrong_is_said_in_it_and_it_can_be_tried_again(
    service: Slipway, run: Run, tasks: Tasks, folder: Path, qtbot: Any
) -> None:
    dialog, _plan = opened(service, run, tasks, folder, qtbot)
    os.utime(folder / ".mcp")  # somebody writes between the look and the answer
    press(dialog.go)
    qtbot.waitUntil(dialog.problem.isVisible, timeout=10_000)
    assert ".mcp" in dialog.problem.text()
    assert dialog.go.isEnabled()
    os.utime(folder / ".mcp", (1.7e9, 1.7e9))
    press(dialog.go)
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=10_000)
    assert dialog.result() == 1


def test_what_cannot_be_moved_is_refused_before_anything_is_shown(
    service: Slipway, run: Run, folder: Path
) -> None:
    (folder / ".mcp").write_text("{")
    os.utime(folder / ".mcp", (1.7e9, 1.7e9))
    info = run(service.add_folder(str(folder), trusted=True))
    with pytest.raises(WorkspaceError) as caught:
        run(service.migration(info.id))
    assert caught.value.code == "migrate.bad_mcp"
