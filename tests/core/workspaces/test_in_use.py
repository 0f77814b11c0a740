"""A workspace that another program may be using: how it is seen, and what then is not done."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Msg
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces import in_use
from desktop_app.core.workspaces.in_use import who_uses
from desktop_app.core.workspaces.mcp_write import NewServer
from tests.helpers.sessions import collect

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
HOLD = "import sys, time; f = open(sys.argv[1]); print('up', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Processes are really looked at; those of tests that run beside this one count for nothing."""
    look = in_use._look
    monkeypatch.setattr(in_use, "_look", lambda: (p for p in look() if p.pid in Other.alive))
    in_use.forget()
    yield
    in_use.forget()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of 2.0.11 in which nothing happened for a month."""
    place = tmp_path / "w"
    shutil.copytree(SAMPLES / "gen-c-2.0.11", place)
    age(place, 30 * 86_400)
    return place


def age(place: Path, seconds: float) -> None:
    then = time.time() - seconds
    for path in [place, *place.rglob("*")]:
        os.utime(path, (then, then))


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    made = await opened(tmp_path)
    yield made
    assert await made.close() == []


async def opened(tmp_path: Path) -> Slipway:
    made = await Slipway.open(paths(tmp_path / "home"))
    model = ScriptedModel([[Say("Yes.")]], titles=[[Say("Talk")]], forever=True)
    made.models.add(model.info, lambda: model)
    made.default_model = model.info.id
    return made


class Other:
    """A program that is not ours: started by a shell that ended, so that nobody takes it for a
    child of this one."""

    alive: ClassVar[set[int]] = set()

    def __init__(self, *line: str) -> None:
        quick = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:], "
        quick += "stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, "
        quick += "stderr=subprocess.DEVNULL, start_new_session=True); "
        quick += "p.stdout.readline(); print(p.pid)"
        done = subprocess.run(
            [sys.executable, "-I", "-c", quick, *line], capture_output=True, check=True, timeout=60
        )
        self.pid = int(done.stdout)

    def __enter__(self) -> int:
        self.alive.add(self.pid)
        in_use.forget()
        return self.pid

    def __exit__(self, *_: object) -> None:
        import psutil

        process = psutil.Process(self.pid)
        process.kill()
        process.wait(10)
        self.alive.discard(self.pid)
        in_use.forget()


def test_a_quiet_folder_is_free(folder: Path) -> None:
    assert who_uses(str(folder)) is None


@pytest.mark.parametrize(
    "changed", [".mcp", "sessions/session-abc/context.jsonl", "skills/agent-42/.index", "data"]
)
def test_a_change_of_the_last_minutes_is_a_sign(folder: Path, changed: str) -> None:
    then = time.time() - 120
    os.utime(folder / changed, (then, then))
    use = who_uses(str(folder))
    assert use is not None
    assert (use.sign, use.path) == ("fresh", str(folder / changed))
    assert use.params()["minutes"] == 2
    # The same change, known to be ours, is none; nor is a clock that is far ahead.
    assert who_uses(str(folder), (folder / changed).stat().st_mtime_ns) is None
    os.utime(folder / changed, (time.time() + 86_400,) * 2)
    assert who_uses(str(folder)) is None


def test_a_file_of_the_persons_own_is_no_sign(folder: Path) -> None:
    (folder / "report.md").write_text("new")
    assert who_uses(str(folder)) is None


@pytest.mark.skipif(sys.platform == "win32", reason="open files are not asked for on Windows")
def test_a_program_with_a_file_of_it_open_is_named(folder: Path) -> None:
    held = folder / "sessions/session-abc/context.jsonl"
    with Other(sys.executable, "-c", HOLD, str(held)) as pid:
        use = who_uses(str(folder))
    assert use is not None
    assert (use.sign, use.pid, use.path) == ("process", pid, str(held))
    assert who_uses(str(folder)) is None


@pytest.mark.skipif(sys.platform == "win32", reason="open files are not asked for on Windows")
def test_a_persons_own_file_that_is_open_is_no_sign(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    age(folder, 86_400)
    with Other(sys.executable, "-c", HOLD, str(folder / "notes.txt")):
        assert who_uses(str(folder)) is None


def test_a_gateway_that_serves_it_is_named_and_not_its_neighbours(
    folder: Path, tmp_path: Path
) -> None:
    script = tmp_path / "_mcp_gateway_app.py"
    script.write_text("import time; print('up', flush=True); time.sleep(60)")
    shutil.copytree(folder, tmp_path / "w-2")
    with Other(sys.executable, str(script), "--bind", f"{folder}:/workspace:rw") as pid:
        use = who_uses(str(folder))
        assert use is not None
        assert (use.sign, use.pid) == ("process", pid)
        assert who_uses(str(tmp_path / "w-2")) is None


def test_a_change_since_their_program_runs_counts_however_long_ago(
    folder: Path, tmp_path: Path
) -> None:
    script = tmp_path / "agentscope_service.py"
    script.write_text("import time; print('up', flush=True); time.sleep(60)")
    with Other(sys.executable, str(script)) as pid:
        assert who_uses(str(folder)) is None  # it runs, and nothing here was changed by it
        known = folder / "skills"
        now = time.time() + 1
        os.utime(known, (now, now))
        use = who_uses(str(folder))
        assert use is not None
        assert (use.sign, use.pid) == ("since", pid)


async def test_it_opens_read_only_until_the_person_says_so(service: Slipway, folder: Path) -> None:
    os.utime(folder / ".mcp")
    info = await service.add_folder(str(folder), trusted=True)
    assert (info.state, info.params["code"]) == ("readonly", "workspace.just_changed")
    workspace = await service.workspace(info.id)
    assert (await workspace.read_context("session-abc")).messages  # all can be read
    key = await service.new_session(info.id)
    talk = await service.conversation(key)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    for attempt in (
        lambda: talk.send("hello"),
        lambda: workspace.offload_context(key.session_id, [Msg.user("x")]),
        lambda: workspace.mcp_writer().add(("", ""), NewServer("n", ("true",))),
        lambda: workspace.reset(),
    ):
        with pytest.raises(WorkspaceError) as caught:
            await attempt()
        assert caught.value.code == "workspace.just_changed"
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*")} == before
    assert (await service.open_anyway(info.id)).state == "ready"
    await collect(talk.send("hello"))
    await workspace.offload_context(key.session_id, [Msg.user("x")])


async def test_it_becomes_writable_when_it_is_quiet_again(service: Slipway, folder: Path) -> None:
    os.utime(folder / ".mcp")
    info = await service.add_folder(str(folder), trusted=True)
    await service.list_workspaces()
    await service.look_again([info.id])
    assert (await service.workspace(info.id)).info.state == "readonly"
    age(folder, 3_600)
    await service.look_again([info.id])
    assert (await service.workspace(info.id)).info.state == "ready"


async def test_what_we_wrote_ourselves_is_no_sign_the_next_time(
    tmp_path: Path, folder: Path
) -> None:
    first = await opened(tmp_path)
    info = await first.add_folder(str(folder), trusted=True)
    assert info.state == "ready"
    await (await first.workspace(info.id)).offload_context("ours", [Msg.user("x")])
    await first.close()
    second = await opened(tmp_path)
    assert (await second.workspace(info.id)).info.state == "ready"
    await second.close()
    os.utime(folder / "sessions/session-abc/context.jsonl")  # and now somebody else's
    third = await opened(tmp_path)
    assert (await third.workspace(info.id)).info.state == "readonly"
    await third.close()


async def test_a_folder_of_ours_is_never_asked_about(service: Slipway, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    info = await service.add_folder(str(tmp_path / "mine"), trusted=True)
    await (await service.workspace(info.id)).offload_context("s", [Msg.user("x")])
    assert (await service.refresh_workspace(info.id)).state == "ready"
