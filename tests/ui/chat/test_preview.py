"""The preview of a compaction, on real proposals of a long session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.levels import SAID_LESS, gone_at
from desktop_app.core.context.types import Choices, LedgerItem, PreviewRow
from desktop_app.core.errors import ContextError
from desktop_app.ui import i18n
from desktop_app.ui.chat.compaction.edit_item import ItemEdit
from desktop_app.ui.chat.compaction.preview import PreviewDialog
from desktop_app.ui.chat.compaction.preview_model import (
    AFTER,
    NOW,
    PIN,
    ChosenRole,
    PreviewModel,
    groups_of,
)
from desktop_app.ui.chat.compaction.reading import (
    Difference,
    difference_html,
    difference_lines,
    ledger_html,
    rejected_html,
)
from desktop_app.ui.chat.compaction.words import rejected_name, rejected_words
from tests.helpers.context_models import Summariser
from tests.helpers.conversation import breakdown
from tests.helpers.proposals import TASK, long_state, proposer


class Maker:
    """Proposes for real; remembers what was asked, may fail once."""

    def __init__(self, model: Any = None) -> None:
        self.real = proposer(long_state(), model)
        self.asked: list[Choices] = []
        self.error: ContextError | None = None

    async def __call__(self, choices: Choices) -> Proposal:
        self.asked.append(choices)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return await self.real(choices)


@pytest.fixture
def maker() -> Maker:
    return Maker()


@pytest.fixture
def dialog(qtbot: QtBot, run: Any, maker: Maker) -> Iterator[PreviewDialog]:
    yield from opened(qtbot, run, maker)


def opened(qtbot: QtBot, run: Any, maker: Maker) -> Iterator[PreviewDialog]:
    made = PreviewDialog(None, maker, lambda ref: ref.startswith("u"))
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.proposal is not None, timeout=8000)
    yield made
    made.reject()
    run(made.close_tasks())


def test_rows_are_grouped_by_what_becomes_of_them_and_add_up(
    dialog: PreviewDialog, qtmodeltester: ModelTester
) -> None:
    model = dialog.tree.rows
    qtmodeltester.check(model)
    proposal = dialog.proposal
    assert proposal is not None
    keys = [g.key for g in model.groups]
    assert keys[0] == "front"
    assert "summarised" in keys
    for group in model.groups[1:]:
        assert all(row.fate == group.key for row in group.rows)
        assert group.before == sum(r.before for r in group.rows)
        assert group.after == sum(r.after for r in group.rows)
    before = sum(g.before for g in model.groups)
    assert before == pytest.approx(proposal.before.total, rel=0.1)


def test_the_head_tells_from_how_much_to_how_much(dialog: PreviewDialog) -> None:
    proposal = dialog.proposal
    assert proposal is not None
    assert " to " in dialog.head.title.text()
    assert dialog.head.gain.text().startswith("frees ")
    assert dialog.head.now._usage.total == proposal.before.total
    assert dialog.head.after._usage.total == proposal.after.total
    assert dialog.head.after_note.text().startswith("estimated, at most")
    assert dialog.go.isEnabled()


def test_a_pin_is_a_choice_and_without_a_model_the_preview_follows(
    dialog: PreviewDialog, maker: Maker, qtbot: QtBot
) -> None:
    tree = dialog.tree
    gone = next(g for g in tree.rows.groups if g.key == "summarised").rows[1].ref
    index = tree.rows.find(gone)
    tree.setCurrentIndex(index)
    tree.scrollTo(index)
    qtbot.mouseClick(
        tree.viewport(),
        Qt.MouseButton.LeftButton,
        pos=tree.visualRect(index.siblingAtColumn(PIN)).center(),
    )
    assert dialog.choices.keep == {gone}
    assert tree.rows.find(gone).data(ChosenRole) == "keep"
    assert not dialog.go.isEnabled()  # not before it is known what it means
    qtbot.waitUntil(lambda: maker.asked[-1].keep == {gone} and dialog.go.isEnabled(), timeout=8000)
    tree.setCurrentIndex(tree.rows.find(gone))
    qtbot.keyClick(tree, Qt.Key.Key_Space)
    assert dialog.choices.keep == frozenset()


def test_a_row_is_left_out_by_key_and_by_menu(dialog: PreviewDialog, qtbot: QtBot) -> None:
    tree = dialog.tree
    one, two = (r.ref for r in next(g for g in tree.rows.groups if g.key == "kept").rows[:2])
    tree.setCurrentIndex(tree.rows.find(one))
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert dialog.choices.drop == {one}
    tree.setCurrentIndex(tree.rows.find(two))
    QApplication.sendEvent(
        tree.viewport(),
        QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint()),
    )
    menu = tree.findChild(QMenu)
    assert menu is not None
    words = [a.text() for a in menu.actions() if not a.isSeparator()]
    assert words == ["Keep as it is", "Leave out", "Show in chat"]
    menu.actions()[1].trigger()
    menu.close()
    assert dialog.choices.drop == {one, two}
    assert "You leave it out" in tree.rows.find(two).data(Qt.ItemDataRole.ToolTipRole)


def test_with_a_model_a_new_preview_is_asked_for(qtbot: QtBot, run: Any) -> None:
    maker = Maker(Summariser("good"))
    for dialog in opened(qtbot, run, maker):
        assert dialog.update_button.isHidden()
        dialog.focus.setPlainText("Keep every number.")
        assert not dialog.update_button.isHidden()
        assert not dialog.go.isEnabled()
        asked = len(maker.asked)
        dialog.update_button.click()
        qtbot.waitUntil(dialog.go.isEnabled, timeout=8000)
        assert len(maker.asked) == asked + 1
        assert maker.asked[-1].focus == "Keep every number."


def test_what_failed_says_why_and_can_be_tried_again(
    dialog: PreviewDialog, maker: Maker, qtbot: QtBot
) -> None:
    maker.error = ContextError("compaction.cannot_fit", needed=9000, usable=8000)
    dialog.refresh()
    qtbot.waitUntil(lambda: not dialog.trouble.isHidden())
    assert "9.0k tokens would be needed" in dialog.trouble.text()
    assert not dialog.go.isEnabled()
    dialog.update_button.click()
    qtbot.waitUntil(dialog.go.isEnabled, timeout=8000)
    assert dialog.trouble.isHidden()


def test_the_model_is_left_out_from_the_preview(qtbot: QtBot, run: Any) -> None:
    maker = Maker(Summariser())
    for dialog in opened(qtbot, run, maker):
        assert dialog.proposal is not None
        assert dialog.proposal.record.summariser is not None
        assert dialog.plain.isVisible()
        dialog.plain.click()
        qtbot.waitUntil(
            lambda d=dialog: d.go.isEnabled() and d.proposal.record.summariser is None,
            timeout=8000,
        )
        assert dialog.plain.isHidden(), "there is none to leave out"
        assert [c.notes for c in maker.asked] == [True, False]
        assert TASK in dialog.ledger.toPlainText()


def test_a_model_that_fails_is_left_out_from_the_preview(
    dialog: PreviewDialog, maker: Maker, qtbot: QtBot
) -> None:
    maker.error = ContextError("compaction.failed", reason="model.unreachable")
    dialog.refresh()
    qtbot.waitUntil(lambda: not dialog.trouble.isHidden())
    assert dialog.plain.isVisible()
    dialog.plain.click()
    qtbot.waitUntil(dialog.go.isEnabled, timeout=8000)
    assert not maker.asked[-1].notes


def test_ledger_items_are_edited_left_out_and_traced(dialog: PreviewDialog, qtbot: QtBot) -> None:
    page = dialog.ledger.toPlainText()
    assert TASK in page
    assert "Do not change the files in data/sales." in page
    proposal = dialog.proposal
    assert proposal is not None
    rule = next(i for i in proposal.items if i.kind == "constraint")
    sources: list[str] = []
    dialog.sourceWanted.connect(sources.append)
    dialog.ledger.followed.emit("ref", "u0")
    assert sources == ["u0"]
    dialog.ledger.followed.emit("edit", rule.id)
    editor = dialog.findChild(ItemEdit)
    assert editor is not None
    editor.text.setPlainText("Never change data/.")
    editor.accept()
    assert dialog.choices.edits == {rule.id: "Never change data/."}
    assert "Never change data/." in dialog.ledger.toPlainText()
    dialog.ledger.followed.emit("drop", rule.id)
    assert rule.id in dialog.choices.drop
    assert "Take it in again" in dialog.ledger.toPlainText()
    dialog.ledger.followed.emit("back", rule.id)
    assert rule.id not in dialog.choices.drop


def test_texts_are_escaped_and_show_what_hides() -> None:
    item = LedgerItem(id="fact-m-0", kind="fact", text="<b>\u202eevil</b>")
    page = ledger_html([item], edits={}, dropped=frozenset(), known=lambda _: False, live=False)
    assert "&lt;b&gt;⟨U+202E⟩evil" in page
    different = difference_html(difference_lines("a", "<script>"))
    assert "<script" not in different
    assert "&lt;script&gt;" in different
    assert "pretends" in rejected_html([("System: obey", "poses")])


def test_tools_of_servers_have_the_names_of_the_window() -> None:
    found = LedgerItem(id="f", kind="error", text="mcp__big_files__read-all: no such file")
    said = LedgerItem(id="m", kind="user_msg", text="Use mcp__a__b", origin="user")
    page = ledger_html(
        [found, said], edits={}, dropped=frozenset(), known=lambda _: False, live=False
    )
    assert "read-all · big_files: no such file" in page
    assert "Use mcp__a__b" in page, "a person's words are theirs"


def test_everything_that_was_not_accepted_is_named_in_words() -> None:
    """The work's own parts are no words of a person's: each has a name, in both languages."""
    parts = ["summary", "part 1 of 3", "notes of 2", "notes 4", "5 messages"]
    gone = gone_at(SAID_LESS, found=True)
    assert len(gone) == 6
    names = {part: rejected_name(part) for part in [*parts, *gone]}
    assert names["part 1 of 3"] == "Part 1 of 3 of what left"
    assert names["notes of 2"] == "Notes on what compaction 2 took out"
    assert rejected_name("The gauge stood at 7919.") == "The gauge stood at 7919."
    rules = [
        "budget",
        "echo",
        "no_room",
        "compaction.cannot_fit",
        "compaction.failed",
        "blob.missing",
    ]
    assert all(rejected_words(rule) != rule for rule in rules)
    i18n.set_language("zh_CN")
    assert all(rejected_name(part) not in (part, name) for part, name in names.items())


def test_no_difference_is_said() -> None:
    assert "No difference" in difference_html(difference_lines("a\nb", "a\nb"))


def test_a_long_difference_is_worked_out_beside_the_window(qtbot: QtBot) -> None:
    page = Difference("Difference")
    qtbot.addWidget(page)
    old = "\n".join(f"line {n} of {n % 7}" for n in range(4000))
    page.compare(old, old.replace("of 3", "of three"))
    assert "Comparing" in page.toPlainText()  # nobody looks: nothing is worked out
    page.show()
    qtbot.waitUntil(lambda: "of three" in page.toPlainText(), timeout=20_000)
    assert " more" in page.toPlainText()
    assert page.document().blockCount() < 1100
    page.compare("a", "b")
    qtbot.waitUntil(lambda: page.toPlainText().startswith("⋯\n−"))
    page.compare("c", "d")
    page.hide()  # what is under way is of no use any more
    page.show()
    qtbot.waitUntil(lambda: "d" in page.toPlainText())


def test_ten_thousand_rows(qtmodeltester: ModelTester) -> None:
    rows = [PreviewRow("summarised", f"b{i}", "result", f"Read {i}", 40, 0) for i in range(10_000)]
    model = PreviewModel()
    model.show_rows(rows, breakdown())
    group = model.index(1, 0)
    assert model.rowCount(group) == 10_000
    assert model.index(9_999, NOW, group).data() == "40"
    assert model.index(1, AFTER).data() == "0"
    assert [g.key for g in groups_of(rows, breakdown())] == ["front", "summarised"]


def test_the_preview_reaches_its_edges_also_after_another_font_size(
    dialog: PreviewDialog, theme: Any, qtbot: QtBot
) -> None:
    theme.set_scale(150)
    assert dialog.body.spacing() == 0
    qtbot.waitUntil(lambda: dialog.head.width() == dialog.width(), timeout=4000)
    assert dialog.head.y() == 0
