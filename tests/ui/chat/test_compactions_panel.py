"""The log of compactions in the inspector, and what can be done about one that failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core import events as ev
from desktop_app.ui.chat.inspector.compactions_panel import CompactionsPanel
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.chat.ways import ways_after
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.transcript.rows import NoticeRow
from desktop_app.ui.widgets.rows import Role
from tests.helpers.conversation import FakeConversation, compaction

FAILED = ("compaction.failed", {"reason": "model.refused"})


class Stage:
    def __init__(self, qtbot: QtBot, conversation: FakeConversation) -> None:
        self.conversation = conversation
        self.vm = ChatViewModel(TranscriptModel())
        self.panel, self.page = CompactionsPanel(), ChatPage()
        for widget in (self.panel, self.page):
            qtbot.addWidget(widget)
        self.vm.open(conversation)  # type: ignore[arg-type]
        self.panel.bind(self.vm)
        self.page.bind(self.vm, ChatSources())
        self.panel.show()
        qtbot.waitUntil(lambda: self.vm.breakdown is not None)

    def rows(self) -> list[tuple[str, str]]:
        model = self.panel.model
        items = (model.item(row) for row in range(model.rowCount()))
        return [(item.text(), item.data(Role.DETAIL)) for item in items]

    def ways(self) -> list[str]:
        return [name for name, b in self.panel.ways.items() if b.isVisible()]


@pytest.fixture
def stage(qtbot: QtBot, run: Any) -> Iterator[Stage]:
    made = Stage(qtbot, FakeConversation())
    yield made
    made.panel.bind(None)
    made.page.bind(None, ChatSources())
    run(made.vm.close())


def test_what_was_taken_back_and_what_failed_stays_in_the_log(stage: Stage, qtbot: QtBot) -> None:
    stage.vm.compact()
    qtbot.waitUntil(lambda: len(stage.rows()) == 1 and stage.panel.undo.isEnabled())
    assert stage.panel.undo.isVisible()
    stage.panel.undo.click()
    qtbot.waitUntil(lambda: stage.rows()[0][1] == "taken back · by hand")
    assert not stage.panel.undo.isVisible()
    assert stage.panel.look.isVisible()
    stage.conversation.compact_error = FAILED
    stage.vm.compact()
    qtbot.waitUntil(lambda: len(stage.rows()) == 2)
    assert stage.rows()[0] == ("The compaction failed", "by hand")
    assert "Nothing changed." in stage.panel.detail.text()
    assert not stage.panel.look.isVisible()


def test_a_failure_offers_to_go_on_without_the_model_or_with_another(
    stage: Stage, qtbot: QtBot
) -> None:
    stage.conversation.compact_error = FAILED
    stage.vm.compact()
    qtbot.waitUntil(lambda: stage.ways() == ["compact", "compact_plain", "choose_model"])
    qtbot.waitUntil(lambda: stage.panel.ways["compact_plain"].isEnabled())
    with qtbot.waitSignal(stage.page.actionRequested) as asked:
        stage.panel.ways["choose_model"].click()
    assert asked.args == ["choose_model"]
    stage.conversation.compact_error = None
    stage.panel.ways["compact_plain"].click()
    qtbot.waitUntil(lambda: len(stage.vm.compactions) == 1)
    assert stage.conversation.calls[-1] == "compact without notes"
    qtbot.waitUntil(lambda: len(stage.rows()) == 2)
    assert stage.ways() == []  # the newest holds


def test_the_card_in_the_chat_offers_the_same(stage: Stage, qtbot: QtBot) -> None:
    stage.conversation.compact_error = FAILED
    stage.vm.compact()
    rows = stage.vm.rows
    assert isinstance(rows, TranscriptModel)
    qtbot.waitUntil(lambda: rows.get("x:compaction-failed") is not None)
    card = rows.get("x:compaction-failed")
    assert isinstance(card, NoticeRow)
    assert [a.id for a in card.actions] == ["compact", "compact_plain", "choose_model"]
    qtbot.waitUntil(lambda: stage.vm.activity == "idle")
    stage.page.row_action("x:compaction-failed", "compact_plain")
    qtbot.waitUntil(lambda: stage.conversation.calls[-1] == "compact without notes")
    with qtbot.waitSignal(stage.page.actionRequested):
        stage.page.row_action("x:compaction-failed", "choose_model")
    qtbot.waitUntil(lambda: stage.vm.activity == "idle")


def test_trying_again_is_offered_only_where_it_may_end_otherwise() -> None:
    assert ways_after("compaction.not_smaller") == ()
    assert ways_after("compaction.cannot_fit") == ("choose_model",)
    assert ways_after("compaction.stopped") == ("compact",)
    assert ways_after("model.rate_limited")[1] == "compact_plain"


def test_who_reads_an_older_one_keeps_it_when_another_comes(stage: Stage, qtbot: QtBot) -> None:
    for gen in (1, 2):
        stage.conversation.tell(ev.CompactionFinished(compaction(gen)))
        stage.conversation.made.append(compaction(gen))
    qtbot.waitUntil(lambda: len(stage.rows()) == 2)
    stage.panel.choose("c-1")
    assert not stage.panel.undo.isVisible()
    stage.conversation.made.append(compaction(3))
    stage.conversation.tell(ev.CompactionFinished(compaction(3)))
    qtbot.waitUntil(lambda: len(stage.rows()) == 3)
    assert stage.panel.view.currentIndex().row() == 2


def test_the_log_shows_the_providers_count_as_the_chat_does(stage: Stage, qtbot: QtBot) -> None:
    stage.conversation.made.append(compaction(1))
    stage.conversation.tell(ev.CompactionFinished(compaction(1)))
    qtbot.waitUntil(lambda: len(stage.rows()) == 1)
    assert stage.rows()[0][0] == "162k → 39k"
    assert stage.panel.detail.text().startswith("estimated · ")
    stage.conversation.made[0] = replace(compaction(1), measured=41_200)
    stage.conversation.tell(ev.CompactionMeasured("c-1", 1, 41_200))
    qtbot.waitUntil(lambda: stage.rows()[0][0] == "162k → 41k")
    assert stage.panel.detail.text().startswith("measured · ")
