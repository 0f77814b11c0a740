"""Refreshing the tree: whatever changes, it shows what it was given, and indexes stay with rows."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.ui.workspaces.tree_model import ItemRole, WorkspaceTreeModel
from desktop_app.ui.workspaces.tree_view import WorkspaceTree


def workspace(name: str, sessions: list[tuple[int, str]]) -> WorkspaceSummary:
    info = WorkspaceInfo(name, name, "local", f"/{name}", f"/{name}", "C", True, False, "ready")
    return WorkspaceSummary(
        info,
        tuple(SessionSummary(SessionKey("u", "a", f"{name}{n}"), name, t, 1) for n, t in sessions),
    )


SESSIONS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(["one", "two"])), unique_by=lambda s: s[0]
)
LISTS = st.lists(
    st.builds(workspace, st.sampled_from("abcdef"), SESSIONS), unique_by=lambda w: w.info.id
)


def shown(model: WorkspaceTreeModel) -> list[WorkspaceSummary]:
    found = []
    for row in range(model.rowCount()):
        parent = model.index(row, 0)
        count = model.rowCount(parent)
        sessions = tuple(model.index(n, 0, parent).data(ItemRole) for n in range(count))
        found.append(WorkspaceSummary(parent.data(ItemRole).info, sessions))
    return found


@pytest.mark.usefixtures("qapp", "theme")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LISTS, min_size=2, max_size=5))
def test_any_refresh_shows_what_it_was_given(lists: list[list[WorkspaceSummary]]) -> None:
    model = WorkspaceTreeModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    for rows in lists:
        held = {}
        for row in range(model.rowCount()):
            parent = model.index(row, 0)
            for n in range(model.rowCount(parent)):
                index = model.index(n, 0, parent)
                held[index.data(ItemRole).key] = QPersistentModelIndex(index)
        model.replace(rows)
        assert shown(model) == rows
        for key, index in held.items():
            here = any(s.key == key for ws in rows for s in ws.sessions)
            assert not here or index.data(ItemRole).key == key
    tester.deleteLater()
    model.deleteLater()


def test_workspaces_that_come_are_open_and_closed_ones_stay_closed(qtbot, theme) -> None:
    model = WorkspaceTreeModel()
    tree = WorkspaceTree(model)
    model.setParent(tree)
    qtbot.addWidget(tree)
    model.replace([workspace("a", [(1, "one")]), workspace("b", [(1, "one")])])
    a, b = model.index(0, 0), model.index(1, 0)
    assert tree.isExpanded(a)
    assert tree.isExpanded(b)
    tree.setExpanded(b, False)
    model.replace([workspace("b", [(1, "one"), (2, "two")]), workspace("a", [(1, "one")])])
    assert not tree.isExpanded(model.index(0, 0))
    assert tree.isExpanded(model.index(1, 0))
    assert model.index(0, 0).data(Qt.ItemDataRole.DisplayRole) == "b"
