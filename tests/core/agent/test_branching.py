"""A session goes on from an earlier place in a new one, and stays as it is itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.agent.base import Attachment
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import DataBlock
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from tests.helpers.sessions import collect

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    made = await Slipway.open(paths(tmp_path / "home"))
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "notes.md").write_text("Buy rope.\n")
    yield made
    await made.close()


async def begun(service: Slipway, model: ScriptedModel, folder: Path) -> SessionConversation:
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    info = await service.add_folder(str(folder), trusted=True)
    conversation = await service.conversation(await service.new_session(info.id))
    assert isinstance(conversation, SessionConversation)
    return conversation


def words(conversation: SessionConversation) -> list[str]:
    return [m.text() for m in conversation.state.context]


async def opened(service: Slipway, key: object) -> SessionConversation:
    conversation = await service.conversation(key)  # type: ignore[arg-type]
    assert isinstance(conversation, SessionConversation)
    return conversation


async def test_before_a_message_after_it_and_of_the_whole(service: Slipway, tmp_path: Path) -> None:
    turns = [
        [Call("Read", {"file_path": "notes.md"})],
        [Say("Rope.")],
        [Say("Second.")],
        [Say("Another second.")],
    ]
    model = ScriptedModel(turns, titles=[[Say("Shopping")]])
    source = await begun(service, model, tmp_path / "ws")
    await collect(source.send("What to buy?"))
    await collect(source.send("And then?"))
    first, second = (m.id for m in source.state.context if m.role == "user")
    was = words(source)

    before = await source.branch(second)
    assert before.text == "And then?"
    branch = await opened(service, before.key)
    assert words(branch) == ["What to buy?", "Rope."]
    assert branch.title == "(2) Shopping"
    await collect(branch.send(before.text))
    assert words(branch)[-1] == "Another second."
    assert branch.title == "(2) Shopping", "no model calls it as the first one is called"
    assert branch.state.context[1].tool_results(), "what a tool told is known"

    after = await opened(service, (await source.branch(first, after=True)).key)
    assert words(after) == ["What to buy?", "Rope."]
    assert after.title == "(3) Shopping"
    whole = await opened(service, (await source.branch(second, after=True)).key)
    assert words(whole) == was
    empty = await opened(service, (await source.branch(first)).key)
    assert words(empty) == []
    assert words(source) == was


async def test_the_model_and_what_was_attached_go_along(service: Slipway, tmp_path: Path) -> None:
    model = ScriptedModel([[Say("A picture.")]], titles=[[Say("Pictures")]])
    source = await begun(service, model, tmp_path / "ws")
    picture = DataBlock.model_validate(
        {
            "name": "dot.png",
            "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
        }
    )
    given = [
        Attachment("dot.png", "image/png", data=picture),
        Attachment("it's notes.md", "text/markdown", "notes.md"),
    ]
    await collect(source.send("Look", given))
    service.default_model = "guide"
    made = await source.branch(source.state.context[0].id)
    assert made.text == "Look"
    assert [(a.name, a.path) for a in made.attachments] == [
        ("dot.png", None),
        ("it's notes.md", "notes.md"),
    ]
    assert made.attachments[0].data is not None
    branch = await opened(service, made.key)
    assert branch.model_id == model.info.id


async def test_what_is_not_there_and_what_runs(service: Slipway, tmp_path: Path) -> None:
    source = await begun(service, ScriptedModel([[Say("Yes.")]]), tmp_path / "ws")
    with pytest.raises(SessionError, match=r"message\.unknown"):
        await source.branch("nobody")
    running = source.send("Go")
    with pytest.raises(SessionError, match=r"run\.busy"):
        await source.branch("nobody")
    await collect(running)
