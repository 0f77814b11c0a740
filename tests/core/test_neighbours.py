"""Machines that AgentScope made: found by its marks, listed, looked into, and left as they are
until the person says otherwise. The containers are made by hand with the labels, the name, the
command and the mount of AgentScope 2.0.11 (``interop/test_neighbours.py`` has it make one)."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Msg
from desktop_app.core.neighbours import Neighbour
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from desktop_app.core.workspaces.remote.managed import ManagedWorkspace
from tests.helpers.docker import base_image, engine_or_skip
from tests.helpers.e2b_cloud import Cloud, cloud_or_skip

LINE = Msg.user("from AgentScope").model_dump_json()


def docker(*words: str) -> str:
    done = subprocess.run(["docker", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout.strip()


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    made = await Slipway.open(paths(tmp_path / "home"))
    yield made
    assert await made.close() == []


@pytest.fixture
async def theirs() -> AsyncIterator[Callable[..., str]]:
    """Make a container as AgentScope makes them; the id of its workspace."""
    await engine_or_skip().close()
    made: list[str] = []

    def make(*more: str) -> str:
        workspace_id = f"theirs{secrets.token_hex(8)}"
        made.append(f"as_ws_{workspace_id}")
        docker(
            *("run", "-d", "--name", made[-1], "--workdir", "/workspace", "--network", "none"),
            *("--label", "agentscope.workspace=true"),
            *("--label", f"agentscope.workspace.id={workspace_id}"),
            *more,
            *(base_image(), "sleep", "infinity"),
        )
        return workspace_id

    yield make
    for name in made:
        await asyncio.to_thread(
            subprocess.run, ["docker", "rm", "-f", name], capture_output=True, check=False
        )


def fill(workspace_id: str) -> None:
    """A session in it, as AgentScope leaves it."""
    script = (
        "import os,sys;os.makedirs('/workspace/sessions/s1');os.makedirs('/workspace/data');"
        "os.makedirs('/workspace/skills/.seed');"
        "open('/workspace/sessions/s1/context.jsonl','w').write(sys.argv[1]+'\\n')"
    )
    docker("exec", f"as_ws_{workspace_id}", "python3", "-c", script, LINE)


def tree(workspace_id: str) -> str:
    """Every file below its working directory with its time, and what runs in it."""
    name = f"as_ws_{workspace_id}"
    return docker("exec", name, "find", "/workspace", "-printf", "%p %s %T@ %U\n")


async def one_of(service: Slipway, workspace_id: str) -> Neighbour:
    (found,) = [one for one in await service.machines.neighbours() if one.id == workspace_id]
    return found


async def added(service: Slipway, workspace_id: str) -> ManagedWorkspace:
    info = await service.machines.add_neighbour(await one_of(service, workspace_id))
    workspace = await service.machines.of(info.id)
    assert workspace is not None
    return workspace


async def test_docker_containers_of_agentscope_are_found_and_told_apart(
    service: Slipway, theirs: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    plain, mounted = theirs(), theirs("-v", f"{folder}:/workspace:rw")
    found = await one_of(service, plain)
    assert (found.kind, found.machine, found.running) == ("docker", f"as_ws_{plain}", True)
    assert (found.image, found.folder) == (base_image(), "")
    assert found.started_us > 0
    assert (await one_of(service, mounted)).folder == str(folder)
    info = await service.machines.add_neighbour(found)
    assert plain not in [one.id for one in await service.machines.neighbours()]
    assert (await service.machines.add_neighbour(found)).id == info.id, "once"
    await service.forget_workspace(info.id)
    again = await service.machines.add_neighbour(await one_of(service, plain))
    assert again.id == info.id, "a forgotten one comes back"


async def test_docker_container_of_agentscope_is_read_and_left_as_it_is(
    service: Slipway, theirs: Callable[..., str]
) -> None:
    workspace_id = theirs()
    fill(workspace_id)
    before, state = tree(workspace_id), json.loads(docker("inspect", f"as_ws_{workspace_id}"))
    workspace = await added(service, workspace_id)
    info = workspace.info
    assert (info.state, info.params["code"], info.trusted) == (
        "readonly",
        "workspace.theirs",
        False,
    )
    assert (info.generation, info.foreign, info.root) == ("C", True, "/workspace")
    assert [one.session_id for one in await workspace.list_offloads()] == ["s1"]
    history = await workspace.read_context("s1")
    assert [
        json.loads(LINE)["content"][0]["text"] in m.model_dump_json() for m in history.messages
    ] == [True]
    row = await service.summary(info.id)
    assert row is not None
    assert [session.foreign for session in row.sessions] == [True]
    copy, moved = await service.machines.rescue(info.id)
    assert (copy / "sessions/s1/context.jsonl").read_text().strip() == LINE
    assert moved.files >= 1
    backend, refused = workspace.get_backend(), list[Any]()
    refused += [backend.write("a.txt", b"x"), backend.exec(["touch", "a"]), backend.mkdir("d")]
    refused += [backend.append("a.txt", b"x"), backend.rename("data", "d"), backend.remove("data")]
    refused += [workspace.offload_context("s1", [Msg.user("ours")]), workspace.reset()]
    refused += [getattr(workspace, verb)() for verb in ("pause", "stop", "remove")]
    refused += [workspace.upload(copy, ".")]
    for work in refused:
        with pytest.raises(WorkspaceError) as raised:
            await work
        assert raised.value.code == "workspace.theirs"
        assert raised.value.params["machine"] == f"as_ws_{workspace_id}"
    with pytest.raises(WorkspaceError) as raised:
        await workspace.rebuild()
    assert raised.value.code == "workspace.not_ours"
    await service.manager.close(info.id)
    after = json.loads(docker("inspect", f"as_ws_{workspace_id}"))
    assert tree(workspace_id) == before
    assert after[0]["State"] == state[0]["State"], "it runs on, never stopped"


async def test_docker_container_of_agentscope_that_stands_still_is_started_by_the_persons_word_only(
    service: Slipway, theirs: Callable[..., str]
) -> None:
    workspace_id = theirs()
    fill(workspace_id)
    name = f"as_ws_{workspace_id}"
    docker("stop", "-t", "0", name)
    workspace = await added(service, workspace_id)
    assert (workspace.info.state, workspace.held) == ("stopped", True)
    for work in (workspace.list_offloads(), workspace.start()):
        with pytest.raises(WorkspaceError) as raised:
            await work
        assert raised.value.code == "workspace.theirs"
    assert docker("inspect", "-f", "{{.State.Status}}", name) == "exited"
    info = await service.open_anyway(workspace.info.id)
    assert (info.state, workspace.held) == ("stopped", False), "said, and still nothing is started"
    await workspace.offload_context("s1", [Msg.user("ours")])
    assert workspace.info.state == "ready"
    lines = docker("exec", name, "cat", "/workspace/sessions/s1/context.jsonl").splitlines()
    assert len(lines) == 2
    await service.manager.close(info.id)
    assert docker("inspect", "-f", "{{.State.Status}}", name) == "exited", "as it was before us"


async def test_docker_container_that_agentscope_removed_is_told_and_never_made_anew(
    service: Slipway, theirs: Callable[..., str]
) -> None:
    workspace_id = theirs()
    workspace = await added(service, workspace_id)
    await service.open_anyway(workspace.info.id)
    assert workspace.info.state == "ready"
    docker("rm", "-f", f"as_ws_{workspace_id}")
    assert (await service.refresh_workspace(workspace.info.id)).state == "missing"
    with pytest.raises(WorkspaceError) as raised:
        await workspace.list_offloads()
    assert raised.value.code == "workspace.theirs_gone"
    listed = docker("ps", "-aq", "--filter", f"label=agentscope.workspace.id={workspace_id}")
    assert listed == ""
    assert docker("ps", "-aq", "--filter", f"label=slipway.workspace={workspace.info.id}") == ""


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with cloud_or_skip() as made:
        yield made


async def test_e2b_sandbox_of_agentscope_is_read_without_a_touch_of_its_lease(
    service: Slipway, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("E2B_API_KEY", await cloud.key())
    account = service.places.e2b
    account.api_url = account.sandbox_url = cloud.url
    import e2b

    made = await e2b.AsyncSandbox.create(
        "base",
        timeout=300,  # as AgentScope asks for, with its metadata
        metadata={"agentscope.workspace.id": "w-theirs"},
        **await account.options(),
    )
    box = cloud.boxes[made.sandbox_id]
    (box.home / "workspace/sessions/s1").mkdir(parents=True)
    (box.home / "workspace/sessions/s1/context.jsonl").write_text(LINE + "\n")
    ends, asked = box.ends, dict(cloud.counts)
    workspace = await added(service, "w-theirs")
    assert isinstance(workspace, E2BWorkspace)
    assert workspace.info.params["code"] == "workspace.theirs"
    assert [one.session_id for one in await workspace.list_offloads()] == ["s1"]
    for work in (workspace.pause(), workspace.extend(3600), workspace.get_backend().mkdir("d")):
        with pytest.raises(WorkspaceError) as raised:
            await work
        assert raised.value.code == "workspace.theirs"
    assert box.ends == ends
    for request in ("connect", "timeout", "pause", "kill", "create"):
        assert cloud.counts[request] == asked.get(request, 0), request
    assert await service.machines.without_owner() == [], "nothing that could be ended"
    cloud.call(box.pause)
    assert (await service.refresh_workspace(workspace.info.id)).state == "paused"
    with pytest.raises(WorkspaceError) as raised:
        await workspace.list_offloads()
    assert raised.value.code == "workspace.theirs"
    assert box.state == "paused"
    await service.open_anyway(workspace.info.id)
    assert [one.session_id for one in await workspace.list_offloads()] == ["s1"]
    assert box.state == "running"
    await service.manager.close(workspace.info.id)
    assert box.state == "paused", "as it was before us"
    assert cloud.counts["create"] == 1
