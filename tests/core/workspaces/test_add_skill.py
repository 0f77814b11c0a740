"""A skill of this computer is brought into a workspace: whole, once, or with the reason why not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import SettingsError, WorkspaceError
from desktop_app.core.workspaces import add_skill as module
from desktop_app.core.workspaces.add_skill import add_skill
from desktop_app.core.workspaces.local_workspace import LocalWorkspace

GOOD = "---\nname: pdf forms\ndescription: Fills in forms.\n---\n\n# How\n"


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    folder = tmp_path / "work"
    folder.mkdir()
    made = LocalWorkspace(folder, id="w", trusted=True)
    await made.initialize()
    yield made
    await made.close()


def skill(place: Path, text: str = GOOD) -> Path:
    (place / "scripts").mkdir(parents=True)
    (place / "SKILL.md").write_text(text)
    (place / "scripts" / "fill.py").write_text("print('filled')\n")
    return place


async def test_a_skill_comes_with_all_its_files_for_every_agent(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    await add_skill(workspace, skill(tmp_path / "pdf"))
    root = tmp_path / "work" / ".slipway"
    assert (root / "skills" / "pdf" / "scripts" / "fill.py").read_text() == "print('filled')\n"
    assert (root / ".gitignore").read_text() == "*\n"
    for agent in ("default", "other"):
        [found] = await workspace.list_skills(agent_id=agent)
        assert (found.name, found.folder, found.error) == ("pdf forms", "pdf", None)


async def test_what_is_there_is_never_replaced(workspace: LocalWorkspace, tmp_path: Path) -> None:
    await add_skill(workspace, skill(tmp_path / "pdf"))
    other = skill(tmp_path / "elsewhere" / "pdf", GOOD.replace("Fills", "Breaks"))
    with pytest.raises(WorkspaceError, match=r"file\.exists"):
        await add_skill(workspace, other)
    [found] = await workspace.list_skills()
    assert found.description == "Fills in forms."


async def test_what_could_not_be_loaded_is_not_brought(
    workspace: LocalWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.setattr(module, "MOST_FILES", 1)
    for folder, code in (
        (bare, r"skill\.no_file"),
        (skill(tmp_path / "half", "---\nname: x\n---\n"), r"skill\.no_description"),
        (skill(tmp_path / "large"), r"skill\.folder_large"),
    ):
        with pytest.raises(SettingsError, match=code):
            await add_skill(workspace, folder)
    assert not (tmp_path / "work" / ".slipway").exists(), "nothing is made for it either"
