"""A skill's instructions are sent once, and anew only when the model cannot read them any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.policy import Policy
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from tests.helpers.sessions import Bench, collect

STYLE = "---\nname: style\ndescription: d\n---\n# Style\n" + "Write three sentences. " * 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / ".slipway" / "skills" / "style"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(STYLE)
    return tmp_path


SKILL = [[Call("Skill", {"skill": "style"})], [Say("I know it.")]]


async def ask(c: SessionConversation) -> str:
    """Have the skill opened; what the model got."""
    await collect(c.send("Open the style"))
    return [r.text() for m in c.state.context for r in m.tool_results()][-1]


async def test_a_second_call_says_that_it_is_loaded(folder: Path) -> None:
    b = Bench(folder, ScriptedModel([*SKILL, [Say("Title")], *SKILL, *SKILL]))
    c = await b.open()
    assert "three sentences" in await ask(c)
    again = await ask(c)
    assert "loaded already" in again
    assert "three sentences" not in again
    assert ".slipway/skills/style" in again, "its own files are still found"
    file = folder / ".slipway" / "skills" / "style" / "SKILL.md"
    file.write_text(STYLE.replace("three", "four"))
    assert "four sentences" in await ask(c)
    await c.close()
    await b.close()


async def test_what_left_the_context_is_sent_anew(folder: Path) -> None:
    talk = [[Say(f"Chapter {n}. " + "The tide came in. " * 150)] for n in range(12)]
    script = [*SKILL, [Say("Title")], *talk, *SKILL, *SKILL]
    b = Bench(folder, ScriptedModel(script), policy=Policy("remind"))
    c = await b.open()
    first = await ask(c)
    for n in range(len(talk)):
        await collect(c.send(f"Tell chapter {n}"))
    await collect(c.compact(notes=False))
    assert first not in [r.text() for m in c.state.context for r in m.tool_results()]
    assert await ask(c) == first
    await c.close()
    c = await b.open()
    assert "loaded already" in await ask(c), "also after the session was opened again"
    await c.close()
    await b.close()
