"""What the detail of a workspace warns of, with one step that leads on."""

from __future__ import annotations

from typing import Any

import pytest

from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.workspaces.remote.machine import Machine
from desktop_app.ui.machines.detail import Detail
from desktop_app.ui.widgets import Button

GONE = {"code": "workspace.machine_gone", "machine": "i62a98"}


@pytest.mark.parametrize(
    ("row", "title", "says", "act"),
    [
        (
            OverviewRow("w", "a box", "docker", "ready", volatile=True),
            "The files here are in memory",
            "everything in it is gone when the container stops",
            "rescue",
        ),
        (
            OverviewRow("w", "in the cloud", "e2b", "stopped", GONE),
            "Its machine is gone",
            "“i62a98” is not there any more",
            "start",
        ),
    ],
    ids=["in memory", "gone"],
)
def test_what_may_be_or_was_lost_is_said_with_a_way_on(
    qtbot: Any, row: OverviewRow, title: str, says: str, act: str
) -> None:
    detail = Detail()
    qtbot.addWidget(detail)
    detail.show_row(row, Machine("running"), busy=False)
    notice = detail._notice
    assert notice is not None
    assert notice.title.text() == title
    assert says in notice.reason.text()
    (button,) = notice.findChildren(Button)
    with qtbot.waitSignal(detail.wanted) as told:
        button.click()
    assert told.args == [act]
    detail.show_row(OverviewRow("w", "a box", "docker", "ready"), Machine("running"), busy=False)
    assert detail._notice is None
