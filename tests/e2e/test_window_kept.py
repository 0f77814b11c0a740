"""What a person set of a window is in force at once and after a restart, and so are its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from desktop_app.core.messages import Usage
from desktop_app.core.models.scripted import Ends, Say, ScriptedModel
from desktop_app.ui.chat.compaction.modes import ModesDialog
from tests.helpers.program import Driver


def model() -> ScriptedModel:
    counted = Ends(usage=Usage(input_tokens=5000, output_tokens=200))
    return ScriptedModel([[Say("A long answer. " * 80), counted]] * 2, titles=[[Say("Talk")]])


def shown(driver: Driver) -> Any:
    vm = driver.window.chat.vm
    return vm.breakdown if vm is not None else None


def test_marks_and_figures_are_the_same_after_a_restart(driver: Driver, folder: Path) -> None:
    driver.start(model()).open_folder(folder)
    driver.ask("Tell me.")
    driver.until_idle()
    driver.window.dialogs.compaction_modes()
    driver.until(lambda: driver.window.findChildren(ModesDialog) != [])
    [dialog] = driver.window.findChildren(ModesDialog)
    dialog.radios["ask"].click()
    dialog.window_field.edit.setText("49152")
    dialog.danger.setValue(90)
    dialog.go.click()
    driver.until(lambda: shown(driver) is not None and shown(driver).limits.window == 49_152)
    driver.until(lambda: driver.window.findChildren(ModesDialog) == [])
    driver.window.dialogs.compaction_modes()
    driver.until(lambda: driver.window.findChildren(ModesDialog) != [])
    [dialog] = driver.window.findChildren(ModesDialog)
    assert dialog.window_field.edit.text() == "49152"
    dialog.here.click()
    dialog.alert.setValue(60)
    dialog.go.click()
    driver.until(lambda: shown(driver) is not None and shown(driver).limits.alert == 0.6)
    before = shown(driver)
    assert (before.limits.source, before.limits.danger) == ("user", 0.9)
    assert before.measured == 5000
    assert "0.6" not in str(driver.window.settings.get("compaction"))  # for this session alone
    driver.stop()

    driver.start(model())
    driver.until_shown()
    driver.until(lambda: shown(driver) is not None)
    after = shown(driver)
    assert after.limits == before.limits
    assert (after.total, after.measured, after.upper) == (
        before.total,
        before.measured,
        before.upper,
    )
    assert after.history == before.history
