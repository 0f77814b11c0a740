"""The first page: every way in is real."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog

from desktop_app.ui import i18n
from desktop_app.ui.welcome.checks import look
from desktop_app.ui.welcome.page import WelcomePage
from desktop_app.ui.welcome.parts import Recent, RecentRow
from desktop_app.ui.widgets import Button, Label


@pytest.fixture
def page(qtbot) -> WelcomePage:
    widget = WelcomePage()
    widget.resize(1100, 800)
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def mime(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(p)) for p in paths])
    return data


def drag(page: WelcomePage, data: QMimeData) -> bool:
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDragEnterEvent(QPoint(400, 300), Qt.DropAction.CopyAction, data, buttons, keys)
    event.ignore()
    page.dragEnterEvent(event)
    return event.isAccepted()


def drop(page: WelcomePage, data: QMimeData) -> None:
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action = Qt.DropAction.CopyAction
    page.dropEvent(QDropEvent(QPointF(400, 300), action, data, buttons, keys))


def test_the_demo_opens(page, qtbot):
    with qtbot.waitSignal(page.openDemo):
        qtbot.mouseClick(page.demo_button, Qt.MouseButton.LeftButton)


def test_a_folder_is_chosen_in_a_dialog_that_holds_nothing(page, qtbot, tmp_path):
    qtbot.mouseClick(page.folder_button, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QFileDialog)
    assert dialog.isVisible()
    assert dialog.fileMode() == QFileDialog.FileMode.Directory
    with qtbot.waitSignal(page.openFolder) as blocker:
        dialog.fileSelected.emit(str(tmp_path))
    assert blocker.args == [str(tmp_path)]
    dialog.close()
    qtbot.waitUntil(lambda: page.findChild(QFileDialog) is None)


def test_a_dropped_folder_opens_and_nothing_else_does(page, qtbot, tmp_path):
    folder, file = tmp_path / "季度 reports", tmp_path / "a.txt"
    folder.mkdir()
    file.write_text("x")
    told: list[str] = []
    page.openFolder.connect(told.append)
    assert drag(page, mime(folder))
    drop(page, mime(folder))
    assert told == [str(folder)]
    for paths in ((file,), (folder, tmp_path), ()):
        assert not drag(page, mime(*paths))
        drop(page, mime(*paths))
    assert told == [str(folder)]


def test_recent_by_click_and_key_and_hidden_without_any(page, qtbot):
    told: list[str] = []
    page.openRecent.connect(told.append)
    assert not page._recent.isVisible()
    page.set_recent(
        [Recent("a", "field-sales", "/x/field-sales", "2 h"), Recent("b", "b", "/y", missing=True)]
    )
    rows = page.findChildren(RecentRow)
    qtbot.mouseClick(rows[0], Qt.MouseButton.LeftButton)
    qtbot.keyClick(rows[1], Qt.Key.Key_Return)
    assert told == ["a", "b"]
    assert rows[0].accessibleName() == "Open field-sales"
    assert rows[1].accessibleDescription() == "/y is not there now"
    page.set_recent([])
    assert not page._recent.isVisible()


def test_language_and_look_are_told(page, qtbot):
    told: list[str] = []
    page.languageChosen.connect(told.append)
    page.schemeChosen.connect(told.append)
    choice = page.side.language
    choice.activated.emit(choice.findData("zh_CN"))
    dark = next(p for p in page.side.scheme.parts() if p.value == "dark")
    qtbot.mouseClick(dark, Qt.MouseButton.LeftButton)
    assert told == ["zh_CN", "dark"]
    assert dark.accessibleName() == "Dark"


def test_all_words_change_with_the_language(page, tmp_path):
    page.set_checks(look(tmp_path))
    english = [label.text() for label in page.findChildren(Label) if label.text()]
    i18n.set_language("zh_CN")
    same = set(english) & {label.text() for label in page.findChildren(Label)}
    assert {t for t in same if not t.startswith("/")} <= {"Slipway", "Git"}
    assert page.folder_button.text() == "打开文件夹"


def test_checks_say_what_was_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {check.id: check for check in look(tmp_path / "not" / "yet")}
    assert found["disk"].tone == "success"
    assert "free where data lives" in found["disk"].detail()
    assert found["git"].tone == "warning"
    assert "not installed" in found["rg"].detail()


def test_a_model_can_be_added_from_the_first_page(page, qtbot, tmp_path):
    page.set_checks(look(tmp_path))
    button = next(b for b in page.findChildren(Button) if b.text() == "Add a model…")
    with qtbot.waitSignal(page.actWanted) as wanted:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert wanted.args == ["model"]
    page.set_checks(look(tmp_path, "Tern"))
    qtbot.waitUntil(
        lambda: (
            "New sessions begin with Tern."
            in [label.text() for label in page.findChildren(Label) if label.isVisible()]
        )
    )


def test_narrow_windows_keep_everything_reachable(page, qtbot):
    page.resize(760, 420)
    qtbot.waitUntil(lambda: page.folder_button.mapTo(page, QPoint(0, 0)).x() > 320)
    right = page.folder_button.mapTo(page, QPoint(page.folder_button.width(), 0)).x()
    assert right <= page.width()
