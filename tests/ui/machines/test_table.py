"""The table's model and view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from desktop_app.core.overview_row import OverviewRow
from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.machines.columns import BY_ID, COLUMNS, NONE, state_of
from desktop_app.ui.machines.filter_bar import Pick
from desktop_app.ui.machines.status import MachinesStatus
from desktop_app.ui.machines.table_model import TableModel
from desktop_app.ui.machines.table_view import Table

DOWN = Qt.SortOrder.DescendingOrder
ROWS = (
    OverviewRow("a", "Beta", "local", "ready", folder="/home/me/beta", sessions=2),
    OverviewRow("b", "alpha", "docker", "ready", cpu=0.5, cpus=2.0, memory=300, sessions=9),
    OverviewRow("c", "gamma", "e2b", "paused", sessions=1),
    OverviewRow("d", "delta", "docker", "error", {"code": "docker.not_running", "engine": "x"}),
)


def model(rows: tuple[OverviewRow, ...] = ROWS) -> TableModel:
    made = TableModel()
    made.replace(rows)
    return made


def names(table: TableModel) -> list[str]:
    return [table.index(place, 0).data() for place in range(table.rowCount())]


def test_the_model_keeps_qts_promises(qtbot: Any) -> None:
    table = TableModel()
    tester = QAbstractItemModelTester(
        table, QAbstractItemModelTester.FailureReportingMode.Fatal, table
    )
    table.replace(ROWS)
    table.sort(BY_ID["sessions"], DOWN)
    table.put([replace(ROWS[0], sessions=99), OverviewRow("e", "new", "local", "ready")], ["c"])
    table.filter(kind="docker")
    table.filter()
    assert names(table) == ["Beta", "alpha", "delta", "new"]
    assert tester.model() is table


def test_sorting_puts_what_is_not_known_last_and_keeps_the_selection(qtbot: Any) -> None:
    table = model()
    kept = QPersistentModelIndex(table.find("b"))
    table.sort(BY_ID["cpu"], DOWN)
    assert names(table)[0] == "alpha"
    assert kept.row() == 0
    table.sort(BY_ID["name"])
    assert names(table) == ["alpha", "Beta", "delta", "gamma"]
    table.sort(-1)
    assert names(table) == ["Beta", "alpha", "gamma", "delta"], "the person's own order"
    assert kept.data() == "alpha"


def test_a_row_that_overtakes_another_moves_and_others_are_let_be(qtbot: Any) -> None:
    table = model()
    table.sort(BY_ID["sessions"], DOWN)
    moved: list[object] = []
    cells: list[tuple[int, int]] = []
    table.layoutChanged.connect(lambda: moved.append(1))
    table.dataChanged.connect(lambda a, b: cells.append((a.row(), b.row())))
    table.put([replace(ROWS[1], cpu=1.0)])
    assert (moved, cells) == ([], [(0, 0)])
    table.put([replace(ROWS[2], sessions=5)])
    assert moved == [1]
    assert names(table) == ["alpha", "gamma", "Beta", "delta"]


def test_the_filter_is_by_kind_state_and_text(qtbot: Any) -> None:
    table = model()
    table.filter(kind="docker")
    assert names(table) == ["alpha", "delta"]
    table.filter(group="trouble")
    assert names(table) == ["delta"]
    table.filter(text="HOME/ME")
    assert names(table) == ["Beta"]
    table.put([replace(ROWS[0], folder="")])
    assert names(table) == []
    assert table.kinds()["docker"] == 2


def test_a_state_says_what_is_wrong_in_few_words(chinese: None) -> None:
    assert state_of(ROWS[3]) == ("failed", "引擎无法连接")
    i18n.set_language("en")
    assert state_of(ROWS[3]) == ("failed", "Engine not reachable")
    assert state_of(replace(ROWS[2], state="error", params={"code": "e2b.no_key"})) == (
        *("warning", "Key missing"),
    )
    assert state_of(replace(ROWS[0], trusted=False))[1] == "Restricted"


def test_a_cost_is_marked_as_estimated_and_nothing_is_made_up(qtbot: Any) -> None:
    cost = COLUMNS[BY_ID["cost"]]
    assert cost.text(ROWS[2]) == NONE
    import time

    since = int((time.time() - 1800) * 1_000_000)
    row = replace(ROWS[2], state="ready", price=1.0, spent=0.25, spent_us=since)
    assert cost.text(row) == "~$0.75"
    assert cost.text(replace(row, state="paused", spent_us=0)) == "~$0.25"
    assert "estimated" in cost.tip


def test_only_what_is_seen_is_asked_for(qtbot: Any) -> None:
    rows = [OverviewRow(f"w{n}", f"workspace {n}", "local", "ready") for n in range(1000)]
    table = TableModel()
    table.replace(rows)
    view = Table(table)
    qtbot.addWidget(view)
    view.resize(1200, 400)
    with qtbot.waitSignal(view.seen) as told:
        view.show()
    assert told.args[0][0] == "w0"
    assert 5 < len(told.args[0]) < 20
    with qtbot.waitSignal(view.seen) as told:
        view.scrollToBottom()
    assert told.args[0][-1] == "w999"
    with qtbot.waitSignal(view.seen) as told:
        view.hide()
    assert told.args == [[]]


def test_enter_opens_and_delete_asks(qtbot: Any) -> None:
    view = Table(model())
    qtbot.addWidget(view)
    view.show()
    view.choose("b")
    with qtbot.waitSignal(view.opened) as told:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert told.args == ["b"]
    with qtbot.waitSignal(view.removeWanted) as told:
        QTest.keyClick(view, Qt.Key.Key_Delete)
    assert told.args == ["b"]


def test_rows_stand_in_groups_that_follow_their_state(qtbot: Any) -> None:
    table = TableModel()
    tester = QAbstractItemModelTester(
        table, QAbstractItemModelTester.FailureReportingMode.Fatal, table
    )
    table.replace(ROWS)
    table.sort(BY_ID["name"])
    kept = QPersistentModelIndex(table.find("b"))
    table.group("kind")
    assert names(table) == ["Local", "Beta", "Docker", "alpha", "delta", "E2B", "gamma"]
    assert kept.data() == "alpha", "the chosen row stays so"
    assert table.first() == ROWS[0]
    assert table.row_at(0) is None
    heading = table.index(2, 0)
    assert heading.data(Qt.ItemDataRole.AccessibleTextRole) == "Docker, 2 workspaces"
    assert not table.flags(heading) & Qt.ItemFlag.ItemIsSelectable
    table.group("state")
    assert names(table) == [
        *("Open or running", "alpha", "Beta"),
        *("Stopped or paused", "gamma"),
        *("With a problem", "delta"),
    ]
    table.put([replace(ROWS[1], state="stopped")])
    assert names(table)[:5] == ["Open or running", "Beta", "Stopped or paused", "alpha", "gamma"]
    table.put([], ["d"])
    assert "With a problem" not in names(table), "no heading without rows"
    table.filter(kind="e2b")
    assert names(table) == ["Stopped or paused", "gamma"]
    table.filter()
    table.group("")
    assert names(table) == ["alpha", "Beta", "gamma"]
    assert tester.model() is table


def test_groups_by_engine_begin_with_this_computer(chinese: None) -> None:
    table = model(
        (
            OverviewRow("a", "one", "docker", "ready", engine="Docker 29 · rootless"),
            OverviewRow("b", "two", "local", "ready"),
            OverviewRow("c", "three", "docker", "ready", engine="Colima"),
        )
    )
    table.group("engine")
    assert names(table)[::2] == ["这台电脑", "Colima", "Docker 29 · rootless"]


def test_arrows_go_over_headings_and_a_press_on_one_changes_nothing(qtbot: Any) -> None:
    table = model()
    table.group("kind")
    view = Table(table)
    qtbot.addWidget(view)
    view.resize(1200, 400)
    view.show()
    view.choose("a")
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current_id() == "b", "the heading between them is passed"
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.current_id() == "a"
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.current_id() == "a"
    heading = view.visualRect(table.index(2, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=heading)
    assert view.current_id() == "a"
    menus: list[object] = []
    view.menuWanted.connect(lambda *told: menus.append(told))
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=heading)
    assert menus == []
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.current_id() == "a"
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.current_id() == "c"
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.current_id() == "a"
    view.resize(1200, 28 + 32 * 3)  # a page ends at the heading of "Docker"
    QTest.keyClick(view, Qt.Key.Key_PageDown)
    assert view.current_id() == "b"


def test_the_status_line_counts_and_marks_what_is_estimated(qtbot: Any) -> None:
    status = MachinesStatus()
    qtbot.addWidget(status)
    status.resize(1000, 24)
    status.show()
    assert not status.cost.isVisible()
    rows = (
        replace(ROWS[0], offloaded=1_000_000),
        replace(ROWS[1], offloaded=2_000_000, engine="Docker 29.1"),
        replace(ROWS[2], spent=12.0),
        ROWS[3],
    )
    status.show_rows(rows, 3.2)
    assert status.count.text() == "4 workspaces"
    assert status.running.text() == "1 machine runs"
    assert status.engines.text() == "Docker 29.1"
    assert status.trouble.text() == "1 engine not reachable"
    assert status.offloaded.text() == "Offloaded 3.0 MB"
    assert status.offloaded.toolTip() == "Counted in 2 of 4 workspaces"
    assert status.cost.text() == "Cost this month ~$3.20, estimated"
    assert "~$12.00 in all" in status.cost.toolTip()
    status.show_rows(rows, 0.001)
    assert status.cost.text() == "Cost this month <$0.01, estimated"
    status.show_rows(rows[:1], 0.0)
    shown = [status.engines, status.trouble, status.sign, status.cost]
    assert not any(part.isVisible() for part in shown)


def test_a_pick_says_what_is_chosen_and_tells_of_it_once(qtbot: Any, chinese: None) -> None:
    i18n.set_language("en")
    pick = Pick(
        "layers", lambda: tr("Group by"), lambda what: tr("Group: {what}", what=what),
        [("", lambda: tr("none")), ("kind", lambda: tr("kind"))],
    )  # fmt: skip
    qtbot.addWidget(pick)
    assert (pick.text(), pick.isChecked()) == ("Group: none", False)
    told: list[str] = []
    pick.chosen.connect(told.append)
    menu = pick.menu()
    assert menu is not None
    menu.actions()[1].trigger()
    menu.actions()[1].trigger()
    assert told == ["kind"]
    assert (pick.text(), pick.isChecked()) == ("Group: kind", True)
    assert pick.accessibleName() == "Group by: kind"
    i18n.set_language("zh_CN")
    QApplication.sendEvent(pick, QEvent(QEvent.Type.LanguageChange))
    assert pick.text() == "分组：类型"
    assert [action.text() for action in menu.actions()] == ["无", "类型"]
