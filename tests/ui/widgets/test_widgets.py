"""Widgets as people use them: by mouse, by keyboard, by screen reader."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.theme import theme as current
from desktop_app.ui.widgets import (
    Act,
    Button,
    Check,
    Choice,
    ElidedLabel,
    EmptyState,
    Field,
    IconButton,
    Label,
    Menu,
    NoticeCard,
    ProgressBar,
    ProgressLine,
    Radio,
    RailButton,
    SearchField,
    SegmentedControl,
    StateGlyph,
    Switch,
    TabBar,
    ToastHost,
    context_menu,
)
from desktop_app.ui.widgets.keyhint import caps_width, keys_of


@pytest.fixture
def page(qtbot):
    widget = QWidget()
    QVBoxLayout(widget)
    widget.resize(420, 320)
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    return widget


def put(page: QWidget, *widgets: QWidget) -> None:
    for widget in widgets:
        page.layout().addWidget(widget)
        widget.show()
    QTest.qWait(0)


def test_button_follows_language(page):
    button = Button(lambda: tr("Cancel"))
    put(page, button)
    assert button.text() == "Cancel"
    i18n.set_language("zh_CN")
    assert button.text() == "取消"
    i18n.set_language("en")
    assert button.text() == "Cancel"


def test_ring_only_for_keyboard_focus(page, qtbot):
    first, second = Button("One"), Button("Two")
    put(page, first, second)
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert first._ring is None
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.keyClick(first, Qt.Key.Key_Tab)
    assert second.hasFocus()
    assert second._ring is not None
    ring = second._ring.geometry()
    assert ring == second.geometry().adjusted(-3, -3, 3, 3)
    qtbot.keyClick(second, Qt.Key.Key_Backtab)
    assert second._ring is None
    assert first._ring is not None


def test_ring_is_whole_where_its_parent_ends_close_by(page, qtbot):
    button = Button("Take over")
    put(page, button)
    button.move(40, page.height() - button.height())
    button.setFocus(Qt.FocusReason.TabFocusReason)
    ring = button._ring
    assert ring is not None
    assert page.rect().contains(ring.geometry())
    shot = page.grab().toImage()
    middle, low = ring.geometry().center().x(), ring.geometry().bottom()
    ratio = shot.devicePixelRatio()
    line = shot.pixelColor(int(middle * ratio), int((low - 0.5) * ratio))
    assert line.name() == theme().hex("focus").lower(), "its lower line is there"


def test_ring_follows_its_control_and_dies_with_it(page, qtbot):
    button, other = Button("One"), Button("Two")
    put(page, button, other)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    button.move(40, 60)
    assert button._ring.geometry().topLeft() == QPoint(37, 57)
    button.hide()
    assert not page.findChildren(type(button._ring)) if button._ring else True
    other.setFocus(Qt.FocusReason.TabFocusReason)
    page.layout().removeWidget(other)
    other.deleteLater()
    qtbot.waitUntil(lambda: len(page.findChildren(Button)) == 1)


def test_button_heights_are_the_tokens(page, theme):
    assert Button("Save").sizeHint().height() == 28
    assert Button("Save", small=True).sizeHint().height() == 24
    assert IconButton("x", "Close").sizeHint().width() == 28
    theme.set_compact(True)
    assert Button("Save").sizeHint().height() == 24
    theme.set_scale(150)
    assert IconButton("x", "Close").sizeHint().width() == 42


@pytest.mark.parametrize(
    ("sequence", "caps"),
    [
        ("Ctrl+Shift+F", ["Ctrl", "Shift", "F"]),
        ("Ctrl++", ["Ctrl", "+"]),
        ("Return", ["Enter"]),
        ("Ctrl+K, Ctrl+S", ["Ctrl", "K"]),
        ("", []),
    ],
)
def test_key_caps(sequence, caps):
    assert keys_of(sequence) == caps


def test_key_caps_stay_the_same_in_chinese(chinese, qapp):
    assert keys_of("Ctrl+Return") == ["Ctrl", "Enter"]


def test_icon_buttons_have_names_and_their_keys_in_the_tooltip(page):
    button = IconButton("search", lambda: tr("Clear"), keys="Ctrl+F")
    put(page, button)
    assert button.accessibleName() == "Clear"
    assert "Ctrl+F" in button.toolTip()
    rail = RailButton("archive", "Offloads")
    rail.set_attention("One approval waits")
    assert "One approval waits" in rail.toolTip()
    assert rail.accessibleDescription() == "One approval waits"
    rail.set_attention("")
    assert rail.toolTip() == "Offloads"


def test_switch_and_check_by_space(page, qtbot):
    for kind in (Switch, Check):
        toggle = kind("Words")
        put(page, toggle)
        seen: list[bool] = []
        toggle.toggled.connect(seen.append)
        qtbot.keyClick(toggle, Qt.Key.Key_Space)
        qtbot.mouseClick(toggle, Qt.MouseButton.LeftButton)
        assert seen == [True, False]
        interface = QAccessible.queryAccessibleInterface(toggle)
        assert interface.role() == QAccessible.Role.CheckBox
        assert interface.text(QAccessible.Text.Name) == "Words"


def test_one_radio_of_a_page_is_on_and_arrows_move(page, qtbot):
    first, second = Radio("One"), Radio("Two")
    put(page, first, second)
    first.setChecked(True)
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert (first.isChecked(), second.isChecked()) == (False, True)
    assert QAccessible.queryAccessibleInterface(second).role() == QAccessible.Role.RadioButton


def test_menu_makes_room_for_caps_and_follows_the_language(page, qtbot):
    ran: list[str] = []
    menu = Menu(lambda: tr("Files"), page)
    short = menu.addAction("New", lambda: ran.append("new"))
    short.setShortcut("Ctrl+Shift+Alt+N")
    menu.addSeparator()
    off = menu.addAction("Off", lambda: ran.append("off"))
    off.setEnabled(False)
    assert menu.sizeHint().width() >= 30 + caps_width(keys_of("Ctrl+Shift+Alt+N"))
    menu.popup(page.mapToGlobal(QPoint(0, 0)))
    menu.grab()
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert ran == ["new"]
    i18n.set_language("zh_CN")
    assert menu.title() == "文件"


def test_context_menu_goes_when_it_closes(page, qtbot):
    menu = context_menu(page)
    menu.addAction("One")
    menu.popup(page.mapToGlobal(QPoint(5, 5)))
    menu.close()
    qtbot.waitUntil(lambda: page.findChild(Menu) is None)


def test_labels_take_the_colours_of_a_new_scheme(page, theme):
    label = Label("words", tone="muted")
    wrapped = Label("a <b> & more words\n" * 3, wrap=True)
    put(page, label, wrapped)
    assert wrapped.text() == "a <b> & more words\n" * 3
    assert "&lt;b&gt;" in QLabel.text(wrapped), "taken literally"
    theme.set_scheme("dark")
    ink = label.palette().color(label.foregroundRole()).name().upper()
    assert ink == theme.hex("muted")


def test_switch_knob_arrives_where_motion_is_on(page, qtbot, theme):
    theme.set_reduced_motion(False)
    toggle = Switch(name="x")
    put(page, toggle)
    toggle.setChecked(True)
    assert toggle.at < 1
    qtbot.waitUntil(lambda: toggle.at == 1)


def test_segments_by_arrow_keys_tell_only_the_person(page, qtbot):
    control = SegmentedControl("View")
    control.set_choices([("a", "One"), ("b", "Two"), ("c", "Three")], "b")
    put(page, control)
    told: list[str] = []
    control.changed.connect(told.append)
    control.set_value("c")
    assert told == []
    assert control.value() == "c"
    part = control.parts()[2]
    part.setFocus()
    qtbot.keyClick(part, Qt.Key.Key_Left)
    assert told == ["b"]
    qtbot.mouseClick(control.parts()[0], Qt.MouseButton.LeftButton)
    assert told == ["b", "a"]


def test_tabs_count_is_part_of_the_name(page, qtbot):
    tabs = TabBar()
    tabs.set_tabs([("a", "Context"), ("b", "Tools")])
    tabs.set_count("b", "8")
    put(page, tabs)
    assert tabs.value() == "a"
    assert [p.accessibleName() for p in tabs.parts()] == ["Context", "Tools 8"]
    with qtbot.waitSignal(tabs.changed) as blocker:
        qtbot.mouseClick(tabs.parts()[1], Qt.MouseButton.LeftButton)
    assert blocker.args == ["b"]


def test_field_says_why(page):
    field = Field("Name", text="x")
    put(page, field)
    field.set_error("This name is taken.")
    assert field.edit.property("invalid") is True
    assert field.edit.accessibleDescription() == "This name is taken."
    assert field._reason.isVisible()
    field.set_error("")
    assert not field._reason.isVisible()


def test_search_tells_once_after_typing_and_escape_empties(page, qtbot):
    search = SearchField("Filter")
    put(page, search)
    told: list[str] = []
    search.searched.connect(told.append)
    qtbot.keyClicks(search, "comp")
    qtbot.waitUntil(lambda: told == ["comp"])
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert told == ["comp", ""]
    assert search.text() == ""
    with qtbot.waitSignal(search.leaving):
        qtbot.keyClick(search, Qt.Key.Key_Down)


def test_choice_does_not_change_while_scrolling_past(page, qtbot):
    choice = Choice("Model")
    choice.set_choices([("a", "A"), ("b", lambda: tr("Cancel"))], "b")
    put(page, choice)
    assert choice.value() == "b"
    i18n.set_language("zh_CN")
    assert choice.currentText() == "取消"


def test_elided_label_gives_the_whole_text_to_screen_readers(page):
    text = "/home/person/" + "very/" * 30 + "file.txt"
    label = ElidedLabel(text, mode=Qt.TextElideMode.ElideMiddle)
    put(page, label)
    assert label.is_elided()
    assert label.accessibleName() == text
    assert label.minimumSizeHint().width() < 60


def test_cards_report_their_actions(page, qtbot):
    notice = NoticeCard(
        "danger", "It broke", "Because", acts=[Act("fix", "Fix"), Act("log", "Log")]
    )
    empty = EmptyState("archive", "Nothing", "Yet", [Act("new", "New")])
    put(page, notice, empty)
    told: list[str] = []
    notice.action.connect(told.append)
    empty.action.connect(told.append)
    for button in [*notice.findChildren(Button), *empty.findChildren(Button)]:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert told == ["fix", "log", "new"]
    assert notice.findChildren(Button)[0].variant == "primary"


def test_toasts_stay_clear_of_where_a_person_writes(page, qtbot):
    field = QWidget(page)
    field.setGeometry(0, page.height() - 120, page.width(), 90)
    field.show()
    host = ToastHost(page)
    host.above = field
    toast = host.show("Moved")
    qtbot.waitUntil(lambda: toast.geometry().bottom() < field.y())
    field.hide()
    other = host.show("Moved again")
    qtbot.waitUntil(lambda: other.geometry().bottom() > field.y())
    for one in host.toasts():
        one.dismiss()


def test_toasts_stack_do_not_repeat_and_act_once(page, qtbot):
    host = ToastHost(page)
    ran: list[str] = []
    first = host.show("Moved to the trash", act="Undo", run=lambda: ran.append("undo"))
    host.show("Saved")
    host.show("Saved")
    assert len(host.toasts()) == 2
    lower, upper = host.toasts()[1], host.toasts()[0]
    assert lower.y() > upper.y()
    assert lower.geometry().right() <= page.width() - 12
    qtbot.mouseClick(first.button, Qt.MouseButton.LeftButton)
    assert ran == ["undo"]
    assert len(host.toasts()) == 1
    error = host.show("Disk is full", "danger")
    assert not error._timer.isActive(), "errors stay"
    for toast in host.toasts():
        toast.dismiss()
    assert host.toasts() == []


def test_progress_appears_only_when_it_lasts(page, qtbot):
    line = ProgressLine()
    page.layout().addWidget(line)
    line.begin("Reading")
    assert not line.isVisible()
    line.end()
    assert not line._delay.isActive()
    line.begin("Reading")
    qtbot.waitUntil(line.isVisible)
    with qtbot.waitSignal(line.cancelled):
        qtbot.mouseClick(line.cancel, Qt.MouseButton.LeftButton)
    assert not line.cancel.isEnabled()
    line.end()


def test_spinner_runs_only_while_seen(page, qtbot, theme):
    theme.set_reduced_motion(False)
    glyph = StateGlyph("busy", "Starting")
    put(page, glyph)
    assert glyph._timer.isActive()
    glyph.hide()
    assert not glyph._timer.isActive()
    glyph.show()
    glyph.set_state("done", "Done")
    assert not glyph._timer.isActive()
    glyph.set_state("busy", "Busy")
    theme.set_reduced_motion(True)
    assert not glyph._timer.isActive()


def test_a_bar_moves_only_where_nobody_knows_its_end(page, qtbot, theme):
    theme.set_reduced_motion(False)
    bar = ProgressBar()
    put(page, bar)
    assert bar._timer.isActive()
    bar.set_share(0.5)
    assert not bar._timer.isActive()
    bar.set_share(None)
    theme.set_reduced_motion(True)
    assert not bar._timer.isActive()
    theme.set_reduced_motion(False)
    assert bar._timer.isActive()
    bar.hide()
    assert not bar._timer.isActive()


def test_every_focusable_widget_of_the_gallery_has_a_name(qtbot):
    from tests.ui.widgets.gallery import sheet

    page = sheet()
    qtbot.addWidget(page)
    nameless = []
    for widget in page.findChildren(QWidget):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or widget.inherits("QAbstractItemView"):
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is not None and not interface.text(QAccessible.Text.Name):
            nameless.append(repr(widget))
    assert [n for n in nameless if "_Segment" not in n and "Scroll" not in n] == []


def test_gallery_draws_in_both_palettes(qtbot, theme):
    from tests.ui.widgets.gallery import sheet

    grounds = []
    for scheme in ("light", "dark"):
        theme.set_scheme(scheme)
        page = sheet()
        qtbot.addWidget(page)
        page.resize(page.sizeHint())
        image = page.grab().toImage()
        grounds.append(image.pixelColor(4, 4).name().upper())
    assert grounds == ["#FDFDFD", "#1A1D1F"]


def test_rows_share_one_layout(qtbot):
    """Two buttons side by side keep their own sizes in a wide row."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    short, long = Button("A"), Button("A much longer text")
    row.addWidget(short)
    row.addWidget(long)
    qtbot.addWidget(holder)
    holder.resize(600, 40)
    holder.show()
    assert short.width() == short.sizeHint().width() < long.width()
    assert current().scheme == "light"
