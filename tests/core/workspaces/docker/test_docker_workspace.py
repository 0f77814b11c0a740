"""A workspace in a container of a real Docker engine: made, used, put away, lost and found."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Msg, TextBlock
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engine import Engine
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.docker.workspace import DockerWorkspace
from desktop_app.core.workspaces.remote.managed import Progress
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers

Make = Callable[..., DockerWorkspace]


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    made = engine_or_skip()
    yield made
    await made.close()


@pytest.fixture
async def make(engine: Engine) -> AsyncIterator[Make]:
    prefix = f"test-{secrets.token_hex(6)}-"
    opened: list[DockerWorkspace] = []

    async def of() -> Engine:
        return engine

    def make(name: str = "one", **spec: object) -> DockerWorkspace:
        whole = replace(DockerSpec(base_image=base_image(), network=False), **spec)
        made = DockerWorkspace(whole, of, id=prefix + name, name=name, trusted=True, gateway=False)
        opened.append(made)
        return made

    yield make
    for workspace in opened:
        await workspace.close()
    await asyncio.to_thread(remove_leftovers, prefix)


async def test_docker_opening_starts_nothing_and_the_first_use_brings_it_up(make: Make) -> None:
    workspace = make()
    told: list[Progress] = []
    workspace.watch_progress(told.append)
    await workspace.initialize()
    assert (workspace.info.state, workspace.machine.status) == ("stopped", "absent")
    said = Msg(name="user", role="user", content=[TextBlock(text="a")])
    path = await workspace.offload_context("s1", [said])
    assert path.endswith("sessions/s1/context.jsonl")
    assert workspace.info.state == "ready"
    assert [one.stage for one in told if not one.text][-4:] == [
        "engine",
        "create",
        "start",
        "connect",
    ]
    assert [entry.session_id for entry in await workspace.list_offloads()] == ["s1"]


async def test_docker_files_outlive_stop_pause_and_another_program(make: Make) -> None:
    workspace = make()
    await workspace.initialize()
    await workspace.start()
    await workspace.get_backend().write("notes/a.txt", b"kept")
    assert (await workspace.pause()).state == "paused"
    assert (await workspace.start()).state == "ready"
    assert (await workspace.stop()).state == "stopped"
    again = make()  # as after a restart of the program: found by its label
    await again.initialize()
    assert again.machine.status == "stopped"
    await again.start()
    assert again.machine.name == workspace.machine.name
    assert await again.get_backend().read_bytes("notes/a.txt") == b"kept"


async def test_docker_has_the_limits_that_were_asked_for(make: Make, engine: Engine) -> None:
    workspace = make(cpus=0.5, memory=256, pids=64)
    await workspace.initialize()
    await workspace.start()
    assert (workspace.machine.cpus, workspace.machine.memory) == (0.5, 256 << 20)
    found = await (await workspace.container()).find()
    assert found is not None
    host = found["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["PidsLimit"], host["Init"], host["NetworkMode"]) == (64, True, "none")
    shown = await workspace.get_backend().exec(["cat", "/proc/self/status"])
    assert b"NoNewPrivs:\t1" in shown.stdout
    assert b"CapEff:\t0000000000000000" in shown.stdout


async def test_docker_shows_a_folder_of_this_computer_as_the_persons(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("from here")
    workspace = make(mount=str(tmp_path))
    await workspace.initialize()
    result = await _run(workspace, "cat in.txt; echo made > out.txt; id -u")
    assert result.endswith(f"from here{os.getuid()}\n")
    assert (tmp_path / "out.txt").stat().st_uid == os.getuid()
    await workspace.stop()
    tmp_path.joinpath("in.txt").unlink()
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    tmp_path.rename(moved)
    try:
        with pytest.raises(WorkspaceError) as raised:
            await workspace.start()
        assert (raised.value.code, raised.value.params["path"]) == ("docker.mount", str(tmp_path))
        assert not tmp_path.exists()  # the engine would have made it, empty and root's
    finally:
        moved.rename(tmp_path)


async def _run(workspace: DockerWorkspace, line: str) -> str:
    if workspace.info.state != "ready":
        await workspace.start()
    result = await workspace.get_backend().exec(["sh", "-c", line])
    return (result.stdout + result.stderr).decode()


async def test_docker_makes_one_container_however_many_ask(make: Make, engine: Engine) -> None:
    workspace, twin = make(), make()  # the twin is another process of ours
    await workspace.initialize()
    await twin.initialize()
    infos = await asyncio.gather(*(one.start() for one in [workspace, twin] * 5))
    assert {info.state for info in infos} == {"ready"}
    assert workspace.machine.name == twin.machine.name


async def test_docker_container_killed_from_outside_is_seen_and_comes_back(
    make: Make, engine: Engine
) -> None:
    workspace = make()
    await workspace.initialize()
    await workspace.start()
    await workspace.get_backend().write("a.txt", b"kept")
    stream = workspace.get_backend().run(["sleep", "60"])
    waiting = asyncio.ensure_future(anext(stream))
    container = await workspace.container()
    found = await container.find()
    assert found is not None
    await asyncio.sleep(0)
    await (await engine.client()).containers.container(found["Id"]).kill()
    ended = (await asyncio.gather(waiting, return_exceptions=True))[0]
    assert isinstance(ended, WorkspaceError)
    assert ended.code == "backend.unreachable"
    assert await workspace.changed()
    assert (await workspace.refresh()).state == "stopped"
    assert workspace.machine.exit_code == 137
    assert [entry.path for entry in await workspace.list_offloads()] == []  # brings it up
    assert await workspace.get_backend().read_bytes("a.txt") == b"kept"


async def test_docker_container_removed_from_outside_is_told_and_made_anew(
    make: Make, engine: Engine
) -> None:
    workspace = make()
    await workspace.initialize()
    await workspace.start()
    found = await (await workspace.container()).find()
    assert found is not None
    await (await engine.client()).containers.container(found["Id"]).delete(force=True)
    assert (await workspace.refresh()).state == "stopped"
    assert workspace.machine.status == "absent"
    assert (await workspace.start()).state == "ready"


async def test_docker_image_without_python_is_told(make: Make, engine: Engine) -> None:
    workspace = make()
    await workspace.initialize()
    await workspace.start()
    await workspace.get_backend().exec(["true"])
    client, found = await engine.client(), await (await workspace.container()).find()
    assert found is not None
    running = await client.containers.container(found["Id"]).exec(
        ["sh", "-c", "rm -f /usr/bin/python3"], user="0"
    )
    async with running.start(detach=False) as out:
        while await out.read_out() is not None:
            pass
    await workspace.stop()
    assert (await workspace.start()).state == "error"
    assert workspace.info.params["code"] == "docker.no_python"


async def test_docker_that_is_not_there_leaves_the_workspace_listed_with_why(tmp_path) -> None:
    nowhere = Engine(Endpoint(f"unix://{tmp_path}/none.sock", "env"))

    async def of() -> Engine:
        return nowhere

    workspace = DockerWorkspace(DockerSpec(), of, id="test-none", name="none")
    await workspace.initialize()
    assert workspace.info.state == "error"
    assert workspace.info.params["code"] == "docker.not_running"
    with pytest.raises(WorkspaceError) as raised:
        await workspace.list_offloads()
    assert raised.value.code == "docker.not_running"
    await workspace.close()
    await nowhere.close()


async def test_docker_usage_and_logs_are_what_the_engine_says(make: Make) -> None:
    workspace = make(memory=256)
    await workspace.initialize()
    await workspace.start()
    async with aclosing(workspace.usage()) as items:
        first = await anext(items)
    assert 0 < first.memory < first.memory_limit == 256 << 20
    assert first.processes is not None
    assert [line async for line in workspace.logs()] == []


async def test_docker_closing_stops_the_container_and_removing_takes_it_away(
    make: Make, engine: Engine
) -> None:
    workspace = make()
    await workspace.initialize()
    await workspace.start()
    container = await workspace.container()
    await workspace.close()
    assert (await container.machine()).status == "stopped"
    await workspace.initialize()
    await workspace.remove()
    assert (await container.machine()).status == "absent"
