"""Approvals and questions: what is shown is whole, keys answer, nothing is hidden."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QRadioButton
from pytestqt.qtbot import QtBot

from desktop_app.core.agent.base import Question
from desktop_app.core.tools.shell_delete import deletions
from desktop_app.ui import i18n
from desktop_app.ui.chat.approval import ApprovalCard
from desktop_app.ui.chat.approval_words import facts, reason
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.chat.question import QuestionCard
from desktop_app.ui.chat.tool_words import summary
from tests.helpers.conversation import approval

NO_MODIFIER = Qt.KeyboardModifier.NoModifier
RULE = {"tool_name": "Bash", "rule_content": "git status:*", "behavior": "allow"}


@pytest.fixture
def card(qtbot: QtBot) -> ApprovalCard:
    made = ApprovalCard(grace_ms=0)
    qtbot.addWidget(made)
    made.resize(700, 300)
    return made


def decisions(card: ApprovalCard) -> list[tuple[Any, ...]]:
    got: list[tuple[Any, ...]] = []
    card.decided.connect(lambda *args: got.append(args))
    return got


def ask(command: str = "git status", op: str = "o", **fields: Any) -> Any:
    return approval(op, "Bash", {"command": command}, **fields)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (Qt.Key.Key_Y, ("o", True, False, None)),
        (Qt.Key.Key_A, ("o", True, True, None)),
        (Qt.Key.Key_N, ("o", False, False, None)),
    ],
)
def test_keys_answer(qtbot: QtBot, card: ApprovalCard, key: Any, answer: Any) -> None:
    got = decisions(card)
    card.show_approvals([ask(rule=RULE)])
    qtbot.keyClick(card, key)
    assert got == [answer]


def test_keys_do_nothing_with_modifiers_or_in_the_first_moment(qtbot: QtBot) -> None:
    card = ApprovalCard(grace_ms=60_000)
    qtbot.addWidget(card)
    got = decisions(card)
    card.show_approvals([ask()])
    qtbot.keyClick(card, Qt.Key.Key_Y)
    assert got == []
    card._grace = 0
    qtbot.keyClick(card, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert got == []


def test_always_is_not_offered_without_a_rule(qtbot: QtBot, card: ApprovalCard) -> None:
    got = decisions(card)
    card.show_approvals([ask("sudo rm -rf /", reasons=(("shell.dangerous", {}),))])
    assert not card.always.isEnabled()
    qtbot.keyClick(card, Qt.Key.Key_A)
    assert got == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm -rf build/*", "it deletes whatever build/* matches, and nothing brings that back"),
        ("rm -rf old", "it deletes old with everything in it, and nothing brings that back"),
        ("rm -rf ./*", "it deletes everything in ./*, and nothing brings that back"),
        ("rm -rf ~", "it deletes ~, which may lie outside of the workspace"),
    ],
)
def test_what_deletes_much_is_a_high_risk(card: ApprovalCard, command: str, why: str) -> None:
    card.show_approvals([ask(command, reasons=tuple(deletions(command)))])
    assert f"High: {why}" in [label.text() for label in card.findChildren(QLabel)]


def test_the_whole_command_is_there(card: ApprovalCard) -> None:
    command = "echo start\n" + "x" * 5000 + "\nrm -rf build"
    card.show_approvals([ask(command)])
    assert card.text.toPlainText() == command


def test_hidden_characters_become_marks_and_raise_the_risk(card: ApprovalCard) -> None:
    card.show_approvals([ask("ls\t\t\u202e; rm -rf ~\u200b")])
    assert card.text.toPlainText() == "ls⇥⇥⟨U+202E⟩; rm -rf ~⟨U+200B⟩"
    assert card.text.marked
    assert card._values[1].text().startswith("High: it contains characters")


@given(st.text(max_size=60))
def test_made_visible_nothing_hides_and_nothing_is_lost(text: str) -> None:
    import unicodedata

    shown, marks = visible(text)
    for char in shown:
        assert char == "\n" or unicodedata.category(char) not in ("Cf", "Cc", "Co", "Cs", "Cn")
    units = shown.encode("utf-16-le", "surrogatepass")
    for start, end in marks:
        assert units[2 * start : 2 * end].decode("utf-16-le").startswith("⟨U+")
    assert visible(shown) == (shown, [])


def test_a_diff_is_shown_as_one(card: ApprovalCard) -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"
    preview = {"path": "a.txt", "diff": diff, "new": False}
    args = {"file_path": "a.txt", "old_string": "old", "new_string": "new"}
    card.show_approvals([approval("o", "Edit", args, preview=preview)])
    assert card.text.kind == "diff"
    assert card.text.toPlainText() == "@@ -1 +1 @@\n-old\n+new", "the hunks whole, no file heads"
    assert card._values[0].text() == "Changes a.txt"


def test_several_are_counted(card: ApprovalCard) -> None:
    first, second = ask(op="a"), ask("ls", op="b")
    card.show_approvals([first, second])
    assert card._count.text() == "1 of 2"
    card.show_approvals([second])
    assert card._count.text() == "2 of 2"
    card.show_approvals([])
    assert card.isHidden()
    card.show_approvals([ask(op="c")])
    assert card._count.text() == ""


def test_arguments_can_be_edited_before_they_run(qtbot: QtBot, card: ApprovalCard) -> None:
    got = decisions(card)
    card.show_approvals([approval("o", "Bash", {"command": "rm a", "timeout": 5})])
    card.show()
    qtbot.keyClick(card, Qt.Key.Key_E)
    (command,) = card.editor.fields
    assert command.toPlainText() == "rm a"
    command.setPlainText(" ")
    card.run.click()
    assert card._error.text() == "The command is empty"
    command.setPlainText("rm -i a")
    qtbot.keyClick(command, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert got == [("o", True, False, {"command": "rm -i a", "timeout": 5})]


def test_a_text_is_edited_as_a_text(qtbot: QtBot, card: ApprovalCard) -> None:
    """No person should write \\n for a line end or escape a quote to change one word of a file."""
    got = decisions(card)
    content = 'One "two"\r\n\tthree\r\n'
    args = {"file_path": "a.txt", "content": content, "mode": {"x": [1]}, "old": "a\r\nb\nc"}
    card.show_approvals([approval("o", "Write", args, preview={})])
    card.show()
    card.edit.click()
    path, text, mode, mixed = card.editor.fields
    assert text.toPlainText() == 'One "two"\n\tthree\n'
    assert card.editor.focusProxy() is text
    text.setPlainText('One "two"\n\tfour\n')
    mode.setPlainText("{")
    card.run.click()
    assert card._error.text().startswith("mode: This is not JSON")
    mode.setPlainText('{"x": [2]}')
    card.run.click()
    assert got == [
        ("o", True, False, {**args, "content": 'One "two"\r\n\tfour\r\n', "mode": {"x": [2]}})
    ], "line ends stay as they were, and what nobody touched is the same"
    assert path.toPlainText() == "a.txt"
    assert mixed.value() == "a\r\nb\nc"


def test_fields_follow_the_font_size_and_a_long_name_takes_no_room(
    qtbot: QtBot, card: ApprovalCard, theme: Any
) -> None:
    name = "a_name_that_a_server_gave_its_argument_" * 8
    card.show_approvals([approval("o", "mcp__e__do", {name: "\tx", "b": "y"}, preview={})])
    card.show()
    card.edit.click()
    field = card.editor.fields[0]
    qtbot.waitUntil(lambda: 0 < field.width() <= card.width())
    low, tab = field.height(), field.tabStopDistance()
    theme.set_scale(200)
    assert field.height() > 1.5 * low
    assert field.tabStopDistance() > 1.5 * tab


def test_no_key_of_one_letter_answers_while_it_is_edited(qtbot: QtBot, card: ApprovalCard) -> None:
    got = decisions(card)
    card.show_approvals([approval("o", "Edit", {"file_path": "a", "old_string": "b"}, preview={})])
    card.show()
    assert card.deny.accessibleDescription() == "N"
    card.edit.click()
    assert card.deny.accessibleDescription() == "", "the cap is not drawn: the key does nothing"
    assert not card.handle_key(QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_N, NO_MODIFIER, "n"))
    card.cancel.click()
    assert card.deny.accessibleDescription() == "N"
    assert got == []


def test_edited_json_must_be_an_object(qtbot: QtBot, card: ApprovalCard) -> None:
    got = decisions(card)
    card.show_approvals([approval("o", "query", {"n": 1}, preview={})])
    card.show()
    card.edit.click()
    (whole,) = card.editor.fields
    for text, words in (
        ("{", "This is not JSON"),
        ("[1]", "The arguments must be one JSON object"),
    ):
        whole.setPlainText(text)
        card.run.click()
        assert card._error.text().startswith(words)
    assert got == []
    whole.setPlainText('{"n": 2, "more": true}')
    card.run.click()
    assert got == [("o", True, False, {"n": 2, "more": True})]


def test_arguments_are_read_a_line_each(card: ApprovalCard) -> None:
    args = {"sql": "select 1\npath: /etc", "n": 1, "deep": {"a": None}}
    card.show_approvals([approval("o", "query", args, preview={})])
    assert card.text.toPlainText() == (
        'sql:\n    select 1\n    path: /etc\nn: 1\ndeep: {"a": null}'
    ), "a line in a text cannot pass for an argument"


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("reset_tools", {"time": True, "files": False, "git": True}, "time, git on"),
        ("reset_tools", {"time": False}, "all off"),
        (
            "mcp__time__convert_time",
            {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            "UTC · 12:00 · Asia/Tokyo",
        ),
        (
            "mcp__e__wait",
            {"duration": 40, "tag": "", "deep": {"a": 1}},
            'duration 40 · deep {"a": 1}',
        ),
        ("mcp__e__echo", {"message": "a\nb"}, "a ⏎ b"),
    ],
)
def test_a_call_is_told_in_a_line_that_people_read(
    name: str, args: dict[str, Any], words: str
) -> None:
    assert summary(name, args) == words


def test_the_exact_rule_and_what_it_would_have_allowed() -> None:
    found = facts(ask(rule=RULE, rule_matches=(3, 41)))
    assert found.rule == "git status:*"
    assert found.rule_words == (
        "every command that begins so, in this session. Would have allowed 3 of 41 past calls"
    )
    assert facts(ask()).rule_words == "not offered: this is asked every time"


def test_markup_in_a_rule_stays_text(card: ApprovalCard) -> None:
    rule = {"tool_name": "Bash", "rule_content": "<b>x</b> & <img src=a>"}
    card.show_approvals([ask(rule=rule)])
    assert "&lt;b&gt;x&lt;/b&gt; &amp;" in QLabel.text(card._values[2])
    assert "&lt;span" not in QLabel.text(card._values[2])
    assert card._values[2].accessibleName().startswith("<b>x</b> & <img src=a>")


def test_every_reason_of_the_tools_has_words() -> None:
    import ast
    from pathlib import Path

    root = Path(__file__).resolve().parents[3] / "desktop_app" / "core"
    codes: set[str] = set()
    files = [*(root / "tools").glob("*.py"), root / "agent" / "permissions.py"]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Tuple) and len(node.elts) == 2:
                head = node.elts[0]
                if isinstance(head, ast.Constant) and isinstance(head.value, str):
                    prefix = head.value.split(".")[0]
                    if prefix in ("shell", "path", "file", "rule") and "." in head.value:
                        codes.add(head.value)
    assert {"shell.unlisted", "path.outside", "file.write"} <= codes
    codes.discard("rule.deny")  # never asked
    for code in codes:
        for language in ("en", "zh_CN"):
            i18n.set_language(language)
            assert reason(code, {})[1] != code, code


def test_risks_are_ordered_and_unknown_ones_are_not_low() -> None:
    found = facts(ask(reasons=(("file.write", {}), ("path.secret", {"path": ".env"}))))
    assert found.level == "high"
    assert facts(ask(reasons=(("something.new", {}),))).level == "medium"


# -- questions ------------------------------------------------------------------------------


def questions(*asked: dict[str, Any]) -> list[Question]:
    return [Question("q", list(asked))]


def options(*labels: str) -> list[dict[str, Any]]:
    return [{"label": label, "description": f"about {label}"} for label in labels]


@pytest.fixture
def asking(qtbot: QtBot) -> QuestionCard:
    made = QuestionCard()
    qtbot.addWidget(made)
    made.resize(600, 300)
    return made


def answers(card: QuestionCard) -> list[Any]:
    got: list[Any] = []
    card.answered.connect(lambda op, answer: got.append((op, answer)))
    return got


def test_one_of_several(qtbot: QtBot, asking: QuestionCard) -> None:
    got = answers(asking)
    asking.show_questions(questions({"question": "Which?", "options": options("A", "B")}))
    assert not asking.send.isEnabled()
    qtbot.keyClick(asking, Qt.Key.Key_2)
    asking.send.click()
    assert got == [("q", {"answers": [{"question": "Which?", "selected": ["B"]}]})]


def test_own_words_take_the_place_of_an_option(qtbot: QtBot, asking: QuestionCard) -> None:
    got = answers(asking)
    asking.show_questions(questions({"question": "Which?", "options": options("A", "B")}))
    part = asking.parts[0]
    part.choose(0)
    qtbot.keyClicks(part.other, "neither")
    asking.send.click()
    answer = {"question": "Which?", "selected": [], "other": "neither"}
    assert got == [("q", {"answers": [answer]})]


def test_several_at_once_and_several_questions(qtbot: QtBot, asking: QuestionCard) -> None:
    got = answers(asking)
    asking.show_questions(
        questions(
            {"question": "Which?", "options": options("A", "B", "C"), "multi_select": True},
            {"question": "When?", "options": options("now", "later")},
        )
    )
    first, second = asking.parts
    first.choose(0)
    first.choose(2)
    assert not asking.send.isEnabled()
    second.choose(1)
    asking.send.click()
    assert got[0][1]["answers"] == [
        {"question": "Which?", "selected": ["A", "C"]},
        {"question": "When?", "selected": ["later"]},
    ]


def test_what_the_agent_writes_is_shown_as_it_is(asking: QuestionCard) -> None:
    asking.show_questions(
        questions({"question": "A\u202eB?", "options": options("Save & <b>go</b>", "x")})
    )
    button = asking.parts[0]._buttons[0]
    assert isinstance(button, QRadioButton)
    assert button.text() == "Save && <b>go</b>"
    asking.parts[0].choose(0)
    answer = asking.parts[0].answer()
    assert answer is not None
    assert answer["selected"] == ["Save & <b>go</b>"]
    assert answer["question"] == "A\u202eB?"
