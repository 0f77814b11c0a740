"""The list of what a session offloaded: found, read, with the place where it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_app.core.agent.offloads import Offload
from desktop_app.core.messages import Msg, TextBlock
from desktop_app.ui import i18n
from desktop_app.ui.chat.offloads_dialog import PAGE, OffloadsDialog, place_words
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.model import TranscriptModel
from tests.helpers.conversation import FakeConversation

SAID = Msg(id="m1", name="u", role="user", content=[TextBlock(text="Never touch data/raw.")])
WHY = ("offload.refused", {"path": "p", "kind": "OSError", "detail": "the vault is shut"})


def png() -> bytes:
    image = QImage(900, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(held.data())


RESULT, LINES = "sessions/s/tool_result-c1.txt", "sessions/s/context.jsonl"
KEPT = [
    Offload("k3", "data", "data/abc.png", 80, 1, 30, "b3", place="s3://b/abc.png", store="S3"),
    Offload("k2", "tool_result", RESULT, 90, 1, 20, "b2", label="Read", why=WHY),
    Offload("k1", "messages", LINES, 99, 1, 10, "b1", place="s3://b/1", store="S3"),
]


class Stage:
    def __init__(self, qtbot: QtBot) -> None:
        self.conversation = FakeConversation()
        self.vm = ChatViewModel(TranscriptModel())
        self.page = ChatPage()
        qtbot.addWidget(self.page)
        self.vm.open(self.conversation)  # type: ignore[arg-type]
        self.page.bind(self.vm, ChatSources())
        self.conversation.contents = {
            "k1": (SAID.model_dump_json() + "\n").encode(),
            "k2": b"line\n" * PAGE,
            "k3": png(),
        }
        self.qtbot = qtbot

    def open(self, path: str = "") -> OffloadsDialog:
        self.page.work.offloads.open(path)
        self.qtbot.waitUntil(lambda: bool(self.page.findChildren(OffloadsDialog)))
        [dialog] = self.page.findChildren(OffloadsDialog)
        return dialog


@pytest.fixture
def stage(qtbot: QtBot, run: Any) -> Iterator[Stage]:
    made = Stage(qtbot)
    yield made
    for dialog in made.page.findChildren(OffloadsDialog):
        dialog.reject()
    run(made.page.work.close())
    made.page.bind(None, ChatSources())
    run(made.vm.close())


def test_each_is_read_and_says_where_it_is(stage: Stage, qtbot: QtBot) -> None:
    stage.conversation.kept = KEPT
    dialog = stage.open()
    assert dialog.model.rowCount() == 3
    qtbot.waitUntil(lambda: dialog.pages.currentIndex() == 1)
    assert dialog.image.pixmap().width() <= 900
    assert dialog.place.text() == "In S3: s3://b/abc.png"
    dialog.copy.click()
    assert QApplication.clipboard().text() == "s3://b/abc.png"
    dialog.choose("k1")
    qtbot.waitUntil(lambda: "Never touch data/raw." in dialog.text.toPlainText())
    assert dialog.text.toPlainText().startswith("▸ You"), "as somebody reads it, not as JSON"
    dialog.choose("k2")
    qtbot.waitUntil(dialog.more.isEnabled)
    assert "Your offloader answered: OSError (the vault is shut)" in dialog.place.text()
    assert not dialog.copy.isEnabled()
    dialog.more.click()
    assert dialog.back.isEnabled()
    assert "of 1,310,720 characters" in dialog.where.text()


def test_one_is_found_by_its_tool_and_by_its_place(stage: Stage) -> None:
    stage.conversation.kept = KEPT
    dialog = stage.open()
    dialog.search.searched.emit("read")
    assert [dialog.model.item(i).text() for i in range(dialog.model.rowCount())] == [
        "Result of Read"
    ]
    dialog.search.searched.emit("s3://b/1")
    assert [dialog.model.item(0).text(), dialog.model.rowCount()] == ["1 message", 1]
    dialog.search.searched.emit("")
    assert dialog.model.rowCount() == 3


def test_the_result_of_a_card_is_found_in_a_store_of_ones_own(stage: Stage, qtbot: QtBot) -> None:
    stage.conversation.kept = KEPT
    stage.page.work.offloads.look("offload:sessions/s/tool_result-c1.txt")
    qtbot.waitUntil(lambda: bool(stage.page.findChildren(OffloadsDialog)))
    [dialog] = stage.page.findChildren(OffloadsDialog)
    assert dialog.kept is not None
    assert dialog.kept.id == "k2"
    qtbot.waitUntil(lambda: dialog.text.toPlainText().startswith("line"))


def test_nothing_offloaded_and_content_that_is_gone_say_so(stage: Stage, qtbot: QtBot) -> None:
    dialog = stage.open()
    assert not dialog.empty.isHidden()
    assert dialog.both.isHidden()
    dialog.reject()
    qtbot.waitUntil(lambda: not stage.page.findChildren(OffloadsDialog))
    stage.conversation.kept = KEPT
    stage.conversation.contents = {}
    again = stage.open()
    qtbot.waitUntil(lambda: "Stored content is gone" in again.text.toPlainText())


def test_places_in_words() -> None:
    here = Offload("k", "messages", "n", 1, 1, 0, "b", place="sessions/s/context.jsonl")
    assert place_words(here) == "In the workspace: sessions/s/context.jsonl"
    waiting = Offload("k", "messages", "n", 1, 1, 0, "b")
    assert place_words(waiting).startswith("On its way")
    i18n.set_language("zh_CN")
    assert place_words(here) == "在工作区：sessions/s/context.jsonl"


def test_no_line_is_kept_free_for_what_is_not_said(stage: Stage, qtbot: QtBot, theme: Any) -> None:
    stage.conversation.kept = KEPT
    dialog = stage.open("sessions/s/context.jsonl")
    qtbot.waitUntil(lambda: "Never touch data/raw." in dialog.text.toPlainText())
    assert dialog.where.isHidden()
    before = dialog.text.fontMetrics().height()
    theme.set_scale(200)
    assert dialog.text.fontMetrics().height() > 1.5 * before, "it is read at the new size"
    dialog.choose("k2")
    qtbot.waitUntil(lambda: not dialog.where.isHidden())
