"""Servers and skills through the service: trust, switches that survive, nothing left at the end."""

from __future__ import annotations

from pathlib import Path

import psutil

from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.paths import Paths
from desktop_app.core.service import Slipway
from tests.helpers.mcp import children, declare, entry, until
from tests.helpers.sessions import collect


def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data", tmp_path / "cache", tmp_path / "config", tmp_path / "log")


async def test_trust_starts_servers_and_closing_ends_them(tmp_path: Path) -> None:
    before = set(children())
    folder = tmp_path / "folder"
    declare(folder / ".slipway", entry("raw", "raw.py", "plain"))
    service = await Slipway.open(paths(tmp_path))
    model = ScriptedModel([[Say("Hello.")], [Say("t")], [Say("Again.")], [Say("t")]])
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    info = await service.add_folder(str(folder), trusted=False)
    conversation = await service.conversation(await service.new_session(info.id))
    await collect(conversation.send("hi"))
    assert set(children()) == before
    await service.trust(info.id)
    assert conversation.mcp is not None
    manager = conversation.mcp
    await until(lambda: len(manager.tools()) == 6)
    await collect(conversation.send("again"))
    assert "mcp__raw__echo" in {t.name for t in model.requests[-1].tools}
    assert set(children()) != before
    assert await service.close() == []
    await until(lambda: set(children()) == before)
    assert not [t for t in psutil.Process().children() if t.pid not in before]


async def test_a_skill_stays_off_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    skill = folder / ".slipway" / "skills" / ".seed" / "style"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: style\ndescription: Style.\n---\nx\n")
    service = await Slipway.open(paths(tmp_path))
    info = await service.add_folder(str(folder), trusted=True)
    await service.set_skill_enabled(info.id, "default", "style", False)
    await service.close()
    service = await Slipway.open(paths(tmp_path))
    assert await service.skills_off(info.id, "default") == ["style"]
    workspace = await service.workspace(info.id)
    assert (await workspace.skills_for_prompt("default")).usable == ()
    await service.set_skill_enabled(info.id, "default", "style", True)
    assert len((await workspace.skills_for_prompt("default")).usable) == 1
    assert not list(folder.rglob("*off*"))  # nothing of it is in the person's folder
    await service.close()
