"""Which model the sessions of an agent begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agents import AgentEntry
from desktop_app.core.conversations import PROMPT
from desktop_app.core.errors import SessionError
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


def conversation_of(found: object) -> SessionConversation:
    assert isinstance(found, SessionConversation)
    return found


async def test_a_made_agent_begins_with_its_instructions_model_and_mode(
    service: Slipway, tmp_path: Path
) -> None:
    info = await service.add_folder(str(tmp_path / "ws"), trusted=True)
    made = await service.agents.make(
        " Code reviewer ", instructions="Say what is wrong first.", model="second", mode="explore"
    )
    assert (made.id, made.name, made.made) == ("code-reviewer", "Code reviewer", True)
    key = await service.new_session(info.id, agent_id=made.id)
    opened = conversation_of(await service.conversation(key))
    assert (opened.model_id, opened.permissions.mode) == ("second", "explore")
    assert opened.agent_name == "Code reviewer"
    system = opened.engine.prompt().envelope.system
    assert system.index(PROMPT) < system.index("Say what is wrong first.")
    workspace = await service.workspace(info.id)
    assert workspace.info.trusted
    plain = conversation_of(await service.conversation(await service.new_session(info.id)))
    assert plain.agent_name == "Assistant"
    assert "what is wrong" not in plain.engine.prompt().envelope.system
    await service.trust(info.id, trusted=False)
    bold = await service.agents.make("Bold", mode="accept_edits")
    restricted = await service.new_session(info.id, agent_id=bold.id)
    mode = conversation_of(await service.conversation(restricted)).permissions.mode
    assert mode == "explore", "whoever answers, where nothing is trusted nothing is written"


async def test_an_edit_is_for_new_sessions_and_a_branch_goes_on_as_it_began(
    service: Slipway, tmp_path: Path
) -> None:
    info = await service.add_folder(str(tmp_path / "ws"), trusted=True)
    agents = service.agents
    made = await agents.make("Writer", instructions="Be brief.")
    old = await service.new_session(info.id, agent_id=made.id)
    await agents.edit(made.id, name="Author", instructions="Be rich.", model="", mode="")
    new = await service.new_session(info.id, agent_id=made.id)
    await service.close_conversation(old)
    for key, name, words in ((old, "Writer", "Be brief."), (new, "Author", "Be rich.")):
        opened = conversation_of(await service.conversation(key))
        assert opened.agent_name == name
        assert words in opened.engine.prompt().envelope.system
    branch = await service.continue_session(old)
    opened = conversation_of(await service.conversation(branch))
    assert branch.agent_id == made.id
    assert (opened.agent_name, "Be brief." in opened.engine.prompt().envelope.system) == (
        "Writer",
        True,
    )
    await agents.remove(made.id)
    assert agents.others() == [AgentEntry(made.id, made.id)], "its sessions are there"
    await service.close_conversation(old)
    opened = conversation_of(await service.conversation(old))
    assert opened.agent_name == "Writer"
    again = await agents.edit(made.id, name="Writer", instructions="", model="", mode="")
    assert again.made, "one that only sessions tell of can be taken up"


async def test_what_is_no_agent_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    first = await opened(tmp_path / "home")
    agents = first.agents
    made = await agents.make("作家")
    assert made.id.startswith("agent-")
    wrong = [
        ("agent.name", {"name": "  "}),
        ("agent.name", {"name": "x" * 61}),
        ("agent.name", {"name": "two\nlines"}),
        ("agent.taken", {"name": "作家"}),
        ("agent.taken", {"name": "assistant"}),
        ("agent.long", {"name": "long", "instructions": "x" * 32_001}),
        ("agent.mode", {"name": "wild", "mode": "bypass"}),
    ]
    for code, values in wrong:
        with pytest.raises(SessionError) as raised:
            await agents.make(**values)
        assert raised.value.code == code
    with pytest.raises(SessionError, match=r"agent\.builtin"):
        await agents.remove("default")
    same = await agents.make("Writer")
    other = await agents.make("Writer!")
    assert same.id == "writer"
    assert other.id.startswith("writer-"), "never one that is there"
    gone = await agents.make("Gone")
    await agents.remove(gone.id)
    assert await first.close() == []
    again = await opened(tmp_path / "home")
    assert [one.name for one in again.agents.others()] == ["Writer", "Writer!", "作家"]
    assert await again.close() == []
