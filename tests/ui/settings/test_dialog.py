"""Settings take effect at once and are told to their owner."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt

from desktop_app.core.settings.settings import DEFAULTS
from desktop_app.ui import i18n
from desktop_app.ui.settings.apply import apply
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.theme import theme as current


def test_each_change_is_told_with_its_value(qtbot):
    dialog = SettingsDialog(None, DEFAULTS.get, models=[("", "Guide"), ("m", "Other")], place="/x")
    qtbot.addWidget(dialog)
    told: list[tuple[str, Any]] = []
    dialog.changed.connect(lambda name, value: told.append((name, value)))
    for name, value in (("language", "zh_CN"), ("font_size", "125"), ("model", "m")):
        control = dialog.control(name)
        control.activated.emit(control.findData(value))
    part = next(p for p in dialog.control("scheme").parts() if p.value == "dark")
    qtbot.mouseClick(part, Qt.MouseButton.LeftButton)
    assert told == [("language", "zh_CN"), ("font_size", 125), ("model", "m"), ("scheme", "dark")]


def test_every_choice_offered_is_a_valid_setting(qtbot, tmp_path):
    from desktop_app.core.settings.settings import Settings

    settings = Settings(tmp_path / "s.json")
    dialog = SettingsDialog(None, settings.get)
    qtbot.addWidget(dialog)
    for name in ("language", "font_size"):
        control = dialog.control(name)
        for i in range(control.count()):
            value = control.itemData(i)
            settings.set(name, int(value) if name == "font_size" else value)
    for name in ("scheme", "density", "motion"):
        for part in dialog.control(name).parts():
            settings.set(name, part.value)


def test_settings_are_put_into_force(theme):
    values = {
        "language": "zh_CN",
        "scheme": "dark",
        "font_size": 150,
        "density": "compact",
        "motion": "full",
    }
    apply(values.__getitem__)
    assert i18n.language() == "zh_CN"
    assert (current().scheme, current().compact, current().reduced_motion) == ("dark", True, False)
    assert current().font("body").pixelSize() == 20
    values["motion"] = "reduced"
    apply(values.__getitem__, ("motion",))
    assert current().reduced_motion


def test_the_dialog_follows_the_font_size_and_stays_on_the_screen(qtbot, theme):
    """What was set could not be set back: the button to close was beyond the screen's edge."""
    dialog = SettingsDialog(None, DEFAULTS.get)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    area = dialog.screen().availableGeometry()
    first = dialog.size()
    dialog.move(area.right() - first.width(), area.bottom() - first.height())
    theme.set_scale(150)
    qtbot.waitUntil(lambda: dialog.width() > first.width())
    qtbot.waitUntil(lambda: dialog.height() > first.height())
    qtbot.waitUntil(lambda: area.contains(dialog.geometry()))
    theme.set_scale(100)
    qtbot.waitUntil(lambda: dialog.width() == first.width())
    qtbot.waitUntil(lambda: dialog.height() < first.height() * 1.1)
