"""The parts around the pages."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.ui import i18n
from desktop_app.ui.frame import TopBar
from desktop_app.ui.i18n import mark, tr
from desktop_app.ui.theme import Theme
from desktop_app.ui.widgets.menu import Menu

NAMES = (mark("File"), mark("Session"), mark("View"))


@pytest.mark.parametrize("percent", [80, 100, 200])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_menu_stays_in_the_bar(
    qtbot: QtBot, theme: Theme, percent: int, language: str
) -> None:
    """A menu bar hides all its menus when one of them is a pixel too high for it."""
    theme.set_scale(percent)
    bar = TopBar("Ctrl+K")
    qtbot.addWidget(bar)
    for name in NAMES:
        menu = Menu(lambda name=name: tr(name), bar.menus)
        bar.menus.addMenu(menu)
        menu.addAction("anything")
    bar.resize(theme.px(1200), bar.height())
    bar.show()
    i18n.set_language(language)
    qtbot.waitUntil(lambda: bar.menus.actions()[0].text() == tr("File"))
    qtbot.waitUntil(lambda: bar.menus.height() >= bar.menus.sizeHint().height())
    image = bar.grab().toImage()
    for action in bar.menus.actions():
        place = bar.menus.actionGeometry(action)
        assert bar.menus.rect().contains(place)
        corner = bar.menus.mapTo(bar, place.topLeft())
        inside = {
            image.pixel(corner.x() + x, corner.y() + y)
            for x in range(place.width())
            for y in range(place.height())
        }
        assert len(inside) > 2, f"{action.text()} is not painted"
