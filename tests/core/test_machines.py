"""One conversation, wherever it runs: the same script gives the same results in a folder, a
container and a sandbox; and what a person does with a container's workspace."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from desktop_app.core.catalog import WorkspacesChanged
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.events import Event, RunParked, ToolFinished
from desktop_app.core.gateway.machine import GatewayMachine
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.messages import Msg
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.base import WorkspaceInfo
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers
from tests.helpers.e2b_cloud import Cloud, cloud_or_skip
from tests.helpers.mcp import SERVERS
from tests.helpers.sessions import collect

SCRIPT = [
    [Call("Write", {"file_path": "notes/plan.md", "content": "# Plan\n\nfirst café\nsecond\n"})],
    [Call("Read", {"file_path": "notes/plan.md"})],
    [
        Call(
            "Edit",
            {"file_path": "notes/plan.md", "old_string": "second", "new_string": "zweite 第二"},
        )
    ],
    [Call("Grep", {"pattern": "zweite", "output_mode": "content"})],
    [Call("Glob", {"pattern": "**/*.md"})],
    [Call("Bash", {"command": "cat notes/plan.md | wc -l; pwd | xargs basename | wc -l; exit 3"})],
    [Call("Read", {"file_path": "missing.txt"})],
    [Call("Write", {"file_path": "../outside.txt", "content": "x"})],
    [Say("Done.")],
]


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    failures: list[str] = []
    made = await Slipway.open(
        paths(tmp_path / "home"), on_error=lambda name, error: failures.append(f"{name}: {error}")
    )
    model = ScriptedModel(SCRIPT)
    made.models.add(model.info, lambda: model)
    made.default_model = model.info.id
    yield made
    ids = [row.id for row in await made.db.workspaces() if row.backend == "docker"]
    assert await made.close() == []
    assert failures == []
    for workspace_id in ids:
        await asyncio.to_thread(remove_leftovers, workspace_id)


async def a_workspace(service: Slipway, kind: str, tmp_path: Path) -> WorkspaceInfo:
    if kind == "local":
        (tmp_path / "ws").mkdir()
        return await service.add_folder(str(tmp_path / "ws"), trusted=True)
    if kind == "e2b":
        return await service.machines.create("in the cloud", E2BSpec())
    await engine_or_skip().close()
    spec = DockerSpec(base_image=base_image(), network=False, env={"GREETING": "hello there"})
    return await service.machines.create("in a box", spec)


@pytest.fixture
def cloud(service: Slipway) -> Iterator[Cloud]:
    with cloud_or_skip() as made:
        account = service.places.e2b
        account.api_url = account.sandbox_url = made.url
        account._key = made.key
        yield made


@pytest.mark.parametrize("kind", ["local", "docker", "e2b"])
async def test_one_script_gives_the_same_results(
    service: Slipway,
    tmp_path: Path,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if kind == "e2b":
        request.getfixturevalue("cloud")
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    info = await a_workspace(service, kind, tmp_path)
    key = await service.new_session(info.id)
    conversation = await service.conversation(key)
    await conversation.set_mode("bypass")
    events: list[Event] = await collect(conversation.send("Make a plan"))
    results = [event for event in events if isinstance(event, ToolFinished)]
    told = [(r.state, json.dumps(r.result.model_dump()["output"], sort_keys=True)) for r in results]
    assert [state for state, _ in told] == [
        *("success", "success", "success", "success", "success"),
        *("error", "error"),
    ]
    assert any(isinstance(e, RunParked) for e in events)  # out of the workspace is asked
    assert "first caf" in told[1][1]
    assert "notes/plan.md" in told[4][1]
    assert "4\\n1\\n" in told[5][1]
    for _, text in told:  # no path of either place
        assert str(tmp_path) not in text
        assert "/workspace" not in text
    if kind == "e2b":
        await service.machines.do(info.id, "remove")


async def test_e2b_sandboxes_that_nobody_here_has_are_listed(
    service: Slipway, tmp_path: Path, cloud: Cloud
) -> None:
    mine = await a_workspace(service, "e2b", tmp_path)
    await service.machines.do(mine.id, "start")
    other = E2BWorkspace(E2BSpec(), service.places.e2b, id="elsewhere", name="left behind")
    await other.initialize()
    await other.start()
    assert [one.workspace_id for one in await service.machines.without_owner()] == ["elsewhere"]
    await service.machines.extend(mine.id, 7200)
    await other.remove()
    await other.close()


async def test_e2b_settings_change_and_a_folder_has_no_lease(
    service: Slipway, tmp_path: Path, cloud: Cloud
) -> None:
    info = await a_workspace(service, "e2b", tmp_path)
    await service.machines.change(info.id, E2BSpec(timeout=600))
    assert (await service.db.workspace(info.id)).config["e2b"]["timeout"] == 600
    await service.machines.do(info.id, "start")
    (box,) = cloud.boxes.values()
    assert box.body["timeout"] == 600
    boxed = await a_workspace(service, "docker", tmp_path)
    with pytest.raises(WorkspaceError) as raised:
        await service.machines.extend(boxed.id, 60)
    assert raised.value.code == "workspace.no_lease"


async def until_state(mcp: McpManager, code: str) -> None:
    async with asyncio.timeout(60):
        while [server.status.code for server in await mcp.servers()] != [code]:
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("kind", ["docker", "e2b"])
async def test_mcp_servers_of_a_machine_run_inside_it_behind_its_gateway(
    service: Slipway, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "e2b":
        request.getfixturevalue("cloud")
    info = await a_workspace(service, kind, tmp_path)
    await service.machines.do(info.id, "start")
    workspace = await service.workspace(info.id)
    backend = workspace.get_backend()
    await backend.write("plain.py", (SERVERS / "plain.py").read_bytes())
    python = "python3" if kind == "docker" else sys.executable
    managed = await service.machines.of(info.id)
    assert managed is not None
    service.machines._gateways[info.id] = GatewayMachine(
        managed.remote, python=python, host=managed
    )
    config = {"type": "stdio_mcp", "command": python, "args": ["plain.py"]}
    declared = {"name": "plain", "is_stateful": True, "mcp_config": config}
    document = {"version": 2, "mcps": {"": {"": [declared]}}}
    await backend.write(".slipway/.mcp", json.dumps(document).encode())
    key = await service.new_session(info.id)
    model = ScriptedModel([[Call("mcp__plain__where", {})], [Say("Done.")]])
    service.models.add(model.info, lambda: model)
    conversation = await service.conversation(key)
    await conversation.set_mode("bypass")
    assert conversation.mcp is not None
    await conversation.mcp.start()
    await conversation.mcp.settled(60)
    assert [s.state for s in await conversation.mcp.servers()] == ["ok"]
    offered = [tool.name for tool in conversation.mcp.tools()]
    events: list[Event] = await collect(conversation.send("Where?"))
    (result,) = [event for event in events if isinstance(event, ToolFinished)]
    told = json.dumps(result.result.model_dump()["output"])
    assert backend.cwd in told  # it runs where the agent works, not here

    # A machine that was put to sleep stays so, however much its servers would like to run; ...
    await service.machines.do(info.id, "pause")
    await until_state(conversation.mcp, "workspace.asleep")
    model.push(*[[Call("mcp__plain__where", {})], [Say("Done.")]])
    assert (await managed.refresh()).state == "paused"
    assert [tool.name for tool in conversation.mcp.tools()] == offered
    # ... a turn wakes it, and its servers with it.
    events = await collect(conversation.send("And now?"))
    (result,) = [event for event in events if isinstance(event, ToolFinished)]
    assert (result.state, managed.info.state) == ("success", "ready")
    # A machine that was removed under them is not made again.
    await service.machines.do(info.id, "remove")
    await until_state(conversation.mcp, "workspace.asleep")
    assert (await managed.refresh(), managed.machine.status)[1] == "absent"


async def test_docker_workspace_is_listed_without_being_started(
    service: Slipway, tmp_path: Path
) -> None:
    info = await a_workspace(service, "docker", tmp_path)
    told: list[WorkspacesChanged] = []
    service.listen(lambda event: told.append(event))  # type: ignore[arg-type]
    (listed,) = await service.list_workspaces()
    assert (listed.info.backend, listed.info.state) == ("docker", "stopped")
    started = await service.machines.do(info.id, "start")
    assert started.state == "ready"
    assert WorkspacesChanged(info.id) in told
    workspace = await service.workspace(info.id)
    result = await workspace.get_backend().exec(["sh", "-c", "echo $GREETING"])
    assert result.stdout == b"hello there\n"


async def test_docker_environment_is_not_in_the_catalogue(service: Slipway, tmp_path: Path) -> None:
    info = await a_workspace(service, "docker", tmp_path)
    row = await service.db.workspace(info.id)
    assert row.config["docker"]["env"] == ["GREETING"]
    assert "hello there" not in json.dumps(row.config)


@pytest.mark.parametrize("kind", ["docker", "e2b"])
async def test_a_rescue_copy_can_be_browsed_when_the_machine_is_gone(
    service: Slipway, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "e2b":
        request.getfixturevalue("cloud")
    info = await a_workspace(service, kind, tmp_path)
    with pytest.raises(WorkspaceError) as raised:
        await service.machines.rescue(info.id)
    assert raised.value.code == "workspace.nothing_kept"
    workspace = await service.workspace(info.id)
    await workspace.offload_context("s1", [Msg.user("left the context")])
    folder, moved = await service.machines.rescue(info.id)
    assert moved.files >= 1
    await service.machines.do(info.id, "remove")
    assert "left the context" in (folder / "sessions/s1/context.jsonl").read_text()
    opened = await service.add_folder(str(folder), trusted=False)
    offline = await service.workspace(opened.id)
    assert [entry.session_id for entry in await offline.list_offloads()] == ["s1"]


@pytest.mark.parametrize("kind", ["docker", "e2b"])
async def test_a_machine_that_goes_with_its_workspace_is_copied_first(
    service: Slipway, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "e2b":
        request.getfixturevalue("cloud")
    info = await a_workspace(service, kind, tmp_path)
    await service.machines.discard(info.id)
    assert (await service.machines.loss(info.id)).status == "absent", "none is made to be removed"
    workspace = await service.machines.of(info.id)
    assert workspace is not None
    await workspace.offload_context("s1", [Msg.user("left the context")])
    loss = await service.machines.loss(info.id)
    assert (loss.machine, loss.status) == (workspace.machine.name, "running")
    await service.machines.discard(info.id)
    assert (await workspace.look()).status == "absent"
    copy = Path(await service.machines.rescued(info.id))
    assert "left the context" in (copy / "sessions/s1/context.jsonl").read_text()


async def test_docker_removal_tells_what_would_be_lost(service: Slipway, tmp_path: Path) -> None:
    info = await a_workspace(service, "docker", tmp_path)
    assert (await service.machines.loss(info.id)).nothing
    await service.machines.do(info.id, "start")
    workspace = await service.workspace(info.id)
    await workspace.get_backend().write("big.bin", b"x" * 500_000)
    loss = await service.machines.loss(info.id)
    assert loss.bytes is not None
    assert loss.bytes >= 500_000
    await service.machines.do(info.id, "remove")
    assert (await service.machines.loss(info.id)).nothing
    assert [ws.info.id for ws in await service.list_workspaces()] == [info.id]  # the row stays


async def test_a_folder_has_no_machine(service: Slipway, tmp_path: Path) -> None:
    info = await a_workspace(service, "local", tmp_path)
    assert await service.machines.of(info.id) is None
    with pytest.raises(WorkspaceError) as raised:
        await service.machines.do(info.id, "stop")
    assert raised.value.code == "workspace.no_machine"


async def test_a_workspace_of_a_later_version_is_listed_with_why(
    service: Slipway, tmp_path: Path
) -> None:
    from desktop_app.core.sessions.appdb import WorkspaceRow

    await service.db.put_workspace(WorkspaceRow("later", "Later", "hologram"))
    await a_workspace(service, "local", tmp_path)
    states = {ws.info.name: ws.info.state for ws in await service.list_workspaces()}
    assert states == {"Later": "error", "ws": "ready"}
