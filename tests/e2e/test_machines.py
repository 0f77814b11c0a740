"""The Workspaces page in the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

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
