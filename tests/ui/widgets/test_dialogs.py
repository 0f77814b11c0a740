"""Dialogs: the safe choice first, nothing hidden, answers as awaitables."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from desktop_app.ui.bridge import confirm, show
from desktop_app.ui.widgets import (
    Button,
    Check,
    ConfirmDialog,
    Field,
    Label,
    TextPrompt,
    TrustDialog,
)
from desktop_app.ui.widgets.dialogs import Dialog, FactRow, Option, visible


@pytest.fixture
def parent(qtbot):
    widget = QWidget()
    widget.resize(700, 500)
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    return widget


def words(dialog: QDialog) -> list[str]:
    return [label.text() for label in dialog.findChildren(Label)]


async def opened(parent: QWidget, kind: type[QDialog]):
    while True:
        dialog = parent.findChild(kind)
        if dialog is not None and dialog.isVisible():
            return dialog
        await asyncio.sleep(0)


def answer(parent, run, key: Qt.Key) -> bool:
    async def go():
        loop = asyncio.get_running_loop()
        asking = loop.create_task(
            confirm(
                parent,
                title="Delete it?",
                text="Gone for good.",
                action="Delete",
                danger=True,
                kept=["1 session"],
                lost=["work/tmp, 4.9 GB"],
            )
        )
        dialog = await opened(parent, ConfirmDialog)
        assert {"1 session", "work/tmp, 4.9 GB", "Gone for good."} <= set(words(dialog))
        loop.call_soon(QTest.keyClick, dialog, key)
        return await asking

    return run(go())


def test_enter_and_escape_do_not_destroy(parent, run):
    assert answer(parent, run, Qt.Key.Key_Return) is False
    assert answer(parent, run, Qt.Key.Key_Escape) is False


def test_the_dangerous_button_confirms(parent, run, qtbot):
    async def go():
        loop = asyncio.get_running_loop()
        asking = loop.create_task(
            confirm(parent, title="T", text="x", action="Delete", danger=True)
        )
        dialog = await opened(parent, ConfirmDialog)
        assert dialog.go.variant == "danger"
        assert dialog.cancel.isDefault()
        loop.call_soon(QTest.mouseClick, dialog.go, Qt.MouseButton.LeftButton)
        return await asking

    assert run(go()) is True


def test_a_harmless_question_goes_on_with_enter(parent, qtbot):
    dialog = ConfirmDialog(parent, title="T", text="x", action="Go")
    assert dialog.go.isDefault()
    assert dialog.go.variant == "primary"
    dialog.deleteLater()


def test_prompt_checks_while_typing(parent, run):
    async def go():
        dialog = TextPrompt(
            parent,
            title="Rename",
            label="Name",
            text="old",
            check=lambda text: "Taken." if text == "taken" else "" if text else "Empty.",
        )
        showing = asyncio.get_running_loop().create_task(show(dialog, keep=True))
        await opened(parent, TextPrompt)
        edit = dialog.field.edit
        assert edit.selectedText() == "old"
        edit.setText("taken")
        assert not dialog.go.isEnabled()
        assert edit.accessibleDescription() == "Taken."
        QTest.keyClick(edit, Qt.Key.Key_Return)
        assert not showing.done()
        edit.setText(" new ")
        asyncio.get_running_loop().call_soon(QTest.keyClick, edit, Qt.Key.Key_Return)
        code = await showing
        text = dialog.text()
        dialog.deleteLater()
        return code, text

    assert run(go()) == (QDialog.DialogCode.Accepted, "new")


def test_trust_shows_whole_commands_and_keeps_restricted_by_default(parent, qtbot):
    long = "npx " + "-y " * 80 + "server"
    dialog = TrustDialog(parent, name="x", path="/p", commands=[long, "a\u202eb"], notes=["n"])
    shown = words(dialog)
    assert long in shown
    assert "a‹U+202E›b" in shown
    assert "n" in shown
    keep = next(b for b in dialog.footer.findChildren(QWidget) if getattr(b, "isDefault", bool)())
    assert keep.text() == "Keep it restricted"
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)
    dialog.deleteLater()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la", "ls -la"),
        ("ls" + "\t" * 400 + "; rm -rf x", "ls‹400 ×›; rm -rf x"),
        ("a\u200bb", "a‹U+200B›b"),
        ("two\nlines", "two\nlines"),
        ("中文 路径", "中文 路径"),
        ("bell\x07", "bell‹U+0007›"),
    ],
)
def test_nothing_hides_in_a_command(text, shown):
    assert visible(text) == shown


def test_a_dialog_keeps_what_is_around_and_between_at_every_font_size(parent, theme):
    dialog = Dialog(parent, "T", around=(0, 14, 0, 0), gap=4)
    usual = Dialog(parent, "T")
    for percent in (100, 200, 100):
        theme.set_scale(percent)
        theme.set_scheme("dark" if percent == 200 else "light")
        share = theme.px(100) / 100
        around = dialog.body.contentsMargins()
        assert (around.left(), around.top()) == (0, round(14 * share))
        assert dialog.body.spacing() == round(4 * share)
        assert usual.body.contentsMargins().left() == round(20 * share)
    dialog.deleteLater()
    usual.deleteLater()


@pytest.mark.parametrize("percent", [100, 200])
def test_controls_of_a_form_begin_where_those_above_do(parent, theme, qtbot, percent):
    theme.set_scale(percent)
    dialog = Dialog(parent, "T", width=460)
    box = Check("Programs may gain rights")
    controls = [Field("a"), Field("b"), box]
    names = ["Short", "A name that is much longer than the column", ""]
    rows = [FactRow(name, control) for name, control in zip(names, controls, strict=True)]
    for row in rows:
        dialog.body.addWidget(row)
    dialog.show()
    qtbot.waitUntil(lambda: controls[1].x() > 0)
    assert len({control.mapTo(dialog, QPoint()).x() for control in controls}) == 1
    label = rows[1].findChild(Label)
    assert label.height() >= label.heightForWidth(label.width()), "the whole name is seen"
    dialog.reject()
    dialog.deleteLater()


def test_what_becomes_dangerous_takes_the_focus_from_the_button_that_does_it(parent, qtbot):
    option = Option("Delete it too", "Gone for good.", "Forget and delete", lost=["the box"])
    dialog = ConfirmDialog(parent, title="Forget?", text="x", action="Forget", option=option)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.go.hasFocus)
    dialog.option.setChecked(True)
    assert dialog.cancel.hasFocus()
    assert dialog.cancel.isDefault()
    dialog.reject()
    dialog.deleteLater()


def test_another_look_leaves_the_size_that_a_person_gave(parent, theme, qtbot):
    dialog = Dialog(parent, "T", width=300)
    dialog.body.addWidget(Field("a"))
    dialog.show()
    dialog.resize(340, 320)
    theme.set_scheme("dark")
    later: list[bool] = []  # after what the dialog would do in its own turns of the loop
    QTimer.singleShot(0, lambda: QTimer.singleShot(0, lambda: later.append(True)))
    qtbot.waitUntil(lambda: bool(later))
    assert (dialog.width(), dialog.height()) == (340, 320)
    theme.set_scale(120)
    # As much larger as the type is, not once more for what the least width gave it already.
    qtbot.waitUntil(lambda: abs(dialog.width() - 340 * theme.scale) <= 1)
    dialog.reject()
    dialog.deleteLater()


def test_enter_presses_the_button_that_a_person_went_to(qtbot) -> None:
    pressed: list[str] = []
    dialog = Dialog(None, "Title")
    qtbot.addWidget(dialog)
    dialog.add_button(Button("Close"), run=lambda: pressed.append("close"))
    dialog.add_button(Button("Save"), run=lambda: pressed.append("save"), default=True)
    field = QLineEdit()
    dialog.body.addWidget(field)
    dialog.show()
    dialog.activateWindow()
    for wanted in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
        close = next(b for b in dialog.findChildren(Button) if b.text() == "Close")
        close.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.keyClick(close, wanted)
    assert pressed == ["close"] * 3
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pressed[-1] == "save", "in a field it is the default one"
