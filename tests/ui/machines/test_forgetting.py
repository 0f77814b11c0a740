"""A workspace with a machine leaves the list: what stays is said by name, and the machine can go
with it, after a rescue copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engines import Engines
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.ui.machines.page import MachinesPage
from desktop_app.ui.widgets import ConfirmDialog
from desktop_app.ui.workspaces.pane import WorkspacesPane
from desktop_app.ui.workspaces.view_model import WorkspacesViewModel
from tests.helpers.e2b_cloud import cloud_or_skip

from .hands import Run, boxed, click, containers, dialog_of, start, use, words


def rescued(service: Slipway, workspace_id: str) -> list[str]:
    folder = service.paths.data / "rescued" / workspace_id
    return [str(one.relative_to(folder)) for one in folder.rglob("notes.txt")]


def test_forgetting_a_docker_workspace_names_its_container_and_removes_it_on_request(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    info = boxed(service, run)
    workspace: Any = run(service.workspace(info.id))
    run(workspace.start())
    run(workspace.get_backend().write(".slipway/data/notes.txt", b"kept"))
    run(workspace.get_backend().write("big.bin", b"x" * 300_000))
    start(qtbot, page)
    page._wanted("forget")
    dialog = dialog_of(qtbot, ConfirmDialog)
    said = words(dialog)
    assert f"The container {workspace.machine.name}, stopped, with" in said
    assert "of files that are only in it" in said
    assert "Nothing is deleted" in said
    assert dialog.go.isDefault()
    click(dialog.option)
    said = words(dialog)
    assert "Nothing is deleted" not in said
    assert "A new rescue copy of its sessions, data and skills" in said
    assert dialog.go.text() == "Forget and delete"
    assert dialog.cancel.isDefault(), "what deletes is not what Enter does"
    click(dialog.option)
    assert dialog.go.text() == "Forget"
    assert "Nothing is deleted" in words(dialog)
    click(dialog.option)
    click(dialog.go)
    qtbot.waitUntil(lambda: page.vm.rows.rowCount() == 0, timeout=60_000)
    assert containers(info.id) == []
    assert len(rescued(service, info.id)) == 1


def test_forgetting_an_e2b_workspace_leaves_its_sandbox_paused_and_listed(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    with cloud_or_skip() as cloud:
        use(service, cloud)
        service.places.e2b._key = cloud.key
        info = run(service.machines.create("in the cloud", E2BSpec()))
        run(service.machines.do(info.id, "start"))
        (box,) = cloud.boxes.values()
        failures: list[Any] = []
        page.vm.failed.connect(failures.append)
        start(qtbot, page)
        page.ask_forget(info.id)
        dialog = dialog_of(qtbot, ConfirmDialog)
        assert f"The sandbox {box.id}, paused" in words(dialog)
        assert "stays in your E2B account" in words(dialog)
        click(dialog.go)
        qtbot.waitUntil(lambda: failures or page.vm.rows.rowCount() == 0, timeout=60_000)
        assert failures == []
        assert box.state == "paused"
        assert [one.id for one in run(service.machines.without_owner())] == [box.id]


def test_forgetting_from_the_tree_asks_the_same_of_a_machine(
    qtbot: Any, service: Slipway, run: Run
) -> None:
    info = run(service.machines.create("a box", DockerSpec(base_image="any")))
    model = WorkspacesViewModel(service)
    pane = WorkspacesPane(model)
    qtbot.addWidget(pane)
    summary = run(service.summary(info.id))
    assert summary is not None
    with qtbot.waitSignal(pane.forgetMachineWanted) as told:
        pane.remove(summary)
    assert told.args == [info.id]
    run(pane.close_tasks())
    run(model.close())


def test_forgetting_where_the_engine_cannot_be_asked_offers_no_removal(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run, tmp_path: Path
) -> None:
    missing = Endpoint(f"unix://{tmp_path}/gone.sock", "default", missing=True)
    service.places.engines = Engines(look=lambda _chosen: [missing])
    info = run(service.machines.create("a box", DockerSpec(base_image="any")))
    page.ask_forget(info.id)  # before the list was read
    dialog = dialog_of(qtbot, ConfirmDialog)
    assert "cannot be asked now" in words(dialog)
    assert dialog.option is None
    click(dialog.go)
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=10_000)
    qtbot.waitUntil(lambda: run(service.summary(info.id)) is None, timeout=10_000)


def test_forgetting_with_a_copy_that_fails_deletes_nothing(
    qtbot: Any, page: MachinesPage, service: Slipway, run: Run
) -> None:
    info = boxed(service, run)
    workspace: Any = run(service.workspace(info.id))
    run(workspace.start())
    run(workspace.get_backend().write(".slipway/data/notes.txt", b"kept"))
    (service.paths.data / "rescued").write_text("in the way of the copy")
    failures: list[Any] = []
    page.vm.failed.connect(failures.append)
    start(qtbot, page)
    page._wanted("forget")
    dialog = dialog_of(qtbot, ConfirmDialog)
    click(dialog.option)
    click(dialog.go)
    qtbot.waitUntil(lambda: bool(failures), timeout=60_000)
    assert containers(info.id) != ""
    assert page.vm.row(info.id) is not None
