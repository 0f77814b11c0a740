"""The permissions of a session in the window: modes in words, rules listed, added, changed,
removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_app.core.state import Rule
from desktop_app.ui import i18n
from desktop_app.ui.chat.composer_choices import MODES, ModeButton
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.permissions_dialog import PermissionsDialog
from desktop_app.ui.chat.permissions_words import mode_meaning
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.transcript.model import TranscriptModel
from tests.helpers.conversation import FakeConversation

RULES = [
    Rule(tool_name="Bash", rule_content="git push:*", behavior="deny"),
    Rule(tool_name="Write", rule_content="migrations/**", behavior="ask"),
    Rule(tool_name="Bash", rule_content="npm test:*", source="suggested"),
    Rule(tool_name="Edit", rule_content="src/**", source="projectSettings"),
    Rule(tool_name="mcp__search__web", rule_content=None),
]


@pytest.fixture
def dialog(qtbot: QtBot) -> PermissionsDialog:
    made = PermissionsDialog(
        None,
        tools=["Bash", "Read", "Write", "Edit", "Grep", "Glob"],
        count=lambda rule: (2, 5) if rule["tool_name"] == "Bash" else (0, 0),
    )
    qtbot.addWidget(made)
    made.set_state("default", RULES)
    made.show()
    return made


def heard(dialog: PermissionsDialog) -> list[tuple[Any, ...]]:
    got: list[tuple[Any, ...]] = []
    dialog.modeChosen.connect(lambda mode: got.append(("mode", mode)))
    dialog.added.connect(lambda rule: got.append(("add", rule)))
    dialog.removed.connect(lambda rule: got.append(("remove", rule)))
    dialog.replaced.connect(lambda old, new: got.append(("replace", old, new)))
    return got


def test_rules_are_listed_refusals_first(dialog: PermissionsDialog) -> None:
    assert [row.content.text() for row in dialog.rows] == [
        "git push:*",
        "migrations/**",
        "npm test:*",
        "src/**",
        "every call",
    ]
    assert "from “Always”" in dialog.rows[2].source.accessibleName()


def test_a_mode_is_chosen_once_and_bypass_warns(qtbot: QtBot, dialog: PermissionsDialog) -> None:
    got = heard(dialog)
    assert dialog.modes["default"].isChecked()
    assert not dialog.warning.isVisible()
    dialog.modes["bypass"].click()
    assert got == [("mode", "bypass")]
    assert dialog.warning.isVisible()
    assert [m for m, radio in dialog.modes.items() if radio.isChecked()] == ["bypass"]
    dialog.modes["bypass"].click()
    assert got == [("mode", "bypass")]
    dialog.modes["explore"].click()
    assert not dialog.warning.isVisible()


def test_a_rule_is_added(qtbot: QtBot, dialog: PermissionsDialog) -> None:
    got = heard(dialog)
    dialog.add.click()
    assert dialog.editor.isVisible()
    qtbot.keyClicks(dialog.editor.field.edit, "make test:*")
    assert "2 of 5" in dialog.editor.effect.text()
    qtbot.keyClick(dialog.editor.field.edit, Qt.Key.Key_Return)
    rule = {
        "tool_name": "Bash",
        "rule_content": "make test:*",
        "behavior": "allow",
        "source": "session",
    }
    assert got == [("add", rule)]
    assert not dialog.editor.isVisible()
    assert dialog.isVisible()


def test_a_rule_is_changed_and_removed(qtbot: QtBot, dialog: PermissionsDialog) -> None:
    got = heard(dialog)
    dialog.rows[1].change.click()
    assert dialog.editor.tool.value() == "Write"
    assert dialog.editor.behavior.value() == "ask"
    dialog.editor.field.edit.setText("db/**")
    dialog.editor.save.click()
    assert got[0][0] == "replace"
    assert got[0][1]["rule_content"] == "migrations/**"
    assert (got[0][2]["rule_content"], got[0][2]["behavior"]) == ("db/**", "ask")
    dialog.rows[0].remove.click()
    assert got[1] == ("remove", RULES[0].model_dump())


def test_nothing_is_said_when_nothing_was_changed(dialog: PermissionsDialog) -> None:
    got = heard(dialog)
    dialog.rows[0].change.click()
    dialog.editor.save.click()
    assert got == []


@pytest.mark.parametrize(
    ("tool", "text"), [("Bash", ":*"), ("Bash", "npm *"), ("Write", "[z-a]")], ids=str
)
def test_what_could_never_work_is_told(
    qtbot: QtBot, dialog: PermissionsDialog, tool: str, text: str
) -> None:
    got = heard(dialog)
    dialog.add.click()
    editor = dialog.editor
    editor.tool.set_value(tool)
    editor.tool.chosen.emit(tool)
    qtbot.keyClicks(editor.field.edit, text)
    assert not editor.save.isEnabled()
    qtbot.keyClick(editor.field.edit, Qt.Key.Key_Return)
    assert got == []
    qtbot.keyClick(editor.field.edit, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert dialog.isVisible()


def test_a_rule_for_everything_says_so(qtbot: QtBot, dialog: PermissionsDialog) -> None:
    dialog.add.click()
    assert "Every call of Shell" in dialog.editor.effect.text()


def test_a_session_that_is_only_read_offers_no_change(qtbot: QtBot) -> None:
    made = PermissionsDialog(None, writable=False)
    qtbot.addWidget(made)
    made.set_state("default", RULES)
    assert not made.add.isEnabled()
    assert not any(radio.isEnabled() for radio in made.modes.values())
    assert not any(row.remove.isEnabled() for row in made.rows)


def test_invisible_characters_of_a_rule_are_marked(dialog: PermissionsDialog) -> None:
    dialog.set_state("default", [Rule(tool_name="Bash", rule_content="ls\u202e:*")])
    assert "\u202e" not in dialog.rows[0].content.text()


def test_every_mode_has_its_meaning_in_both_languages() -> None:
    english = {mode_meaning(mode) for mode in MODES}
    i18n.set_language("zh_CN")
    assert len(english | {mode_meaning(mode) for mode in MODES}) == 2 * len(MODES)


def test_the_menu_of_modes_leads_to_the_rules(qtbot: QtBot) -> None:
    button = ModeButton()
    qtbot.addWidget(button)
    button._fill()
    got: list[int] = []
    button.rulesWanted.connect(lambda: got.append(1))
    button._menu.actions()[-1].trigger()
    assert got == [1]


@pytest.fixture
def page(qtbot: QtBot, run: Any) -> Iterator[ChatPage]:
    made = ChatPage()
    qtbot.addWidget(made)
    made.resize(800, 700)
    made.show()
    yield made
    run(made.close_tasks())


def test_what_is_changed_in_the_dialog_is_the_sessions(
    qtbot: QtBot, run: Any, page: ChatPage
) -> None:
    conversation = FakeConversation()
    vm = ChatViewModel(TranscriptModel(), Voice())
    page.bind(vm, ChatSources())
    vm.open(conversation)
    qtbot.waitUntil(lambda: vm.ready)
    page.composer.rulesWanted.emit()
    qtbot.waitUntil(lambda: page.permissions.dialog is not None)
    dialog = page.permissions.dialog
    assert dialog is not None
    dialog.add.click()
    qtbot.keyClicks(dialog.editor.field.edit, "make:*")
    dialog.editor.save.click()
    qtbot.waitUntil(lambda: len(dialog.rows) == 1)
    assert conversation.permissions.allow_rules["Bash"][0].rule_content == "make:*"
    dialog.rows[0].change.click()
    dialog.editor.behavior.set_value("deny")
    dialog.editor.save.click()
    qtbot.waitUntil(lambda: bool(conversation.permissions.deny_rules))
    assert conversation.permissions.allow_rules == {}
    qtbot.waitUntil(lambda: len(dialog.rows) == 1 and dialog.rows[0].change.isEnabled())
    dialog.rows[0].remove.click()
    qtbot.waitUntil(lambda: dialog.rows == [])
    assert conversation.permissions.deny_rules == {}
    dialog.modes["explore"].click()
    qtbot.waitUntil(lambda: page.composer.mode.mode == "explore")
    dialog.accept()
    qtbot.waitUntil(lambda: page.permissions.dialog is None)
    run(vm.close())
    page.bind(None, ChatSources())
    vm.deleteLater()


def test_pictures(
    qtbot: QtBot, theme: Any, shot: Callable[[QWidget, str], Path], dialog: PermissionsDialog
) -> None:
    for language in ("en", "zh_CN"):
        i18n.set_language(language)
        for scheme in ("light", "dark"):
            theme.set_scheme(scheme)
            dialog.set_state("bypass" if scheme == "dark" else "default", RULES)
            if scheme == "dark":
                dialog.rows[2].change.click()
            qtbot.waitUntil(lambda: dialog.rows[-1].isVisible())
            dialog.resize(dialog.width(), dialog.layout().totalHeightForWidth(dialog.width()))
            assert shot(dialog, f"permissions-{language}-{scheme}").stat().st_size > 10_000
            dialog._end_edit()
