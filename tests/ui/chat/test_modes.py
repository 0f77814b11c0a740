"""What compaction does by itself: set for one agent, kept, and in force at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.agent.policies import policy_of, with_policy
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.marks import CompactionSettings
from desktop_app.core.context.types import Limits
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.settings.settings import load
from desktop_app.ui.chat.compaction.modes import ModesDialog


def test_each_agent_has_its_own_and_what_does_not_fit_is_the_default(tmp_path: Path) -> None:
    settings = load(tmp_path / "settings.json")
    kept = with_policy(settings.get("compaction"), "a", Policy("remind", False))
    kept = with_policy({**kept, "b": {"alert": 0.5, "mode": "?"}}, "b", Policy("ask"))
    settings.set("compaction", kept)
    settings.save()
    again = load(tmp_path / "settings.json").get("compaction")
    assert policy_of(again, "a") == Policy("remind", False)
    assert not policy_of(again, "a").by_itself
    assert policy_of(again, "b") == Policy("ask", True)
    assert again["b"]["alert"] == 0.5  # what else is kept for the agent stays
    assert policy_of(again, "c") == Policy()
    assert policy_of({"a": {"mode": 3, "at_danger": "no"}}, "a") == Policy()
    assert policy_of("nonsense", "a") == Policy()


@pytest.mark.parametrize("mode", ["automatic", "ask", "remind"])
def test_the_dialog_shows_and_gives_a_policy(qtbot: QtBot, mode: str) -> None:
    dialog = ModesDialog(None, Policy("ask", False))
    qtbot.addWidget(dialog)
    assert dialog.policy() == Policy("ask", False)
    assert dialog.go.isEnabled()
    dialog.danger.setValue(dialog.alert.value())
    assert not dialog.go.isEnabled()
    assert "too near" in dialog.wrong.text()
    dialog.danger.setValue(90)
    assert dialog.policy().marks.danger == 0.9
    assert policy_of(with_policy({}, "a", dialog.policy()), "a") == dialog.policy()
    dialog.radios[mode].click()  # type: ignore[index]
    assert dialog.policy().mode == mode
    assert dialog.at_danger.isEnabled() == (mode != "automatic")
    assert dialog.policy().by_itself == (mode == "automatic")


def test_every_mark_is_set_and_checked(qtbot: QtBot) -> None:
    marks = CompactionSettings(0.6, 0.8, 0.3, 32_000, 2_000)
    dialog = ModesDialog(None, Policy(marks=marks))
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.policy().marks == marks
    dialog.target.setValue(58)
    assert not dialog.go.isEnabled()
    dialog.target.setValue(40)
    dialog.window_field.edit.setText("900")
    assert dialog.wrong.text() == "A window has at least 1,024 tokens."
    assert not dialog.go.isEnabled()
    dialog.window_field.edit.clear()
    dialog.reserve.edit.clear()
    assert dialog.go.isEnabled()
    assert dialog.policy().marks == CompactionSettings(0.6, 0.8, 0.4)
    assert policy_of(with_policy({}, "a", dialog.policy()), "a") == dialog.policy()


def test_a_mark_says_what_it_comes_to_in_the_gauge(qtbot: QtBot) -> None:
    limits = Limits(20_000, 4_000)
    dialog = ModesDialog(None, Policy(), limits=limits)
    qtbot.addWidget(dialog)
    dialog.show()
    told = dialog.alert.toolTip()
    assert told == "10.1k tokens, 51% of the window", "65% of what a request may hold"
    assert limits.mark(0.65) == 10_140
    dialog.reserve.edit.setText("0")
    assert dialog.alert.toolTip() == "12.7k tokens, 64% of the window", "at once"
    dialog.alert.setValue(70)
    assert dialog.alert.toolTip() == "13.7k tokens, 69% of the window"


def test_a_smaller_model_may_write_the_notes(qtbot: QtBot) -> None:
    small = ModelInfo("small", "Small", 32_000, 4_000)
    dialog = ModesDialog(None, Policy(), models=[small])
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.notes.currentText() == "The session's own model"
    assert dialog.policy().notes == ""
    dialog.notes.set_value("small")
    chosen = dialog.policy()
    assert chosen.notes == "small"
    assert policy_of(with_policy({}, "a", chosen), "a") == chosen
    gone = ModesDialog(None, chosen)  # it was removed since
    qtbot.addWidget(gone)
    assert gone.policy().notes == "small", "not lost by looking"


def test_a_session_may_have_its_own(qtbot: QtBot) -> None:
    agents, own = Policy("ask"), Policy("remind", False, CompactionSettings(alert=0.5, reserve=900))
    dialog = ModesDialog(None, agents)
    qtbot.addWidget(dialog)
    assert not dialog.here.isChecked()
    assert dialog.policy() == agents
    dialog.danger.setValue(95)
    dialog.here.click()  # what was begun for all is taken along
    assert dialog.policy().marks.danger == 0.95

    dialog = ModesDialog(None, agents, own)
    qtbot.addWidget(dialog)
    assert dialog.here.isChecked()
    assert dialog.policy() == own
    dialog.here.click()
    assert dialog.policy() == agents
    dialog.here.click()
    assert dialog.policy() == own

    dialog = ModesDialog(None, agents, here=False)  # a session that is only read
    qtbot.addWidget(dialog)
    assert not dialog.here.isEnabled()
