"""The dialog of agents: made, changed, copied and removed, with nothing lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop_app.core.agents import AgentEntry, Agents
from desktop_app.core.sessions.appdb import AppDb
from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui import i18n
from desktop_app.ui.settings.agents_dialog import AgentsDialog
from desktop_app.ui.widgets import ConfirmDialog, Label, Role

Run = Callable[..., Any]


async def _opened(folder: Path) -> tuple[AppDb, Agents]:
    db = await AppDb.open(folder / "app.db")
    agents = Agents(db)
    await agents.load([SessionKey("me", "default", "s1"), SessionKey("me", "analyst", "s2")])
    return db, agents


@pytest.fixture
def agents(run: Run, tmp_path: Path) -> Iterator[Agents]:
    db, made = run(_opened(tmp_path))
    yield made
    run(db.close())


@pytest.fixture
def dialog(qtbot: Any, agents: Agents, run: Run) -> Iterator[AgentsDialog]:
    models = [("one", "Model One"), ("two", "Model Two")]
    made = AgentsDialog(None, agents, models, [("default", "Ask first"), ("explore", "Explore")])
    qtbot.addWidget(made)
    made.show()
    yield made
    made._drafts.clear()
    run(made.close_tasks())


def listed(dialog: AgentsDialog) -> list[tuple[str, str]]:
    items = [dialog.items.item(row) for row in range(dialog.items.rowCount())]
    return [(item.text(), item.data(Role.DETAIL)) for item in items]


def choose(dialog: AgentsDialog, row: int) -> None:
    dialog.view.setCurrentIndex(dialog.items.index(row, 0))


def click(button: Any) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def confirmation(qtbot: Any) -> ConfirmDialog:
    found: list[ConfirmDialog] = []

    def there() -> bool:
        tops = QApplication.topLevelWidgets()
        found[:] = [w for w in tops if isinstance(w, ConfirmDialog) and w.isVisible()]
        return bool(found)

    qtbot.waitUntil(there, timeout=10_000)
    return found[0]


def words(widget: Any) -> str:
    return "\n".join(label.text() for label in widget.findChildren(Label))


def test_the_built_in_one_is_told_and_cannot_be_changed(dialog: AgentsDialog) -> None:
    assert listed(dialog) == [("Assistant", "Built in"), ("analyst", "Known from sessions")]
    assert not dialog.name.isEnabled()
    assert not dialog.instructions.isEnabled()
    assert not dialog.save.isEnabled()
    assert not dialog.remove.isEnabled()
    choose(dialog, 1)
    assert dialog.name.isEnabled()
    assert not dialog.remove.isEnabled(), "nobody made it: there is nothing to remove"
    assert "new sessions" in dialog.told.text(), "when a change takes effect is said"


def test_an_agent_is_made_changed_copied_and_removed(
    qtbot: Any, dialog: AgentsDialog, agents: Agents
) -> None:
    click(dialog.add)
    assert dialog.items.rowCount() == 3
    dialog.name.edit.setText("Reviewer")
    dialog.instructions.setPlainText("Say what is wrong first.")
    dialog.model.setCurrentIndex(dialog.model.findData("two"))
    dialog.model.chosen.emit("two")
    dialog.mode.setCurrentIndex(dialog.mode.findData("explore"))
    dialog.mode.chosen.emit("explore")
    assert listed(dialog)[2][0] == "Reviewer"
    with qtbot.waitSignal(dialog.changed, timeout=10_000):
        click(dialog.save)
    made = AgentEntry(
        "reviewer", "Reviewer", "two", "Say what is wrong first.", "explore", made=True
    )
    assert agents.get("reviewer") == made
    assert listed(dialog) == [
        ("Assistant", "Built in"),
        ("analyst", "Known from sessions"),
        ("Reviewer", "Model Two"),
    ]
    click(dialog.copy)
    assert dialog.name.text() == "Copy of Reviewer"
    assert dialog.instructions.toPlainText() == "Say what is wrong first."
    with qtbot.waitSignal(dialog.changed, timeout=10_000):
        click(dialog.save)
    assert [one.name for one in agents.others()] == ["analyst", "Copy of Reviewer", "Reviewer"]
    click(dialog.remove)
    asked = confirmation(qtbot)
    assert "go on as they began" in words(asked)
    click(asked.cancel)
    qtbot.waitUntil(lambda: not asked.isVisible())
    assert len(agents.others()) == 3
    click(dialog.remove)
    with qtbot.waitSignal(dialog.changed, timeout=10_000):
        click(confirmation(qtbot).go)
    assert [one.name for one in agents.others()] == ["analyst", "Reviewer"]


def test_what_was_typed_stays_while_another_is_looked_at_and_closing_asks(
    qtbot: Any, dialog: AgentsDialog, agents: Agents
) -> None:
    choose(dialog, 1)
    dialog.instructions.setPlainText("Count twice.")
    choose(dialog, 0)
    assert listed(dialog)[1] == ("analyst", "Not saved yet")
    choose(dialog, 1)
    assert dialog.instructions.toPlainText() == "Count twice."
    dialog.reject()
    asked = confirmation(qtbot)
    assert "analyst" in words(asked)
    click(asked.cancel)
    qtbot.waitUntil(lambda: not asked.isVisible())
    assert dialog.isVisible()
    dialog.instructions.setPlainText("")
    assert not dialog.save.isEnabled(), "as it was: nothing to save"
    dialog.reject()
    assert not dialog.isVisible()


def test_what_is_wrong_with_a_name_is_said_below_it_and_nothing_is_kept(
    qtbot: Any, dialog: AgentsDialog, agents: Agents
) -> None:
    click(dialog.add)
    click(dialog.save)
    qtbot.waitUntil(lambda: "at most 60 characters" in words(dialog.name), timeout=10_000)
    dialog.name.edit.setText("Analyst")
    assert "at most 60 characters" not in words(dialog.name)
    click(dialog.save)
    qtbot.waitUntil(lambda: "told from the other one" in words(dialog.name), timeout=10_000)
    assert [one.name for one in agents.others()] == ["analyst"]
    dialog.name.edit.setText("Other")
    dialog.instructions.setPlainText("x" * 32_001)
    click(dialog.save)
    qtbot.waitUntil(lambda: "32001 characters" in dialog.told.text(), timeout=10_000)
    click(dialog.remove)
    qtbot.waitUntil(lambda: dialog.items.rowCount() == 2, timeout=10_000)


def test_in_chinese_it_speaks_chinese(dialog: AgentsDialog, chinese: None) -> None:
    QApplication.sendEvent(dialog, QEvent(QEvent.Type.LanguageChange))
    assert dialog.windowTitle() == "智能体"
    assert dialog.instructions.placeholderText().startswith("它的用途")
    i18n.set_language("en")
