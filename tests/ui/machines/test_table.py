"""The table's model and view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest

from desktop_app.core.overview import OverviewRow
from desktop_app.ui import i18n
from desktop_app.ui.machines.columns import BY_ID, COLUMNS, NONE, state_of
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
