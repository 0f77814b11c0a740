"""The effort in the composer: there where the model takes one, kept with the session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from desktop_app.core.models.base import ModelInfo
from desktop_app.ui.chat.composer import Composer
from desktop_app.ui.chat.composer_choices import EffortButton
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.model import TranscriptModel
from tests.helpers.conversation import FakeConversation

PLAIN = ModelInfo("guide", "Guide", 8_000, 1_000)
THINKS = ModelInfo("m", "Model", 200_000, 16_000, efforts=True)


def actions(button: EffortButton) -> list[QAction]:
    menu = button.menu()
    menu.aboutToShow.emit()
    return [a for a in menu.actions() if not a.isSeparator()]


@pytest.fixture
def composer(qtbot: QtBot, run: Any) -> Any:
    made = Composer()
    qtbot.addWidget(made)
    made.resize(700, 140)
    made.show()
    yield made
    run(made.close_tasks())


def test_it_is_there_only_where_the_model_takes_one(composer: Composer) -> None:
    for model, there in ((None, False), (PLAIN, False), (THINKS, True), (PLAIN, False)):
        composer.effort.show_effort(model, "high")
        assert composer.effort.isVisible() == there
    composer.effort.show_effort(THINKS, "high")
    assert composer.effort.text() == "Effort: high"
    composer.effort.show_effort(THINKS, None)
    assert composer.effort.text() == "Effort: default"
    composer.effort.show_effort(replace(THINKS, effort="low"), None)
    assert composer.effort.text() == "Effort: low", "as the model is set"


def test_the_menu_marks_the_choice_and_leads_back_to_the_models(composer: Composer) -> None:
    got: list[str] = []
    composer.effortChosen.connect(got.append)
    composer.effort.show_effort(replace(THINKS, effort="medium"), "low")
    found = actions(composer.effort)
    assert [a.text() for a in found] == ["As the model is set: Medium", "Low", "Medium", "High"]
    assert [a.text() for a in found if a.isChecked()] == ["Low"]
    found[3].trigger()
    actions(composer.effort)[0].trigger()
    assert got == ["high", ""]


def test_a_choice_is_saved_and_shown(qtbot: QtBot, run: Any) -> None:
    page = ChatPage()
    qtbot.addWidget(page)
    page.resize(900, 600)
    page.show()
    first, second = FakeConversation(title="one"), FakeConversation(title="two")
    second.effort = "low"
    made: list[ChatViewModel] = []
    for conversation in (first, second):
        vm = ChatViewModel(TranscriptModel(), Voice(agent="Analyst"))
        made.append(vm)
        with qtbot.waitSignal(vm.compactionsChanged):
            vm.open(conversation)  # type: ignore[arg-type]
    sources = ChatSources(models=lambda: [THINKS], current_model=lambda: THINKS)
    page.bind(made[0], sources)
    effort = page.composer.effort
    actions(effort)[3].trigger()
    qtbot.waitUntil(lambda: effort.text() == "Effort: high")
    assert first.effort == "high"
    page.bind(made[1], sources)
    assert effort.text() == "Effort: low", "another session has its own"
    page.bind(made[0], ChatSources(current_model=lambda: PLAIN))
    assert not effort.isVisible()
    page.bind(None, ChatSources())
    assert not effort.isVisible()
    for vm in made:
        page.drop(vm)
        run(vm.close())
        vm.deleteLater()
    run(page.close_tasks())
