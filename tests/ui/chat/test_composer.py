"""Writing a message: keys, input methods, attachments, mentions, drafts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop_app.core.agent.base import Attachment
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.models.base import ModelInfo
from desktop_app.ui.chat import attach
from desktop_app.ui.chat.composer import Composer
from desktop_app.ui.chat.mentions import FileNames, rank
from desktop_app.ui.chat.message_edit import MessageEdit
from desktop_app.ui.theme import Theme


@pytest.fixture
def composer(qtbot: QtBot, run: Any) -> Any:
    made = Composer()
    qtbot.addWidget(made)
    made.resize(700, 140)
    made.show()
    made.setFocus()
    yield made
    run(made.close_tasks())


def sent(composer: Composer) -> list[tuple[str, list[Attachment]]]:
    got: list[tuple[str, list[Attachment]]] = []
    composer.submitted.connect(lambda text, files: got.append((text, files)))
    return got


def preedit(composer: Composer, text: str, commit: str = "") -> None:
    event = QInputMethodEvent(text, [])
    if commit:
        event.setCommitString(commit)
    QApplication.sendEvent(composer.edit, event)


def test_enter_sends_and_shift_enter_makes_a_line(qtbot: QtBot, composer: Composer) -> None:
    got = sent(composer)
    qtbot.keyClicks(composer.edit, "one")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.edit, "two")
    assert got == []
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert got == [("one\ntwo", [])]
    assert composer.text() == ""


def test_nothing_but_space_is_not_sent(qtbot: QtBot, composer: Composer) -> None:
    got = sent(composer)
    qtbot.keyClicks(composer.edit, "   ")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert got == []
    assert not composer.send.isEnabled()


def test_enter_and_esc_belong_to_the_input_method_while_it_composes(
    qtbot: QtBot, composer: Composer
) -> None:
    got = sent(composer)
    stopped: list[int] = []
    composer.stopRequested.connect(lambda: stopped.append(1))
    composer.set_busy(True)
    qtbot.keyClicks(composer.edit, "a")
    preedit(composer, "ni hao")
    assert composer.edit.composing
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)
    assert got == []
    assert stopped == []
    preedit(composer, "", commit="你好")
    assert not composer.edit.composing
    assert "你好" in composer.text()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)
    assert stopped == [1]
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert len(got) == 1


def test_the_placeholder_gives_way_to_a_preedit(composer: Composer) -> None:
    assert composer.edit.placeholderText()
    preedit(composer, "ni")
    assert composer.edit.placeholderText() == ""
    preedit(composer, "")
    assert composer.edit.placeholderText()


def test_the_field_grows_to_eight_lines_then_scrolls(qtbot: QtBot, composer: Composer) -> None:
    one = composer.edit.height()
    composer.set_content("\n".join("x" * 4), [])
    four = composer.edit.height()
    composer.set_content("\n".join("x" * 40), [])
    eight = composer.edit.height()
    assert one < four < eight
    composer.set_content("\n".join("x" * 400), [])
    assert composer.edit.height() == eight
    assert composer.edit.verticalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def test_files_are_attached_by_path_inside_and_by_bytes_outside(run: Any, tmp_path: Path) -> None:
    inside = tmp_path / "ws"
    (inside / "data").mkdir(parents=True)
    (inside / "data" / "a b.csv").write_text("x")
    (tmp_path / "note.txt").write_text("hello")
    made = run(attach.from_file(str(inside / "data" / "a b.csv"), str(inside)))
    assert (made.path, made.data, made.media_type) == ("data/a b.csv", None, "text/csv")
    made = run(attach.from_file(str(tmp_path / "note.txt"), str(inside)))
    assert made.path is None
    assert made.data is not None
    assert made.data.source.data == "aGVsbG8="
    for path, code in ((tmp_path / "gone", "file.missing"), (tmp_path, "file.is_dir")):
        with pytest.raises(WorkspaceError) as failed:
            run(attach.from_file(str(path), str(inside)))
        assert failed.value.code == code


def test_a_large_file_is_refused_with_its_size(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attach, "MAX_BYTES", 10)
    (tmp_path / "big.bin").write_bytes(b"x" * 11)
    with pytest.raises(WorkspaceError) as failed:
        run(attach.from_file(str(tmp_path / "big.bin"), None))
    assert (failed.value.code, failed.value.params["size"]) == ("file.too_large", 11)


def test_pasted_files_images_and_long_texts_become_chips(
    qtbot: QtBot, composer: Composer, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.txt"))])
    composer.edit.insertFromMimeData(data)
    qtbot.waitUntil(lambda: len(composer.attachments()) == 1)
    picture = QMimeData()
    picture.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    composer.edit.insertFromMimeData(picture)
    long = QMimeData()
    long.setText("x" * (attach.LONG_PASTE + 1))
    composer.edit.insertFromMimeData(long)
    names = [a.media_type for a in composer.attachments()]
    assert names == ["text/plain", "image/png", "text/plain"]
    assert composer.text() == ""
    assert composer.send.isEnabled()
    composer.chips.drop(composer.chips._chips[0])
    assert len(composer.attachments()) == 2


def test_a_model_that_sees_no_images_says_so_before_it_is_sent(composer: Composer) -> None:
    blind = ModelInfo("m", "Tern", 8_000, 1_000)
    composer.show_model(blind)
    composer.chips.add(attach.from_bytes("a.csv", b"1,2"))
    assert composer.blind.isHidden()
    composer.chips.add(attach.from_bytes("dot.png", b"\x89PNG"))
    assert composer.blind.text() == "Tern sees no images: dot.png"
    assert composer.blind.isVisible()
    composer.show_model(replace(blind, images=True))
    assert composer.blind.isHidden()
    composer.show_model(blind)
    composer.set_content("", [])
    assert composer.blind.isHidden()


def test_a_failed_attachment_is_told(qtbot: QtBot, composer: Composer, tmp_path: Path) -> None:
    with qtbot.waitSignal(composer.failed) as failed:
        composer.add_files([str(tmp_path / "gone.txt")])
    assert failed.args is not None
    assert failed.args[0] == "file.missing"


def test_up_in_an_empty_field_takes_the_queued_message(qtbot: QtBot, composer: Composer) -> None:
    asked: list[int] = []
    composer.queueEdited.connect(lambda: asked.append(1))
    qtbot.keyClick(composer.edit, Qt.Key.Key_Up)
    assert asked == []
    composer.set_queue("later", 0)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Up)
    assert asked == [1]
    qtbot.keyClicks(composer.edit, "x")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Up)
    assert asked == [1]


def test_a_reason_switches_everything_off_and_is_shown(qtbot: QtBot, composer: Composer) -> None:
    got = sent(composer)
    composer.set_content("text stays", [])
    composer.set_disabled("Another window writes this session.")
    assert not composer.edit.isEnabled()
    assert not composer.send.isEnabled()
    assert composer.why.text() == "Another window writes this session."
    composer._submit()
    assert got == []
    composer.set_disabled("")
    assert composer.text() == "text stays"
    assert composer.send.isEnabled()


def test_stop_is_there_while_a_run_is_on_and_send_queues(qtbot: QtBot, composer: Composer) -> None:
    assert composer.stop.isHidden()
    composer.set_busy(True)
    assert not composer.stop.isHidden()
    assert composer.send.isHidden()
    qtbot.keyClicks(composer.edit, "next")
    assert not composer.send.isHidden()
    assert composer.send.accessibleName() == "Queue the message"
    composer.set_busy(True, stopping=True)
    assert not composer.stop.isEnabled()


def test_tokens_are_counted_after_a_moment(qtbot: QtBot, composer: Composer) -> None:
    composer.count = lambda text: len(text.split())
    qtbot.keyClicks(composer.edit, "one two three")
    qtbot.waitUntil(lambda: composer.tokens.text() == "≈ 3 tokens")
    composer.set_content("", [])
    qtbot.waitUntil(lambda: composer.tokens.text() == "")


def test_a_mention_is_offered_and_inserted(qtbot: QtBot, composer: Composer) -> None:
    async def suggest(query: str) -> list[str]:
        return rank(query, ["notes.md", "data/sales figures.csv", "src/app.py"])

    composer.suggest = suggest
    qtbot.keyClicks(composer.edit, "look at @sa")
    found = ["data/sales figures.csv", "src/app.py"]
    qtbot.waitUntil(lambda: composer.mentions.paths() == found)
    assert composer.edit.mention_keys
    got = sent(composer)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert got == []
    assert composer.text() == 'look at @"data/sales figures.csv" '
    assert not composer.edit.mention_keys
    composer.set_content("mail a@b", [])
    assert composer.edit.mention_at_cursor() is None


def test_esc_closes_the_list_and_does_not_stop(qtbot: QtBot, composer: Composer) -> None:
    async def suggest(query: str) -> list[str]:
        return ["a.txt"]

    stopped: list[int] = []
    composer.stopRequested.connect(lambda: stopped.append(1))
    composer.set_busy(True)
    composer.suggest = suggest
    qtbot.keyClicks(composer.edit, "@a")
    qtbot.waitUntil(lambda: composer.edit.mention_keys)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)
    assert stopped == []
    assert not composer.mentions.isVisible()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)
    assert stopped == [1]


def test_ranking_prefers_names_that_begin_so() -> None:
    paths = ["deep/in/readme.md", "src/red.py", "read.txt", "a/bread.txt", "x/r-e-a-d"]
    assert rank("read", paths) == ["read.txt", "deep/in/readme.md", "a/bread.txt", "x/r-e-a-d"]
    assert rank("", ["b/c", "a", "b"]) == ["a", "b", "b/c"]


def test_file_names_come_from_the_backend_and_skip_what_nobody_means(
    run: Any, tmp_path: Path
) -> None:
    from desktop_app.core.workspaces.local import LocalBackend

    for name in ("a.md", "src/b.py", ".git/config", "node_modules/x/y.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    backend = LocalBackend(str(tmp_path))
    run(backend.start())
    names = FileNames(backend)
    assert run(names.suggest("")) == ["a.md", "src/", "src/b.py"]
    run(backend.close())


def test_stop_is_whole_in_a_narrow_chat(composer: Composer, qtbot: QtBot) -> None:
    composer.show_model(ModelInfo("m", "Tern", 8_000, 1_000))
    composer.effort.show()
    composer.ring.show()
    composer.set_busy(True, stopping=False)
    holder = QWidget()
    composer.setParent(holder)  # whose layout does not ask how wide it would like to be
    holder.resize(800, 200)
    holder.show()
    composer.show()
    for width, words in ((700, "Stop Esc"), (345, "")):
        composer.setGeometry(0, 0, width, 140)
        drawn = ["icon", *(["text"] if words else []), *(["keys"] if "Esc" in words else [])]
        qtbot.waitUntil(lambda w=drawn: [kind for kind, _ in composer.stop._fitted()] == w)
        assert composer.stop.width() >= composer.stop.minimumSizeHint().width()
        assert composer.stop.geometry().right() < composer.width(), "nothing of it is cut"
    composer.setParent(None)


def test_the_placeholder_follows_the_font_size_and_the_width(qtbot: QtBot, theme: Theme) -> None:
    edit = MessageEdit("Ask for something to be done in this workspace")
    qtbot.addWidget(edit)
    edit.resize(600, 40)
    edit.show()
    theme.set_scale(200)
    assert edit.viewport().font().pixelSize() == theme.font("message").pixelSize()
    assert edit.placeholderText().endswith("…"), "one line, in the room there is"
    edit.resize(2000, 40)
    qtbot.waitUntil(lambda: edit.placeholderText().endswith("workspace"))
