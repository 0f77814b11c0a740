"""The dialog for a new workspace, with a real engine and a cloud on this computer."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engines import Engines
from desktop_app.ui.machines.docker_form import DockerForm
from desktop_app.ui.machines.making import Making
from desktop_app.ui.machines.new_dialog import NewWorkspaceDialog
from desktop_app.ui.machines.parts import packages, pairs
from tests.helpers.docker import CA, base_image, engine_or_skip
from tests.helpers.e2b_cloud import cloud_or_skip

from .hands import Run, click, use


@pytest.fixture
def making(service: Slipway, run: Run) -> Iterator[Making]:
    made = Making(service)
    yield made
    run(made.close(), 30_000)


@pytest.fixture
def dialog(qtbot: Any, making: Making) -> NewWorkspaceDialog:
    made = NewWorkspaceDialog(None, making)
    qtbot.addWidget(made)
    made.show()
    return made


def titles(dialog: NewWorkspaceDialog) -> list[str]:
    return [row.title.text() for row in dialog.doctor.rows]


def test_what_is_typed_becomes_packages_and_variables() -> None:
    assert packages(" numpy, pandas >= 2  uvicorn[standard,x]==1 ") == (
        *("numpy", "pandas>=2", "uvicorn[standard,x]==1"),
    )
    assert pairs("A=1\n\nB=x=y") == ({"A": "1", "B": "x=y"}, "")
    assert pairs("A=1\nno sign") == ({"A": "1"}, "no sign")
    assert pairs("1A=x")[1] == "1A=x"


def test_the_docker_form_says_what_goes_with_the_container(qtbot: Any) -> None:
    form = DockerForm()
    qtbot.addWidget(form)
    assert "they go when it is removed" in form.fate.text()
    form.mount.field.edit.setText("/home/me/notes")
    assert "stay" in form.fate.text()
    form.image.edit.setText("bad image; rm")
    assert form.spec() is None
    assert form.image.edit.property("invalid")
    form.image.edit.setText("")
    form.packages.edit.setText("numpy")
    spec = form.spec()
    assert spec is not None
    assert (spec.base_image, spec.packages, spec.mount) == (
        *("python:3.12-slim", ("numpy",), "/home/me/notes"),
    )
    assert (spec.cpus, spec.memory, spec.pids, spec.network) == (2.0, 2048, 256, True)


def test_without_docker_the_dialog_says_what_to_do(
    qtbot: Any, service: Slipway, dialog: NewWorkspaceDialog, tmp_path: Path
) -> None:
    missing = Endpoint(f"unix://{tmp_path}/gone.sock", "colima", missing=True)
    service.places.engines = Engines(look=lambda _chosen: [missing])
    click(dialog.doctor.retry)
    dialog.look()
    qtbot.waitUntil(lambda: any("Docker is not running" in t for t in titles(dialog)))
    row = dialog.doctor.rows[0]
    assert "Start Docker" in row.detail.text()
    assert dialog.doctor.others.isVisible()
    assert any("Colima" in t for t in titles(dialog))


def test_a_name_is_needed(dialog: NewWorkspaceDialog, making: Making) -> None:
    click(dialog.go)
    assert dialog.name.edit.property("invalid")
    assert not making.busy


def test_a_folder_goes_the_way_of_every_folder(
    qtbot: Any, dialog: NewWorkspaceDialog, tmp_path: Path
) -> None:
    dialog.kinds["folder"].click()
    assert dialog.go.text() == "Open"
    click(dialog.go)
    assert dialog.isVisible()
    dialog.folder.field.edit.setText(str(tmp_path))
    with qtbot.waitSignal(dialog.folderChosen) as told:
        click(dialog.go)
    assert told.args == [str(tmp_path)]
    assert not dialog.isVisible()


def test_a_docker_workspace_is_built_and_up(
    qtbot: Any, run: Run, service: Slipway, dialog: NewWorkspaceDialog
) -> None:
    run(engine_or_skip().close())
    qtbot.waitUntil(lambda: any("answers" in t for t in titles(dialog)), timeout=10_000)
    dialog.name.edit.setText("a box")
    dialog.docker.image.edit.setText(base_image())
    dialog.docker.more.open()
    dialog.docker.env.edit.setPlainText("GREETING=hello there")
    with qtbot.waitSignal(dialog.made, timeout=60_000) as told:
        click(dialog.go)
        assert dialog.pages.currentWidget() is dialog.progress
    assert not dialog.isVisible()
    workspace = run(service.workspace(told.args[0]))
    assert (workspace.info.name, workspace.info.state) == ("a box", "ready")
    said = run(workspace.get_backend().exec(["sh", "-c", "echo $GREETING; id -u"]))
    assert said.stdout.startswith(b"hello there\n")


def test_a_docker_image_gets_packages_from_the_index_and_trusts_own_certificates(
    qtbot: Any, run: Run, service: Slipway, dialog: NewWorkspaceDialog
) -> None:
    """As a person in a company's network fills it in: on Debian's own Python, which guards its
    packages (PEP 668), and with the certificates that this computer trusts."""
    run(engine_or_skip().close())
    dialog.name.edit.setText("packages")
    dialog.docker.image.edit.setText(base_image())
    dialog.docker.packages.edit.setText("iniconfig==2.1.0, six >= 1.16")
    dialog.docker.more.open()
    dialog.docker.ca.field.edit.setText(CA)
    with qtbot.waitSignal(dialog.made, timeout=240_000) as told:
        click(dialog.go)
    workspace = run(service.workspace(told.args[0]))
    script = "import iniconfig, six, os; print(six.__name__, os.environ['PIP_CERT'])"
    said = run(workspace.get_backend().exec(["python3", "-c", script]), 30_000)
    assert said.stdout == b"six /etc/slipway/ca.pem\n", said.stderr
    there = run(workspace.get_backend().exec(["cat", "/etc/slipway/ca.pem"]), 30_000)
    assert there.stdout == Path(CA).read_bytes()


def test_a_docker_image_that_fails_is_told_and_leaves_nothing(
    qtbot: Any, run: Run, service: Slipway, dialog: NewWorkspaceDialog, making: Making
) -> None:
    run(engine_or_skip().close())
    dialog.name.edit.setText("broken")
    dialog.docker.image.edit.setText(base_image())
    dialog.docker.packages.edit.setText("no-such-package-of-slipway==9.9.9")
    dialog.docker.network.set_value("off")
    click(dialog.go)
    qtbot.waitUntil(lambda: dialog.go.text() == "Back to the settings", timeout=120_000)
    notice = dialog.progress._notice
    assert notice is not None
    assert "could not be built" in notice.title.text()
    assert "pip install" in dialog.progress.lines.toPlainText()
    click(dialog.go)
    assert dialog.docker.packages.text().startswith("no-such")
    dialog.reject()
    run(making.close(), 30_000)
    assert run(service.db.workspaces()) == []


def test_a_docker_build_that_is_cancelled_leaves_nothing(
    qtbot: Any, run: Run, service: Slipway, dialog: NewWorkspaceDialog, making: Making
) -> None:
    run(engine_or_skip().close())
    dialog.name.edit.setText("cancelled")
    dialog.docker.image.edit.setText(base_image())
    dialog.docker.packages.edit.setText("nothing-of-slipway-either==1.0")
    click(dialog.go)
    qtbot.waitUntil(lambda: "image" in dialog.progress.stage.text(), timeout=30_000)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not making.busy, timeout=30_000)
    qtbot.waitUntil(lambda: dialog.pages.currentWidget() is not dialog.progress)
    assert dialog.isVisible()
    dialog.reject()
    run(making.close(), 30_000)
    assert run(service.db.workspaces()) == []
    listed = subprocess.run(
        ["docker", "ps", "-a", "--format", "{{.Names}}"], capture_output=True, text=True
    )
    assert "cancelled" not in listed.stdout


def test_an_e2b_key_is_kept_for_this_session_where_there_is_no_keyring(
    qtbot: Any, run: Run, service: Slipway, dialog: NewWorkspaceDialog
) -> None:
    with cloud_or_skip() as cloud:
        use(service, cloud)
        dialog.kinds["e2b"].click()
        qtbot.waitUntil(lambda: any("No E2B key" in t for t in titles(dialog)))
        assert "you choose where it is kept" in dialog.e2b.kept.text()
        dialog.e2b._key.edit.setText(run(cloud.key()))
        qtbot.waitUntil(lambda: any("accepts the key" in t for t in titles(dialog)))
        dialog.name.edit.setText("in the cloud")
        dialog.e2b.price.edit.setText("many")
        click(dialog.go)
        assert dialog.e2b.price.edit.property("invalid")
        dialog.e2b.price.edit.setText("0.1")
        with qtbot.waitSignal(dialog.made, timeout=30_000) as told:
            click(dialog.go)
        (box,) = cloud.boxes.values()
        assert box.body["timeout"] == 3600
        workspace: Any = run(service.workspace(told.args[0]))
        assert (workspace.info.state, workspace.spec.price) == ("ready", 0.1)
        run(service.machines.do(told.args[0], "remove"), 15_000)
        assert run(asyncio.wait_for(service.places.key_kept(), 5))[0] == "session"
