"""Which model the sessions of an agent begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agents import AgentEntry
from desktop_app.core.models.scripted import SCRIPTED, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey


async def opened(home: Path) -> Slipway:
    made = await Slipway.open(paths(home))
    for name in ("first", "second"):
        model = ScriptedModel([[Say("Yes.")]], info=replace(SCRIPTED, id=name), forever=True)
        made.models.add(model.info, lambda model=model: model)
    made.default_model = "first"
    return made


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    (tmp_path / "ws").mkdir()
    made = await opened(tmp_path / "home")
    yield made
    assert await made.close() == []


async def begun(service: Slipway, workspace_id: str, agent_id: str) -> tuple[SessionKey, str]:
    key = await service.new_session(workspace_id, agent_id=agent_id)
    conversation = await service.conversation(key)
    assert isinstance(conversation, SessionConversation)
    return key, conversation.model_id


async def test_an_agents_sessions_begin_with_its_model(service: Slipway, tmp_path: Path) -> None:
    info = await service.add_folder(str(tmp_path / "ws"), trusted=True)
    before, _ = await begun(service, info.id, "analyst")
    assert service.agents.others() == [AgentEntry("analyst", "analyst")]
    await service.agents.set_model("analyst", "second")
    key, model = await begun(service, info.id, "analyst")
    assert model == "second"
    assert (await begun(service, info.id, "default"))[1] == "first"
    old = await service.conversation(before)
    assert isinstance(old, SessionConversation)
    assert old.model_id == "first", "a session that was there keeps its model"

    conversation = await service.conversation(key)
    await conversation.set_model("first")  # the person's choice for this session
    assert (await begun(service, info.id, "analyst"))[1] == "second"

    service.models.remove("second")
    assert (await begun(service, info.id, "analyst"))[1] == "first", "it is gone"


async def test_it_outlives_the_program_and_can_be_taken_back(tmp_path: Path) -> None:
    first = await opened(tmp_path / "home")
    (tmp_path / "ws").mkdir()
    info = await first.add_folder(str(tmp_path / "ws"), trusted=True)
    await first.new_session(info.id, agent_id="writer")
    await first.agents.set_model("writer", "second")
    assert await first.close() == []
    again = await opened(tmp_path / "home")
    assert again.agents.others() == [AgentEntry("writer", "writer", "second")]
    assert again.first_model("writer") == "second"
    await again.agents.set_model("writer", "")
    assert again.first_model("writer") == "first"
    assert await again.close() == []


async def test_a_branch_stays_with_its_agent(service: Slipway, tmp_path: Path) -> None:
    info = await service.add_folder(str(tmp_path / "ws"), trusted=True)
    key = await service.new_session(info.id, agent_id="analyst")
    assert (await service.continue_session(key)).agent_id == "analyst"
