"""The view: geometry, scrolling, streaming, what the pointer and the keyboard do."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop_app.ui import i18n
from desktop_app.ui.transcript import (
    Action,
    HeaderRow,
    MarkdownRow,
    NoticeRow,
    ToolRow,
    TranscriptModel,
    TranscriptView,
    UserRow,
    highlight,
)
from desktop_app.ui.transcript.items import Zone
from tests.ui.transcript.samples import EN, PY, History, chinese, english


@pytest.fixture(autouse=True)
def _lexers() -> None:
    for name in ("python", "json", "bash"):
        highlight.load(name)


@pytest.fixture
def make(qtbot):
    """``make(rows, source)``: a shown view of 820 x 600."""

    def build(rows=(), source=None, width: int = 820, height: int = 600) -> TranscriptView:
        model = TranscriptModel()
        model.set_rows(rows, source)
        view = TranscriptView(model)
        model.setParent(view)
        qtbot.addWidget(view)
        view.resize(width, height)
        view.show()
        qtbot.waitExposed(view)
        settle(view)
        return view

    return build


def settle(view: TranscriptView) -> None:
    QApplication.sendPostedEvents()
    QApplication.processEvents()


def at_end(view: TranscriptView) -> bool:
    return view.value() == view.verticalScrollBar().maximum()


def zone(view: TranscriptView, row_id: str, kind: str, target: str = "") -> Zone:
    number = view.rows.index_of(row_id)
    box = view.box(number)
    return next(
        z for z in box.zones(0, box.height) if z.kind == kind and (not target or z.target == target)
    )


def click(view: TranscriptView, row_id: str, kind: str, target: str = "") -> None:
    view.scroll_to_row(row_id)
    found = zone(view, row_id, kind, target)
    top = view.row_top(view.rows.index_of(row_id))
    spot = found.rect.center() + QPointF(view.left(), top)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot.toPoint())


def text_spot(view: TranscriptView, row_id: str, text: str, end: bool = False) -> QPoint:
    """Where the first (or last) letter of ``text`` is, in the viewport."""
    number = view.rows.index_of(row_id)
    box = view.box(number)
    for _, _, section, item in box.items():
        at = (item.text or "").find(text)
        if at >= 0:
            view.settle()
            rects = item.rects(at, at + len(text))
            rect = rects[-1] if end else rects[0]
            x = rect.right() if end else rect.left()
            y = view.row_top(number) + section.top + rect.center().y()
            return QPoint(round(view.left() + box.x + x), round(y))
    raise AssertionError(text)


def drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    port = view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for spot in ((start + end) / 2, end):
        move(view, spot, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)


def move(view: TranscriptView, spot: QPoint, buttons=Qt.MouseButton.NoButton) -> None:
    from PySide6.QtGui import QMouseEvent

    event = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(spot), view.viewport().mapToGlobal(QPointF(spot)),
        Qt.MouseButton.NoButton, buttons, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


def key(view: TranscriptView, code: Qt.Key, mods=Qt.KeyboardModifier.NoModifier) -> bool:
    event = QKeyEvent(QEvent.Type.KeyPress, code, mods)
    QApplication.sendEvent(view, event)
    return event.isAccepted()


# -- geometry ---------------------------------------------------------------------------------


def test_a_long_history_opens_at_its_end_and_lays_out_only_what_is_seen(make) -> None:
    source = History(10_000)
    view = make(source=source)
    assert at_end(view)
    assert source.built < 60
    assert view.row_at(view.viewport().height() - 40) == 9_999


def test_heights_in_view_are_the_real_ones_everywhere(make) -> None:
    view = make(source=History(300))
    bar = view.verticalScrollBar()
    for share in (0.0, 0.31, 0.5, 0.77, 1.0):
        bar.setValue(int(bar.maximum() * share))
        settle(view)
        for number, box, y in view.visible_rows():
            assert view.heights[number] == box.height
            assert view.row_top(number) == y
        numbers = [number for number, _, _ in view.visible_rows()]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_a_bar_with_nothing_to_scroll_shows_no_handle(make) -> None:
    def colours(view: TranscriptView) -> int:
        image = view.verticalScrollBar().grab().toImage()
        across = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
        return len(across)

    assert colours(make(source=History(1))) == 1
    assert colours(make(source=History(40))) > 1


def test_scrolling_up_never_jumps(make) -> None:
    """What was in view moves by exactly what was scrolled, though rows above had estimates."""
    view = make(source=History(400))
    bar = view.verticalScrollBar()
    for _ in range(60):
        number, _, y = view.visible_rows()[-1]
        bar.setValue(bar.value() - 90)
        assert view.row_top(number) == y + 90


def test_a_change_above_does_not_move_what_is_read(make) -> None:
    rows = [MarkdownRow(f"m{i}", EN) for i in range(40)]
    view = make(rows)
    view.scroll_to_row("m20")
    settle(view)
    top = view.row_top(20)
    view.rows.update(MarkdownRow("m3", EN * 8))
    view.rows.prepend([UserRow(f"o{i}", "", "older") for i in range(30)])
    assert view.row_top(50) == top
    view.rows.remove("m5")
    settle(view)
    assert view.row_top(49) == top


def test_the_column_is_centred_and_bounded(make) -> None:
    view = make(english(), width=1400)
    assert view.boxes.width == 728
    assert abs(view.left() * 2 + 728 - view.viewport().width()) <= 1
    view.resize(500, 600)
    settle(view)
    assert view.boxes.width == view.viewport().width() - 48


def test_resizing_keeps_the_place(make) -> None:
    view = make(source=History(200))
    view.scroll_to_row(view.rows.row(120).id)
    settle(view)
    view.resize(560, 500)
    settle(view)
    assert view.row_at(30) in (119, 120)


def test_a_giant_message_is_laid_out_block_by_block(make) -> None:
    view = make([MarkdownRow("big", "\n\n".join(EN for _ in range(900)))])
    box = view.boxes.peek("big")
    done = sum(1 for s in box.sections if s.flow is not None)
    assert done < 40
    assert at_end(view)
    bar = view.verticalScrollBar()
    for _ in range(20):
        bar.setValue(bar.value() - 200)
    y = view.row_top(0)
    bar.setValue(bar.value() - 50)
    assert view.row_top(0) != y


# -- following the end --------------------------------------------------------------------------


def test_it_follows_the_end_until_the_person_scrolls_up(make) -> None:
    view = make([*(MarkdownRow(f"m{i}", EN) for i in range(12)), MarkdownRow("g", "", True)])
    for _ in range(40):
        view.rows.extend_text("g", "word after word ")
        assert at_end(view)
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() - 200)
    assert not view.stick
    top = view.row_top(8)
    for _ in range(80):
        view.rows.extend_text("g", "word after word ")
    view.rows.append(UserRow("u", "", "hello"))
    assert view.row_top(8) == top
    assert view.jump.isVisible()
    assert view.jump.text() == "1 new"
    QTest.mouseClick(view.jump, Qt.MouseButton.LeftButton)
    assert at_end(view)
    assert view.stick
    assert not view.jump.isVisible()
    assert view.unread == 0


def test_a_row_that_is_pressed_while_all_fits_does_not_end_the_following(make) -> None:
    view = make([UserRow("u", "", "hello"), MarkdownRow("m", "an answer")])
    view.setCurrentIndex(view.rows.index(0))
    for n in range(12):
        view.rows.append(MarkdownRow(f"m{n}", EN))
    settle(view)
    assert at_end(view)
    assert not view.jump.isVisible()


def test_older_rows_are_asked_for_once_near_the_top(make, qtbot) -> None:
    view = make([MarkdownRow(f"m{i}", EN) for i in range(40)])
    view.rows.has_older = True
    asked = []
    view.needOlder.connect(lambda: asked.append(1))
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    settle(view)
    assert not asked
    bar.setValue(200)
    bar.setValue(100)
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [1]
    number, _, y = view.visible_rows()[0]
    view.rows.prepend([UserRow(f"o{i}", "", EN) for i in range(20)], has_older=True)
    assert view.row_top(number + 20) == y


# -- streaming ------------------------------------------------------------------------------------


def test_a_streamed_text_looks_like_the_whole_text(make) -> None:
    text = english()[9].text
    view = make([MarkdownRow("g", "", True)], height=1400)
    for at in range(0, len(text), 5):
        view.rows.extend_text("g", text[at : at + 5])
    row = view.rows.get("g")
    row.growing = False
    view.rows.update(row)
    settle(view)
    whole = make([MarkdownRow("g", text)], height=1400)
    assert view.heights.values == whole.heights.values
    assert view.grab().toImage() == whole.grab().toImage()


def test_a_token_repaints_only_what_changed(make) -> None:
    rows = [MarkdownRow(f"m{i}", EN) for i in range(5)]
    view = make([*rows, MarkdownRow("g", "Some words that stand here", True)])
    rects: list[QRect] = []
    kept = view.paintEvent
    view.paintEvent = lambda event: (rects.append(event.rect()), kept(event))
    view.rows.extend_text("g", " x")
    settle(view)
    assert rects
    assert max(rect.height() for rect in rects) < 80


def test_a_growing_table_and_link_never_flash_raw(make) -> None:
    view = make([MarkdownRow("g", "", True)])

    def shown() -> str:
        return " ".join(item.text or "" for _, _, _, item in view.box(0).items())

    for piece in ("See [the", " docs](https://exa", "mple.com).\n\n| a |", " b |\n|--", "-|---|\n"):
        view.rows.extend_text("g", piece)
        assert "|" not in shown()
        assert "](" not in shown()
    view.rows.extend_text("g", "| 1 | 2 |\n")
    assert "1" in shown()


def test_live_output_follows_its_end(make) -> None:
    view = make([ToolRow("t", "Shell", "terminal", "make", "running", expanded=True)])
    for n in range(40):
        view.rows.extend_text("t", f"line {n}\n")
    text = next(item.text for _, _, _, item in view.box(0).items() if item.text)
    assert text.endswith("line 39")
    assert "line 5\n" not in text
    row = view.rows.get("t")
    row.status = "success"
    view.rows.update(row)
    assert zone(view, "t", "show-all").label == "Show all 40 lines"


# -- what can be clicked ----------------------------------------------------------------------


def test_actions_of_rows(make, qtbot) -> None:
    view = make(english())
    for row_id, action in (("c1", "undo"), ("t2", "open"), ("n1", "retry"), ("n1", "details")):
        with qtbot.waitSignal(view.actionTriggered) as got:
            click(view, row_id, "action", action)
        assert got.args == [row_id, action]


def test_a_disabled_action_does_nothing(make) -> None:
    view = make([NoticeRow("n", "info", "x", "", (Action("a", "A", enabled=False),))])
    seen: list[str] = []
    view.actionTriggered.connect(lambda *args: seen.append(args))
    click(view, "n", "action", "a")
    assert not seen


def test_a_tool_opens_and_asks_for_what_is_not_loaded(make, qtbot) -> None:
    rows = [ToolRow("t", "Read", "file-text", "a.py", "success", partial=True)]
    view = make(rows)
    before = view.heights[0]
    with qtbot.waitSignals([view.rowExpanded, view.needContent]):
        click(view, "t", "expand")
    assert view.heights[0] > before
    view.rows.update(
        ToolRow("t", "Read", "file-text", "a.py", "success", output="a\nb", expanded=True)
    )
    assert any(item.text == "a\nb" for _, _, _, item in view.box(0).items())
    with qtbot.waitSignal(view.rowExpanded) as got:
        click(view, "t", "expand")
    assert got.args == ["t", False]
    assert view.heights[0] == before


def test_opening_keeps_what_is_above_in_place(make) -> None:
    tool = ToolRow("t", "Shell", "terminal", "ls", "success", output="x\n" * 50)
    view = make([*(MarkdownRow(f"m{i}", EN) for i in range(9)), tool])
    top = view.row_top(9)
    view.toggle("t")
    assert view.row_top(9) == top
    click(view, "t", "show-all")
    assert view.box(9).height > 50 * 15


def test_thinking_opens_in_place(make, qtbot) -> None:
    view = make([HeaderRow("h", "A", "m", "1", "first thought", "Thought for 1 s")])
    with qtbot.waitSignal(view.rowExpanded) as got:
        click(view, "h", "expand")
    assert got.args == ["h", True]
    assert any(item.text == "first thought" for _, _, _, item in view.box(0).items())


def test_code_is_copied_and_wrapped(make) -> None:
    view = make([MarkdownRow("m", "```python\n" + PY + "\nx = '" + "long " * 60 + "'\n```")])
    click(view, "m", "copy-code")
    assert QGuiApplication.clipboard().text().startswith(PY)
    before = view.heights[0]
    click(view, "m", "wrap")
    assert view.heights[0] > before
    click(view, "m", "wrap")
    assert view.heights[0] == before


def test_only_web_and_mail_links_are_links(make, qtbot) -> None:
    text = (
        "[a](https://example.com/x) [b](mailto:x@example.com) [c](docs/x.md) "
        "[d](file:///etc/passwd) [e](javascript:alert(1)) ![i](file:///etc/x.png) "
        "![j](https://example.com/pic.png)"
    )
    view = make([MarkdownRow("m", text)])
    box = view.box(0)
    targets = {z.target for z in box.zones(0, box.height) if z.kind == "link"}
    assert targets == {
        "https://example.com/x", "mailto:x@example.com", "https://example.com/pic.png"
    }  # fmt: skip
    with qtbot.waitSignal(view.linkActivated) as got:
        click(view, "m", "link", "https://example.com/x")
    assert got.args == ["https://example.com/x"]


def test_html_is_text(make) -> None:
    view = make([MarkdownRow("m", "a <b>bold</b> <img src=x>\n\n<script>alert(1)</script>")])
    shown = [item.text for _, _, _, item in view.box(0).items()]
    assert shown == ["a <b>bold</b> <img src=x>", "<script>alert(1)</script>"]


def test_the_head_shows_its_buttons_on_hover_and_copies_the_answer(make) -> None:
    rows = [
        UserRow("u", "1", "ask"), HeaderRow("h", "A", "m", "1"), MarkdownRow("m", "**one**"),
        ToolRow("t", "Read", "file-text", "x", "success"), MarkdownRow("m2", "two"),
    ]  # fmt: skip
    view = make(rows)
    move(view, text_spot(view, "m2", "two"))
    assert view.mouse.head_id == "h"
    click(view, "h", "action", "copy-row")
    assert QGuiApplication.clipboard().text() == "**one**\n\ntwo"


# -- selection --------------------------------------------------------------------------------


def test_text_is_selected_across_rows_and_copied(make) -> None:
    rows = [
        UserRow("u", "", "first `code` here"),
        MarkdownRow("m", "some **bold** text\n\n1. one\n2. two\n\n```py\nx = 1\n```\n\nend"),
    ]
    view = make(rows)
    drag(view, text_spot(view, "u", "code"), text_spot(view, "m", "end", end=True))
    assert view.copy() == "code here\n\nsome bold text\n\n1. one\n2. two\n\nx = 1\n\nend"
    assert QGuiApplication.clipboard().text().endswith("end")
    drag(view, text_spot(view, "m", "bold"), text_spot(view, "m", "end", end=True))
    assert view.copy(markdown=True) == "**bold** text\n\n1. one\n2. two\n\n```py\nx = 1\n```\n\nend"


def test_a_selection_backwards_is_the_same(make) -> None:
    view = make([MarkdownRow("m", "alpha beta gamma")])
    drag(view, text_spot(view, "m", "beta", end=True), text_spot(view, "m", "beta"))
    assert view.copy() == "beta"


def test_double_click_takes_the_word_and_triple_click_the_paragraph(make) -> None:
    view = make([MarkdownRow("m", "alpha beta gamma\n\nnext")])
    spot = text_spot(view, "m", "eta")
    port = view.viewport()
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=spot)
    QTest.mouseDClick(port, Qt.MouseButton.LeftButton, pos=spot)
    assert view.copy() == "beta"
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=spot)
    assert view.copy() == "alpha beta gamma"


def test_selecting_everything_covers_rows_that_were_never_seen(make) -> None:
    view = make(source=History(60))
    key(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    text = view.copy(markdown=True)
    assert text.startswith("0: ")
    assert all(f"Message {i}." in text for i in range(1, 60, 2))


def test_shift_and_arrows_move_the_end(make) -> None:
    view = make([MarkdownRow("m", "alpha\n\nbeta")])
    drag(view, text_spot(view, "m", "alpha"), text_spot(view, "m", "alp", end=True))
    shift = Qt.KeyboardModifier.ShiftModifier
    key(view, Qt.Key.Key_Right, shift)
    assert view.copy() == "alph"
    key(view, Qt.Key.Key_End, shift)
    key(view, Qt.Key.Key_Right, shift)
    key(view, Qt.Key.Key_Right, shift)
    assert view.copy() == "alpha\n\nb"
    key(view, Qt.Key.Key_Up, shift)
    assert view.copy().startswith("a")
    key(view, Qt.Key.Key_Escape)
    assert view.selection.empty()


def test_emoji_count_as_one_letter(make) -> None:
    view = make([MarkdownRow("m", "🙂🙂 x `a` end 👍🏽")])
    drag(view, text_spot(view, "m", "x"), text_spot(view, "m", "end", end=True))
    assert view.copy() == "x a end"


def test_tables_copy_with_tabs(make) -> None:
    view = make([MarkdownRow("m", "| a | b |\n|---|---|\n| 1 | 2 |")])
    key(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.copy() == "a\tb\n1\t2"


def test_selected_text_stays_while_more_streams_in(make) -> None:
    view = make([MarkdownRow("g", "alpha beta", True)])
    drag(view, text_spot(view, "g", "alpha"), text_spot(view, "g", "alpha", end=True))
    view.rows.extend_text("g", " gamma\n\ndelta")
    assert view.copy() == "alpha"


# -- keyboard -----------------------------------------------------------------------------------


def test_rows_are_walked_and_opened_with_the_keyboard(make) -> None:
    view = make(english())
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.currentIndex().row() == view.rows.rowCount() - 1
    key(view, Qt.Key.Key_Home)
    assert view.currentIndex().row() == 0
    key(view, Qt.Key.Key_Right)
    assert view.keys.zone.target == "undo" or view.keys.zone.target == "view"
    seen: list[tuple[str, str]] = []
    view.actionTriggered.connect(lambda *args: seen.append(args))
    key(view, Qt.Key.Key_Return)
    assert seen[0][0] == "c1"
    for _ in range(60):
        if view.rows.row(view.currentIndex().row()).id == "t1":
            break
        key(view, Qt.Key.Key_Down)
    key(view, Qt.Key.Key_Return)
    assert view.rows.get("t1").expanded
    assert key(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("Read data/sales")


def test_pages_and_ends(make) -> None:
    view = make(source=History(200))
    key(view, Qt.Key.Key_PageUp)
    assert not at_end(view)
    key(view, Qt.Key.Key_Home)
    assert view.value() == 0
    key(view, Qt.Key.Key_End)
    assert at_end(view)
    assert view.stick


def test_keys_it_does_not_use_are_left_to_the_window(make) -> None:
    view = make(english())
    assert not key(view, Qt.Key.Key_X)
    assert not key(view, Qt.Key.Key_Escape)


def test_the_menu_offers_copying_code_links_and_the_rows_actions(make, qtbot) -> None:
    from desktop_app.ui.transcript import menu

    view = make([MarkdownRow("m", "[x](https://example.com)\n\n```\ncode\n```")])
    made = menu.build(view, 0, QPointF(text_spot(view, "m", "code")))
    labels = [action.text() for action in made.actions()]
    assert labels == ["Copy", "Copy as Markdown", "Copy code", "Select all"]
    made.actions()[2].trigger()
    assert QGuiApplication.clipboard().text() == "code"
    link = menu.build(view, 0, QPointF(text_spot(view, "m", "x")) + QPointF(2, 0))
    assert link.actions()[0].text() == "Open link"
    with qtbot.waitSignal(view.linkActivated):
        link.actions()[0].trigger()
    made.deleteLater()
    link.deleteLater()


# -- find ---------------------------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search is done in one slice, however busy the machine is."""
    monkeypatch.setattr("desktop_app.ui.transcript.find._SLICE", 60.0)


@pytest.mark.usefixtures("at_once")
def test_find_counts_unseen_rows_and_walks_through_the_hits(make) -> None:
    source = History(80)
    source.texts[3] = "a needle and **nee**dle"
    source.texts[70] = "NEEDLE"
    view = make(source=source)
    assert view.find("needle") == 3
    seen: list[tuple[int, int]] = []
    view.findChanged.connect(lambda at, n, done: seen.append((at, n)))
    view.find_previous()
    assert any(number == 70 for number, _, _ in view.visible_rows())
    view.find_previous()
    assert any(number == 3 for number, _, _ in view.visible_rows())
    view.find_next()
    view.find_next()
    assert seen == [(3, 3), (2, 3), (3, 3), (1, 3)]
    assert view.find("") == 0


def test_find_goes_on_in_slices_over_a_long_history(make, qtbot) -> None:
    view = make(source=History(10_000))
    view.find("message 4")
    qtbot.waitUntil(lambda: view.finder.done, timeout=20_000)
    expected = sum("message 4" in text.lower() for text in view.rows._source.texts)
    assert view.finder.count == expected


@pytest.mark.usefixtures("at_once")
def test_find_opens_what_hides_the_hit(make) -> None:
    tool = ToolRow("t", "Shell", "terminal", "ls", "success", output="a\nneedle\n")
    view = make([tool, *(MarkdownRow(f"m{i}", EN) for i in range(10))])
    assert view.find("needle") == 1
    view.find_next()
    assert view.rows.get("t").expanded
    assert any(number == 0 for number, _, _ in view.visible_rows())


# -- looks, languages, ears ---------------------------------------------------------------------


def test_a_change_of_the_palette_is_seen_at_once(make, theme) -> None:
    view = make(english())
    light = view.grab().toImage().pixelColor(2, 2)
    theme.set_scheme("dark")
    settle(view)
    dark = view.grab().toImage().pixelColor(2, 2)
    assert light.lightness() > 200
    assert dark.lightness() < 60


def test_larger_text_makes_larger_rows_and_keeps_the_place(make, theme) -> None:
    view = make([MarkdownRow(f"m{i}", EN) for i in range(40)])
    view.scroll_to_row("m20", margin=0)
    before = view.heights[20]
    theme.set_scale(150)
    settle(view)
    assert view.heights[20] > before * 1.3
    assert view.row_at(20) in (19, 20)
    theme.set_scale(100)


def test_words_follow_the_language(make) -> None:
    view = make(english())
    i18n.set_language("zh_CN")
    settle(view)
    index = view.rows.index(view.rows.index_of("t5"))
    assert "运行中" in view.rows.data(index, Qt.ItemDataRole.AccessibleTextRole)
    assert view.accessibleName() == "对话"


def test_every_row_paints_in_both_languages_and_palettes(make, theme) -> None:
    for rows in (english(), chinese()):
        for scheme in ("light", "dark"):
            theme.set_scheme(scheme)
            view = make(rows, height=3000)
            image = view.grab().toImage()
            colours = {image.pixel(x, y) for x in range(50, 770, 9) for y in range(0, 1500, 3)}
            assert len(colours) > 30


def test_right_to_left_text_begins_at_the_right_and_code_stays_left(make) -> None:
    view = make([MarkdownRow("m", "שלום עולם\n\n```\nשלום = 1\n```")])
    items = [item for _, _, _, item in view.box(0).items() if item.text]
    (first,) = items[0].rects(0, 4)
    assert first.left() > view.boxes.width / 2
    assert items[1].rects(0, 4)[0].left() < 100


def test_assistive_technology_gets_a_list_with_names_and_places(make) -> None:
    view = make(english())
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.role() == QAccessible.Role.List
    assert interface.childCount() == view.rows.rowCount()
    last = interface.child(view.rows.rowCount() - 1)
    assert last.text(QAccessible.Text.Name).startswith("Harbour is the clearest case")
    rect = last.rect()
    assert rect.height() > 10
    assert (
        view.viewport()
        .rect()
        .translated(view.viewport().mapToGlobal(QPoint(0, 0)))
        .intersects(rect)
    )


def test_nothing_turns_when_nothing_runs(make, theme) -> None:
    theme.set_reduced_motion(False)
    view = make([MarkdownRow("m", EN)])
    assert not view._turning.isActive()
    view.rows.append(ToolRow("t", "Shell", "terminal", "x", "running"))
    settle(view)
    assert view._turning.isActive()
    row = view.rows.get("t")
    row.status = "success"
    view.rows.update(row)
    settle(view)
    assert not view._turning.isActive()


def test_scrolled_pixels_are_the_painted_pixels(make) -> None:
    """Scrolling moves pixels instead of painting them again: the result must be the same."""
    view = make([*(MarkdownRow(f"m{i}", EN) for i in range(10)), MarkdownRow("g", "", True)])

    def on_screen():
        settle(view)
        image = view.screen().grabWindow(view.winId()).toImage().copy(view.viewport().geometry())
        return image.convertToFormat(image.Format.Format_RGB32)

    def painted():
        return view.viewport().grab().toImage().convertToFormat(on_screen().Format.Format_RGB32)

    for at in range(0, len(EN) * 2, 9):
        view.rows.extend_text("g", (EN * 2)[at : at + 9])
        settle(view)
    assert on_screen() == painted()
    view.jump.setVisible(False)
    for step in (-60, -35, 20, -110):
        bar = view.verticalScrollBar()
        bar.setValue(bar.value() + step)
        settle(view)
    assert on_screen() == painted()


def test_a_lexer_that_is_not_there_yet_colours_the_code_when_it_comes(make, qtbot) -> None:
    highlight.lexers.known.pop("lua", None)
    highlight.lexers._loading.discard("lua")
    view = make([MarkdownRow("m", "```lua\nlocal x = 'a'\n```")])
    (code,) = [item for _, _, _, item in view.box(0).items() if item.text]
    qtbot.waitUntil(lambda: bool(code._hl.lines), timeout=10_000)
    assert code._hl.lines[0][0] == (0, 5, "k")


def test_code_wider_than_the_column_scrolls_sideways(make) -> None:
    view = make([MarkdownRow("m", "```\n" + "long " * 100 + "\n```")])
    (code,) = [item for _, _, _, item in view.box(0).items() if item.text]
    assert code.overflow() > 0
    assert code.wheel(200)
    assert code.scroll_x == 200
    assert code.wheel(1e6)
    assert not code.wheel(10)


def test_opening_and_closing_a_tool_leaves_the_card_as_it_was(make) -> None:
    """Opening one tool of a joined card leaves its neighbours as they are."""
    rows = [ToolRow(f"t{i}", "Read", "file-text", f"{i}.py", "success") for i in range(3)]
    view = make(rows)
    before = view.heights.values[:]
    view.toggle("t1")
    view.toggle("t1")
    assert view.heights.values == before


def test_a_paragraph_of_ten_thousand_letters_catches_up(make, qtbot) -> None:
    view = make([MarkdownRow("g", "", True)])
    for _ in range(400):
        view.rows.extend_text("g", "**bold** and `code` words ")

    def shown() -> int:
        return sum(len(item.text or "") for _, _, _, item in view.box(0).items())

    qtbot.waitUntil(lambda: shown() > 400 * 19, timeout=10_000)


def test_opening_is_a_short_motion_that_ends_at_the_real_height(make, theme, qtbot) -> None:
    rows = [ToolRow("t", "Shell", "terminal", "ls", "success", output="x\n" * 10)]
    view = make([*rows, MarkdownRow("m", EN)])
    closed = view.heights[0]
    view.toggle("t")
    opened = view.heights[0]
    view.toggle("t")
    theme.set_reduced_motion(False)
    settle(view)
    seen: set[int] = set()
    view.toggle("t")
    qtbot.waitUntil(lambda: seen.add(view.heights[0]) or view.heights[0] == opened)
    assert min(seen) >= closed
    assert max(seen) == opened
    view.toggle("t")
    view.expander.finish()
    assert view.heights[0] == closed


def test_the_scroll_bar_marks_hits_and_compactions(make) -> None:
    view = make([*english(), *(MarkdownRow(f"x{i}", EN) for i in range(30))])
    view.rows.append(MarkdownRow("last", "a needle"))
    bar = view.verticalScrollBar()
    assert [token for _, token in bar.marks()] == ["muted"]
    view.find("needle")
    marks = bar.marks()
    assert [token for _, token in marks] == ["muted", "warning"]
    assert marks[1][0] > bar.height() * 0.9
    view.find("")
    view.rows.remove("c1")
    assert bar.marks() == []
