"""The Workspaces page in the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.messages import Msg
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.ui.widgets import Role
from desktop_app.ui.workspaces.tree_model import workspace_note
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers
from tests.helpers.program import Driver


def test_the_rail_leads_to_all_workspaces_and_a_row_back_to_its_session(
    driver: Driver, folder: Path
) -> None:
    driver.start()
    window = driver.window
    window.workspaces.open_folder(str(folder))
    driver.until(lambda: window.desk.current is not None)
    driver.until_shown()
    key = window.desk.current
    QTest.mouseClick(window.rail.buttons["machines"], Qt.MouseButton.LeftButton)
    driver.until(lambda: window.machines is not None and window.machines.vm.listed)
    page = window.machines
    assert window.pages.currentWidget() is page
    assert window.windowTitle() == "Workspaces - Slipway"
    assert page.status.isVisible()
    assert not window.chat_status.isVisible()
    assert not window.pane.isVisible(), "the table has them all"
    assert [row.name for row in page.vm.rows.rows()] == ["Field notes"]
    driver.until(lambda: page.vm.rows.rows()[0].sessions == 1)
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    driver.until(lambda: window.pages.currentWidget() is window.chat)
    assert window.desk.current == key
    assert window.chat_status.isVisible()
    assert window.rail.buttons["chat"].isChecked()
    driver.stop()


def test_groups_and_order_of_the_table_are_as_they_were_left(driver: Driver, folder: Path) -> None:
    driver.start()
    driver.run(driver.service.add_folder(str(folder), trusted=True))
    driver.window.show_machines()
    page = driver.window.machines
    driver.until(lambda: page.vm.listed)
    assert page.arrangement() == ["", "", "up"]
    page.bar.groups.menu().actions()[1].trigger()
    page.table.set_order("name", False)
    driver.stop()
    driver.start()
    driver.window.show_machines()
    page = driver.window.machines
    driver.until(lambda: page.vm.rows.rowCount() == 2)
    assert page.arrangement() == ["kind", "name", "down"]
    assert page.bar.groups.text() == "Group: kind"
    assert page.vm.rows.group_at(0) is not None
    driver.window.areas._geometry.setValue("table", ["colour", "smell", "up"])
    driver.window.areas.arrange(page)
    assert page.arrangement() == ["", "", "up"], "what a later version kept is no harm"
    driver.stop()


def test_a_session_in_a_stopped_docker_container_brings_it_up(driver: Driver) -> None:
    driver.run(engine_or_skip().close())
    model = ScriptedModel(
        [[Call("Bash", {"command": "echo $((6*7)) > answer.txt; cat answer.txt"})], [Say("42")]],
        titles=[[Say("Sum")]],
    )
    driver.start(model)
    window = driver.window
    spec = DockerSpec(base_image=base_image(), network=False)
    info = driver.run(driver.service.machines.create("a box", spec))
    try:
        driver.until(lambda: [w.info.name for w in window.workspaces.workspaces] == ["a box"])
        index = window.workspaces.model.find_workspace(info.id)
        assert index.data(Role.TIME) == "stopped"
        window.workspaces.new_session(info.id)
        driver.until(lambda: window.desk.current is not None)
        driver.until_shown()
        workspace = driver.run(driver.service.workspace(info.id))
        assert workspace.info.state == "stopped", "looking at a session starts nothing"
        driver.type("how much is six times seven")
        driver.until(lambda: driver.vm.activity == "parked", 60_000)
        driver.key(Qt.Key.Key_Y)
        driver.until_idle()
        assert driver.tools()[-1].output.strip() == "42"
        assert workspace.info.state == "ready"
        driver.until(lambda: index.data(Role.TIME) != "stopped")
        window.show_machines(info.id)
        driver.until(lambda: window.machines is not None and window.machines.vm.listed)
        page = window.machines
        driver.until(lambda: page.vm_current() == info.id)
        driver.run(workspace.offload_context("s1", [Msg.user("kept")]))
        page.detail.wanted.emit("rescue")
        driver.until(lambda: any("Rescue copy of" in text for text in driver.toasts()), 60_000)
        window.workspaces.machine(info.id, "pause")
        driver.until(lambda: "paused" in workspace_note(window.workspaces.workspaces[0]))
        driver.stop()
    finally:
        remove_leftovers(info.id)
