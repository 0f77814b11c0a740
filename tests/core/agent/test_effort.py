"""How hard a session's models think: chosen by the person, kept with the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.agent import snapshot
from desktop_app.core.agent.carry import carry
from desktop_app.core.errors import SessionError
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import KEY, Bench, collect


@pytest.fixture
def b(tmp_path: Path) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir()
    model = ScriptedModel([[Say(f"Answer {n}.")] for n in range(20)])
    return Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))


def efforts(b: Bench) -> list[str | None]:
    """What each answer was asked for with; None for the title of the session."""
    assert isinstance(b.model, ScriptedModel)
    return [r.effort for r in b.model.requests if r.purpose == "reply"]


@pytest.mark.parametrize("every", [2, 1000])  # with a snapshot, and by replay
async def test_it_is_asked_for_and_outlives_the_program(
    b: Bench, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(snapshot, "EVERY", every)
    c = await b.open()
    await collect(c.send("One"))
    assert c.effort is None
    await c.set_effort("high")
    await collect(c.send("Two"))
    await c.close()
    c = await b.open()
    assert c.effort == "high"
    await collect(c.send("Three"))
    await c.set_effort(None)
    await collect(c.send("Four"))
    assert efforts(b) == [None, "high", "high", None]
    await c.close()
    await b.close()


async def test_a_session_that_goes_on_elsewhere_takes_it_along(b: Bench) -> None:
    c = await b.open()
    await collect(c.send("One"))
    await c.set_effort("low")
    key = SessionKey(KEY.user_id, KEY.agent_id, "s2")
    journal = await b.store.create(key, {})
    await carry(c, journal)
    await journal.close()
    other = await b.open(key)
    assert other.effort == "low"
    await other.close()
    await c.close()
    await b.close()


async def test_one_that_is_only_read_is_not_changed(b: Bench) -> None:
    c = await b.open()
    await c.set_effort("medium")
    other = await b.open()
    assert other.effort == "medium"
    with pytest.raises(SessionError):
        await other.set_effort("low")
    assert (c.effort, other.effort) == ("medium", "medium")
    await other.close()
    await c.close()
    await b.close()
