"""What a person does on the Workspaces page, and what they read there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.ui.machines.page import MachinesPage
from desktop_app.ui.widgets import Label
from tests.helpers.docker import base_image, engine_or_skip
from tests.helpers.e2b_cloud import Cloud

Run = Callable[..., Any]


def start(qtbot: Any, page: MachinesPage) -> None:
    page.start()
    qtbot.waitUntil(lambda: page.vm.listed)


def click(button: Any) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def dialog_of(qtbot: Any, kind: type) -> Any:
    """The open dialog of a kind, once there is one."""
    found: list[Any] = []

    def there() -> bool:
        found[:] = [
            w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()
        ]
        return bool(found)

    qtbot.waitUntil(there, timeout=10_000)
    return found[0]


def words(widget: Any) -> str:
    """All that its labels say."""
    return "\n".join(label.text() for label in widget.findChildren(Label))


def boxed(service: Slipway, run: Run) -> WorkspaceInfo:
    """A workspace "a box" in a container of a real engine, which was not started yet."""
    run(engine_or_skip().close())
    spec = DockerSpec(base_image=base_image(), network=False)
    return run(service.machines.create("a box", spec))


def containers(workspace_id: str) -> list[str]:
    """The containers of a workspace, by the engine's own program."""
    wanted = f"label=slipway.workspace={workspace_id}"
    line = ["docker", "ps", "-aq", "--filter", wanted]
    return subprocess.run(line, capture_output=True, text=True, timeout=60).stdout.split()


def use(service: Slipway, cloud: Cloud) -> None:
    """Have sandboxes made in ``cloud``."""
    service.places.e2b.api_url = service.places.e2b.sandbox_url = cloud.url
