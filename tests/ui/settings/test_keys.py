"""Where keys are kept, in the window: the choice, the passphrase, and what can be changed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.secrets import KeyFile, Secrets
from desktop_app.core.secrets.sealed import Cost
from desktop_app.core.tasks import Tasks
from desktop_app.ui import i18n
from desktop_app.ui.settings.key_choice import KeyChoiceDialog
from desktop_app.ui.settings.key_questions import KeyQuestions
from desktop_app.ui.settings.keys_dialog import KeysDialog
from desktop_app.ui.settings.passphrase import PassphraseDialog
from desktop_app.ui.theme import theme as current
from desktop_app.ui.widgets import ConfirmDialog, Label

CHEAP = Cost(n=1 << 4)
WORDS = "correct horse battery"
KEY = "sk-a-key-of-the-tests-0123456789"
Run = Callable[..., Any]


class Desk:
    """A window with questions about keys over it."""

    def __init__(self, qtbot: Any, run: Run, home: Path, ring: Any = None) -> None:
        self.qtbot, self.run = qtbot, run
        self.path = home / "data" / "keys.json"
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.window.show()
        self.errors: list[SlipwayError] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))  # type: ignore[arg-type]
        self.ring = ring
        self.start()

    def start(self) -> None:
        """The program begins, the key file locked."""
        self.secrets = Secrets(lambda: self.ring, file=KeyFile(self.path, CHEAP))
        self.questions = KeyQuestions(self.secrets, self.window, self.errors.append)
        self.secrets.asks = self.questions

    def do(self, work: Any) -> asyncio.Task[Any]:
        return self.tasks.start(work, name="work")

    def done(self, task: asyncio.Task[Any]) -> Any:
        self.qtbot.waitUntil(task.done, timeout=20_000)
        return task.result()

    def dialog(self, kind: type[QWidget]) -> Any:
        found: list[QWidget] = []

        def there() -> bool:
            tops = QApplication.topLevelWidgets()
            found[:] = [w for w in tops if type(w) is kind and w.isVisible()]
            return bool(found)

        self.qtbot.waitUntil(there, timeout=20_000)
        assert len(found) == 1, "one question at a time"
        return found[0]

    def end(self) -> None:
        self.run(self.questions.close())
        self.run(self.tasks.close())


@pytest.fixture
def desk(qtbot: Any, run: Run, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(qtbot, run, tmp_path)
    yield made
    made.end()


def press(button: Any) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def write(field: Any, text: str) -> None:
    field.edit.setFocus()
    field.edit.clear()
    QTest.keyClicks(field.edit, text)


def gone(dialog: QWidget) -> bool:
    return not shiboken6.isValid(dialog) or not dialog.isVisible()


def words(widget: QWidget) -> str:
    labels = [w for w in widget.findChildren(Label) if w.isVisibleTo(widget)]
    return "\n".join(label.text() for label in labels)


def test_a_key_goes_into_a_file_that_the_person_makes_and_comes_out_again(desk: Desk) -> None:
    saving = desk.do(desk.secrets.put("openai", KEY))
    choice = desk.dialog(KeyChoiceDialog)
    assert choice.in_file.isChecked(), "what keeps the key is the first choice"
    assert choice.fields.first.edit.echoMode() == QLineEdit.EchoMode.Password
    write(choice.fields.first, "short")
    press(choice.go)
    assert "At least 8 characters." in words(choice)
    write(choice.fields.first, WORDS)
    write(choice.fields.again, WORDS + "x")
    press(choice.go)
    assert "That is another one." in words(choice)
    assert not desk.path.exists(), "nothing is made before it is right"
    write(choice.fields.again, WORDS)
    QTest.keyClick(choice.fields.again.edit, Qt.Key.Key_Return)
    assert desk.done(saving) == "file"

    desk.start()
    asked = [desk.do(desk.secrets.get("openai")) for _ in range(3)]
    question = desk.dialog(PassphraseDialog)
    write(question.fields.first, "not the one")
    press(question.go)
    desk.qtbot.waitUntil(lambda: "That is not the passphrase." in words(question))
    assert question.isVisible()
    write(question.fields.first, WORDS)
    press(question.go)
    assert [desk.done(task) for task in asked] == [KEY] * 3
    assert desk.errors == []


def test_this_run_only_is_one_press_and_not_asked_again(desk: Desk) -> None:
    saving = desk.do(desk.secrets.put("openai", KEY))
    choice = desk.dialog(KeyChoiceDialog)
    press(choice.session)
    assert not choice.fields.isVisibleTo(choice)
    press(choice.go)
    assert desk.done(saving) == "session"
    assert desk.done(desk.do(desk.secrets.put("another", KEY))) == "session"
    assert not desk.path.exists()


def test_not_now_is_heard_and_nothing_else_asks_again(desk: Desk) -> None:
    desk.run(desk.secrets.make_file(WORDS))
    desk.run(desk.secrets.put("openai", KEY))
    desk.start()
    asked = [desk.do(desk.secrets.get("openai")) for _ in range(2)]
    question = desk.dialog(PassphraseDialog)
    QTest.keyClick(question, Qt.Key.Key_Escape)
    assert [desk.done(task) for task in asked] == ["", ""]
    assert desk.done(desk.do(desk.secrets.get("openai"))) == ""
    assert desk.run(desk.secrets.locked("openai"))


def test_a_server_s_thread_is_asked_in_the_window_too(desk: Desk) -> None:
    desk.run(desk.secrets.make_file(WORDS))
    desk.run(desk.secrets.put("mcp a", KEY))
    desk.start()
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(desk.secrets.get("mcp a"))))
    thread.start()
    question = desk.dialog(PassphraseDialog)
    write(question.fields.first, WORDS)
    press(question.go)
    desk.qtbot.waitUntil(lambda: bool(found), timeout=20_000)
    thread.join()
    assert found == [KEY]


def test_it_is_seen_locked_opened_changed_and_forgotten(desk: Desk) -> None:
    desk.run(desk.secrets.make_file(WORDS))
    desk.run(desk.secrets.put("openai", KEY))
    dialog = KeysDialog(None, desk.secrets, desk.questions)
    desk.qtbot.addWidget(dialog)
    dialog.show()
    shown = desk.qtbot.waitUntil
    shown(lambda: "unlocked" in dialog.place.text())
    assert str(desk.path) in dialog.file.text()
    assert "1 key" in dialog.file.text()
    assert not dialog.move_.isVisible(), "there is no keyring to move them into"
    press(dialog.lock)
    shown(lambda: "which is locked" in dialog.place.text())
    press(dialog.unlock)
    question = desk.dialog(PassphraseDialog)
    write(question.fields.first, WORDS)
    press(question.go)
    shown(lambda: dialog.lock.isVisible())

    press(dialog.change)
    question = desk.dialog(PassphraseDialog)
    write(question.fields.former, "not the one")
    write(question.fields.first, "a wholly new one")
    write(question.fields.again, "a wholly new one")
    before = desk.path.read_bytes()
    press(question.go)
    shown(lambda: "That is not the passphrase." in words(question))
    assert desk.path.read_bytes() == before
    write(question.fields.former, WORDS)
    press(question.go)
    shown(lambda: gone(question))
    desk.start()
    desk.run(desk.secrets.unlock_file("a wholly new one"))
    assert desk.run(desk.secrets.get("openai")) == KEY

    press(dialog.forget)
    sure = desk.dialog(ConfirmDialog)
    assert "1 key" in words(sure)
    press(sure.cancel)
    shown(lambda: gone(sure))
    assert desk.path.exists()
    shown(lambda: dialog.forget.isVisible())
    press(dialog.forget)
    press(desk.dialog(ConfirmDialog).go)
    shown(lambda: "Nowhere" in dialog.place.text())
    assert not desk.path.exists()
    assert dialog.make.isVisible()
    dialog.accept()


def test_a_damaged_file_is_told_at_the_start_and_a_restored_one_once(desk: Desk) -> None:
    desk.run(desk.secrets.make_file(WORDS))
    desk.run(desk.secrets.put("openai", KEY))
    desk.run(desk.secrets.put("another", KEY))
    whole = desk.path.read_bytes()
    desk.path.write_bytes(whole[:90])
    desk.start()
    desk.questions.start()
    asked = desk.do(desk.secrets.get("openai"))
    question = desk.dialog(PassphraseDialog)
    assert desk.errors == [], "the backup will do: nobody is frightened before"
    write(question.fields.first, WORDS)
    press(question.go)
    assert desk.done(asked) == KEY
    assert [e.code for e in desk.errors] == ["secrets.restored"]
    assert Path(desk.errors[0].params["path"]).read_bytes() == whole[:90]

    desk.path.write_bytes(b"")
    desk.path.with_name("keys.json.bak").unlink()
    desk.errors.clear()
    desk.start()
    desk.questions.start()
    desk.qtbot.waitUntil(lambda: bool(desk.errors))
    assert [e.code for e in desk.errors] == ["secrets.damaged"]
    dialog = KeysDialog(None, desk.secrets, desk.questions)
    desk.qtbot.addWidget(dialog)
    dialog.show()
    desk.qtbot.waitUntil(lambda: "damaged" in dialog.told.text())
    assert dialog.make.isVisible()
    dialog.accept()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_in_both_languages_and_looks(desk: Desk, scheme: Any, language: str) -> None:
    """Nothing is cut off, and the passphrase is in no text."""
    current().set_scheme(scheme)
    i18n.set_language(language)
    try:
        dialogs = [
            KeyChoiceDialog(None, desk.secrets),
            PassphraseDialog(None, "change", desk.secrets),
            KeysDialog(None, desk.secrets),
        ]
        for dialog in dialogs:
            desk.qtbot.addWidget(dialog)
            dialog.show()
            desk.qtbot.waitUntil(lambda d=dialog: d.isVisible() and bool(words(d)))
            for label in dialog.findChildren(Label):
                if label.isVisible() and label.wordWrap():
                    assert label.height() >= label.heightForWidth(label.width()) - 1, label.text()
            dialog.reject()
    finally:
        i18n.set_language("en")
        current().set_scheme("light")
