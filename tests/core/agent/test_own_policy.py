"""What compaction does by itself may be set for one session alone, and is kept with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.agent import snapshot
from desktop_app.core.agent.carry import carry
from desktop_app.core.agent.policies import policy_body, policy_from
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.marks import CompactionSettings
from desktop_app.core.errors import SessionError
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import KEY, Bench, collect

OWN = Policy("remind", False, CompactionSettings(0.6, 0.8, 0.3, 16_384, 1_000))


@pytest.fixture
def b(tmp_path: Path) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir()
    model = ScriptedModel([[Say(f"Answer {n}.")] for n in range(20)])
    return Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))


@pytest.mark.parametrize("every", [2, 1000])  # with a snapshot, and by replay
async def test_it_holds_at_once_beside_the_agents_and_outlives_the_program(
    b: Bench, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(snapshot, "EVERY", every)
    b.policy = Policy("ask", marks=CompactionSettings(alert=0.55))
    c = await b.open()
    await collect(c.send("One"))
    assert (c.own_policy, c.policy()) == (None, b.policy)
    await c.set_policy(OWN)
    limits = (await c.breakdown()).limits
    assert (limits.window, limits.source, limits.reserve) == (16_384, "user", 1_000)
    assert (limits.alert, limits.danger, limits.target) == (0.6, 0.8, 0.3)
    await collect(c.send("Two"))
    await c.close()
    c = await b.open()
    assert (c.own_policy, c.policy()) == (OWN, OWN)
    assert (await c.breakdown()).limits == limits
    await c.set_policy(None)
    assert c.policy() == b.policy
    assert (await c.breakdown()).limits.alert == 0.55
    other = await b.open(SessionKey(KEY.user_id, KEY.agent_id, "s3"))
    assert other.own_policy is None
    await other.close()
    await c.close()
    await b.close()


async def test_a_session_that_goes_on_elsewhere_takes_it_along(b: Bench) -> None:
    c = await b.open()
    await collect(c.send("One"))
    await c.set_policy(OWN)
    key = SessionKey(KEY.user_id, KEY.agent_id, "s2")
    journal = await b.store.create(key, {})
    await carry(c, journal)
    await journal.close()
    other = await b.open(key)
    assert other.policy() == OWN
    await other.close()
    await c.close()
    await b.close()


async def test_one_that_is_only_read_is_not_changed(b: Bench) -> None:
    c = await b.open()
    await c.set_policy(OWN)
    other = await b.open()
    with pytest.raises(SessionError):
        await other.set_policy(None)
    assert c.own_policy == other.own_policy == OWN
    await other.close()
    await c.close()
    await b.close()


def test_what_somebody_edited_falls_back() -> None:
    assert policy_from(policy_body(OWN)) == OWN
    assert policy_from("nonsense") is None
    assert policy_from({"mode": 3, "marks": {"alert": 2}}) == Policy()
