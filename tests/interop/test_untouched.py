"""Invariant 9: what other programs wrote is byte for byte the same after we looked at all of it."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from desktop_app.core.messages import DataBlock, Msg, TextBlock, ToolResultBlock
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.mcp_write import NewServer

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
NAMES = ("gen-a-2.0.4", "gen-b-2.0.6", "gen-b-migrated-to-c", "gen-c-2.0.11")
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def everything(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Each entry's content, time and mode: directories too, as a new entry changes their time."""
    found: dict[str, tuple[str, int, int]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        info = path.lstat()
        kind = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "dir"
        found[str(path.relative_to(folder))] = (kind, info.st_mtime_ns, info.st_mode)
    return found


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("name", NAMES)
async def test_opened_browsed_and_closed_it_is_the_same(
    tmp_path: Path, name: str, trusted: bool
) -> None:
    folder = tmp_path / "w"
    shutil.copytree(SAMPLES / name, folder)
    before = everything(folder)
    service = await Slipway.open(paths(tmp_path / "home"))
    await service.inspect_folder(str(folder))
    info = await service.add_folder(str(folder), trusted=trusted)
    (listed,) = await service.list_workspaces()
    assert len(listed.sessions) == 1
    talk = await service.conversation(listed.sessions[0].key)
    assert (await talk.history()).entries
    workspace = await service.workspace(info.id)
    await look_at_all(workspace, listed.sessions[0].key.session_id)
    await service.refresh_workspace(info.id)
    assert await service.close() == []
    assert everything(folder) == before


async def look_at_all(workspace: LocalWorkspace, session_id: str) -> None:
    for agent in ("", "agent-42", "A", "nobody"):
        assert all(s.error is None for s in await workspace.list_skills(agent_id=agent))
        await workspace.skills_for_prompt(agent)
        await workspace.list_mcps(agent_id=agent, session_id=session_id)
    await workspace.get_instructions()
    await workspace.would_run()
    await workspace.what_reset_removes()
    assert await workspace.list_offloads()
    for message in (await workspace.read_context(session_id)).messages:
        for block in message.content:
            if isinstance(block, DataBlock):
                path = await workspace.resolve(getattr(block.source, "url", ""))
                assert path is None or os.path.isfile(path)


@pytest.mark.parametrize(
    ("name", "scheme"), [("gen-a-2.0.4", "file:///"), ("gen-b-2.0.6", "workspace:///")]
)
async def test_an_older_folder_is_written_as_its_programs_write(
    tmp_path: Path, name: str, scheme: str
) -> None:
    folder = tmp_path / "w"
    shutil.copytree(SAMPLES / name, folder)
    before = everything(folder)
    async with LocalWorkspace(folder, id="w") as workspace:
        image = DataBlock.model_validate(
            {"source": {"type": "base64", "data": PNG, "media_type": "image/png"}}
        )
        await workspace.offload_context("new", [Msg.user("ours", blocks=[image])])
        await workspace.offload_tool_result(
            "new", ToolResultBlock(id="c", name="x", output=[TextBlock(text="t"), image])
        )
        await workspace.mcp_writer().add(("a", "s"), NewServer("more", ("python3", "-V")))
        assert (await workspace.refresh()).generation == workspace.layout.generation
    after = everything(folder)
    changed = {name for name in after if after[name][0] != before.get(name, ("",))[0]}
    new = {"sessions/new", "sessions/new/context.jsonl", "sessions/new/tool_result-c.txt"}
    assert changed == {*new, ".mcp"}
    assert (folder / ".mcp").read_text(encoding="utf-8").startswith("[")
    assert scheme in (folder / "sessions/new/context.jsonl").read_text(encoding="utf-8")
    assert scheme in (folder / "sessions/new/tool_result-c.txt").read_text(encoding="utf-8")
    assert not (folder / "skills" / ".seed").exists()


async def test_a_folder_of_ours_keeps_its_generation_when_only_messages_are_in_it(
    tmp_path: Path,
) -> None:
    async with LocalWorkspace(tmp_path, id="w", trusted=True) as workspace:
        await workspace.offload_context("s", [Msg.user("left the context")])
    async with LocalWorkspace(tmp_path, id="w", trusted=True) as workspace:
        assert (workspace.info.generation, workspace.info.foreign) == ("C", False)
        await workspace.mcp_writer().add(("a", "s"), NewServer("one", ("python3",)))
    assert (tmp_path / ".slipway/.mcp").read_text(encoding="utf-8").startswith("{")
