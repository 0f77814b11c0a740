"""Agents in the real window: one is made, a session is begun with it, and shows who answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.ui.settings.agents_dialog import AgentsDialog
from desktop_app.ui.widgets import Menu
from tests.helpers.program import Driver


def actions(menu: Any) -> dict[str, Any]:
    return {action.text(): action for action in menu.actions() if action.text()}


def shown(kind: type) -> Any:
    return next(
        (w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()), None
    )


def test_a_session_is_begun_with_an_agent_that_was_made_in_the_window(
    driver: Driver, folder: Path
) -> None:
    model = ScriptedModel([[Say("The first line is wrong.")]], titles=[[Say("Review")]])
    driver.start(model)
    window = driver.window
    driver.open_folder(folder)
    assert not window.chat.header.agent.isVisible(), "the built-in one is not named"
    window.commands.run("view.agents")
    driver.until(lambda: shown(AgentsDialog))
    dialog = shown(AgentsDialog)
    dialog.add.click()
    dialog.name.edit.setText("Reviewer")
    dialog.instructions.setPlainText("Say what is wrong first.")
    dialog.mode.setCurrentIndex(dialog.mode.findData("explore"))
    dialog.mode.chosen.emit("explore")
    dialog.save.click()
    driver.until(lambda: driver.service.agents.get("reviewer").made)
    dialog.reject()
    driver.until(lambda: shown(AgentsDialog) is None)
    before = window.desk.current
    assert window.commands.run("session.new_with")
    driver.until(lambda: shown(Menu))
    menu = shown(Menu)
    assert list(actions(menu)) == ["Assistant", "Reviewer", "Agents…"]
    actions(menu)["Reviewer"].trigger()
    menu.close()
    driver.until(lambda: window.desk.current != before)
    driver.until_shown()
    assert window.desk.current.agent_id == "reviewer"
    driver.until(lambda: window.chat.header.agent.isVisible())
    assert window.chat.header.agent.accessibleName() == "Reviewer"
    assert driver.vm.mode == "explore"
    driver.type("look at it")
    driver.until_idle()
    request = model.requests[0]
    assert "Say what is wrong first." in request.system
    driver.open_session(before)
    assert not window.chat.header.agent.isVisible()
    driver.stop()
