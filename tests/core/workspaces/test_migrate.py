"""Moving a workspace of generation A or B to C: what changes, the way back, a kill anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desktop_app.core.errors import SlipwayError, WorkspaceError
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.layout import detect
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.migrate import finish, migrate, plan, unfinished

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
OLD = [("gen-a-2.0.4", "A"), ("gen-b-2.0.6", "B")]
CHILD = """
import os, signal, sys
from desktop_app.core.workspaces import migrate as m
left = int(sys.argv[3])
def counted(call):
    def step(*args, **kwargs):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return step
for name in ("rename", "replace", "fsync"):
    setattr(os, name, counted(getattr(os, name)))
m.migrate(m.plan(sys.argv[1], sys.argv[2]), [])
"""


def contents(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def copied(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "w"
    shutil.copytree(SAMPLES / name, folder)
    (folder / "report.md").write_text("the person's own")
    return folder


def backup_of(folder: Path) -> Path:
    (found,) = folder.parent.glob("w.backup-*")
    return found


def own(found: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in found.items() if k not in ("report.md", "HOW-TO-GO-BACK.txt")}


@pytest.mark.parametrize(("name", "generation"), OLD)
async def test_everything_is_there_after_it(tmp_path: Path, name: str, generation: str) -> None:
    folder = copied(tmp_path, name)
    before = contents(folder)
    async with LocalWorkspace(folder, id="w") as workspace:
        skills = [s.name for s in await workspace.list_skills(agent_id="a")]
        messages = (await workspace.read_context("s1")).messages
        steps: list[tuple[int, int]] = []
        made = plan(str(folder), workspace.layout.generation)
        assert (made.generation, made.servers, made.sessions) == (generation, ("docs",), ("s1",))
        migrate(made, [("agent", "s1"), ("", "")], lambda *at: steps.append(at))
        assert steps[-1] == (made.bytes, made.bytes)
        assert (await workspace.refresh()).generation == "C"
        assert [s.name for s in await workspace.list_skills(agent_id="a")] == skills
        assert (await workspace.read_context("s1")).messages == messages
        for pair in (("agent", "s1"), ("", "")):
            listed = await workspace.list_mcps(agent_id=pair[0], session_id=pair[1])
            assert [d.name for d in listed] == ["docs"]
    entries = json.loads((SAMPLES / name / ".mcp").read_text("utf-8"))
    written = json.loads((folder / ".mcp").read_text("utf-8"))
    assert written == {"version": 2, "mcps": {"agent": {"s1": entries}, "": {"": entries}}}
    after = contents(folder)
    kept = {k: v for k, v in before.items() if not k.startswith(("skills/", ".mcp"))}
    assert {k: after.get(k) for k in kept} == kept  # messages, results, payloads, the person's own
    moved = {k.replace("skills/", "skills/.seed/").replace(".skills", ".index") for k in before}
    assert set(after) == moved
    assert own(contents(backup_of(folder))) == own(before)


@pytest.mark.skipif(os.name == "nt", reason="the text is for a shell")
async def test_the_way_back_is_what_the_text_says(tmp_path: Path) -> None:
    folder = copied(tmp_path, "gen-b-2.0.6")
    before = contents(folder)
    migrate(plan(str(folder), "B"), [])
    text = (backup_of(folder) / "HOW-TO-GO-BACK.txt").read_text("utf-8")
    lines = re.findall(r"^  ((?:rm|cp) .*)$", text, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        subprocess.run(["sh", "-c", line], cwd=backup_of(folder), check=True, timeout=30)
    assert contents(folder) == before
    assert (await detect(LocalBackend(folder), str(folder))).generation == "B"


@pytest.mark.crash
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
async def test_a_kill_at_any_step_leaves_one_of_the_two_whole(tmp_path: Path) -> None:
    done = tmp_path / "done"
    done.mkdir()
    target = copied(done, "gen-b-2.0.6")
    old = contents(target)
    migrate(plan(str(target), "B"), [])
    new = contents(target)
    seen: set[str] = set()
    for step in range(1, 80):
        place = tmp_path / str(step)
        place.mkdir()
        folder = copied(place, "gen-b-2.0.6")
        ended = subprocess.run(
            [sys.executable, "-c", CHILD, str(folder), "B", str(step)],
            cwd=Path(__file__).parents[3],
            timeout=60,
            check=False,
        )
        decided = unfinished(str(folder))
        async with LocalWorkspace(folder, id="w", trusted=True) as workspace:
            generation = workspace.info.generation
        now = {k: v for k, v in contents(folder).items() if not k.startswith(".slipway-mig")}
        assert now == (new if generation == "C" else old), step
        assert not unfinished(str(folder))
        if generation == "C" or decided:
            assert own(contents(backup_of(folder))) == own(old)
            assert generation == "C"
        seen.add("decided" if decided else generation)
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
    assert seen == {"B", "decided", "C"}


async def test_it_goes_on_after_leftovers_of_one_that_was_killed(tmp_path: Path) -> None:
    folder = copied(tmp_path, "gen-a-2.0.4")
    (folder / ".slipway-migration.new" / "seed").mkdir(parents=True)
    (folder / ".slipway-migration.new" / "mcp").write_text("torn")
    migrate(plan(str(folder), "A"), [])
    assert json.loads((folder / ".mcp").read_text("utf-8"))["version"] == 2
    assert not list(folder.glob(".slipway-migration*"))
    (folder / ".slipway-migration").mkdir()
    (folder / ".slipway-migration" / "moved.json").write_text("[]")
    finish(str(folder))  # again, with nothing left to do
    assert not unfinished(str(folder))


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda f: (f / ".mcp").write_text("{"), "migrate.bad_mcp"),
        (lambda f: (shutil.rmtree(f / "data"), (f / "data").symlink_to("/tmp")), "migrate.link"),
    ],
)
def test_what_it_cannot_keep_whole_it_refuses(tmp_path: Path, spoil, code: str) -> None:
    folder = copied(tmp_path, "gen-b-2.0.6")
    spoil(folder)
    with pytest.raises(WorkspaceError) as caught:
        plan(str(folder), "B")
    assert caught.value.code == code
    with pytest.raises(WorkspaceError) as caught:
        plan(str(folder), "C")
    assert caught.value.code == "migrate.current"


def test_a_change_while_it_is_copied_stops_it(tmp_path: Path) -> None:
    folder = copied(tmp_path, "gen-b-2.0.6")

    def meanwhile(done: int, _all: int) -> None:
        with (folder / "sessions/s1/context.jsonl").open("ab") as file:
            file.write(b"\n")

    with pytest.raises(WorkspaceError) as caught:
        migrate(plan(str(folder), "B"), [], meanwhile)
    assert caught.value.code in ("migrate.changed", "migrate.backup")
    assert (folder / ".mcp").read_text("utf-8").startswith("[")
    assert (folder / "skills/web-search/SKILL.md").is_file()


async def test_the_service_refuses_while_somebody_may_use_it(tmp_path: Path) -> None:
    folder = copied(tmp_path, "gen-b-2.0.6")
    os.utime(folder / ".mcp")
    service = await Slipway.open(paths(tmp_path / "home"))
    info = await service.add_folder(str(folder), trusted=True)
    with pytest.raises(SlipwayError) as caught:
        await service.migration(info.id)
    assert caught.value.code == "workspace.just_changed"
    then = time.time() - 86_400
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (then, then))
    await service.refresh_workspace(info.id)
    made = await service.migration(info.id)
    os.utime(folder / ".mcp")  # and now somebody writes again, before the person has answered
    with pytest.raises(SlipwayError):
        await service.migrate(made, info.id, [])
    os.utime(folder / ".mcp", (then, then))
    backup = await service.migrate(await service.migration(info.id), info.id, [])
    assert Path(backup).is_dir()
    assert (await service.workspace(info.id)).info.generation == "C"
    assert (await service.workspace(info.id)).info.state == "ready"
    assert await service.close() == []
